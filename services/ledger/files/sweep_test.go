package files_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/files/filestest"
)

// TestMoveDeleted deletes files on several paths after they were moved.
func TestMoveDeleted(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	p := newPerson(t, s)
	detached, withTransaction, kept := p.attach(t, 100), p.attach(t, 200), p.attach(t, 300)
	receipt := p.keep(t, 400)
	_, _, err := store.ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	p.detach(t, detached)
	_, err = p.DeleteTransaction(p.Ctx,
		&ledgerv1.DeleteTransactionRequest{Id: p.transactions[withTransaction]})
	require.NoError(t, err)
	_, err = p.receipts.DeleteReceipt(p.Ctx, &ledgerv1.DeleteReceiptRequest{Id: receipt})
	require.NoError(t, err)
	delete(p.attached, withTransaction)
	delete(p.images, receipt)
	s.requireConsistent(t, bucket)
	require.Len(t, bucket.Keys(), 4)
	now := time.Now()
	require.NoError(t, store.Sweep(t.Context(), s.DB, now.Add(files.Retention-time.Hour)))
	require.Len(t, bucket.Keys(), 4, "the objects of deleted files are kept for a day")

	// The server ends during a sweep, which continues later.
	bucket.Kill()
	later := now.Add(files.Retention + time.Minute)
	require.ErrorIs(t, store.Sweep(t.Context(), s.DB, later), apierr.Unavailable)
	bucket.Start()
	require.NoError(t, store.Sweep(t.Context(), s.DB, later))
	require.Equal(t, []string{p.ID.String() + "/" + p.object(t, kept).String()}, bucket.Keys())
	s.requireConsistent(t, bucket)
	p.requireWhole(t)
}

// TestErase removes the objects of one owner at once, also after the server was unavailable.
func TestErase(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	p, other := newPerson(t, s), newPerson(t, s)
	p.detach(t, p.attach(t, 100))
	other.detach(t, other.attach(t, 200))
	require.Len(t, bucket.Keys(), 2)
	now := time.Now()
	readOnly := openStore(t, bucket.URL("&readonly=true"))
	require.ErrorContains(t, readOnly.Erase(t.Context(), s.DB, p.ID, now), "cannot be written")
	bucket.Kill()
	require.ErrorIs(t, store.Erase(t.Context(), s.DB, p.ID, now), apierr.Unavailable)
	bucket.Start()
	require.NoError(t, store.Erase(t.Context(), s.DB, p.ID, now))
	require.Len(t, bucket.Keys(), 1)
	require.NotContains(t, pgtest.Mentions(t, s.DB, p.ID.String()), "test.unreferenced_objects")
	require.NoError(t, readOnly.Erase(t.Context(), s.DB, p.ID, now), "there is nothing to remove")
}

// TestSweepKeepsNamed checks both guards: a listed object that a row names stays, and no row can
// name an object that is being removed.
func TestSweepKeepsNamed(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	p := newPerson(t, s)
	id := p.attach(t, 100)
	p.keep(t, 100)
	_, _, err := store.ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	list := `INSERT INTO unreferenced_objects (owner_id, id, size)
		SELECT owner_id, object, 1 FROM attachments
		UNION ALL SELECT owner_id, object, 1 FROM receipt_images`
	_, err = s.DB.Exec(p.Ctx, list)
	require.NoError(t, err)
	later := time.Now().Add(files.Retention + time.Minute)
	require.NoError(t, files.MarkRemoving(t.Context(), s.DB, p.ID, later))
	require.NoError(t, store.Sweep(t.Context(), s.DB, later))
	p.requireWhole(t)
	s.requireConsistent(t, bucket)

	object := p.object(t, id)
	p.detach(t, id)
	require.NoError(t, files.MarkRemoving(t.Context(), s.DB, p.ID, later))
	tx, err := s.DB.Begin(p.Ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(p.Ctx)) }()
	claimed, err := files.Claim(p.Ctx, tx, p.ID, object)
	require.NoError(t, err)
	require.False(t, claimed)
}

// TestMoveTwice moves the same files in two processes at the same time. The copies that are not
// needed are removed at once.
func TestMoveTwice(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	p := newPerson(t, s)
	for range 30 {
		p.attach(t, 1000)
		p.keep(t, 1000)
	}
	moved := make(chan error, 2)
	for range 2 {
		go func() {
			_, _, err := store.ToStore(t.Context(), s.DB)
			moved <- err
		}()
	}
	require.NoError(t, <-moved)
	require.NoError(t, <-moved)
	require.Equal(t, 60, s.stored(t))
	require.Len(t, bucket.Keys(), 60)
	p.requireWhole(t)
	s.requireConsistent(t, bucket)
}

// TestCreateAttachmentAfterDeletions checks that the objects of a user take at most twice the
// quota, although those of deleted files are kept for a day.
func TestCreateAttachmentAfterDeletions(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	s.Quota = 1000
	p, other := newPerson(t, s), newPerson(t, s)
	for range 2 {
		id := p.attach(t, 900)
		_, _, err := store.ToStore(t.Context(), s.DB)
		require.NoError(t, err)
		p.detach(t, id)
	}
	p.attach(t, 200)
	_, err := p.tryAttach(t, 1)
	require.Equal(t, "LIMIT_REACHED", apierr.From(err).Reason)
	other.attach(t, 1000)
	require.NoError(t, store.Sweep(t.Context(), s.DB, time.Now().Add(files.Retention+time.Minute)))
	p.attach(t, 800)
	p.requireWhole(t)
}
