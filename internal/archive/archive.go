// Package archive carries the files of the archive of an account between services.
//
// Each service that stores data of a user sends them as files with Files, in pieces. The budget
// service writes the pieces of all services to one zip file. So the service that owns the data
// decides about files and rows, and no service keeps a file in memory.
package archive

import (
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/restjson"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Files sends files in pieces, one file after the other. It implements io.Writer for the content of
// the present file. The caller must call Flush after the last one.
type Files struct {
	*rpc.FileWriter
	send func(*restv1.ArchivePiece) error
	// path is set until the first piece of the file is sent.
	path string
	// rows is the number of rows that begin in the next piece.
	rows int64
	// line is reused for each row.
	line []byte
}

// NewFiles returns a sender that passes pieces to send. The function may keep them.
func NewFiles(send func(*restv1.ArchivePiece) error) *Files {
	f := &Files{send: send}
	f.FileWriter = rpc.NewFileWriter(f.sendPiece)
	return f
}

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

// Flush sends the rest of the present file.
func (f *Files) Flush() error {
	if err := f.FileWriter.Flush(); err != nil {
		return err
	}
	if f.path == "" {
		return nil
	}
	// The file is empty, so no piece has its path.
	return f.sendPiece(nil)
}

func (f *Files) sendPiece(content []byte) error {
	piece := &restv1.ArchivePiece{Path: f.path, Rows: f.rows, Content: content}
	f.path, f.rows = "", 0
	return f.send(piece)
}

// Rows writes a file with a row for each message.
func Rows[M proto.Message](f *Files, path string, messages []M) error {
	if err := f.Begin(path); err != nil {
		return err
	}
	return AddRows(f, messages)
}

// AddRows writes a row for each message to the present file.
func AddRows[M proto.Message](f *Files, messages []M) error {
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
