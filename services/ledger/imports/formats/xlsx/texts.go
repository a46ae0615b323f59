package xlsx

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
)

// Limits of the texts that the cells of a workbook share, which stay in memory.
const (
	maxTextBytes = 24 << 20
	maxTexts     = 1 << 20
)

// texts are the texts that cells refer to by number, one after the other.
type texts struct {
	all  []byte
	ends []uint32
}

// at returns the text with a number from 0.
func (t *texts) at(number string) (string, bool) {
	i, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil || i < 0 || i >= len(t.ends) {
		return "", false
	}
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return string(t.all[start:t.ends[i]]), true
}

// read reads the part with the texts. A text may consist of several runs with different fonts. Its
// phonetic guide, which Japanese texts have, is no part of it.
func (t *texts) read(a *archive, name string) error {
	guide := false
	return a.each(name, func(element scan.Element) error {
		switch element.Name {
		case "rPh":
			guide = !element.Closing && !element.Empty
		case "t":
			if !element.Closing && !guide {
				t.all = append(t.all, element.Text...)
			}
		case "si":
			if element.Closing || element.Empty {
				t.ends = append(t.ends, uint32(len(t.all)))
			}
		}
		if len(t.all) > maxTextBytes || len(t.ends) > maxTexts {
			return scan.Errorf(0, "the workbook has more than %d texts or %d MiB of them: "+
				"export CSV, or a shorter period", maxTexts, maxTextBytes>>20)
		}
		return nil
	})
}

// escaped finds a character that XML cannot contain, as workbooks write it.
var escaped = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

// plain returns a text as a cell of CSV would have it.
func plain(text string) string {
	if strings.Contains(text, "_x") {
		text = escaped.ReplaceAllStringFunc(text, func(s string) string {
			code, _ := strconv.ParseUint(s[2:6], 16, 32) // The pattern has four digits.
			return string(rune(code))
		})
	}
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
}
