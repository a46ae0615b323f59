package attachments

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/media"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func TestCreateAttachmentTypes(t *testing.T) {
	t.Parallel()
	me := newPerson(t, setup(t))
	for content, want := range map[string]string{
		"\xff\xd8\xff\xe0\x00": media.JPEG, "\x89PNG\r\n\x1a\n\x00": media.PNG,
		"GIF89a\x00": media.GIF, "RIFF\x01\x02\x03\x04WEBPVP8 ": media.WebP,
		"\x00\x00\x00\x18ftypheic": media.HEIC, pdf: media.PDF, "Käse\n": media.Text,
		"<html><script>": media.Text, "BMW, 3 l oil": media.Text, "x": media.Text,
		"BM\x00\x01": "", "II*\x00": "", "MZ\x90\x00": "", "PK\x03\x04": "", "K\xe4se": "",
		"a\x00b": "", "\xef\xbb": "",
		strings.Repeat("text", 100_000) + "\x00": "", strings.Repeat("text", 100_000) + "€"[:1]: "",
	} {
		resp, err := me.attach("a", content)
		if want == "" {
			require.ErrorIs(t, err, errUnsupportedType, "%.20q", content)
			continue
		}
		require.NoError(t, err, "%.20q", content)
		require.Equal(t, want, resp.GetAttachment().GetMediaType(), "%.20q", content)
	}
	require.Zero(t, me.uploading(t))
}

// uploading returns the number of uploads that have not ended.
func (s *server) uploading(t testing.TB) int {
	t.Helper()
	return s.rows(t, "attachments WHERE status = 'uploading'")
}

func TestCreateAttachmentSize(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	_, err := me.attach("a", "")
	require.ErrorIs(t, err, errFileRequired)
	_, err = me.attach("a", pdf+strings.Repeat("x", maxFile+1-len(pdf)))
	require.ErrorIs(t, err, apierr.PayloadTooLarge)
	srv.requireNothingStored(t)
	a := me.mustAttach(t, "a", pdf+strings.Repeat("x", maxFile-len(pdf)))
	require.Equal(t, int64(maxFile), a.GetSize())

	// The stream is not read further than to the first byte beyond the limit.
	up := stream(me.Ctx, me.transaction, "a", strings.Repeat("x", 20<<20))
	next, received := up.Next, 0
	up.Next = func() (*ledgerv1.CreateAttachmentRequest, error) {
		m, err := next()
		received += len(m.GetFile())
		return m, err
	}
	require.ErrorIs(t, me.CreateAttachment(up), apierr.PayloadTooLarge)
	require.LessOrEqual(t, received, maxFile+64<<10)
}

func TestCreateAttachmentName(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"": "file", " \t": "file", "a.pdf": "a.pdf", " März.pdf ": "März.pdf",
		"a\r\nb\x00.pdf":         "ab.pdf",
		strings.Repeat("ä", 300): strings.Repeat("ä", 255), "\xff.pdf": ".pdf",
		"Ma\u0308rz.pdf": "M\u00e4rz.pdf", "\u200b": "file",
		"invoice\u202efdp.exe": "invoicefdp.exe", "\u2066a\u2069.pdf": "a.pdf",
	} {
		require.Equal(t, want, fileName(given), "%q", given)
	}
}

func TestCreateAttachmentSameContent(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	first := me.mustAttach(t, "a.txt", "same")
	resp, err := me.attach("b.txt", "same")
	require.NoError(t, err)
	require.Equal(t, fetchedCode, resp.GetCode())
	require.True(t, proto.Equal(first, resp.GetAttachment()))
	require.Equal(t, 1, me.count(t))
	require.Equal(t, 1, srv.rows(t, "attachment_chunks"))

	elsewhere := me
	elsewhere.transaction = me.Create(t, me.Spends("1")).GetId()
	require.NotEqual(t, first.GetId(), elsewhere.mustAttach(t, "a.txt", "same").GetId(),
		"another transaction has its own")
	_, err = me.DeleteAttachment(me.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: first.GetId()})
	require.NoError(t, err)
	require.NotEqual(t, first.GetId(), me.mustAttach(t, "a.txt", "same").GetId())
}

func TestCreateAttachmentIdempotency(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	first, err := me.attach("a.txt", "one", "key")
	require.NoError(t, err)
	require.False(t, first.GetReplayed())
	_, err = me.DeleteAttachment(me.Ctx,
		&ledgerv1.DeleteAttachmentRequest{Id: first.GetAttachment().GetId()})
	require.NoError(t, err)
	again, err := me.attach("a.txt", "one", "key")
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(first.GetAttachment(), again.GetAttachment()))
	for _, different := range [][2]string{{"a.txt", "two"}, {"b.txt", "one"}} {
		_, err = me.attach(different[0], different[1], "key")
		require.ErrorIs(t, err, apierr.IdempotencyKeyUsed)
	}
	_, err = me.attach("a.txt", "three", strings.Repeat("k", 300))
	require.ErrorIs(t, err, apierr.IdempotencyKey)
	srv.requireNothingStored(t)
	require.Zero(t, me.count(t))
}

// TestCreateAttachmentReplay changes the transaction between an upload and its repetition with the
// same key.
func TestCreateAttachmentReplay(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	for name, tc := range map[string]struct {
		change   func(t *testing.T, p person)
		rejected error
	}{
		"deleted": {func(t *testing.T, p person) {
			t.Helper()
			_, err := p.DeleteTransaction(p.Ctx,
				&ledgerv1.DeleteTransactionRequest{Id: p.transaction})
			require.NoError(t, err)
		}, posting.ErrTransactionNotFound},
		"leg in": {func(t *testing.T, p person) {
			t.Helper()
			pgtest.Exec(t, srv.DB, `
				UPDATE transactions
				SET transfer_id = gen_random_uuid(), category_id = NULL, amount_minor = 1230
				WHERE id = $1`, p.transaction)
		}, errTransactionIsTransfer},
		"limit reached": {func(t *testing.T, p person) {
			t.Helper()
			pgtest.Exec(t, srv.DB, `UPDATE transactions SET attachment_count = $2 WHERE id = $1`,
				p.transaction, maxPerTransaction)
		}, errLimitReached},
	} {
		t.Run(name, func(t *testing.T) {
			me := newPerson(t, srv)
			first, err := me.attach("a.txt", "one", "key")
			require.NoError(t, err)
			tc.change(t, me)
			again, err := me.attach("a.txt", "one", "key")
			require.NoError(t, err)
			require.True(t, again.GetReplayed())
			require.True(t, proto.Equal(first.GetAttachment(), again.GetAttachment()))
			for _, key := range []string{"", "another key"} {
				_, err = me.attach("a.txt", "two", key)
				require.ErrorIs(t, err, tc.rejected)
			}
			_, err = me.attach("a.txt", "two", "key")
			require.ErrorIs(t, err, apierr.IdempotencyKeyUsed)
		})
	}
}

// TestDeleteUploading checks that each statement changes attachments in one state only. An upload
// whose commit succeeded although the connection failed is discarded when it is ready, and must
// stay.
func TestDeleteUploading(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	ready := attachment{
		ID: uuid.MustParse(me.mustAttach(t, "a", "x").GetId()), OwnerID: me.ID,
		MediaType: "text/plain", Size: 1, SHA256: make([]byte, 32),
	}
	half := attachment{
		ID: srv.NewID(), OwnerID: me.ID, TransactionID: uuid.MustParse(me.transaction),
		Name: "half", CreatedAt: fixture.Today,
	}
	require.NoError(t, insertUploading(me.Ctx, srv.DB, half))
	before := me.list(t)
	require.NoError(t, deleteUploading(me.Ctx, srv.DB, ready))
	require.NoError(t, pg.InTx(me.Ctx, srv.DB, func(tx pgx.Tx) error {
		updated, err := updateReady(me.Ctx, tx, ready)
		require.False(t, updated)
		return err
	}))
	require.NoError(t, pg.InTx(me.Ctx, srv.DB, func(tx pgx.Tx) error {
		deleted, err := deleteReady(me.Ctx, tx, half)
		require.False(t, deleted)
		return err
	}))
	require.Len(t, me.list(t), 1)
	require.True(t, proto.Equal(before[0], me.list(t)[0]))
	require.Equal(t, 1, srv.uploading(t))

	// Ids are unique for each owner only.
	other := newPerson(t, srv)
	theirs := half
	theirs.OwnerID, theirs.TransactionID = other.ID, uuid.MustParse(other.transaction)
	require.NoError(t, insertUploading(me.Ctx, srv.DB, theirs))
	half.MediaType, half.SHA256 = "text/plain", make([]byte, 32)
	require.NoError(t, pg.InTx(me.Ctx, srv.DB, func(tx pgx.Tx) error {
		updated, err := updateReady(me.Ctx, tx, half)
		require.True(t, updated)
		return err
	}))
	require.Empty(t, other.list(t))
	require.NoError(t, deleteUploading(me.Ctx, srv.DB, half))
	require.Equal(t, 1, srv.uploading(t))
}
