// Package web contains the console, Coffer's web application, as a built site.
//
// The source of the console is in this folder too: it is written in TypeScript, and `make web`
// builds it into dist. The folder dist is committed, so that a Go build needs no Node. This package
// only embeds it. The gateway serves the files, decides which requests get the console, and sets
// all headers (gateway/internal/console).
//
// A file may have precompressed variants beside it: name.br for brotli and name.gz for gzip. The
// gateway sends the variant that the client accepts. Names of files in dist/assets contain a hash
// of their contents, so that browsers may keep them forever.
package web

import "embed"

// Dist holds the files of the built console, below the folder dist. Its only page is
// dist/index.html.
//
//go:embed all:dist
var Dist embed.FS
