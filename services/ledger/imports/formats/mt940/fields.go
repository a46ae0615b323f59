package mt940

import (
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
)

// tag begins a field. Text of field 86 may have lines that begin with a colon, so only known tags
// count.
var tag = regexp.MustCompile(`^:(\d\d[A-Z]?|NS):`)

// anyTag finds the tags at the start of a file, also after the header of a block.
var anyTag = regexp.MustCompile(
	`(?m)(?:^[ \t\x01]*|\{4:[ \t]*):(20|25P?|28C?|60[FM]|61|62[FM]|34F|13D?):`,
)

// Detect reports whether a text has at least two different fields of MT940 at the starts of lines.
func Detect(head string) bool {
	tags := make(map[string]bool)
	for _, m := range anyTag.FindAllStringSubmatch(head, -1) {
		tags[m[1]] = true
	}
	return len(tags) >= 2
}

type field struct {
	tag   string
	lines []string
	line  int
}

// errStopped reports that the caller wants no more records.
var errStopped = errors.New("stopped")

// readFields calls handle for each field. Blocks of SWIFT around the fields are removed.
func readFields(source *scan.Lines, handle func(field) (bool, error)) error {
	var current field
	size := 0
	flush := func() error {
		if current.tag == "" {
			return nil
		}
		more, err := handle(current)
		if err == nil && !more {
			err = errStopped
		}
		current = field{}
		return err
	}
	for {
		raw, err := source.Next()
		if errors.Is(err, io.EOF) {
			return flush()
		}
		if err != nil {
			return err
		}
		text := strings.TrimRight(strings.TrimLeft(string(raw), "\x00\x01\x02\x03\ufeff"), "\x03 ")
		i := strings.Index(text, "{4:")
		if i >= 0 && strings.HasPrefix(strings.TrimSpace(text), "{") {
			text = strings.TrimSpace(text[i+3:])
		}
		trimmed := strings.TrimLeft(text, " \t")
		m := tag.FindStringSubmatch(trimmed)
		switch {
		case m != nil:
			if err := flush(); err != nil {
				return err
			}
			current = field{tag: m[1], lines: []string{trimmed[len(m[0]):]}, line: source.Line}
			size = len(text)
		case trimmed == "-" || strings.HasPrefix(trimmed, "-}") ||
			strings.HasPrefix(trimmed, "{1:"):
			if err := flush(); err != nil {
				return err
			}
		case current.tag != "":
			if size += len(text) + 1; size > scan.MaxRow {
				return scan.Errorf(current.line, "the field has more than %d bytes", scan.MaxRow)
			}
			current.lines = append(current.lines, strings.TrimSuffix(text, "-}"))
		}
	}
}
