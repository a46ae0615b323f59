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
	s := setup(t)
	u := s.NewUser(t.Context(), t)
	other := s.NewUser(t.Context(), t)
	other.Create(t, other.Spends("1"))
	bank, fun := s.MakeWallet(u.Ctx, t, "Bank", "EUR"), s.MakeCategory(u.Ctx, t, "Fun")
	mirrors := []*mirror{newMirror(s), newMirror(s), newMirror(s)}
	follow := func(name string, changed int) {
		t.Helper()
		for i, m := range mirrors {
			m.received = 0
			m.follow(u.Ctx, t, []int32{1, 2, 1000}[i])
			m.requireEqual(u.Ctx, t)
			require.Equal(t, changed, m.received, "%s", name)
			cursor := m.cursor
			m.follow(u.Ctx, t, 1000)
			require.Equal(t, cursor, m.cursor, "without news the cursor is the same")
		}
	}
	follow("start", 2)
	first := u.Create(t, u.Spends("1.10"))
	second := u.Create(t, u.Spends("2.20"))
	follow("two transactions", 2)
	_, err := s.CreateTransactions(u.Ctx, fixture.Bulk(u.Spends("3"), u.Spends("4"), u.Spends("5")))
	require.NoError(t, err)
	follow("a batch", 3)
	_, err = s.UpdateTransaction(u.Ctx,
		&ledgerv1.UpdateTransactionRequest{Id: first.GetId(), WalletId: new(bank.String())})
	require.NoError(t, err)
	follow("a transaction in another wallet", 1)
	_, err = s.DeleteTransaction(u.Ctx, &ledgerv1.DeleteTransactionRequest{Id: second.GetId()})
	require.NoError(t, err)
	follow("a deleted transaction", 1)
	_, err = s.UpdateWallet(u.Ctx,
		&ledgerv1.UpdateWalletRequest{Id: bank.String(), Name: new("Savings")})
	require.NoError(t, err)
	follow("a renamed wallet", 0)
	_, err = s.UpdateCategory(u.Ctx,
		&ledgerv1.UpdateCategoryRequest{Id: fun.String(), Name: new("Games")})
	require.NoError(t, err)
	follow("a renamed category", 1)
	_, err = s.settings.UpdateSettings(u.Ctx, &ledgerv1.UpdateSettingsRequest{
		DefaultWalletId: new(bank.String()), DefaultCategoryId: new(u.Category.String()),
	})
	require.NoError(t, err)
	follow("settings", 0)
	_, err = s.DeleteCategory(u.Ctx,
		&ledgerv1.DeleteCategoryRequest{Id: u.Category.String(), ReassignTo: new(fun.String())})
	require.NoError(t, err)
	follow("a merge", 5)
	_, err = s.DeleteTransaction(u.Ctx, &ledgerv1.DeleteTransactionRequest{Id: first.GetId()})
	require.NoError(t, err)
	_, err = s.DeleteWallet(u.Ctx, &ledgerv1.DeleteWalletRequest{Id: bank.String()})
	require.NoError(t, err)
	follow("a deleted wallet", 2)

	// No writer has left a row without a number.
	current, err := selectState(u.Ctx, s.DB, u.ID)
	require.NoError(t, err)
	require.False(t, current.Unnumbered)
	fresh := newMirror(s)
	fresh.follow(u.Ctx, t, 2)
	fresh.requireEqual(u.Ctx, t)
	require.Equal(t, 4, fresh.received, "a new copy has no deleted objects")
}

// TestListChangesOfTags follows tags that are created, renamed and deleted.
func TestListChangesOfTags(t *testing.T) {
	t.Parallel()
	s := setup(t)
	u := s.NewUser(t.Context(), t)
	tagged := u.Spends("1")
	tagged.Tags = []string{"Trip", "Work", "Äpfel"}
	u.Create(t, tagged)
	tags := func(m *mirror) (names []string) {
		for key, x := range m.objects {
			if tag, ok := x.(*ledgerv1.FollowedTag); ok {
				require.Equal(t, "tag "+tag.GetKey(), key)
				names = append(names, tag.GetName())
			}
		}
		return names
	}
	m := newMirror(s)
	m.follow(u.Ctx, t, 1)
	require.ElementsMatch(t, []string{"Trip", "Work", "Äpfel"}, tags(m))
	err := pg.InTx(u.Ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(u.Ctx, tx, u.ID); err != nil {
			return err
		}
		_, err := tx.Exec(u.Ctx, `DELETE FROM tags WHERE owner_id = $1 AND key = 'trip'`, u.ID)
		if err != nil {
			return err
		}
		_, err = tx.Exec(u.Ctx,
			`UPDATE tags SET name = 'WORK' WHERE owner_id = $1 AND key = 'work'`, u.ID)
		return err
	})
	require.NoError(t, err)
	m.follow(u.Ctx, t, 1)
	require.ElementsMatch(t, []string{"WORK", "Äpfel"}, tags(m))
}

func TestListChangesRejectsCursor(t *testing.T) {
	t.Parallel()
	s := setup(t)
	u, other := s.NewUser(t.Context(), t), s.NewUser(t.Context(), t)
	deleted := u.Create(t, u.Spends("1"))
	early := newMirror(s)
	early.follow(u.Ctx, t, 1000)
	copying := newMirror(s)
	more, err := copying.page(u.Ctx, 1)
	require.NoError(t, err)
	require.True(t, more)
	_, err = s.DeleteTransaction(u.Ctx, &ledgerv1.DeleteTransactionRequest{Id: deleted.GetId()})
	require.NoError(t, err)
	late := newMirror(s)
	late.follow(u.Ctx, t, 1000)

	_, err = s.sync.ListChanges(other.Ctx, &ledgerv1.ListChangesRequest{Cursor: late.cursor})
	require.ErrorIs(t, err, apierr.InvalidCursor)
	_, err = s.sync.ListChanges(u.Ctx, &ledgerv1.ListChangesRequest{Cursor: late.cursor + "x"})
	require.ErrorIs(t, err, apierr.InvalidCursor)
	_, err = s.sync.ListChanges(u.Ctx, &ledgerv1.ListChangesRequest{Limit: new(int32(0))})
	require.Error(t, err)

	require.NoError(t, Sweep(u.Ctx, s.DB, time.Now().Add(retention-time.Hour)))
	early.follow(u.Ctx, t, 1000)
	early.requireEqual(u.Ctx, t)
	require.NoError(t, Sweep(u.Ctx, s.DB, time.Now().Add(retention+time.Hour)))
	for _, m := range []*mirror{early, late} {
		m.follow(u.Ctx, t, 1000)
		m.requireEqual(u.Ctx, t)
	}
	_, err = copying.page(u.Ctx, 1)
	require.ErrorIs(t, err, errCursorExpired)

	// A database that was restored from an older backup does not know the cursor's number.
	pgtest.Exec(t, s.DB, `UPDATE owners SET seq = seq - 1, swept_seq = 0 WHERE owner_id = $1`, u.ID)
	_, err = late.page(u.Ctx, 1)
	require.ErrorIs(t, err, errCursorExpired)
}

// TestListChangesOfLongTexts requires that a page of transactions with long texts is shorter than
// its limit.
func TestListChangesOfLongTexts(t *testing.T) {
	t.Parallel()
	s := setup(t)
	u := s.NewUser(t.Context(), t)
	ts := make([]posting.Transaction, 300)
	for i := range ts {
		ts[i] = posting.Transaction{
			WalletID: u.Wallet, CategoryID: &u.Category, Currency: "EUR", AmountMinor: -1,
			Date: fixture.Today, Notes: strings.Repeat("💶", 4000),
		}
	}
	s.Record(u.Ctx, t, ts...)
	m := newMirror(s)
	for more, pages := true, 0; more; pages++ {
		var err error
		more, err = m.page(u.Ctx, 1000)
		require.NoError(t, err)
		require.LessOrEqual(t, m.received, 140*(pages+1))
	}
	m.requireEqual(u.Ctx, t)
}

// TestListChangesOfSplits requires that a page reads the parts of no more transactions than it may
// have, and that the objects that changed after the unread transactions follow on a later page.
func TestListChangesOfSplits(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for name, description := range map[string]string{
		"short": "x", "long": strings.Repeat("💶", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := s.NewUser(t.Context(), t)
			const count, parts = 60, 50
			ts := make([]posting.Transaction, count)
			for i := range ts {
				ts[i] = posting.Transaction{
					WalletID: u.Wallet, Currency: "EUR", AmountMinor: -parts, Date: fixture.Today,
					SplitCount: parts,
				}
				for range parts {
					ts[i].Splits = append(ts[i].Splits, posting.Split{
						CategoryID: u.Category, AmountMinor: -1, Description: description,
					})
				}
			}
			s.Record(u.Ctx, t, ts...)
			s.MakeCategory(u.Ctx, t, "Created afterwards")
			m := newMirror(s)
			resp, err := s.sync.ListChanges(u.Ctx,
				&ledgerv1.ListChangesRequest{Limit: new(int32(1000))})
			require.NoError(t, err)
			require.True(t, resp.GetPagination().GetHasMore())
			require.Less(t, len(resp.GetChanges().GetTransactions()), count)
			require.Len(t, resp.GetChanges().GetCategories(), 1)
			m.follow(u.Ctx, t, 1000)
			m.requireEqual(u.Ctx, t)
		})
	}
}
