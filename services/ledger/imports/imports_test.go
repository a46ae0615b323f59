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

const statementFile = `Date;Payee;Description;Amount;Currency
03.02.2026;Bakery;Coffee;-3,50;EUR
03.02.2026;Bakery;Coffee;-3,50;EUR
15.02.2026;Employer;Salary February;2.500,00;EUR
28.02.2026;Landlord;Rent;-850,00;EUR
`

// stored returns what imports must restore: the sums, and the transactions without the columns that
// every write changes.
func (s *server) stored(t testing.TB) string {
	t.Helper()
	type row struct{ All string }
	r, err := pg.One[row](t.Context(), s.DB, `
		SELECT concat_ws(E'\n',
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM wallets x),
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM wallet_balances x),
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM categories x),
			(SELECT string_agg((to_jsonb(x) - 'version' - 'updated_at' - 'seq')::text,
				';' ORDER BY x.id) FROM (SELECT * FROM transactions) x),
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM splits x),
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM tags x),
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM monthly_totals x
				WHERE transaction_count <> 0),
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM monthly_transfers x
				WHERE transfer_count <> 0)) AS all`)
	require.NoError(t, err)
	return r.All
}

func (p person) balance(t testing.TB) string {
	t.Helper()
	resp, err := p.GetWallet(p.Ctx, &ledgerv1.GetWalletRequest{Id: p.Wallet.String()})
	require.NoError(t, err)
	return resp.GetWallet().GetBalance()
}

func TestCreateImport(t *testing.T) {
	t.Parallel()
	s := setup(t)
	t.Run("stages the rows and books nothing", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		resp, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: p.Wallet.String()},
			statementFile)
		require.NoError(t, err)
		m := resp.GetImport()
		require.Equal(t, staging.Preview, m.GetStatus())
		require.Equal(t, "csv", m.GetFormat())
		require.EqualValues(t, 4, m.GetCounts().GetReady())
		require.Equal(t, "2026-02-03", m.GetFirstDate())
		require.Equal(t, "2026-02-28", m.GetLastDate())
		require.Equal(t, "DD.MM.YYYY", m.GetMapping().GetDateLayout())
		require.Equal(t, []string{"Date", "Payee", "Description", "Amount", "Currency"},
			m.GetHeading())
		require.Len(t, resp.GetRows(), 4)
		require.Equal(t, "-3.50", resp.GetRows()[0].GetAmount())
		require.Equal(t, "2500.00", resp.GetRows()[2].GetAmount())
		require.Equal(t, "Bakery", resp.GetRows()[0].GetPayee())
		require.Equal(t, "0.00", p.balance(t))
	})
	t.Run("returns the heading that the mapping names", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.mustUpload(t, statementFile)
		mapping := m.GetMapping()
		mapping.Header = false
		resp, err := p.UpdateImport(p.Ctx,
			&ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: mapping})
		require.NoError(t, err)
		require.Empty(t, resp.GetImport().GetHeading())
	})
	t.Run("rejects what is no file of a known format and stores nothing", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		for name, c := range map[string]struct{ file, reason string }{
			"empty":   {"", "IMPORT_FILE_REQUIRED"},
			"a PDF":   {"%PDF-1.4\n%\xe2\xe3", "IMPORT_FORMAT_UNKNOWN"},
			"one row": {"hello", "IMPORT_FORMAT_UNKNOWN"},
			"broken":  {"OFXHEADER:100\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><BANKTRANLIST><STMTTRN><TRNAMT>x", "IMPORT_PARSE_FAILED"},
		} {
			_, err := p.upload(&ledgerv1.CreateImportRequest{}, c.file)
			fixture.RequireReason(t, err, codes.InvalidArgument, c.reason)
			list, err := p.ListImports(p.Ctx, &ledgerv1.ListImportsRequest{})
			require.NoError(t, err)
			require.Empty(t, list.GetImports(), name)
		}
		left := pgtest.Value[int](t, s.DB, `SELECT count(*) FROM imports WHERE owner_id = $1`, p.ID)
		require.Zero(t, left)
	})
	t.Run("names the place of a defect", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		encrypted := "PK\x03\x04\x14\x00\x01\x00" + strings.Repeat("\x00", 18) +
			"\x05\x00\x00\x00a.csv"
		for file, place := range map[string]string{
			"OFXHEADER:100\n\n<OFX><BANKMSGSRSV1><STMTTRNRS>": "line 3", encrypted: "file",
		} {
			_, err := p.upload(&ledgerv1.CreateImportRequest{}, file)
			problem := fixture.RequireReason(t, err, codes.InvalidArgument, "IMPORT_PARSE_FAILED")
			require.Equal(t, place, problem.Fields[0].Name)
		}
	})
	t.Run("rejects an eleventh open import", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		for range maxOpen {
			_, err := p.upload(&ledgerv1.CreateImportRequest{}, statementFile)
			require.NoError(t, err)
		}
		_, err := p.upload(&ledgerv1.CreateImportRequest{}, statementFile)
		fixture.RequireReason(t, err, codes.AlreadyExists, "LIMIT_REACHED")
	})
	t.Run("rejects a wallet of another user", func(t *testing.T) {
		t.Parallel()
		p, other := newPerson(t, s), newPerson(t, s)
		_, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: other.Wallet.String()},
			statementFile)
		fixture.RequireReason(t, err, codes.NotFound, "WALLET_NOT_FOUND")
	})
}

func TestCommitImport(t *testing.T) {
	t.Parallel()
	s := setup(t)
	t.Run("creates a transaction per row", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.commit(t, p.mustUpload(t, statementFile))
		require.Equal(t, staging.Done, m.GetStatus())
		require.EqualValues(t, 4, m.GetCounts().GetBooked())
		require.EqualValues(t, 4, m.GetProgress().GetDone())
		require.Equal(t, "1643.00", p.balance(t))
		for _, r := range p.rows(t, m) {
			require.Equal(t, staging.Booked, r.GetStatus())
			require.NotEmpty(t, r.GetTransactionId())
			require.Empty(t, r.GetCells())
		}
		require.Empty(t, s.Differences(t)[p.ID])
	})
	t.Run("creates nothing for the same file a second time", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		first := p.commit(t, p.mustUpload(t, statementFile))
		m := p.mustUpload(t, statementFile)
		require.EqualValues(t, 4, m.GetCounts().GetDuplicate())
		require.Contains(t, m.GetWarnings(), "DUPLICATE_OF:"+first.GetId())
		m = p.commit(t, m)
		require.Zero(t, m.GetCounts().GetBooked())
		require.Equal(t, "1643.00", p.balance(t))
		_, err := p.upload(&ledgerv1.CreateImportRequest{OnDuplicate: "reject"}, statementFile)
		fixture.RequireReason(t, err, codes.AlreadyExists, "IMPORT_DUPLICATE")
	})
	t.Run("books two previews of one file once", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		first, second := p.mustUpload(t, statementFile), p.mustUpload(t, statementFile)
		require.EqualValues(t, 4, second.GetCounts().GetReady())
		p.commit(t, first)
		m := p.commit(t, second)
		require.EqualValues(t, 4, m.GetCounts().GetDuplicate())
		require.Zero(t, m.GetCounts().GetBooked())
		require.Equal(t, "1643.00", p.balance(t))
	})
	t.Run("links a transaction that the user has entered", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		entered := p.enter(t, "-850", "Landlord rent", 27)
		m := p.mustUpload(t, statementFile)
		require.EqualValues(t, 1, m.GetCounts().GetMatched())
		m = p.commit(t, m)
		require.EqualValues(t, 3, m.GetCounts().GetBooked())
		require.Equal(t, "1643.00", p.balance(t))
		require.Equal(t, entered.String(), p.rows(t, m)[3].GetTransactionId())
		again := p.mustUpload(t, statementFile)
		require.EqualValues(t, 4, again.GetCounts().GetDuplicate())
	})
	t.Run("rejects an import whose rows lack a wallet or a category", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		resp, err := p.upload(&ledgerv1.CreateImportRequest{}, statementFile)
		require.NoError(t, err)
		_, err = p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: resp.GetImport().GetId()})
		e := fixture.RequireReason(t, err, codes.FailedPrecondition, "IMPORT_NOT_READY")
		require.Equal(t, []string{"accounts"}, fixture.FieldNames(e))
		_, err = p.UpdateImport(p.Ctx, &ledgerv1.UpdateImportRequest{
			Id:       resp.GetImport().GetId(),
			Defaults: &ledgerv1.ImportDefaultsChange{WalletId: new(p.Wallet.String())},
		})
		require.NoError(t, err)
		_, err = p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: resp.GetImport().GetId()})
		e = fixture.RequireReason(t, err, codes.FailedPrecondition, "IMPORT_NOT_READY")
		require.Equal(t, []string{"defaults"}, fixture.FieldNames(e))
	})
	t.Run("fails if the wallet was deleted, and continues with another one", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		bank := p.MakeWallet(p.Ctx, t, "Bank", "EUR")
		m := p.mustUpload(t, statementFile)
		updated, err := p.UpdateImport(p.Ctx, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(), Accounts: []*ledgerv1.ImportAccount{{
				Key: m.GetAccounts()[0].GetKey(), WalletId: bank.String(),
			}},
		})
		require.NoError(t, err)
		_, err = p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
		require.NoError(t, err)
		_, err = p.DeleteWallet(p.Ctx, &ledgerv1.DeleteWalletRequest{Id: bank.String()})
		require.NoError(t, err)
		m = p.finish(t, updated.GetImport())
		require.Equal(t, staging.Failed, m.GetStatus())
		require.Equal(t, "WALLET_NOT_FOUND", m.GetProgress().GetProblem())
		require.EqualValues(t, 4, m.GetProgress().GetTotal())
		changed, err := p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
			Id: m.GetId(), Rows: []*rowChange{{N: 2, Action: new(staging.ActionSkip)}},
		})
		require.NoError(t, err)
		require.EqualValues(t, 3, changed.GetImport().GetProgress().GetTotal())
		require.EqualValues(t, 3, p.get(t, m).GetProgress().GetTotal())
		_, err = p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
			Id: m.GetId(), Rows: []*rowChange{{N: 2, Action: new("auto")}},
		})
		require.NoError(t, err)
		_, err = p.UpdateImport(p.Ctx, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(), Accounts: []*ledgerv1.ImportAccount{{
				Key: m.GetAccounts()[0].GetKey(), WalletId: p.Wallet.String(),
			}},
		})
		require.NoError(t, err)
		require.Equal(t, staging.Done, p.commit(t, m).GetStatus())
		require.Equal(t, "1643.00", p.balance(t))
	})
}

// enter creates a transaction of the user on a day of February 2026.
func (p person) enter(t testing.TB, amount, description string, day int) uuid.UUID {
	t.Helper()
	id := p.NewID()
	pgtest.Exec(t, p.DB, `
		WITH balance AS (
			UPDATE wallet_balances SET amount_minor = amount_minor + $4::numeric * 100
			WHERE owner_id = $2 AND wallet_id = $3
		), total AS (
			INSERT INTO monthly_totals (owner_id, month, wallet_id, category_id, currency,
				income_minor, expense_minor, transaction_count)
			VALUES ($2, '2026-02-01', $3, $7, 'EUR', 0, -$4::numeric * 100, 1)
			ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE
			SET expense_minor = monthly_totals.expense_minor + EXCLUDED.expense_minor,
				transaction_count = monthly_totals.transaction_count + 1
		)
		INSERT INTO transactions (id, owner_id, wallet_id, category_id, currency, amount_minor,
			amount_e4, description, date, created_at, updated_at)
		VALUES ($1, $2, $3, $7, 'EUR', $4::numeric * 100, $4::numeric * 10000, $5, $6::timestamptz, now(), now())`,
		id, p.ID, p.Wallet, amount, description,
		fmt.Sprintf("2026-02-%02dT10:00:00Z", day), p.Category)
	return id
}
