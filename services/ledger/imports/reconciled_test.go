package imports

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/reconciliations"
)

// reconciledExport is an export of two wallets. Three reconciliations lock five of six
// transactions. A transaction of the third one has been changed, so it differs.
const reconciledExport = `{"wallet":{"id":"w1","name":"Vault","currency":"EUR","balance":0}}
{"wallet":{"id":"w2","name":"Chest","currency":"EUR","balance":0}}
{"reconciliation":{"id":"r1","walletId":"w1","currency":"EUR","date":"2026-02-02","balance":3.00,"locked":2,"differs":false}}
{"reconciliation":{"id":"r2","walletId":"w2","currency":"EUR","date":"2026-02-02","balance":4.00,"locked":1,"differs":false}}
{"reconciliation":{"id":"r3","walletId":"w1","currency":"EUR","date":"2026-02-28","balance":35.00,"locked":3,"differs":true}}
{"transaction":{"id":"t1","amount":1.00,"currency":"EUR","type":"income","date":"2026-02-01T10:00:00.000Z","walletId":"w1","cleared":true},"reconciliationId":"r1"}
{"transaction":{"id":"t2","amount":2.00,"currency":"EUR","type":"income","date":"2026-02-02T10:00:00.000Z","walletId":"w1","cleared":true},"reconciliationId":"r1"}
{"transaction":{"id":"t3","amount":4.00,"currency":"EUR","type":"income","date":"2026-02-02T10:00:00.000Z","walletId":"w2","cleared":true},"reconciliationId":"r2"}
{"transaction":{"id":"t4","amount":8.00,"currency":"EUR","type":"income","date":"2026-02-03T10:00:00.000Z","walletId":"w1","cleared":true},"reconciliationId":"r3"}
{"transaction":{"id":"t5","amount":16.00,"currency":"EUR","type":"income","date":"2026-02-04T10:00:00.000Z","walletId":"w1","cleared":true},"reconciliationId":"r3"}
{"transaction":{"id":"t6","amount":32.00,"currency":"EUR","type":"income","date":"2026-02-05T10:00:00.000Z","walletId":"w1","cleared":false}}
`

// locks returns the reconciliations of a person, oldest first, with their locked transactions.
func (p person) locks(t *testing.T) string {
	t.Helper()
	return pgtest.Value[string](t, p.DB, `
		SELECT coalesce(string_agg(concat_ws(' ', w.name, r.date, r.balance_minor, r.locked,
			r.differs, (SELECT string_agg(t.external_id, ',' ORDER BY t.external_id)
				FROM transactions t WHERE t.reconciliation_id = r.id)), '; ' ORDER BY r.id), '')
		FROM reconciliations r
		JOIN wallets w ON w.owner_id = r.owner_id AND w.id = r.wallet_id
		WHERE r.owner_id = $1`, p.ID)
}

// reconcile reconciles the only wallet with a name.
func (p person) reconcile(t *testing.T, wallet, day string) {
	t.Helper()
	id := pgtest.Value[uuid.UUID](t, p.DB,
		`SELECT id FROM wallets WHERE owner_id = $1 AND name = $2`, p.ID, wallet)
	ledger := p.Service.Ledger
	server := &reconciliations.Reconciliations{Ledger: ledger, Cursors: p.Service.Cursors}
	_, err := server.ReconcileWallet(p.Ctx, &ledgerv1.ReconcileWalletRequest{
		WalletId: id.String(), Date: day, Balance: "1", Adjust: true,
	})
	require.NoError(t, err)
}

func TestCommitImportReconciliations(t *testing.T) {
	t.Parallel()
	const first, second = "Vault 2026-02-02 300 2 f coffer:t1,coffer:t2",
		"Chest 2026-02-02 400 1 f coffer:t3"
	const third = "Vault 2026-02-28 3500 3 t coffer:t4,coffer:t5"
	s := setup(t)
	t.Run("until the undo", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		p := newPerson(t, s)
		m := p.commit(t, p.uploadExport(t, reconciledExport))
		require.Equal(t, staging.Done, m.GetStatus(), m.GetProgress().GetProblem())
		require.Equal(t, first+"; "+second+"; "+third, p.locks(t))
		s.RequireConsistent(t)
		kinds := map[string]int{}
		for _, event := range s.Events(t) {
			kinds[string(event.ProtoReflect().Descriptor().Name())]++
		}
		require.Equal(t, 3, kinds["WalletReconciled"])

		m = p.undo(t, m, false)
		require.Equal(t, staging.Undone, m.GetStatus())
		require.EqualValues(t, 6, m.GetCounts().GetUndone())
		require.Empty(t, p.locks(t))
		require.Zero(t, pgtest.Value[int](t, s.DB,
			`SELECT count(*) FROM transactions WHERE owner_id = $1`, p.ID))
		s.RequireConsistent(t)
	})
	t.Run("undo keeps those before a later one of the user", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.commit(t, p.uploadExport(t, reconciledExport))
		p.reconcile(t, "Vault", "2026-03-01")
		m = p.undo(t, m, true)
		require.EqualValues(t, 4, m.GetCounts().GetSkipped())
		require.EqualValues(t, 2, m.GetCounts().GetUndone())
		locks := p.locks(t)
		require.True(t, strings.HasPrefix(locks, first+"; "+third+"; Vault 2026-03-01 "), locks)
	})
	t.Run("none in a wallet that exists", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		p.MakeWallet(p.Ctx, t, "Vault", "EUR")
		m := p.commit(t, p.uploadExport(t, reconciledExport))
		require.EqualValues(t, 6, m.GetCounts().GetBooked())
		require.Equal(t, second, p.locks(t))
	})
	t.Run("none in a file of an earlier release", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		var earlier strings.Builder
		for line := range strings.Lines(reconciledExport) {
			object, locked, ok := strings.Cut(line, `,"reconciliationId"`)
			if _, isOne := strings.CutPrefix(line, `{"reconciliation"`); isOne {
				continue
			}
			if ok && locked != "" {
				line = strings.TrimSuffix(object, "}") + `,"reconciled":true}}` + "\n"
			}
			earlier.WriteString(line)
		}
		m := p.commit(t, p.uploadExport(t, earlier.String()))
		require.EqualValues(t, 6, m.GetCounts().GetBooked())
		require.Empty(t, p.locks(t))
	})
	t.Run("differs without a skipped row", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.uploadExport(t, reconciledExport)
		_, err := p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
			Id: m.GetId(), Rows: []*rowChange{{N: 2, Action: new("skip")}},
		})
		require.NoError(t, err)
		p.commit(t, p.get(t, m))
		require.Equal(t, "Vault 2026-02-02 300 2 t coffer:t1; "+second+"; "+third, p.locks(t))
	})
}

// TestCommitImportReconciliationsChanged changes transactions after their chunk of the commit. They
// are not locked.
func TestCommitImportReconciliationsChanged(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"amount": "amount_minor = 101, amount_e4 = 10100", "day": "date = date + interval '1 day'",
		"state": "cleared = false", "currency": "currency = 'USD'",
		"wallet": "wallet_id = (SELECT id FROM wallets w WHERE w.owner_id = $1 AND name = 'Chest')",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			p := newPerson(t, s)
			m := p.uploadExport(t, reconciledExport)
			_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
			require.NoError(t, err)
			_, chunk := p.lease(t, s.Imports, m)
			for p.get(t, m).GetCounts().GetBooked() < 6 {
				_, err := chunk()
				require.NoError(t, err)
			}
			pgtest.Exec(t, s.DB, `
				UPDATE transactions
				SET `+change+`
				WHERE owner_id = $1 AND external_id = 'coffer:t1'`, p.ID)
			for finished := false; !finished; {
				finished, err = chunk()
				require.NoError(t, err)
			}
			require.Contains(t, p.locks(t), "Vault 2026-02-02 300 2 t coffer:t2; ")
		})
	}
}
