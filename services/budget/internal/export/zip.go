package export

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"strings"
	"time"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// schema is the version of the files in an archive. It grows with a change that a reader of the
// files must know; new files and fields are no such change.
const schema = 1

// manifest describes the other files of an archive.
type manifest struct {
	Schema     int             `json:"schema"`
	StartedAt  time.Time       `json:"startedAt"`
	FinishedAt time.Time       `json:"finishedAt"`
	Files      []*manifestFile `json:"files"`
}

type manifestFile struct {
	Path string `json:"path"`
	// Rows is 0 for files without rows.
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// zipFile writes pieces to a zip file.
type zipFile struct {
	zip     *zip.Writer
	written manifest
	// file, hash and content are those of the present file.
	file    *manifestFile
	hash    hash.Hash
	content io.Writer
}

func newZip(w io.Writer, started time.Time) *zipFile {
	return &zipFile{
		zip:     zip.NewWriter(w),
		written: manifest{Schema: schema, StartedAt: started, Files: []*manifestFile{}},
	}
}

// add writes a piece, and begins a file if the piece has a path.
func (z *zipFile) add(piece *restv1.ArchivePiece) error {
	if path := piece.GetPath(); path != "" {
		z.end()
		if err := z.begin(path); err != nil {
			return err
		}
		z.file = &manifestFile{Path: path}
		z.hash = sha256.New()
	}
	z.file.Rows += piece.GetRows()
	z.file.Bytes += int64(len(piece.GetContent()))
	z.hash.Write(piece.GetContent())
	_, err := z.content.Write(piece.GetContent())
	return err
}

// begin begins a file in the zip file. Files in folders are attachments and images, which are
// compressed already.
func (z *zipFile) begin(path string) error {
	header := &zip.FileHeader{Name: path, Method: zip.Deflate, Modified: z.written.StartedAt}
	if strings.Contains(path, "/") {
		header.Method = zip.Store
	}
	var err error
	if z.content, err = z.zip.CreateHeader(header); err != nil {
		return fmt.Errorf("beginning %s: %w", path, err)
	}
	return nil
}

// end adds the present file to the manifest.
func (z *zipFile) end() {
	if z.file == nil {
		return
	}
	z.file.SHA256 = hex.EncodeToString(z.hash.Sum(nil))
	z.written.Files = append(z.written.Files, z.file)
	z.file = nil
}

// close writes the manifest and the end of the zip file.
func (z *zipFile) close(finished time.Time) error {
	z.end()
	z.written.FinishedAt = finished
	if err := z.begin("manifest.json"); err != nil {
		return err
	}
	encoder := json.NewEncoder(z.content)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(z.written); err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	return z.zip.Close()
}
