package imports

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// moved returns the booked transactions as texts: day, wallet, minor units, category or parts,
// payee, description and tags.
func (p person) moved(t *testing.T) []string {
	t.Helper()
	rows, err := pg.All[struct{ Text string }](p.Ctx, p.DB, `
		SELECT concat_ws('|', (t.date AT TIME ZONE 'UTC')::date, w.name,
			t.amount_minor || ' ' || t.currency, coalesce(c.name, (
				SELECT string_agg(pc.name || ' ' || s.amount_minor, ', ' ORDER BY s.position)
				FROM splits s
					JOIN categories pc ON pc.owner_id = s.owner_id AND pc.id = s.category_id
				WHERE s.owner_id = t.owner_id AND s.transaction_id = t.id), 'transfer'),
			t.payee, t.description, array_to_string(t.tags, ',')) AS text
		FROM transactions t
		JOIN wallets w ON w.owner_id = t.owner_id AND w.id = t.wallet_id
		LEFT JOIN categories c ON c.owner_id = t.owner_id AND c.id = t.category_id
		WHERE t.owner_id = $1
		ORDER BY t.date, w.name, t.amount_minor`, p.ID)
	require.NoError(t, err)
	texts := make([]string, len(rows))
	for i, r := range rows {
		texts[i] = r.Text
	}
	return texts
}

// opening returns the opening balance of the wallet with a name, and the day from which it counts.
func (p person) opening(t *testing.T, name string) string {
	t.Helper()
	r, err := pg.One[struct{ Text string }](p.Ctx, p.DB, `
		SELECT concat_ws(' ', initial_minor, currency, opening_date) AS text FROM wallets
		WHERE owner_id = $1 AND name = $2`,
		p.ID, name)
	require.NoError(t, err)
	return r.Text
}

// sample returns a file in the form of another program's export.
func sample(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "moving", name))
	require.NoError(t, err)
	return string(content)
}

// uploaded uploads a file without a wallet.
func (p person) uploaded(t *testing.T, file string) *ledgerv1.CreateImportResponse {
	t.Helper()
	resp, err := p.upload(&ledgerv1.CreateImportRequest{}, file)
	require.NoError(t, err)
	return resp
}

// committed commits an import and requires its success.
func (p person) committed(t *testing.T, m *ledgerv1.Import) {
	t.Helper()
	m = p.commit(t, m)
	require.Equal(t, staging.Done, m.GetStatus(), m.GetProgress().GetProblem())
}

// update changes an import.
func (p person) update(t testing.TB, req *ledgerv1.UpdateImportRequest) *ledgerv1.Import {
	t.Helper()
	req.Wait = new(int32(0))
	resp, err := p.UpdateImport(p.Ctx, req)
	require.NoError(t, err)
	return resp.GetImport()
}

// createAll returns the accounts of an import, each to become a wallet.
func createAll(m *ledgerv1.Import) []*ledgerv1.ImportAccount {
	var accounts []*ledgerv1.ImportAccount
	for _, a := range m.GetAccounts() {
		accounts = append(accounts, &ledgerv1.ImportAccount{Key: a.GetKey(), Create: true})
	}
	return accounts
}

// TestMovingToCoffer follows docs/moving.md.
func TestMovingToCoffer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	t.Run("Firefly III", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.uploaded(t, sample(t, "firefly.csv")).GetImport()
		require.Equal(t, []string{"firefly", "BUDGETS_SKIPPED"},
			[]string{m.GetFormat(), m.GetWarnings()[0]})
		p.committed(t, m)
		require.Equal(t, []string{
			"2026-03-15|Checking|-30000 EUR|transfer||To the savings|",
			"2026-03-15|Savings|32400 USD|transfer||To the savings|",
			"2026-03-29|Checking|-8025 EUR|Groceries -6025, Household -2000|Superstore|Big trip|",
			"2026-03-30|Checking|250000 EUR|Salary|Employer|Salary March|",
			"2026-03-31|Checking|-4250 EUR|Groceries|Corner Shop|Weekly shopping|weekly,food",
		}, p.moved(t))
		require.Equal(t, "100000 EUR 2026-03-01", p.opening(t, "Checking"))
	})
	t.Run("YNAB", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		var file bytes.Buffer
		archive := zip.NewWriter(&file)
		for name, content := range map[string]string{
			"Plan.csv":     "\"Month\",\"Category Group/Category\"\n",
			"Register.csv": sample(t, "ynab-register.csv"),
		} {
			w, err := archive.Create("My Plan as of 2026-03-31 - " + name)
			require.NoError(t, err)
			_, err = w.Write([]byte(content))
			require.NoError(t, err)
		}
		require.NoError(t, archive.Close())
		m := p.uploaded(t, file.String()).GetImport()
		require.Equal(t, "ynab", m.GetFormat())
		m = p.update(t, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(), Defaults: &ledgerv1.ImportDefaultsChange{Currency: new("EUR")},
		})
		p.committed(t, m)
		require.Equal(t, []string{
			"2026-03-15|Checking|-30000 EUR|transfer|||",
			"2026-03-15|Savings|30000 EUR|transfer|||",
			"2026-03-29|Checking|-8025 EUR|Needs: Groceries -6025, Needs: Household -2000|Superstore||",
			"2026-03-30|Checking|250000 EUR|Inflow: Ready to Assign|Employer||",
			"2026-03-31|Checking|-4250 EUR|Needs: Groceries|Corner Shop|weekly|red",
		}, p.moved(t))
		require.Equal(t, "100000 EUR 2026-03-01", p.opening(t, "Checking"))
	})
	t.Run("Actual", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		resp := p.uploaded(t, sample(t, "actual.csv"))
		m := p.update(t, &ledgerv1.UpdateImportRequest{
			Id: resp.GetImport().GetId(), Accounts: createAll(resp.GetImport()),
			Defaults: &ledgerv1.ImportDefaultsChange{
				Currency: new("EUR"), ExpenseCategoryId: new(p.Category.String()),
				IncomeCategoryId: new(p.Category.String()),
			},
		})
		p.committed(t, m)
		require.Equal(t, []string{
			"2026-03-01|Checking|100000 EUR|Starting Balances|Starting Balance||",
			"2026-03-15|Checking|-30000 EUR|transfer|Savings||",
			"2026-03-15|Savings|30000 EUR|transfer|Checking||",
			"2026-03-29|Checking|-6025 EUR|Groceries|Superstore|(SPLIT 1 OF 2) food|",
			"2026-03-29|Checking|-2000 EUR|Household|Superstore|(SPLIT 2 OF 2) soap|",
			"2026-03-30|Checking|250000 EUR|Income|Employer||",
			"2026-03-31|Checking|-4250 EUR|Groceries|Corner Shop|weekly|",
		}, p.moved(t))
		p.requireOneTransfer(t)
	})
	t.Run("GnuCash", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		resp := p.uploaded(t, sample(t, "gnucash.csv"))
		m := p.update(t, &ledgerv1.UpdateImportRequest{
			Id: resp.GetImport().GetId(), Accounts: createAll(resp.GetImport()),
		})
		p.committed(t, m)
		require.Equal(t, []string{
			"2026-03-01|Assets:Checking|100000 EUR|Equity:Opening Balances||Opening Balance|",
			"2026-03-15|Assets:Checking|-4250 EUR|Expenses:Groceries||Corner Shop|",
			"2026-03-16|Assets:Checking|-30000 EUR|transfer||To the savings|",
			"2026-03-16|Assets:Savings|30000 EUR|transfer||To the savings|",
			"2026-03-29|Assets:Checking|-8025 EUR|-- Split Transaction --||Superstore|",
			"2026-03-30|Assets:Checking|250000 EUR|Income:Salary||Employer|",
		}, p.moved(t))
		p.requireOneTransfer(t)
	})
	t.Run("a bank's CSV", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.mustUpload(t, sample(t, "bank.csv"))
		require.Equal(t, []string{"DD.MM.YYYY", ","},
			[]string{m.GetMapping().GetDateLayout(), m.GetMapping().GetDecimalMark()})
		p.committed(t, m)
		require.Equal(t, []string{
			"2026-03-15|Cash|-4250 EUR|Food|Corner Shop|Card payment|",
			"2026-03-30|Cash|250000 EUR|Food|Employer|Salary March|",
			"2026-03-31|Cash|-450 EUR|Food|Café Sol|Card payment|",
		}, p.moved(t))
		require.EqualValues(t, 3, p.mustUpload(t, sample(t, "bank.csv")).GetCounts().GetDuplicate())
	})
}

// balances returns the wallets with the minor units and the currencies of their balances, sorted.
// Wallets without a transaction are missing.
func (p person) balances(t *testing.T) []string {
	t.Helper()
	rows, err := pg.All[struct{ Text string }](p.Ctx, p.DB, `
		SELECT w.name || '|' || b.amount_minor || ' ' || b.currency AS text
		FROM wallet_balances b JOIN wallets w ON w.owner_id = b.owner_id AND w.id = b.wallet_id
		WHERE b.owner_id = $1
			AND EXISTS (SELECT FROM transactions t
				WHERE t.owner_id = b.owner_id AND t.wallet_id = w.id)
		ORDER BY w.name, b.currency`, p.ID)
	require.NoError(t, err)
	texts := make([]string, len(rows))
	for i, r := range rows {
		texts[i] = r.Text
	}
	return texts
}

// requireOneTransfer requires that exactly one pair of booked transactions has opposite amounts on
// one day in two wallets. The suggestions of transfers look for such pairs.
func (p person) requireOneTransfer(t *testing.T) {
	t.Helper()
	r, err := pg.One[struct{ Pairs int }](p.Ctx, p.DB, `
		SELECT count(*)::integer AS pairs
		FROM transactions a
			JOIN transactions b
				ON b.owner_id = a.owner_id AND b.wallet_id <> a.wallet_id AND b.date = a.date
			AND b.currency = a.currency AND b.amount_minor = -a.amount_minor
		WHERE a.owner_id = $1 AND a.amount_minor < 0`, p.ID)
	require.NoError(t, err)
	require.Equal(t, 1, r.Pairs)
}
