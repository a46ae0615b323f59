package formats

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed testdata/columns.txt
var columnLayouts string

func TestProposeColumns(t *testing.T) {
	t.Parallel()
	for section := range strings.SplitSeq("\n"+columnLayouts, "\n== ") {
		name, rest, _ := strings.Cut(section, "\n")
		if name == "want" || strings.HasPrefix(name, "#") || name == "" {
			continue
		}
		_, after, ok := strings.Cut(columnLayouts, section+"\n== want\n")
		require.True(t, ok, name)
		want, _, _ := strings.Cut(after, "\n== ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, facts := readAll(t, rest, Options{})
			var got []string
			for _, r := range records {
				switch {
				case r.Skip:
				case r.Problem != "":
					got = append(got, "problem")
				default:
					got = append(got, r.Date.Format("2006-01-02")+" "+r.Amount+" "+r.Currency)
				}
			}
			require.Equal(t, strings.Split(strings.TrimSuffix(want, "\n"), "\n"), got, "%+v", facts.Mapping)
		})
	}
}
