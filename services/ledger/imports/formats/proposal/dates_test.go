package proposal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestProposeDays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file     string
		code     string // Of the warning.
		evidence string
	}{
		"days of postings and payments": {
			"Posting date,Transaction date,Text,Amount\n2024-01-31,2024-01-30,a,-1.00\n" +
				"2024-02-01,2024-01-29,b,-2.00\n2024-02-02,2024-02-02,c,3.00\n",
			statement.DateOrderAssumed, "DATES_DIFFER",
		},
		"an unknown heading of days before the postings": {
			"Xyz,Posting date,Text,Amount\n2024-01-30,2024-01-31,a,-1.00\n" +
				"2024-01-31,2024-02-01,b,-2.00\n2024-02-02,2024-02-02,c,3.00\n",
			statement.DateOrderAssumed, "DATES_DIFFER",
		},
		"a month of several languages and other days": {
			"Posting date,Transaction date,Text,Amount\n3. lis 2024,2. lis 2024,a,-1.00\n" +
				"4. lis 2024,1. lis 2024,b,-2.00\n5. lis 2024,5. lis 2024,c,3.00\n",
			statement.DateOrderAssumed, "MONTHS_UNCLEAR",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, facts := fixture.ReadAll(t, c.file, statement.Options{})
			evidence := make(map[string]string)
			for _, a := range facts.Assumptions {
				evidence[a.Code] = a.Evidence.Code
			}
			require.Equal(t, c.evidence, evidence[c.code], evidence)
		})
	}
}
