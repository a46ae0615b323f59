package xlsx

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
)

// Limits of a workbook, besides those of package scan. A replica receives up to eight uploads at a
// time, and parses two, so all of them together stay within the memory of the service.
const (
	// MaxFile is the maximum size of a workbook, in bytes.
	MaxFile = 12 << 20
	// maxParts is the maximum number of files in the archive.
	maxParts = 2000
	// pieceBytes is the size of a piece of a held file.
	pieceBytes = 256 << 10
)

// errDamaged reports an archive that ends early or has wrong sizes or checksums.
var errDamaged = &scan.ParseError{Message: "the workbook is damaged or incomplete"}

// held is a file in memory. It consists of pieces, so that it grows without copies.
type held struct {
	pieces [][]byte
	size   int64
}

// hold reads a file of at most MaxFile bytes. The directory of an archive is at its end, and the
// texts of the cells usually follow the cells, so a workbook cannot be read in one pass.
func hold(r io.Reader) (*held, error) {
	held := &held{}
	for {
		piece := make([]byte, pieceBytes)
		n, err := io.ReadFull(r, piece)
		held.pieces, held.size = append(held.pieces, piece[:n]), held.size+int64(n)
		if held.size > MaxFile {
			return nil, scan.Errorf(0, "the workbook has more than %d MiB: export CSV, "+
				"or a shorter period", MaxFile>>20)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return held, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// ReadAt implements io.ReaderAt.
func (h *held) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		if at >= h.size {
			return n, io.EOF
		}
		copied := copy(p[n:], h.pieces[at/pieceBytes][at%pieceBytes:])
		n, at = n+copied, at+int64(copied)
	}
	return n, nil
}

// entries returns the number of entries in the archive's directory, at least. archive/zip keeps all
// of them in memory.
func (h *held) entries() int {
	n := 0
	for _, piece := range h.pieces {
		n += bytes.Count(piece, []byte("PK\x01\x02"))
	}
	return n
}

// archive is the zip archive of a workbook. left is the number of bytes that its parts may still
// decompress to, in total and however often they are opened.
type archive struct {
	parts map[string]*zip.File // By folded name.
	left  int64
}

func openArchive(r io.Reader) (*archive, error) {
	held, err := hold(r)
	if err != nil {
		return nil, err
	}
	if held.entries() > maxParts {
		return nil, scan.Errorf(0, "the workbook has more than %d files", maxParts)
	}
	reader, err := zip.NewReader(held, held.size)
	if err != nil {
		return nil, errDamaged
	}
	a := &archive{parts: make(map[string]*zip.File), left: scan.Allowed(held.size)}
	for _, f := range reader.File {
		name := fold(f.Name)
		if _, repeated := a.parts[name]; repeated {
			return nil, errDamaged
		}
		a.parts[name] = f
	}
	return a, nil
}

// fold returns the name of a part for comparisons, which ignore case.
func fold(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

func (a *archive) has(name string) bool { return a.parts[fold(name)] != nil }

// part is an open part of a workbook.
type part struct {
	*scan.Markup

	text *bufio.Reader
	file io.Closer
}

// open opens a part.
func (a *archive) open(name string) (*part, error) {
	entry := a.parts[fold(name)]
	switch {
	case entry == nil:
		return nil, scan.Errorf(0, "the workbook lacks the part %.100q", name)
	case entry.Flags&1 != 0:
		return nil, scan.Errorf(0, "the workbook is encrypted: save it without a password")
	}
	file, err := entry.Open()
	if err != nil {
		return nil, errDamaged
	}
	text := bufio.NewReaderSize(&limited{file, a}, 32<<10)
	p := &part{Markup: scan.NewMarkup(text), text: text, file: file}
	p.Exact = true
	return p, nil
}

// close closes the part without reading its rest.
func (p *part) close() { _ = p.file.Close() } // Nothing was written.

// finish reads the rest of the part, whose end verifies its checksum.
func (p *part) finish() error {
	_, err := io.Copy(io.Discard, p.text)
	return err
}

// limited ends the reading of an archive that decompresses to too many bytes. It checks while the
// parts are read, because the sizes that an archive states may be wrong.
type limited struct {
	r io.Reader
	a *archive
}

// Read reads from r within the limits.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.a.left -= int64(n); l.a.left < 0 {
		return 0, scan.ErrTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, errDamaged
	}
	return n, err
}
