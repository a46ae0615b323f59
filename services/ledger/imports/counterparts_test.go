package imports

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// saver is a user with a rule that makes transfers to the wallet bank of rows with the payee
// Savings. fun is the category of bank's income.
type saver struct {
	person
	bank, fun uuid.UUID
}

func newSaver(t testing.TB) saver {
	t.Helper()
	p := newPerson(t, setup(t))
	s := saver{p, p.MakeWallet(p.Ctx, t, "Bank", "EUR"), p.MakeCategory(p.Ctx, t, "Fun")}
	_, err := p.ruling().CreateRule(p.Ctx, &ledgerv1.CreateRuleRequest{
		Name: "Savings", Conditions: []*ledgerv1.RuleCondition{{
			Field: "payee", Op: "contains", Values: []string{"savings"},
		}},
		Actions: []*ledgerv1.RuleAction{{Kind: "transferTo", Value: s.bank.String()}},
	})
	require.NoError(t, err)
	return s
}

// receives returns an ordinary transaction of 100 EUR in bank on a day of February 2026.
func (s saver) receives(day int) posting.Transaction {
	return posting.Transaction{
		WalletID: s.bank, CategoryID: &s.fun, AmountMinor: 10000, Currency: "EUR",
		Date: time.Date(2026, 2, day, 20, 0, 0, 0, time.UTC), Description: "From Cash",
	}
}

// record stores transactions and returns their ids.
func (s saver) record(t testing.TB, ts ...posting.Transaction) (ids []uuid.UUID) {
	t.Helper()
	s.Record(s.Ctx, t, ts...)
	for _, tr := range ts {
		ids = append(ids, tr.ID)
	}
	return ids
}

// saves uploads a file with a payment of 100 EUR to Savings on each day of February 2026.
func (s saver) saves(t testing.TB, days ...int) *ledgerv1.Import {
	t.Helper()
	file := "Date,Payee,Amount,Currency\n"
	for _, day := range days {
		file += fmt.Sprintf("2026-02-%02d,Savings,-100.00,EUR\n", day)
	}
	return s.mustUpload(t, file)
}

// imported returns the stored transaction of a row, from 0.
func (s saver) imported(t testing.TB, m *ledgerv1.Import, row int) posting.Transaction {
	t.Helper()
	return s.Transaction(t, uuid.MustParse(s.rows(t, m)[row].GetTransactionId()))
}

// requireBank requires a balance of bank, and that all sums are right.
func (s saver) requireBank(t testing.TB, balance string) {
	t.Helper()
	require.Equal(t, map[string]string{"EUR": balance}, s.Balances(t, s.bank))
	s.RequireConsistent(t)
}

// TestCommitImportCounterparts commits rows that a rule makes transfers. The other wallet has the
// other leg, or has not.
func TestCommitImportCounterparts(t *testing.T) {
	t.Parallel()
	t.Run("makes a transfer with the transaction that exists", func(t *testing.T) {
		t.Parallel()
		s := newSaver(t)
		other := s.record(t, s.receives(5))[0]
		m := s.commit(t, s.saves(t, 3))
		require.Equal(t, staging.Done, m.GetStatus(), m.GetProgress().GetProblem())
		require.EqualValues(t, 1, m.GetCounts().GetBooked())
		own, leg := s.imported(t, m, 0), s.Transaction(t, other)
		require.NotNil(t, own.TransferID)
		require.Equal(t, own.TransferID, leg.TransferID)
		require.Nil(t, own.CategoryID)
		require.Empty(t, s.rows(t, m)[0].GetCategoryId())
		require.Nil(t, leg.CategoryID)
		require.Equal(t, own.Version, leg.Version)
		require.Equal(t, "From Cash", leg.Description)
		require.Equal(t, 5, leg.Date.Day())
		require.Equal(t, "-100.00", s.balance(t))
		s.requireBank(t, "100.00")
		var changes []*ledgerv1.TransactionUpdated
		created := 0
		for _, e := range s.Events(t) {
			switch e := e.(type) {
			case *ledgerv1.TransactionUpdated:
				changes = append(changes, e)
			case *ledgerv1.TransferCreated:
				created++
				require.Equal(t, own.TransferID.String(), e.GetTransfer().GetId())
			}
		}
		require.Equal(t, 1, created)
		require.Len(t, changes, 2)
		require.Equal(t, other.String(), changes[1].GetAfter().GetId())
		require.Equal(t, s.fun.String(), changes[1].GetBefore().GetCategoryId())
		require.Empty(t, changes[1].GetAfter().GetCategoryId())
		require.EqualValues(t, 1, s.saves(t, 3).GetCounts().GetDuplicate())
	})
	t.Run("uses the nearest day, and each transaction once", func(t *testing.T) {
		t.Parallel()
		s := newSaver(t)
		others := s.record(t, s.receives(7), s.receives(7), s.receives(8))
		m := s.commit(t, s.saves(t, 4, 7, 7, 8, 9))
		want := []*uuid.UUID{nil, &others[0], &others[1], &others[2], nil}
		for i, id := range want {
			own := s.imported(t, m, i)
			require.NotNil(t, own.TransferID)
			if id != nil {
				require.Equal(t, own.TransferID, s.Transaction(t, *id).TransferID, "row %d", i)
			}
		}
		require.Equal(t, "-500.00", s.balance(t))
		s.requireBank(t, "500.00")
	})
	t.Run("uses a row of the same file", func(t *testing.T) {
		t.Parallel()
		s := newSaver(t)
		before := s.stored(t)
		resp, err := s.upload(&ledgerv1.CreateImportRequest{},
			"Date,Account,Payee,Amount,Currency\n2026-02-03,Cash,Savings,-100.00,EUR\n2026-02-04,Bank,Transfer from Cash,100.00,EUR\n")
		require.NoError(t, err)
		m := s.commit(t, s.update(t, &ledgerv1.UpdateImportRequest{
			Id: resp.GetImport().GetId(),
			Defaults: &ledgerv1.ImportDefaultsChange{
				ExpenseCategoryId: new(s.Category.String()), IncomeCategoryId: new(s.fun.String()),
			},
		}))
		require.Equal(t, staging.Done, m.GetStatus(), m.GetProgress().GetProblem())
		require.EqualValues(t, 2, m.GetCounts().GetBooked())
		require.Equal(t, s.imported(t, m, 0).TransferID, s.imported(t, m, 1).TransferID)
		s.requireBank(t, "100.00")
		require.EqualValues(t, 2, s.undo(t, m, false).GetCounts().GetUndone())
		require.Equal(t, before, s.stored(t))
	})
	type change = func(t require.TestingT, s saver, other *posting.Transaction)
	for name, change := range map[string]change{
		"the currency": func(_ require.TestingT, _ saver,
			other *posting.Transaction,
		) {
			other.Currency = "USD"
		},
		"the amount": func(_ require.TestingT, _ saver,
			other *posting.Transaction,
		) {
			other.AmountMinor = 9999
		},
		"the sign": func(_ require.TestingT, _ saver,
			other *posting.Transaction,
		) {
			other.AmountMinor = -10000
		},
		"the wallet": func(t require.TestingT, s saver, other *posting.Transaction) {
			other.WalletID = s.MakeWallet(s.Ctx, t, "Safe", "EUR")
		},
		"five days before": func(_ require.TestingT, _ saver, other *posting.Transaction) {
			other.Date = time.Date(2026, 2, 4, 23, 59, 59, 0, time.UTC)
		},
		"five days after": func(_ require.TestingT, _ saver, other *posting.Transaction) {
			other.Date = time.Date(2026, 2, 14, 0, 0, 0, 0, time.UTC)
		},
		"a leg": func(_ require.TestingT, s saver, other *posting.Transaction) {
			other.CategoryID, other.TransferID = nil, new(s.NewID())
		},
		"a transaction with splits": func(_ require.TestingT, s saver, other *posting.Transaction) {
			other.CategoryID = nil
			other.Splits = []posting.Split{{
				CategoryID: s.fun, AmountMinor: 4000,
			}, {CategoryID: s.Category, AmountMinor: 6000}}
		},
		"a receipt": func(t require.TestingT, s saver, other *posting.Transaction) {
			other.ReceiptID = new(s.NewID())
			_, err := s.DB.Exec(s.Ctx,
				`INSERT INTO receipts (owner_id, id, file_sha256, content, created_at) VALUES ($1, $2, '', '', now())`,
				s.ID, other.ReceiptID)
			require.NoError(t, err)
		},
	} {
		t.Run("creates both legs/"+name, func(t *testing.T) {
			t.Parallel()
			s := newSaver(t)
			other := s.receives(9)
			change(t, s, &other)
			recorded := []posting.Transaction{other}
			if other.TransferID != nil {
				from := other
				from.WalletID = s.MakeWallet(s.Ctx, t, "Safe", "EUR")
				from.AmountMinor = -other.AmountMinor
				recorded = append(recorded, from)
			}
			ids := s.record(t, recorded...)
			before := s.Transaction(t, ids[0])
			m := s.commit(t, s.saves(t, 9))
			require.Equal(t, staging.Done, m.GetStatus(), m.GetProgress().GetProblem())
			require.NotNil(t, s.imported(t, m, 0).TransferID)
			require.Equal(t, before, s.Transaction(t, ids[0]))
			require.Equal(t, "-100.00", s.balance(t))
			s.RequireConsistent(t)
			moved := pgtest.Value[int64](t, s.DB, `SELECT sum(amount_minor) FROM transactions WHERE owner_id = $1 AND wallet_id = $2 AND id <> $3`,
				s.ID, s.bank, ids[0])
			require.EqualValues(t, 10000, moved)
		})
	}
}

// TestCommitImportCounterpartChanges commits an import while another write of the counterpart holds
// the owner's lock. The commit waits, and sees the result.
func TestCommitImportCounterpartChanges(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"deleted": `DELETE FROM transactions WHERE id = $1`,
		"changed": `UPDATE transactions SET amount_minor = 5000, amount_e4 = 500000, version = 2 WHERE id = $1`,
		"matched": `UPDATE transactions SET category_id = NULL, transfer_id = gen_random_uuid(), version = 2 WHERE id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSaver(t)
			id := s.record(t, s.receives(5))[0]
			m := s.saves(t, 3)
			_, err := s.CommitImport(s.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
			require.NoError(t, err)
			ended := make(chan struct{})
			err = pg.InTx(s.Ctx, s.DB, func(tx pgx.Tx) error {
				if err := posting.ShareOwner(s.Ctx, tx, caller.ID(s.Ctx)); err != nil {
					return err
				}
				if _, err := tx.Exec(s.Ctx, change, id); err != nil {
					return err
				}
				go func() {
					defer close(ended)
					s.Jobs.RunQueued(context.WithoutCancel(t.Context()))
				}()
				require.Eventually(t, func() bool {
					var blocked bool
					err := s.DB.QueryRow(t.Context(),
						`SELECT EXISTS (SELECT FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid)))`,
						tx.Conn().PgConn().PID()).Scan(&blocked)
					return err == nil && blocked
				}, time.Minute, 5*time.Millisecond)
				return nil
			})
			require.NoError(t, err)
			<-ended
			m = s.get(t, m)
			require.Equal(t, staging.Done, m.GetStatus(), m.GetProgress().GetProblem())
			own := s.imported(t, m, 0)
			require.NotNil(t, own.TransferID)
			legs := pgtest.Value[string](t, s.DB, `
				SELECT string_agg(amount_minor::text, ' ' ORDER BY amount_minor) FROM transactions
				WHERE owner_id = $1 AND transfer_id = $2 AND id <> $3`,
				s.ID, own.TransferID, id)
			require.Equal(t, "-10000 10000", legs)
		})
	}
}
