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
	srv := setup(t)
	user := srv.NewUser(t.Context(), t)
	tagged := user.Spends("1")
	tagged.Tags = []string{"work"}
	created := user.Create(t, tagged)
	mirror := newMirror(srv)
	mirror.follow(user.Ctx, t, 1)
	before, err := srv.GetTransaction(user.Ctx,
		&ledgerv1.GetTransactionRequest{Id: created.GetId()})
	require.NoError(t, err)

	_, err = srv.tags.UpdateTag(user.Ctx,
		&ledgerv1.UpdateTagRequest{Tag: "work", Name: new("Work")})
	require.NoError(t, err)
	resp, err := srv.sync.ListChanges(user.Ctx, &ledgerv1.ListChangesRequest{Cursor: mirror.cursor})
	require.NoError(t, err)
	require.Empty(t, resp.GetDeleted())
	require.Len(t, resp.GetChanges().GetTags(), 1)
	require.Equal(t, []string{"Work"}, resp.GetChanges().GetTransactions()[0].GetTags())
	mirror.follow(user.Ctx, t, 1)
	mirror.requireEqual(user.Ctx, t)
	after, err := srv.GetTransaction(user.Ctx, &ledgerv1.GetTransactionRequest{Id: created.GetId()})
	require.NoError(t, err)
	require.NotEqual(t, before.GetEtag(), after.GetEtag(), "another name is another representation")
}

// TestMigrateRenamedTags repeats a rename of an earlier release, and requires that a device that
// lost the tag receives it again.
func TestMigrateRenamedTags(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	user, other := srv.NewUser(t.Context(), t), srv.NewUser(t.Context(), t)
	for _, of := range []fixture.User{user, other} {
		req := of.Spends("1")
		req.Tags = []string{"work", "kept"}
		of.Create(t, req)
	}
	mirror, same := newMirror(srv), newMirror(srv)
	mirror.follow(user.Ctx, t, 1)
	same.follow(other.Ctx, t, 1)
	cursor := same.cursor
	require.NoError(t, pg.InTx(user.Ctx, srv.DB, func(tx pgx.Tx) error {
		if err := posting.LockOwner(user.Ctx, tx, user.ID); err != nil {
			return err
		}
		_, err := tx.Exec(user.Ctx, `DELETE FROM tags WHERE owner_id = $1 AND key = 'work'`,
			user.ID)
		if err != nil {
			return err
		}
		_, err = tx.Exec(user.Ctx,
			`INSERT INTO tags (owner_id, key, name, created_at) VALUES ($1, 'work', 'Work', now())`,
			user.ID)
		return err
	}))
	mirror.follow(user.Ctx, t, 1)
	require.NotContains(t, mirror.objects, "tag work", "the tombstone deletes the tag")

	migration, err := os.ReadFile("../migrations/0039_renamed_tags.sql")
	require.NoError(t, err)
	pgtest.Exec(t, srv.DB, string(migration))
	mirror.follow(user.Ctx, t, 1)
	mirror.requireEqual(user.Ctx, t)
	same.follow(other.Ctx, t, 1)
	require.Equal(t, cursor, same.cursor, "other owners get nothing again")
}
