// Package scan turns the bytes of a file into text of limited length: lines, the rows of a CSV
// file, or the tags of OFX and XML.
//
// Decompress reads plain, gzip and zip files, and ToUTF8 converts legacy encodings. Lines, Rows and
// Markup read the text. Each of them keeps one line, row or tag in memory, and returns an error if
// it is longer than its limit. The text may be malformed: banks write quotes inside of cells and
// tags without an end. Package formats gives a meaning to the text.
package scan

import (
	"errors"
	"fmt"
)

// Limits of a file. A reader returns an error beyond them: a file that was cut silently would
// import wrong balances.
const (
	MaxBytes   = 512 << 20 // After decompression.
	MaxRatio   = 200       // Decompressed bytes per compressed byte.
	MaxColumns = 200
	MaxRow     = 64 << 10
	MaxDepth   = 64 // Nested elements.
)

// The errors of a file, besides *ParseError and errors of the reader.
var (
	ErrEmpty        = errors.New("the file is empty")
	ErrSeveralFiles = errors.New("the zip file has more than one file")
	ErrOnlyPlan     = errors.New("the zip file has the plan of YNAB, but not its register")
	ErrTooLarge     = errors.New("the file exceeds 512 MiB or 200 times its compressed size")
)

// ParseError is a defect of a file of a known format.
type ParseError struct {
	Line    int // From 1; 0 if the format has no lines.
	Message string
}

// Errorf returns a ParseError; line is 0 if the format has no lines.
func Errorf(line int, format string, args ...any) *ParseError {
	return &ParseError{Line: line, Message: fmt.Sprintf(format, args...)}
}

// Error returns the line and the message.
func (e *ParseError) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}
