package sync

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestListChanges follows an account through one write of each kind, with pages of one, two and
// 1000 objects.
func TestListChanges(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	user := srv.NewUser(t.Context(), t)
	other := srv.NewUser(t.Context(), t)
	other.Create(t, other.Spends("1"))
	bank, fun := srv.MakeWallet(user.Ctx, t, "Bank", "EUR"), srv.MakeCategory(user.Ctx, t, "Fun")
	mirrors := []*mirror{newMirror(srv), newMirror(srv), newMirror(srv)}
	follow := func(name string, changed int) {
		t.Helper()
		for i, m := range mirrors {
			m.received = 0
			m.follow(user.Ctx, t, []int32{1, 2, 1000}[i])
			m.requireEqual(user.Ctx, t)
			require.Equal(t, changed, m.received, "%s", name)
			cursor := m.cursor
			m.follow(user.Ctx, t, 1000)
			require.Equal(t, cursor, m.cursor, "without news the cursor is the same")
		}
	}
	follow("start", 2)
	first := user.Create(t, user.Spends("1.10"))
	second := user.Create(t, user.Spends("2.20"))
	follow("two transactions", 2)
	_, err := srv.CreateTransactions(user.Ctx,
		fixture.Bulk(user.Spends("3"), user.Spends("4"), user.Spends("5")))
	require.NoError(t, err)
	follow("a batch", 3)
	_, err = srv.UpdateTransaction(user.Ctx,
		&ledgerv1.UpdateTransactionRequest{Id: first.GetId(), WalletId: new(bank.String())})
	require.NoError(t, err)
	follow("a transaction in another wallet", 1)
	_, err = srv.DeleteTransaction(user.Ctx, &ledgerv1.DeleteTransactionRequest{Id: second.GetId()})
	require.NoError(t, err)
	follow("a deleted transaction", 1)
	_, err = srv.UpdateWallet(user.Ctx,
		&ledgerv1.UpdateWalletRequest{Id: bank.String(), Name: new("Savings")})
	require.NoError(t, err)
	follow("a renamed wallet", 0)
	_, err = srv.UpdateCategory(user.Ctx,
		&ledgerv1.UpdateCategoryRequest{Id: fun.String(), Name: new("Games")})
	require.NoError(t, err)
	follow("a renamed category", 1)
	_, err = srv.settings.UpdateSettings(user.Ctx, &ledgerv1.UpdateSettingsRequest{
		DefaultWalletId: new(bank.String()), DefaultCategoryId: new(user.Category.String()),
	})
	require.NoError(t, err)
	follow("settings", 0)
	_, err = srv.DeleteCategory(user.Ctx,
		&ledgerv1.DeleteCategoryRequest{Id: user.Category.String(), ReassignTo: new(fun.String())})
	require.NoError(t, err)
	follow("a merge", 5)
	_, err = srv.DeleteTransaction(user.Ctx, &ledgerv1.DeleteTransactionRequest{Id: first.GetId()})
	require.NoError(t, err)
	_, err = srv.DeleteWallet(user.Ctx, &ledgerv1.DeleteWalletRequest{Id: bank.String()})
	require.NoError(t, err)
	follow("a deleted wallet", 2)

	// No writer has left a row without a number.
	current, err := selectState(user.Ctx, srv.DB, user.ID)
	require.NoError(t, err)
	require.False(t, current.Unnumbered)
	fresh := newMirror(srv)
	fresh.follow(user.Ctx, t, 2)
	fresh.requireEqual(user.Ctx, t)
	require.Equal(t, 4, fresh.received, "a new copy has no deleted objects")
}

// TestListChangesOfTags follows tags that are created, renamed and deleted.
func TestListChangesOfTags(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	user := srv.NewUser(t.Context(), t)
	tagged := user.Spends("1")
	tagged.Tags = []string{"Trip", "Work", "Äpfel"}
	user.Create(t, tagged)
	tags := func(m *mirror) (names []string) {
		for key, x := range m.objects {
			if tag, ok := x.(*ledgerv1.FollowedTag); ok {
				require.Equal(t, "tag "+tag.GetKey(), key)
				names = append(names, tag.GetName())
			}
		}
		return names
	}
	mirror := newMirror(srv)
	mirror.follow(user.Ctx, t, 1)
	require.ElementsMatch(t, []string{"Trip", "Work", "Äpfel"}, tags(mirror))
	err := pg.InTx(user.Ctx, srv.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(user.Ctx, tx, user.ID); err != nil {
			return err
		}
		_, err := tx.Exec(user.Ctx, `DELETE FROM tags WHERE owner_id = $1 AND key = 'trip'`,
			user.ID)
		if err != nil {
			return err
		}
		_, err = tx.Exec(user.Ctx,
			`UPDATE tags SET name = 'WORK' WHERE owner_id = $1 AND key = 'work'`, user.ID)
		return err
	})
	require.NoError(t, err)
	mirror.follow(user.Ctx, t, 1)
	require.ElementsMatch(t, []string{"WORK", "Äpfel"}, tags(mirror))
}

func TestListChangesRejectsCursor(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	user, other := srv.NewUser(t.Context(), t), srv.NewUser(t.Context(), t)
	deleted := user.Create(t, user.Spends("1"))
	early := newMirror(srv)
	early.follow(user.Ctx, t, 1000)
	copying := newMirror(srv)
	more, err := copying.page(user.Ctx, 1)
	require.NoError(t, err)
	require.True(t, more)
	_, err = srv.DeleteTransaction(user.Ctx,
		&ledgerv1.DeleteTransactionRequest{Id: deleted.GetId()})
	require.NoError(t, err)
	late := newMirror(srv)
	late.follow(user.Ctx, t, 1000)

	_, err = srv.sync.ListChanges(other.Ctx, &ledgerv1.ListChangesRequest{Cursor: late.cursor})
	require.ErrorIs(t, err, apierr.InvalidCursor)
	_, err = srv.sync.ListChanges(user.Ctx, &ledgerv1.ListChangesRequest{Cursor: late.cursor + "x"})
	require.ErrorIs(t, err, apierr.InvalidCursor)
	_, err = srv.sync.ListChanges(user.Ctx, &ledgerv1.ListChangesRequest{Limit: new(int32(0))})
	require.Error(t, err)

	require.NoError(t, Sweep(user.Ctx, srv.DB, time.Now().Add(retention-time.Hour)))
	early.follow(user.Ctx, t, 1000)
	early.requireEqual(user.Ctx, t)
	require.NoError(t, Sweep(user.Ctx, srv.DB, time.Now().Add(retention+time.Hour)))
	for _, m := range []*mirror{early, late} {
		m.follow(user.Ctx, t, 1000)
		m.requireEqual(user.Ctx, t)
	}
	_, err = copying.page(user.Ctx, 1)
	require.ErrorIs(t, err, errCursorExpired)

	// A database that was restored from an older backup does not know the cursor's number.
	pgtest.Exec(t, srv.DB, `UPDATE owners SET seq = seq - 1, swept_seq = 0 WHERE owner_id = $1`,
		user.ID)
	_, err = late.page(user.Ctx, 1)
	require.ErrorIs(t, err, errCursorExpired)
}

// TestListChangesOfLongTexts requires that a page of transactions with long texts is shorter than
// its limit.
func TestListChangesOfLongTexts(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	user := srv.NewUser(t.Context(), t)
	ts := make([]posting.Transaction, 300)
	for i := range ts {
		ts[i] = posting.Transaction{
			WalletID: user.Wallet, CategoryID: &user.Category, Currency: "EUR", AmountMinor: -1,
			Date: fixture.Today, Notes: strings.Repeat("💶", 4000),
		}
	}
	srv.Record(user.Ctx, t, ts...)
	m := newMirror(srv)
	for more, pages := true, 0; more; pages++ {
		var err error
		more, err = m.page(user.Ctx, 1000)
		require.NoError(t, err)
		require.LessOrEqual(t, m.received, 140*(pages+1))
	}
	m.requireEqual(user.Ctx, t)
}

// TestListChangesOfSplits requires that a page reads the parts of no more transactions than it may
// have, and that the objects that changed after the unread transactions follow on a later page.
func TestListChangesOfSplits(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	for name, description := range map[string]string{
		"short": "x", "long": strings.Repeat("💶", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			user := srv.NewUser(t.Context(), t)
			const count, parts = 60, 50
			ts := make([]posting.Transaction, count)
			for i := range ts {
				ts[i] = posting.Transaction{
					WalletID: user.Wallet, Currency: "EUR", AmountMinor: -parts,
					Date: fixture.Today, SplitCount: parts,
				}
				for range parts {
					ts[i].Splits = append(ts[i].Splits, posting.Split{
						CategoryID: user.Category, AmountMinor: -1, Description: description,
					})
				}
			}
			srv.Record(user.Ctx, t, ts...)
			srv.MakeCategory(user.Ctx, t, "Created afterwards")
			m := newMirror(srv)
			resp, err := srv.sync.ListChanges(user.Ctx,
				&ledgerv1.ListChangesRequest{Limit: new(int32(1000))})
			require.NoError(t, err)
			require.True(t, resp.GetPagination().GetHasMore())
			require.Less(t, len(resp.GetChanges().GetTransactions()), count)
			require.Len(t, resp.GetChanges().GetCategories(), 1)
			m.follow(user.Ctx, t, 1000)
			m.requireEqual(user.Ctx, t)
		})
	}
}
