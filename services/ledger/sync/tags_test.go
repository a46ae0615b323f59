package sync

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestListChangesOfRenamedTag renames a tag within its key. Each page border lies between the
// objects that changed.
func TestListChangesOfRenamedTag(t *testing.T) {
	t.Parallel()
	s := setup(t)
	u := s.NewUser(t.Context(), t)
	tagged := u.Spends("1")
	tagged.Tags = []string{"work"}
	created := u.Create(t, tagged)
	m := newMirror(s)
	m.follow(u.Ctx, t, 1)
	before, err := s.GetTransaction(u.Ctx, &ledgerv1.GetTransactionRequest{Id: created.GetId()})
	require.NoError(t, err)

	_, err = s.tags.UpdateTag(u.Ctx, &ledgerv1.UpdateTagRequest{Tag: "work", Name: new("Work")})
	require.NoError(t, err)
	resp, err := s.sync.ListChanges(u.Ctx, &ledgerv1.ListChangesRequest{Cursor: m.cursor})
	require.NoError(t, err)
	require.Empty(t, resp.GetDeleted())
	require.Len(t, resp.GetChanges().GetTags(), 1)
	require.Equal(t, []string{"Work"}, resp.GetChanges().GetTransactions()[0].GetTags())
	m.follow(u.Ctx, t, 1)
	m.requireEqual(u.Ctx, t)
	after, err := s.GetTransaction(u.Ctx, &ledgerv1.GetTransactionRequest{Id: created.GetId()})
	require.NoError(t, err)
	require.NotEqual(t, before.GetEtag(), after.GetEtag(), "another name is another representation")
}

// TestMigrateRenamedTags repeats a rename of an earlier release, and requires that a device that
// lost the tag receives it again.
func TestMigrateRenamedTags(t *testing.T) {
	t.Parallel()
	s := setup(t)
	u, other := s.NewUser(t.Context(), t), s.NewUser(t.Context(), t)
	for _, of := range []fixture.User{u, other} {
		req := of.Spends("1")
		req.Tags = []string{"work", "kept"}
		of.Create(t, req)
	}
	m, same := newMirror(s), newMirror(s)
	m.follow(u.Ctx, t, 1)
	same.follow(other.Ctx, t, 1)
	cursor := same.cursor
	require.NoError(t, pg.InTx(u.Ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.LockOwner(u.Ctx, tx, u.ID); err != nil {
			return err
		}
		_, err := tx.Exec(u.Ctx, `DELETE FROM tags WHERE owner_id = $1 AND key = 'work'`, u.ID)
		if err != nil {
			return err
		}
		_, err = tx.Exec(u.Ctx,
			`INSERT INTO tags (owner_id, key, name, created_at) VALUES ($1, 'work', 'Work', now())`,
			u.ID)
		return err
	}))
	m.follow(u.Ctx, t, 1)
	require.NotContains(t, m.objects, "tag work", "the tombstone deletes the tag")

	migration, err := os.ReadFile("../migrations/0039_renamed_tags.sql")
	require.NoError(t, err)
	pgtest.Exec(t, s.DB, string(migration))
	m.follow(u.Ctx, t, 1)
	m.requireEqual(u.Ctx, t)
	same.follow(other.Ctx, t, 1)
	require.Equal(t, cursor, same.cursor, "other owners get nothing again")
}
