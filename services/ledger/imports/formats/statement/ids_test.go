package statement_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestIDsAssign(t *testing.T) {
	t.Parallel()
	const file = "Date,Payee,Amount\n2024-01-31,Coffee,-2.50\n2024-01-31,Coffee,-2.5\n2024-02-01,Coffee,-2.50\n"
	assign := func() (all []string) {
		records, _ := fixture.ReadAll(t, file, statement.Options{})
		ids := &statement.IDs{}
		for _, r := range records[1:] {
			ids.Assign(&r)
			all = append(all, r.ExternalID)
		}
		return all
	}
	first := assign()
	require.Equal(t, first, assign())
	require.Equal(t, strings.TrimSuffix(first[0], ":0")+":1", first[1])
	require.NotEqual(t, first[0], first[2])
}
