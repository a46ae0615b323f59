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
	service := setup(t)
	me := newPerson(t.Context(), t, service)
	bank, fun := me.MakeWallet(me.Ctx, t, "Bank", "EUR"), me.MakeCategory(me.Ctx, t, "Fun")
	transfer := me.NewID()
	row := posting.Transaction{
		OwnerID: me.ID, WalletID: me.Wallet, Currency: "EUR",
		Date: fixture.Today, CreatedAt: fixture.Today,
	}
	out, in, split, plain := row, row, row, row
	out.ID, out.AmountMinor, out.TransferID = me.NewID(), -700, &transfer
	in.ID, in.AmountMinor, in.TransferID, in.WalletID = me.NewID(), 700, &transfer, bank
	split.ID, split.AmountMinor = me.NewID(), -300
	split.Tags, split.Payee, split.Notes = []string{"a", "b"}, "Shop", "one\ntwo"
	split.Splits = []posting.Split{{me.Category, -400, "food"}, {fun, 100, "refund"}}
	plain.ID, plain.AmountMinor = me.NewID(), -50
	plain.CategoryID, plain.ExternalID = &fun, new("bank:1")
	all := []posting.Transaction{out, split, plain, in}
	pgtest.Exec(t, service.DB, `
		INSERT INTO tags (owner_id, key, name, created_at)
		VALUES ($1, 'a', 'a', now()), ($1, 'b', 'b', now())`, me.ID)
	written, err := posting.Insert(t.Context(), service.DB, 0, all, outbox.Rows{}, nil)
	require.NoError(t, err)
	require.Len(t, written, len(all))
	service.RequireConsistent(t)

	stored := slices.Clone(all)
	for i := range stored {
		stored[i].SplitCount, stored[i].Splits = len(all[i].Splits), nil
	}
	require.NoError(t, posting.AddDetails(t.Context(), service.DB, me.ID, stored))
	for i := range all {
		require.Equal(t, all[i].Splits, stored[i].Splits)
	}

	pgtest.Exec(t, service.DB, `DELETE FROM transactions WHERE id = ANY($1)`,
		[]uuid.UUID{out.ID, in.ID, split.ID})
	require.NoError(t, posting.Remove(t.Context(), service.DB, out, in, split))
	service.RequireConsistent(t)
}
