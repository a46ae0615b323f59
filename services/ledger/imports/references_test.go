package imports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// namedFile has a category in its first row. The wallet and the categories of the others are chosen
// by the user.
const namedFile = `Date;Payee;Amount;Currency;Category
2026-02-03;Bakery;-3.50;EUR;Groceries
2026-02-04;Pharmacy;-4.50;EUR;
2026-02-05;Cinema;-5.50;EUR;
`

// newCategory creates a category and returns its id.
func (p person) newCategory(t testing.TB, name string) string {
	t.Helper()
	resp, err := p.CreateCategory(p.Ctx, &ledgerv1.CreateCategoryRequest{Name: name})
	require.NoError(t, err)
	return resp.GetCategory().GetId()
}

// newWallet creates a wallet and returns its id.
func (p person) newWallet(t testing.TB, name string) string {
	t.Helper()
	resp, err := p.CreateWallet(p.Ctx, &ledgerv1.CreateWalletRequest{Name: name, Currency: "EUR"})
	require.NoError(t, err)
	return resp.GetWallet().GetId()
}

// change changes a row of an import.
func (p person) change(t testing.TB, m *ledgerv1.Import, change *rowChange) {
	t.Helper()
	_, err := p.UpdateImportRows(p.Ctx,
		&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: []*rowChange{change}})
	require.NoError(t, err)
}

// categories returns the categories of the rows of an import, with their origin.
func (p person) categories(t testing.TB, m *ledgerv1.Import) (all []string) {
	t.Helper()
	for _, r := range p.rows(t, m) {
		all = append(all, r.GetCategoryId()+" "+r.GetCategoryFrom())
	}
	return all
}

// bookedCategories returns the categories of the user's transactions, in the order of namedFile.
func (p person) bookedCategories(t testing.TB) (all []string) {
	t.Helper()
	type row struct{ ID string }
	rows, err := pg.All[row](t.Context(), p.DB, `
		SELECT category_id::text AS id FROM transactions WHERE owner_id = $1 ORDER BY date`, p.ID)
	require.NoError(t, err)
	for _, r := range rows {
		all = append(all, r.ID)
	}
	return all
}

// stageNamed uploads namedFile with three categories: one of the file, one that the user has
// chosen, and the default.
func (p person) stageNamed(t testing.TB) (m *ledgerv1.Import, food, chosen, fallback string) {
	t.Helper()
	food = p.newCategory(t, "Groceries")
	chosen = p.newCategory(t, "Health")
	fallback = p.newCategory(t, "Other")
	m = p.mustUpload(t, namedFile)
	updated, err := p.UpdateImport(p.Ctx,
		&ledgerv1.UpdateImportRequest{Id: m.GetId(), Defaults: &ledgerv1.ImportDefaultsChange{
			WalletId: new(p.Wallet.String()), ExpenseCategoryId: new(fallback),
		}})
	require.NoError(t, err)
	p.change(t, m, &rowChange{N: 3, CategoryId: &chosen})
	require.Equal(t, []string{food + " file", chosen + " user", fallback + " default"},
		p.categories(t, m))
	return updated.GetImport(), food, chosen, fallback
}

func TestDeleteCategoryOfStagedRows(t *testing.T) {
	t.Parallel()
	s := setup(t)
	merge := func(t *testing.T, p person, from, to string) {
		t.Helper()
		_, err := p.DeleteCategory(p.Ctx,
			&ledgerv1.DeleteCategoryRequest{Id: from, ReassignTo: &to})
		require.NoError(t, err)
	}
	remove := func(t *testing.T, p person, ids ...string) {
		t.Helper()
		for _, id := range ids {
			_, err := p.DeleteCategory(p.Ctx, &ledgerv1.DeleteCategoryRequest{Id: id})
			require.NoError(t, err)
		}
	}
	t.Run("a merge changes the preview, the assignments and the commit", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m, food, chosen, fallback := p.stageNamed(t)
		first, last := p.newCategory(t, "First"), p.newCategory(t, "Last")
		for _, from := range []string{food, chosen, fallback} {
			merge(t, p, from, first)
		}
		merge(t, p, first, last)
		require.Equal(t, []string{last + " file", last + " user", last + " default"},
			p.categories(t, m))
		m = p.get(t, m)
		require.Equal(t, last, m.GetCategories()[0].GetCategoryId())
		require.Equal(t, last, m.GetDefaults().GetExpenseCategoryId())
		// The rows are derived again from the same references.
		_, err := p.UpdateImport(p.Ctx,
			&ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: m.GetMapping()})
		require.NoError(t, err)
		require.Equal(t, []string{last + " file", last + " user", last + " default"},
			p.categories(t, m))
		require.Equal(t, staging.Done, p.commit(t, m).GetStatus())
		require.Equal(t, []string{last, last, last}, p.bookedCategories(t))
	})
	t.Run("a merge changes a queued commit", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m, food, chosen, fallback := p.stageNamed(t)
		_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
		require.NoError(t, err)
		merge(t, p, chosen, food)
		require.Equal(t, staging.Done, p.finish(t, m).GetStatus())
		require.Equal(t, []string{food, food, fallback}, p.bookedCategories(t))
	})
	t.Run("a deletion clears the rows, which the user can assign again", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m, food, chosen, fallback := p.stageNamed(t)
		remove(t, p, food, chosen, fallback)
		require.Equal(t, []string{" ", " ", " "}, p.categories(t, m))
		_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
		fixture.RequireReason(t, err, codes.FailedPrecondition, "IMPORT_NOT_READY")
		other := p.Category.String()
		for _, n := range []int32{2, 3, 4} {
			p.change(t, m, &rowChange{N: n, CategoryId: &other})
		}
		require.Equal(t, staging.Done, p.commit(t, m).GetStatus())
		require.Equal(t, []string{other, other, other}, p.bookedCategories(t))
	})
	t.Run("a commit that fails can be corrected row by row", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		// The second chunk has the row of the deleted category.
		m := p.mustUpload(t, largeStatement(600))
		chosen, other := p.newCategory(t, "Health"), p.Category.String()
		_, err := p.UpdateImport(p.Ctx, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(), Defaults: &ledgerv1.ImportDefaultsChange{
				ExpenseCategoryId: new(""), IncomeCategoryId: new(""),
			},
		})
		require.NoError(t, err)
		p.categorize(t, m, 600, func(n int32) string {
			if n == 590 {
				return chosen
			}
			return other
		})
		_, err = p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
		require.NoError(t, err)
		remove(t, p, chosen)
		m = p.finish(t, m)
		require.Equal(t, staging.Failed, m.GetStatus())
		require.Equal(t, "INVALID_CATEGORY_EXIST_PARAMS", m.GetProgress().GetProblem())
		require.Positive(t, m.GetCounts().GetBooked())
		_, err = p.UpdateImportRows(p.Ctx,
			&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: []*rowChange{
				{N: 2, CategoryId: &other},
			}})
		fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
		_, err = p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
		fixture.RequireReason(t, err, codes.FailedPrecondition, "IMPORT_NOT_READY")
		p.change(t, m, &rowChange{N: 590, CategoryId: &other})
		m = p.commit(t, m)
		require.Equal(t, staging.Done, m.GetStatus())
		require.EqualValues(t, 600, m.GetCounts().GetBooked())
		s.RequireConsistent(t)
	})
}

// categorize chooses categories for the first n rows after the heading, 500 with each request.
func (p person) categorize(t testing.TB, m *ledgerv1.Import, n int, category func(n int32) string) {
	t.Helper()
	var changes []*rowChange
	for i := range n {
		row := int32(i + 2)
		id := category(row)
		changes = append(changes, &rowChange{N: row, CategoryId: &id})
		if len(changes) == maxRowChanges || i == n-1 {
			_, err := p.UpdateImportRows(p.Ctx,
				&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: changes})
			require.NoError(t, err)
			changes = nil
		}
	}
}

func TestDeleteWalletOfStagedRows(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	account, other := p.newWallet(t, "Account"), p.newWallet(t, "Other")
	resp, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: account}, namedFile)
	require.NoError(t, err)
	m := resp.GetImport()
	category := p.Category.String()
	_, err = p.UpdateImport(p.Ctx, &ledgerv1.UpdateImportRequest{
		Id: m.GetId(),
		Defaults: &ledgerv1.ImportDefaultsChange{
			ExpenseCategoryId: new(category), WalletId: new(account),
		},
	})
	require.NoError(t, err)
	p.change(t, m, &rowChange{N: 4, TransferWalletId: &other})
	for _, id := range []string{account, other} {
		_, err := p.DeleteWallet(p.Ctx, &ledgerv1.DeleteWalletRequest{Id: id})
		require.NoError(t, err)
	}

	m = p.get(t, m)
	require.Empty(t, m.GetDefaults().GetWalletId())
	require.Empty(t, m.GetAccounts()[0].GetWalletId())
	require.Empty(t, p.rows(t, m)[2].GetTransferWalletId())
	_, err = p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
	fixture.RequireReason(t, err, codes.FailedPrecondition, "IMPORT_NOT_READY")
	// The row of the transfer becomes an ordinary payment, because its other wallet does not exist.
	_, err = p.UpdateImport(p.Ctx,
		&ledgerv1.UpdateImportRequest{Id: m.GetId(), Defaults: &ledgerv1.ImportDefaultsChange{
			WalletId: new(p.Wallet.String()), ExpenseCategoryId: new(category),
		}})
	require.NoError(t, err)
	m = p.commit(t, m)
	require.Equal(t, staging.Done, m.GetStatus())
	require.EqualValues(t, 3, m.GetCounts().GetBooked())
	require.Equal(t, "-13.50", p.balance(t))
}

// TestSelectRowsFollowsReferences stores unknown ids in each column of a row that names a wallet or
// category. No reader may see them.
func TestSelectRowsFollowsReferences(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, statementFile)
	type column struct{ Name string }
	columns, err := pg.All[column](t.Context(), s.DB, `
		SELECT column_name AS name FROM information_schema.columns
		WHERE table_name = 'import_rows'
			AND (column_name LIKE '%category_id' OR column_name LIKE '%wallet_id')`)
	require.NoError(t, err)
	require.Len(t, columns, 5)
	var set, null []string
	for _, c := range columns {
		set, null = append(set, c.Name+" = gen_random_uuid()"), append(null, c.Name+" IS NULL")
	}
	pgtest.Exec(t, s.DB, `UPDATE import_rows SET `+strings.Join(set, ", ")+` WHERE import_id = $1`,
		m.GetId())
	var read, cleared int
	require.NoError(t, s.DB.QueryRow(t.Context(),
		fmt.Sprintf(`SELECT count(*), count(*) FILTER (WHERE %s) FROM (%s) AS r`,
			strings.Join(null, " AND "), staging.RowsWith), p.ID, uuid.MustParse(m.GetId())).
		Scan(&read, &cleared))
	require.Equal(t, 5, read)
	require.Equal(t, read, cleared)
}

// TestCommitImportStatesDefault deletes the category of a row after the commit was accepted. The
// row states the default that it gets instead, so that it does not look like a later choice.
func TestCommitImportStatesDefault(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	m, food, chosen, fallback := p.stageNamed(t)
	_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	_, err = p.DeleteCategory(p.Ctx, &ledgerv1.DeleteCategoryRequest{Id: chosen})
	require.NoError(t, err)
	require.Equal(t, staging.Done, p.finish(t, m).GetStatus())
	require.Equal(t, []string{food + " file", fallback + " default", fallback + " default"},
		p.categories(t, m))
}
