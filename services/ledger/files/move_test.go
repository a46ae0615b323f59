package files_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/files/filestest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// sizes of files: one byte, around the limits of a chunk and of a piece, and the largest.
var sizes = []int{1, 64 << 10, 256<<10 - 1, 256 << 10, 256<<10 + 1, 1<<20 + 7, 10 << 20}

func TestMove(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	p, other := newPerson(t, s), newPerson(t, s)
	for _, size := range sizes {
		p.attach(t, size)
	}
	other.attach(t, 5000)
	other.keep(t, 2<<20)
	p.keep(t, 2)

	moved, failed, err := store.ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	require.Equal(t, []int{len(sizes) + 3, 0}, []int{moved, failed})
	require.Equal(t, moved, s.stored(t))
	s.requireConsistent(t, bucket)
	p.requireWhole(t)
	other.requireWhole(t)
	require.Len(t, bucket.Keys(), moved)
	for _, key := range bucket.Keys() {
		require.True(t, strings.HasPrefix(key, p.ID.String()+"/") ||
			strings.HasPrefix(key, other.ID.String()+"/"), key)
	}
	for id := range p.attached {
		_, err := other.download(id)
		require.Equal(t, "ATTACHMENT_NOT_FOUND", apierr.From(err).Reason)
	}
	again, _, err := store.ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	require.Zero(t, again)

	moved, failed, err = store.ToPostgres(t.Context(), s.DB)
	require.NoError(t, err)
	require.Equal(t, []int{len(sizes) + 3, 0}, []int{moved, failed})
	require.Zero(t, s.stored(t))
	s.requireConsistent(t, bucket)
	p.requireWhole(t)
	other.requireWhole(t)
	require.NoError(t, store.Sweep(t.Context(), s.DB, time.Now().Add(files.Retention+time.Minute)))
	require.Empty(t, bucket.Keys())
	p.requireWhole(t)
}

// TestMoveDuringDownload moves an attachment into the store, and back, while it is downloaded.
func TestMoveDuringDownload(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	p := newPerson(t, s)
	id := p.attach(t, 2<<20)
	for _, move := range []func() (int, int, error){
		func() (int, int, error) { return store.ToStore(t.Context(), s.DB) },
		func() (int, int, error) { return store.ToPostgres(t.Context(), s.DB) },
	} {
		down := &fixture.DownloadStream[ledgerv1.DownloadAttachmentResponse]{Ctx: p.Ctx}
		down.OnSend = func() {
			if len(down.Sent) == 10 {
				moved, _, err := move()
				require.NoError(t, err)
				require.Equal(t, 1, moved)
			}
		}
		require.NoError(t, p.DownloadAttachment(
			&ledgerv1.DownloadAttachmentRequest{Id: id}, down))
		var got strings.Builder
		for _, m := range down.Sent {
			got.Write(m.GetContent())
		}
		requireSame(t, p.attached[id], got.String())
	}
}

// TestMoveDamaged damages files in PostgreSQL and in the store. They are neither moved nor deleted,
// and are not sent completely.
func TestMoveDamaged(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	p := newPerson(t, s)
	truncated, good := p.attach(t, 300_000), p.attach(t, 1000)
	_, err := s.DB.Exec(p.Ctx, `DELETE FROM attachment_chunks WHERE attachment_id = $1 AND n = 1`,
		truncated)
	require.NoError(t, err)
	moved, failed, err := store.ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{moved, failed})
	rows, err := pg.Value[int](p.Ctx, s.DB,
		`SELECT count(*) FROM attachment_chunks WHERE attachment_id = $1`, truncated)
	require.NoError(t, err)
	require.Equal(t, 1, rows)
	_, err = p.download(truncated)
	require.Error(t, err)

	changed, lost := p.attach(t, 64<<10), p.attach(t, 1000)
	image := p.keep(t, 1000)
	_, _, err = store.ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	path := bucket.Path(p.ID.String() + "/" + p.object(t, changed).String())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	content[100] ^= 1
	require.NoError(t, os.WriteFile(path, content, 0o600))
	require.NoError(t, os.Remove(bucket.Path(p.ID.String()+"/"+p.object(t, lost).String())))
	got, err := p.download(changed)
	require.ErrorContains(t, err, "another content")
	require.Less(t, len(got), 64<<10)
	_, err = p.download(lost)
	require.ErrorContains(t, err, "does not exist")
	moved, failed, err = store.ToPostgres(t.Context(), s.DB)
	require.NoError(t, err)
	require.Equal(t, []int{2, 2}, []int{moved, failed})
	require.Equal(t, 2, s.stored(t))
	for _, id := range []string{truncated, changed, lost} {
		delete(p.attached, id)
	}
	got, err = p.download(good)
	require.NoError(t, err)
	require.Equal(t, p.attached[good], got)
	got, err = p.image(image)
	require.NoError(t, err)
	require.Equal(t, p.images[image], got)
}

// TestRun moves new files in the background, except into a read-only store.
func TestRun(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	s := setup(t, openStore(t, bucket.URL("")))
	p := newPerson(t, s)
	deleted := p.attach(t, 10)
	_, _, err := s.Files.ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	p.detach(t, deleted)
	p.attach(t, 100)
	p.keep(t, 100)
	readOnly := openStore(t, bucket.URL("&readonly=true"))
	ending, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	readOnly.Run(ending, s.DB)
	require.NoError(t, ending.Err(), "Run waits")
	require.Zero(t, s.stored(t))
	later := time.Now().Add(files.Retention + time.Minute)
	require.NoError(t, readOnly.Sweep(t.Context(), s.DB, later))
	require.Len(t, bucket.Keys(), 1)
	go s.Files.Run(t.Context(), s.DB)
	require.Eventually(t, func() bool { return s.stored(t) == 2 }, time.Minute,
		20*time.Millisecond)
	p.attach(t, 100)
	require.Eventually(t, func() bool { return s.stored(t) == 3 }, time.Minute,
		20*time.Millisecond)
	p.requireWhole(t)
	s.requireConsistent(t, bucket)
}

// TestCheckFiles restores a database that is older than the bucket, and one that names objects that
// the bucket lost.
func TestCheckFiles(t *testing.T) {
	t.Parallel()
	bucket := filestest.New(t)
	store := openStore(t, bucket.URL(""))
	s := setup(t, store)
	p := newPerson(t, s)
	newer, kept := p.attach(t, 100), p.attach(t, 200)
	p.keep(t, 300)
	_, _, err := store.ToStore(t.Context(), s.DB)
	require.NoError(t, err)
	// The older database neither has the attachment nor lists its object.
	for _, sql := range []string{
		`DELETE FROM attachments WHERE id = $1`,
		`DELETE FROM unreferenced_objects WHERE $1::uuid IS NOT NULL`,
	} {
		_, err := s.DB.Exec(t.Context(), sql, newer)
		require.NoError(t, err)
	}
	delete(p.attached, newer)
	for _, step := range []struct {
		forget bool
		want   string
	}{{false, "1 objects"}, {false, "1 objects"}, {true, "1 objects"}, {true, "0 objects"}} {
		var out strings.Builder
		require.NoError(t, store.CheckAll(t.Context(), s.DB, step.forget, &out))
		require.Equal(t, "2 files in the store are complete, 0 are not; "+step.want+
			" belong to no file\n", out.String())
	}
	require.NoError(t, store.Sweep(t.Context(), s.DB, time.Now().Add(files.Retention+time.Minute)))
	require.Len(t, bucket.Keys(), 2)
	p.requireWhole(t)

	require.NoError(t, os.Remove(bucket.Path(p.ID.String()+"/"+p.object(t, kept).String())))
	var out strings.Builder
	require.ErrorContains(t, store.CheckAll(t.Context(), s.DB, false, &out), "1 files")
	require.Contains(t, out.String(), "1 files in the store are complete, 1 are not")
}

// TestMoveArguments rejects arguments, and a direction that the ledger would revert.
func TestMoveArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{}, {"-to", "disk"}, {"-to", "s3", "all"}, {"-unknown"}, {"-to", "s3"},
	} {
		for _, c := range []app.Command{files.Move(os.DirFS("..")), files.Check(os.DirFS(".."))} {
			err := c.Run(t.Context(), "postgres://nobody@127.0.0.1:1/none", args, io.Discard)
			require.Error(t, err)
		}
	}
	for to, parameters := range map[string]string{"s3": "&readonly=true", "postgres": ""} {
		store := openStore(t, filestest.URL("127.0.0.1:1", parameters))
		require.ErrorContains(t, store.MoveAll(t.Context(), nil, to, io.Discard), "readonly=true")
	}
}
