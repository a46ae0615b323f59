// Package archive carries the files of the archive of an account between services.
//
// Each service that stores data of a user sends them as files with Files, in pieces. The budget
// service writes the pieces of all services to one zip file. So the service that owns the data
// decides about files and rows, and no service keeps a file in memory.
package archive

import (
	"bytes"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/restjson"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Files sends files in pieces, one file after the other. It implements io.Writer for the content of
// the present file. The caller must call Flush after the last one.
type Files struct {
	send func(*restv1.ArchivePiece) error
	// path is set until the first piece of the file is sent.
	path    string
	rows    int64
	content bytes.Buffer
	// line is reused for each row.
	line []byte
}

// NewFiles returns a sender that passes pieces to send. The function may keep them.
func NewFiles(send func(*restv1.ArchivePiece) error) *Files { return &Files{send: send} }

// Begin ends the present file and begins another file. A file may stay empty.
func (f *Files) Begin(path string) error {
	if err := f.Flush(); err != nil {
		return err
	}
	f.path = path
	return nil
}

// Row writes a message as a line of JSON, as the API shows it.
func (f *Files) Row(m proto.Message) error {
	line, err := restjson.Append(f.line[:0], m)
	if err != nil {
		return err
	}
	f.line = append(line, '\n')
	f.rows++
	_, err = f.Write(f.line)
	return err
}

// Write implements io.Writer.
func (f *Files) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		n, _ := f.content.Write(p[:min(len(p), rpc.MaxPiece-f.content.Len())])
		p, written = p[n:], written+n
		if f.content.Len() == rpc.MaxPiece {
			if err := f.Flush(); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

// Flush sends the rest of the present file.
func (f *Files) Flush() error {
	if f.path == "" && f.content.Len() == 0 {
		return nil
	}
	// gRPC may read a message after sending it, so each piece has its own memory.
	piece := &restv1.ArchivePiece{
		Path: f.path, Rows: f.rows, Content: bytes.Clone(f.content.Bytes()),
	}
	f.path, f.rows = "", 0
	f.content.Reset()
	return f.send(piece)
}

// Rows writes a file with a row for each message.
func Rows[M proto.Message](f *Files, path string, messages []M) error {
	if err := f.Begin(path); err != nil {
		return err
	}
	for _, m := range messages {
		if err := f.Row(m); err != nil {
			return err
		}
	}
	return nil
}

// Pages writes a file with a row for each row of a list, newest first. read returns the next rows
// with an id below before, and none at the end. show returns the id of a row, and the row as the
// API shows it.
func Pages[Row any](
	f *Files, path string, read func(before uuid.UUID) ([]Row, error),
	show func(Row) (uuid.UUID, proto.Message, error),
) error {
	if err := f.Begin(path); err != nil {
		return err
	}
	for before := uuid.Max; ; {
		rows, err := read(before)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			id, message, err := show(row)
			if err != nil {
				return err
			}
			if err := f.Row(message); err != nil {
				return err
			}
			before = id
		}
	}
}
