package proposal_test

import (
	_ "embed"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/csv"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/proposal"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

//go:embed testdata/signs.txt
var signLayouts string

func TestProposeSigns(t *testing.T) {
	t.Parallel()
	for _, layout := range sections(t, signLayouts) {
		t.Run(layout.name, func(t *testing.T) {
			t.Parallel()
			records, facts := fixture.ReadAll(t, layout.file, statement.Options{})
			got := []string{witness(t, layout.file)}
			for _, a := range facts.Assumptions {
				require.Contains(t, facts.Warnings, a.Code)
				require.NotEmpty(t, a.Evidence.Sentence())
				require.NotContains(t, a.Evidence.Sentence(), "no value")
				require.NotEmpty(t, a.Rows)
				if statement.Blocking[a.Code] != "" {
					got = append(got, a.Code)
				}
			}
			for _, r := range records {
				switch {
				case r.Skip, r.Opening:
				case r.Problem != "":
					got = append(got, "problem")
				default:
					got = append(got, r.Date.Format("2006-01-02")+" "+r.Amount)
				}
			}
			require.Equal(t, layout.want, got, "%+v %+v", facts.Mapping, facts.Assumptions)
		})
	}
}

// witness returns the witness of the sign of a file, or none.
func witness(t *testing.T, file string) string {
	t.Helper()
	form := csv.Detect(file, "")
	rows := form.Rows(strings.NewReader(file))
	p := proposal.NewProfile(statement.Options{})
	for {
		cells, _, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		p.Add(cells)
	}
	p.Propose(statement.NewInput(nil, statement.Options{}), form.Delimiter)
	if p.Witness == "" {
		return "none"
	}
	return string(p.Witness)
}

// section is a layout of a file of test data, and the lines that are wanted.
type section struct {
	name, file string
	want       []string
}

// sections returns the layouts of a file of test data.
func sections(t *testing.T, data string) []section {
	t.Helper()
	var found []section
	for part := range strings.SplitSeq("\n"+data, "\n== ") {
		name, rest, _ := strings.Cut(part, "\n")
		switch {
		case name == "want":
			last := &found[len(found)-1]
			last.want = strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
		case name != "" && !strings.HasPrefix(name, "#"):
			found = append(found, section{name: name, file: rest})
		}
	}
	require.NotEmpty(t, found)
	return found
}
