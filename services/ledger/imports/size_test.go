package imports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// longNames returns a statement of n rows, each with another account and category. Their names
// have the maximum length.
func longNames(n int) string {
	var b strings.Builder
	b.WriteString("Date;Amount;Account;Category;Description\n")
	for i := range n {
		name := strings.Repeat("💶", 96) + fmt.Sprintf("%04d", i)
		fmt.Fprintf(&b, "2024-01-31;-1.00;%s;%s;Lunch\n", name, name)
	}
	return b.String()
}

// TestImportEventSize imports a file with nearly the maximum number of names, all of the maximum
// length. Without a limit, its event is larger than a message of NATS, and blocks the events of all
// users.
func TestImportEventSize(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, longNames(999))
	m.Mapping.Columns = append(m.GetMapping().GetColumns(),
		&ledgerv1.ImportColumn{Index: 2, Field: "account"})
	resp, err := p.UpdateImport(p.Ctx,
		&ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: m.GetMapping()})
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

// TestImportAnswerSizes requires that responses fit into a message if all rows, accounts and
// categories of a file have the maximum length.
func TestImportAnswerSizes(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const fits = rpc.MaxMessage * 9 / 10
	p := newPerson(t, s)
	t.Run("rows", func(t *testing.T) {
		t.Parallel()
		const count = 200
		file := "Date;Amount;Description;Other\n" +
			strings.Repeat("2024-01-31;-1.00;Lunch;"+strings.Repeat("x", 63<<10)+"\n", count)
		resp, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: p.Wallet.String()}, file)
		require.NoError(t, err)
		require.Less(t, proto.Size(resp), fits)
		require.NotEmpty(t, resp.GetRows())
		list := &ledgerv1.ListImportRowsRequest{
			Id: resp.GetImport().GetId(), Limit: new(int32(count)),
		}
		var changes []*rowChange
		for more := true; more; {
			page, err := p.ListImportRows(p.Ctx, list)
			require.NoError(t, err)
			require.Less(t, proto.Size(page), fits)
			for _, r := range page.GetRows() {
				require.EqualValues(t, len(changes)+2, r.GetN(), "the heading is the first record")
				changes = append(changes, &rowChange{N: r.GetN(), Action: new(staging.ActionSkip)})
			}
			list.Cursor = page.GetPagination().GetNextCursor()
			more = page.GetPagination().GetHasMore()
		}
		require.Len(t, changes, count)
		_, err = p.UpdateImportRows(p.Ctx,
			&ledgerv1.UpdateImportRowsRequest{Id: list.GetId(), Rows: changes})
		e := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
		require.Equal(t, []string{"rows"}, fixture.FieldNames(e))
		changed, err := p.UpdateImportRows(p.Ctx,
			&ledgerv1.UpdateImportRowsRequest{Id: list.GetId(), Rows: changes[:50]})
		require.NoError(t, err)
		require.Len(t, changed.GetRows(), 50)
		require.EqualValues(t, 50, changed.GetImport().GetCounts().GetSkipped())
	})
	t.Run("imports", func(t *testing.T) {
		t.Parallel()
		other := newPerson(t, s)
		m := other.mustUpload(t, longNames(999))
		const count = 100
		pgtest.Exec(t, s.DB, `
			INSERT INTO imports (owner_id, id, status, file_name, size, sha256, format, details,
				created_at, updated_at)
			SELECT owner_id, gen_random_uuid(), 'undone', file_name, size, sha256, format, details,
				created_at, updated_at
			FROM imports, generate_series(2, $2) AS n
			WHERE id = $1`, m.GetId(), count)
		list, seen := &ledgerv1.ListImportsRequest{Limit: new(int32(200))}, 0
		for more := true; more; {
			page, err := other.ListImports(other.Ctx, list)
			require.NoError(t, err)
			require.Less(t, proto.Size(page), fits)
			seen += len(page.GetImports())
			list.Cursor = page.GetPagination().GetNextCursor()
			more = page.GetPagination().GetHasMore()
		}
		require.Equal(t, count, seen)
	})
	t.Run("profiles", func(t *testing.T) {
		t.Parallel()
		other := newPerson(t, s)
		for i := range 200 {
			heading := []string{fmt.Sprint(i), strings.Repeat("x", 63<<10)}
			require.NoError(t, staging.SaveProfile(t.Context(), s.DB, other.ID, s.NewID(), heading,
				mapping.Mapping{}, fixture.Today))
		}
		resp, err := other.ListImportProfiles(other.Ctx, &ledgerv1.ListImportProfilesRequest{})
		require.NoError(t, err)
		require.NotEmpty(t, resp.GetProfiles())
		require.Less(t, proto.Size(resp), fits)
	})
}
