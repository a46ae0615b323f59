package scan

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Lines reads lines of at most Limit bytes. A line ends with LF, CR LF or CR, as on Unix, on
// Windows and in old files of the Mac. bufio.ScanLines does not end a line at CR alone.
type Lines struct {
	r     *bufio.Reader
	Limit int
	Line  int // Number of the last line that Next returned.
	buf   []byte
	skip  bool // The last line ended with CR, so an LF belongs to it.
}

// NewLines returns a reader of the lines of r, of at most MaxRow bytes.
func NewLines(r io.Reader) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 32<<10), Limit: MaxRow}
}

// Next returns the next line without its end, valid until the next call, or io.EOF.
func (l *Lines) Next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		chunk, err := l.r.Peek(1)
		if len(chunk) == 0 {
			if errors.Is(err, io.EOF) && len(l.buf) > 0 {
				l.Line++
				return l.buf, nil
			}
			return nil, err
		}
		chunk, _ = l.r.Peek(l.r.Buffered())
		if l.skip {
			l.skip = false
			if chunk[0] == '\n' {
				l.discard(1)
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			end = len(chunk)
		}
		if len(l.buf)+end > l.Limit {
			return nil, Errorf(l.Line+1, "the row has more than %d bytes", l.Limit)
		}
		l.buf = append(l.buf, chunk[:end]...)
		if end == len(chunk) {
			l.discard(end)
			continue
		}
		l.skip = chunk[end] == '\r'
		l.discard(end + 1)
		l.Line++
		return l.buf, nil
	}
}

// discard skips bytes that Peek returned.
func (l *Lines) discard(n int) {
	// Buffered bytes can always be discarded.
	_, _ = l.r.Discard(n)
}
