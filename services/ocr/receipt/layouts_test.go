package receipt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// layout is a receipt of testdata/layouts and its fields. The field misread names those that the
// rules are known to read wrong.
type layout struct {
	name, text string
	fields     map[string]string
}

// TestJoinReadsLayouts reads receipts of many countries and kinds of shops. They were written
// before the rules were tried on them.
func TestJoinReadsLayouts(t *testing.T) {
	t.Parallel()
	for _, l := range layouts(t) {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []Receipt{
				readText(l.text), Join(today, Read(printed.FromText(l.text))),
			} {
				misread := strings.Fields(l.fields["misread"])
				for field, got := range layoutFields(r) {
					if !slices.Contains(misread, field) {
						require.True(t, strings.EqualFold(l.fields[field], got),
							"%s is %q, not %q", field, got, l.fields[field])
					}
				}
				if r.Total != l.fields["total"] {
					require.Less(t, r.Confidence["total"], confidentTotal)
				}
			}
		})
	}
}

func layoutFields(r Receipt) map[string]string {
	var lines []string
	for _, it := range r.Items {
		lines = append(lines, it.Amount)
	}
	return map[string]string{
		"merchant": r.Merchant, "date": r.Date, "currency": r.Currency, "total": r.Total,
		"lines": strings.Join(lines, " "),
	}
}

func layouts(t *testing.T) []layout {
	t.Helper()
	files, err := filepath.Glob("testdata/layouts/*.txt")
	require.NoError(t, err)
	var out []layout
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for part := range strings.SplitSeq(string(raw), "=== ") {
			if part == "" {
				continue
			}
			head, text, found := strings.Cut(part, "\n---\n")
			require.True(t, found, part)
			name, rest, _ := strings.Cut(head, "\n")
			l := layout{filepath.Base(file) + " " + name, text, map[string]string{}}
			for line := range strings.Lines(rest) {
				key, value, _ := strings.Cut(line, ":")
				l.fields[key] = strings.TrimSpace(value)
			}
			out = append(out, l)
		}
	}
	return out
}
