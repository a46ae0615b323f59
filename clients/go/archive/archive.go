// Package archive reads the archive of an account, the zip file that GET /api/v1/account/export
// returns.
//
// Open verifies the whole archive: the manifest, and the size, the SHA-256 and the number of rows
// of each file. So a file that it returns is complete. A partial download has no manifest and is
// rejected.
package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	// Schema is the version of the files that this package reads.
	Schema = 1
	// manifestPath is the path of the last file, and maxManifest the maximum size of it.
	manifestPath = "manifest.json"
	maxManifest  = 64 << 20
)

// Errors of an archive. They are wrapped with the path of the file.
var (
	// ErrIncomplete is returned for an archive without its end, as of an interrupted download.
	ErrIncomplete = errors.New("the archive is incomplete")
	// ErrChanged is returned if a file differs from the manifest.
	ErrChanged = errors.New("the file differs from the manifest")
	// ErrSchema is returned for an archive of a newer release.
	ErrSchema = errors.New("the schema is newer than this program")
)

// Manifest describes the files of an archive.
type Manifest struct {
	Schema     int       `json:"schema"`
	StartedAt  time.Time `json:"startedAt"`
	FinishedAt time.Time `json:"finishedAt"`
	Files      []File    `json:"files"`
}

// File is a file of an archive.
type File struct {
	Path string `json:"path"`
	// Rows is the number of lines of a file with the extension jsonl or json, and 0 in others.
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Archive is a verified archive.
type Archive struct {
	Manifest
	files map[string]*zip.File
}

// Open verifies an archive of this size and returns it.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	reader, err := zip.NewReader(r, size)
	if errors.Is(err, zip.ErrFormat) {
		return nil, fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the archive: %w", err)
	}
	a := &Archive{files: map[string]*zip.File{}}
	for _, f := range reader.File {
		if a.files[f.Name] != nil {
			return nil, fmt.Errorf("%s: %w: it occurs twice", f.Name, ErrChanged)
		}
		a.files[f.Name] = f
	}
	if err := a.readManifest(); err != nil {
		return nil, err
	}
	for _, f := range a.Files {
		if err := a.verify(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	if len(a.files) != len(a.Files)+1 {
		return nil, fmt.Errorf("%w: it does not name all files", ErrChanged)
	}
	return a, nil
}

func (a *Archive) readManifest() error {
	content, err := a.Read(manifestPath)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	defer func() { _ = content.Close() }()
	decoder := json.NewDecoder(io.LimitReader(content, maxManifest))
	if err := decoder.Decode(&a.Manifest); err != nil {
		return fmt.Errorf("reading the manifest: %w", err)
	}
	if a.Schema > Schema {
		return ErrSchema
	}
	return nil
}

// Read returns the content of a file, such as wallets.jsonl. It must be closed.
func (a *Archive) Read(path string) (io.ReadCloser, error) {
	f := a.files[path]
	if f == nil {
		return nil, fmt.Errorf("the archive has no %s", path)
	}
	return f.Open()
}

// Rows calls do with each row of a file such as wallets.jsonl. The row is valid until do returns.
func (a *Archive) Rows(path string, do func(row json.RawMessage) error) error {
	content, err := a.Read(path)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	lines := bufio.NewReader(content)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		if err := do(line); err != nil {
			return err
		}
	}
}

// verify compares a file with the manifest.
func (a *Archive) verify(f File) error {
	content, err := a.Read(f.Path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	defer func() { _ = content.Close() }()
	hash := sha256.New()
	lines := &lineCounter{}
	// A file that decompresses to more is not read to its end.
	limited := io.LimitReader(content, f.Bytes+1)
	n, err := io.Copy(io.MultiWriter(hash, lines), limited)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	isRows := !strings.Contains(f.Path, "/") && strings.Contains(f.Path, ".json")
	if n != f.Bytes || hex.EncodeToString(hash.Sum(nil)) != f.SHA256 ||
		isRows && lines.n != f.Rows {
		return ErrChanged
	}
	return nil
}

// lineCounter counts line ends.
type lineCounter struct{ n int64 }

// Write implements io.Writer.
func (c *lineCounter) Write(p []byte) (int, error) {
	c.n += int64(bytes.Count(p, []byte{'\n'}))
	return len(p), nil
}
