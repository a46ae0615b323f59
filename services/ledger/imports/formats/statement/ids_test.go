package statement_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
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

func TestIDsAssignPending(t *testing.T) {
	t.Parallel()
	assigned := func(records ...statement.Record) []string {
		var ids statement.IDs
		var all []string
		for _, r := range records {
			ids.Assign(&r)
			all = append(all, r.ExternalID)
		}
		return all
	}
	coffee := statement.Record{Amount: "-3.50", Payee: "Café"}
	known := statement.Record{Amount: "-4", ExternalID: "csv:1234"}
	booked := assigned(coffee, coffee, known)
	pending := func(r statement.Record) statement.Record {
		r.Status = written.Pending
		return r
	}
	// The ids of booked records do not depend on pending ones, which the next file lacks.
	require.Equal(t, []string{
		"pending:" + booked[0], booked[0], "pending:csv:1234", booked[1], booked[2],
		"pending:" + booked[1],
	}, assigned(pending(coffee), coffee, pending(known), coffee, known, pending(coffee)))
}
