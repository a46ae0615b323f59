package imports

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

func TestUpdateImportRows(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	fun, bank := p.MakeCategory(p.Ctx, t, "Fun"), p.MakeWallet(p.Ctx, t, "Bank", "EUR")
	m := p.mustUpload(t, statementFile)
	resp, err := p.UpdateImportRows(p.Ctx,
		&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: []*rowChange{
			{
				N: p.rows(t, m)[0].GetN(), CategoryId: new(fun.String()),
				Description: new("Espresso"),
			},
			{N: p.rows(t, m)[1].GetN(), Action: new("skip")},
			{N: p.rows(t, m)[3].GetN(), TransferWalletId: new(bank.String())},
		}})
	require.NoError(t, err)
	require.Equal(t, staging.FromUser, resp.GetRows()[0].GetCategoryFrom())
	require.EqualValues(t, 1, resp.GetImport().GetCounts().GetSkipped())
	m = p.commit(t, m)
	require.EqualValues(t, 3, m.GetCounts().GetBooked())
	require.Equal(t, "1646.50", p.balance(t))
	s.RequireConsistent(t)
	var description, other string
	require.NoError(t, s.DB.QueryRow(t.Context(),
		`SELECT description FROM transactions WHERE category_id = $1`, fun).Scan(&description))
	require.Equal(t, "Espresso", description)
	require.NoError(t, s.DB.QueryRow(t.Context(),
		`SELECT amount_minor::text FROM wallet_balances WHERE wallet_id = $1`, bank).Scan(&other))
	require.Equal(t, "85000", other)
	p.undo(t, m, false)
	require.Equal(t, "0.00", p.balance(t))
	s.RequireConsistent(t)

	_, err = p.UpdateImportRows(p.Ctx,
		&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: []*rowChange{{N: 2}}})
	fixture.RequireReason(t, err, codes.FailedPrecondition, "IMPORT_STATE")
}

// commitChosen commits an import with the given file, after the user chose the category of each
// row.
func (p person) commitChosen(t *testing.T, file string) {
	t.Helper()
	m := p.mustUpload(t, file)
	var changes []*rowChange
	for _, r := range p.rows(t, m) {
		changes = append(changes, &rowChange{N: r.GetN(), CategoryId: new(p.Category.String())})
	}
	_, err := p.UpdateImportRows(p.Ctx,
		&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: changes})
	require.NoError(t, err)
	p.commit(t, m)
}

func TestImportSuggestsCategories(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	p.commitChosen(t, statementFile)
	m := p.mustUpload(t,
		"Date;Payee;Description;Amount;Currency\n05.03.2026;BAKERY 12;Coffee;-3,50;EUR\n06.03.2026;Kiosk;News;-2,00;EUR\n")
	require.Equal(t, []string{staging.FromHistory, staging.FromDefault},
		[]string{p.rows(t, m)[0].GetCategoryFrom(), p.rows(t, m)[1].GetCategoryFrom()})
	change := func(c *rowChange) string {
		resp, err := p.UpdateImportRows(p.Ctx,
			&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: []*rowChange{c}})
		require.NoError(t, err)
		return resp.GetRows()[0].GetCategoryFrom()
	}
	first, second := p.rows(t, m)[0].GetN(), p.rows(t, m)[1].GetN()
	require.Equal(t, staging.FromHistory, change(&rowChange{N: second, Payee: new("Bakery 9")}))
	require.Equal(t, staging.FromDefault, change(&rowChange{N: second, Payee: new("12 34")}))
	require.Equal(t, staging.FromUser,
		change(&rowChange{N: first, CategoryId: new(p.Category.String())}))
	require.Equal(t, staging.FromHistory, change(&rowChange{N: first, CategoryId: new("")}))
}

// TestUpdateImportRowsKeepsSuggestions requires that the history is read again only for a row whose
// texts change.
func TestUpdateImportRowsKeepsSuggestions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	p.commitChosen(t, statementFile)
	m := p.mustUpload(t,
		"Date;Payee;Description;Amount;Currency\n05.03.2026;BAKERY 12;Coffee;-3,50;EUR\n")
	row := p.rows(t, m)[0]
	require.Equal(t, staging.FromHistory, row.GetCategoryFrom())
	pgtest.Exec(t, s.DB, `UPDATE transactions SET payee = '', description = '' WHERE owner_id = $1`,
		p.ID)
	for _, c := range []struct {
		change *rowChange
		from   string
	}{
		{&rowChange{Action: new(staging.ActionSkip)}, staging.FromHistory},
		{&rowChange{Action: new(staging.ActionBook)}, staging.FromHistory},
		{&rowChange{Payee: new("Bakery 9")}, staging.FromDefault},
	} {
		c.change.N = row.GetN()
		resp, err := p.UpdateImportRows(p.Ctx,
			&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: []*rowChange{c.change}})
		require.NoError(t, err)
		require.Equal(t, c.from, resp.GetRows()[0].GetCategoryFrom())
	}
}

// TestUpdateImportRowsCounts requires that the counts, which change by the difference, are those of
// the stored rows.
func TestUpdateImportRowsCounts(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	first := p.mustUpload(t,
		"Date;Payee;Description;Amount;Currency\n03.02.2026;Bakery;Coffee;-3,50;EUR\n")
	p.commit(t, p.confirm(t, first, "DATE_ORDER_ASSUMED"))
	p.enter(t, "-850", "Landlord rent", 27)
	m := p.mustUpload(t, statementFile+"no date;Shop;x;-1,00;EUR\n")
	for _, change := range []*rowChange{
		{N: 2, Action: new(staging.ActionBook)},
		{N: 2, Action: new("auto")},
		{N: 3, Action: new(staging.ActionSkip)},
		{N: 5, Action: new(staging.ActionBook)},
		{N: 5, Action: new("auto")},
		{N: 6, Payee: new("Shop 2")},
	} {
		resp, err := p.UpdateImportRows(p.Ctx,
			&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: []*rowChange{change}})
		require.NoError(t, err)
		require.True(t, proto.Equal(p.get(t, m), resp.GetImport()),
			"the response is the stored import")
		var c ledgerv1.ImportCounts
		require.NoError(t, s.DB.QueryRow(t.Context(), `
			SELECT count(*), count(*) FILTER (WHERE status = 'ready'),
				count(*) FILTER (WHERE status = 'duplicate'),
				count(*) FILTER (WHERE status = 'matched'),
				count(*) FILTER (WHERE status = 'invalid'),
				count(*) FILTER (WHERE status = 'skipped')
			FROM import_rows
			WHERE import_id = $1 AND status <> 'hidden'`,
			m.GetId()).Scan(&c.Total, &c.Ready, &c.Duplicate, &c.Matched, &c.Invalid, &c.Skipped))
		require.True(t, proto.Equal(&c, resp.GetImport().GetCounts()), "%v after %v: %v", &c,
			change, resp.GetImport().GetCounts())
	}
}
