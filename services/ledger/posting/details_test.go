package posting_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func TestInsertDetails(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	bank, fun := p.MakeWallet(p.Ctx, t, "Bank", "EUR"), p.MakeCategory(p.Ctx, t, "Fun")
	transfer := p.NewID()
	row := posting.Transaction{
		OwnerID: p.ID, WalletID: p.Wallet, Currency: "EUR",
		Date: fixture.Today, CreatedAt: fixture.Today,
	}
	out, in, split, plain := row, row, row, row
	out.ID, out.AmountMinor, out.TransferID = p.NewID(), -700, &transfer
	in.ID, in.AmountMinor, in.TransferID, in.WalletID = p.NewID(), 700, &transfer, bank
	split.ID, split.AmountMinor = p.NewID(), -300
	split.Tags, split.Payee, split.Notes = []string{"a", "b"}, "Shop", "one\ntwo"
	split.Splits = []posting.Split{{p.Category, -400, "food"}, {fun, 100, "refund"}}
	plain.ID, plain.AmountMinor = p.NewID(), -50
	plain.CategoryID, plain.ExternalID = &fun, new("bank:1")
	all := []posting.Transaction{out, split, plain, in}
	pgtest.Exec(t, s.DB, `
		INSERT INTO tags (owner_id, key, name, created_at)
		VALUES ($1, 'a', 'a', now()), ($1, 'b', 'b', now())`, p.ID)
	written, err := posting.Insert(t.Context(), s.DB, 0, all, outbox.Rows{}, nil)
	require.NoError(t, err)
	require.Len(t, written, len(all))
	s.RequireConsistent(t)

	stored := slices.Clone(all)
	for i := range stored {
		stored[i].SplitCount, stored[i].Splits = len(all[i].Splits), nil
	}
	require.NoError(t, posting.AddDetails(t.Context(), s.DB, p.ID, stored))
	for i := range all {
		require.Equal(t, all[i].Splits, stored[i].Splits)
	}

	pgtest.Exec(t, s.DB, `DELETE FROM transactions WHERE id = ANY($1)`,
		[]uuid.UUID{out.ID, in.ID, split.ID})
	require.NoError(t, posting.Remove(t.Context(), s.DB, out, in, split))
	s.RequireConsistent(t)
}
