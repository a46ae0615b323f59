package written

import (
	"iter"
	"strings"
)

// Phrases returns the phrases of a vocabulary with the names of their sections. A line that begins
// with "== " starts a section, and one that begins with "#" is a comment. Other lines have phrases
// between semicolons.
func Phrases(vocabulary string) iter.Seq2[string, string] {
	return func(yield func(section, phrase string) bool) {
		section := ""
		for line := range strings.Lines(vocabulary) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			if name, ok := strings.CutPrefix(line, "== "); ok {
				section = strings.TrimSpace(name)
				continue
			}
			for phrase := range strings.SplitSeq(line, ";") {
				if phrase = strings.TrimSpace(phrase); phrase != "" && !yield(section, phrase) {
					return
				}
			}
		}
	}
}
