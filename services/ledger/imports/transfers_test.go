package imports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// exported is an export of Coffer with two wallets and three transfers. The lines of the two legs
// of a transfer are not together, and two transfers are equal except for their ids. The third one
// has one leg.
const exported = `{"wallet":{"id":"w1","name":"Giro","currency":"EUR","balance":0,"initialBalance":0}}
{"wallet":{"id":"w2","name":"Savings","currency":"USD","balance":0,"initialBalance":0}}
{"category":{"id":"c1","name":"Rent"}}
{"transaction":{"id":"t1","amount":-10.00,"currency":"EUR","type":"transfer","date":"2026-02-01T00:00:00.000Z","walletId":"w1","transferId":"x"}}
{"transaction":{"id":"t2","amount":-10.00,"currency":"EUR","type":"transfer","date":"2026-02-01T00:00:00.000Z","walletId":"w1","transferId":"y"}}
{"transaction":{"id":"t3","amount":-7.00,"currency":"EUR","type":"expense","date":"2026-02-01T00:00:00.000Z","walletId":"w1","categoryId":"c1"}}
{"transaction":{"id":"t4","amount":12.00,"currency":"USD","type":"transfer","date":"2026-02-03T00:00:00.000Z","walletId":"w2","transferId":"y"}}
{"transaction":{"id":"t5","amount":11.00,"currency":"USD","type":"transfer","date":"2026-02-01T00:00:00.000Z","walletId":"w2","transferId":"x"}}
{"transaction":{"id":"t6","amount":-1.00,"currency":"EUR","type":"transfer","date":"2026-02-04T00:00:00.000Z","walletId":"w1","transferId":"z"}}
`

// uploadExport uploads a file whose accounts become the wallets of their names.
func (p person) uploadExport(t *testing.T, file string) *ledgerv1.Import {
	t.Helper()
	resp, err := p.upload(&ledgerv1.CreateImportRequest{}, file)
	require.NoError(t, err)
	return p.update(t, &ledgerv1.UpdateImportRequest{
		Id: resp.GetImport().GetId(),
		Defaults: &ledgerv1.ImportDefaultsChange{
			ExpenseCategoryId: new(p.Category.String()), IncomeCategoryId: new(p.Category.String()),
		},
	})
}

func TestCommitImportTransfers(t *testing.T) {
	t.Parallel()
	t.Run("pairs legs by their id", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		p := newPerson(t, s)
		m := p.commit(t, p.uploadExport(t, exported))
		require.Equal(t, staging.Done, m.GetStatus(), m.GetProgress().GetProblem())
		require.EqualValues(t, 6, m.GetCounts().GetBooked())
		pairs := pgtest.Value[string](t, s.DB, `
			SELECT string_agg(pair, ' ' ORDER BY pair)
			FROM (
				SELECT string_agg(external_id, '-' ORDER BY external_id) AS pair FROM transactions
				WHERE owner_id = $1 AND transfer_id IS NOT NULL
				GROUP BY transfer_id
			) AS p`, p.ID)
		require.Equal(t, "coffer:t1-coffer:t5 coffer:t2-coffer:t4", pairs)
		s.RequireConsistent(t)
		m = p.uploadExport(t, exported)
		require.EqualValues(t, 6, m.GetCounts().GetDuplicate())
	})
	t.Run("adds no leg beside a transaction that exists", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		p := newPerson(t, s)
		p.enter(t, "-10", "To the bank", 1)
		bank := p.MakeWallet(p.Ctx, t, "Giro", "EUR")
		m := p.uploadExport(t, strings.NewReplacer(`"Giro"`, `"Cash"`, `"Savings"`, `"Giro"`,
			"12.00", "10.00", "11.00", "10.00", "USD", "EUR").Replace(exported))
		require.EqualValues(t, 1, m.GetCounts().GetMatched())
		m = p.commit(t, m)
		require.Equal(t, staging.Done, m.GetStatus(), m.GetProgress().GetProblem())
		require.Equal(t, "-28.00", p.balance(t))
		require.Equal(t, map[string]string{"EUR": "20.00"}, p.Balances(t, bank))
		s.RequireConsistent(t)
	})
}

func TestUndoImportKeepsLegsOfTheUser(t *testing.T) {
	t.Parallel()
	for name, force := range map[string]bool{
		"unless it is forced": false, "as ordinary transactions": true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			p := newPerson(t, s)
			bank := p.MakeWallet(p.Ctx, t, "Bank", "EUR")
			m := p.mustUpload(t,
				"Date;Payee;Amount;Currency\n05.02.2026;Bank;-20,00;EUR\n06.02.2026;Shop;-5,00;EUR\n")
			m = p.commit(t, p.confirm(t, m, "DATE_ORDER_ASSUMED"))
			typed := []posting.Transaction{{
				WalletID: bank, CategoryID: &p.Category, AmountMinor: 2000, Currency: "EUR",
				Date: fixture.Today,
			}}
			s.Record(p.Ctx, t, typed...)
			matching := &transfers.Transfers{
				Ledger: s.Imports.Ledger, Cursors: s.Service.Cursors, Reads: s.Reads,
			}
			_, err := matching.MatchTransfer(p.Ctx, &ledgerv1.MatchTransferRequest{
				OutTransactionId: p.rows(t, m)[0].GetTransactionId(),
				InTransactionId:  typed[0].ID.String(),
			})
			require.NoError(t, err)
			m = p.undo(t, m, force)
			s.RequireConsistent(t)
			require.Equal(t, map[string]string{"EUR": "20.00"}, p.Balances(t, bank))
			left := s.Transaction(t, typed[0].ID)
			if !force {
				require.EqualValues(t, 1, m.GetCounts().GetSkipped())
				require.NotNil(t, left.TransferID)
				require.Equal(t, "-20.00", p.balance(t))
				return
			}
			require.EqualValues(t, 2, m.GetCounts().GetUndone())
			require.Nil(t, left.TransferID)
			require.Equal(t, p.Category, *left.CategoryID)
			require.Equal(t, "0.00", p.balance(t))
		})
	}
}
