package imports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// longNames returns a statement of n rows, each with an account and a category of its own, whose names have the maximum length.
func longNames(n int) string {
	var b strings.Builder
	b.WriteString("Date;Amount;Account;Category;Description\n")
	for i := range n {
		name := strings.Repeat("💶", 96) + fmt.Sprintf("%04d", i)
		fmt.Fprintf(&b, "2024-01-31;-1.00;%s;%s;Lunch\n", name, name)
	}
	return b.String()
}

// TestImportEventSize imports a file with nearly the maximum number of names, all of the maximum length. Without a limit, its event is larger than a
// message of NATS, and blocks the events of all users.
func TestImportEventSize(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, longNames(999))
	m.Mapping.Columns = append(m.GetMapping().GetColumns(), &ledgerv1.ImportColumn{Index: 2, Field: "account"})
	resp, err := p.UpdateImport(p.Ctx, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: m.GetMapping()})
	require.NoError(t, err)
	m = resp.GetImport()
	require.Greater(t, proto.Size(m), 1<<20)
	m = p.commit(t, m)
	require.Equal(t, staging.Done, m.GetStatus())
	committed := s.LastEvent(t).(*ledgerv1.ImportCommitted)
	require.Less(t, proto.Size(committed), 64<<10)
	require.Equal(t, m.GetId(), committed.GetImport().GetId())
	require.Equal(t, m.GetFileName(), committed.GetImport().GetFileName())
	require.EqualValues(t, 999, committed.GetImport().GetCounts().GetBooked())
	require.Len(t, p.get(t, m).GetAccounts(), 999)
	p.undo(t, m, false)
	require.Less(t, proto.Size(s.LastEvent(t)), 64<<10)
}
