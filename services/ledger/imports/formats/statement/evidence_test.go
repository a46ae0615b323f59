package statement_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestEvidenceSentence(t *testing.T) {
	t.Parallel()
	require.Equal(t, "The dates, such as 03/04/2024, do not show whether the day or the month is "+
		"first: they are read as DD/MM/YYYY.",
		statement.Shows("DATES_AMBIGUOUS", "example", "03/04/2024", "layout", "DD/MM/YYYY").
			Sentence())
	require.Equal(t, "The amounts do not show which character is the decimal mark: it is read as "+
		"\".\".", statement.Shows("DECIMALS_AMBIGUOUS", "example", "", "mark", `"."`).Sentence())
	for _, code := range statement.EvidenceCodes {
		require.NotEmpty(t, statement.Shows(code).Sentence(), code)
	}
	require.Empty(t, statement.Shows("UNKNOWN").Sentence())
}
