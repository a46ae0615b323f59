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
)

func TestCreateAttachmentTypes(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	for content, want := range map[string]string{
		"\xff\xd8\xff\xe0\x00": media.JPEG, "\x89PNG\r\n\x1a\n\x00": media.PNG,
		"GIF89a\x00": media.GIF, "RIFF\x01\x02\x03\x04WEBPVP8 ": media.WebP,
		"\x00\x00\x00\x18ftypheic": media.HEIC, pdf: media.PDF, "Käse\n": media.Text,
		"<html><script>": media.Text, "BMW, 3 l oil": media.Text, "x": media.Text,
		"BM\x00\x01": "", "II*\x00": "", "MZ\x90\x00": "", "PK\x03\x04": "", "K\xe4se": "",
		"a\x00b": "", "\xef\xbb": "",
		strings.Repeat("text", 100_000) + "\x00": "", strings.Repeat("text", 100_000) + "€"[:1]: "",
	} {
		resp, err := p.attach("a", content)
		if want == "" {
			require.ErrorIs(t, err, errUnsupportedType, "%.20q", content)
			continue
		}
		require.NoError(t, err, "%.20q", content)
		require.Equal(t, want, resp.GetAttachment().GetMediaType(), "%.20q", content)
	}
	require.Zero(t, p.uploading(t))
}

// uploading returns the number of uploads that have not ended.
func (s *server) uploading(t testing.TB) int {
	t.Helper()
	return s.rows(t, "attachments WHERE status = 'uploading'")
}

func TestCreateAttachmentSize(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	_, err := p.attach("a", "")
	require.ErrorIs(t, err, errFileRequired)
	_, err = p.attach("a", pdf+strings.Repeat("x", maxFile+1-len(pdf)))
	require.ErrorIs(t, err, apierr.PayloadTooLarge)
	s.requireNothingStored(t)
	a := p.mustAttach(t, "a", pdf+strings.Repeat("x", maxFile-len(pdf)))
	require.Equal(t, int64(maxFile), a.GetSize())

	// The stream is not read further than to the first byte beyond the limit.
	up := stream(p.Ctx, p.transaction, "a", strings.Repeat("x", 20<<20))
	next, received := up.Next, 0
	up.Next = func() (*ledgerv1.CreateAttachmentRequest, error) {
		m, err := next()
		received += len(m.GetFile())
		return m, err
	}
	require.ErrorIs(t, p.CreateAttachment(up), apierr.PayloadTooLarge)
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
	s := setup(t)
	p := newPerson(t, s)
	first := p.mustAttach(t, "a.txt", "same")
	resp, err := p.attach("b.txt", "same")
	require.NoError(t, err)
	require.Equal(t, fetchedCode, resp.GetCode())
	require.True(t, proto.Equal(first, resp.GetAttachment()))
	require.Equal(t, 1, p.count(t))
	require.Equal(t, 1, s.rows(t, "attachment_chunks"))

	elsewhere := p
	elsewhere.transaction = p.Create(t, p.Spends("1")).GetId()
	require.NotEqual(t, first.GetId(), elsewhere.mustAttach(t, "a.txt", "same").GetId(),
		"another transaction has its own")
	_, err = p.DeleteAttachment(p.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: first.GetId()})
	require.NoError(t, err)
	require.NotEqual(t, first.GetId(), p.mustAttach(t, "a.txt", "same").GetId())
}

func TestCreateAttachmentIdempotency(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	first, err := p.attach("a.txt", "one", "key")
	require.NoError(t, err)
	require.False(t, first.GetReplayed())
	_, err = p.DeleteAttachment(p.Ctx,
		&ledgerv1.DeleteAttachmentRequest{Id: first.GetAttachment().GetId()})
	require.NoError(t, err)
	again, err := p.attach("a.txt", "one", "key")
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(first.GetAttachment(), again.GetAttachment()))
	for _, different := range [][2]string{{"a.txt", "two"}, {"b.txt", "one"}} {
		_, err = p.attach(different[0], different[1], "key")
		require.ErrorIs(t, err, apierr.IdempotencyKeyUsed)
	}
	_, err = p.attach("a.txt", "three", strings.Repeat("k", 300))
	require.ErrorIs(t, err, apierr.IdempotencyKey)
	s.requireNothingStored(t)
	require.Zero(t, p.count(t))
}

// TestCreateAttachmentReplay changes the transaction between an upload and its repetition with the
// same key.
func TestCreateAttachmentReplay(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for name, c := range map[string]struct {
		change   func(t *testing.T, p person)
		rejected error
	}{
		"deleted": {func(t *testing.T, p person) {
			t.Helper()
			_, err := p.DeleteTransaction(p.Ctx,
				&ledgerv1.DeleteTransactionRequest{Id: p.transaction})
			require.NoError(t, err)
		}, errTransactionNotFound},
		"leg in": {func(t *testing.T, p person) {
			t.Helper()
			pgtest.Exec(t, s.DB, `
				UPDATE transactions
				SET transfer_id = gen_random_uuid(), category_id = NULL, amount_minor = 1230
				WHERE id = $1`, p.transaction)
		}, errTransactionIsTransfer},
		"limit reached": {func(t *testing.T, p person) {
			t.Helper()
			pgtest.Exec(t, s.DB, `UPDATE transactions SET attachment_count = $2 WHERE id = $1`,
				p.transaction, maxPerTransaction)
		}, errLimitReached},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, s)
			first, err := p.attach("a.txt", "one", "key")
			require.NoError(t, err)
			c.change(t, p)
			again, err := p.attach("a.txt", "one", "key")
			require.NoError(t, err)
			require.True(t, again.GetReplayed())
			require.True(t, proto.Equal(first.GetAttachment(), again.GetAttachment()))
			for _, key := range []string{"", "another key"} {
				_, err = p.attach("a.txt", "two", key)
				require.ErrorIs(t, err, c.rejected)
			}
			_, err = p.attach("a.txt", "two", "key")
			require.ErrorIs(t, err, apierr.IdempotencyKeyUsed)
		})
	}
}

// TestDeleteUploading checks that each statement changes attachments in one state only. An upload
// whose commit succeeded although the connection failed is discarded when it is ready, and must
// stay.
func TestDeleteUploading(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	ready := attachment{
		ID: uuid.MustParse(p.mustAttach(t, "a", "x").GetId()), OwnerID: p.ID,
		MediaType: "text/plain", Size: 1, SHA256: make([]byte, 32),
	}
	half := attachment{
		ID: s.NewID(), OwnerID: p.ID, TransactionID: uuid.MustParse(p.transaction), Name: "half",
		CreatedAt: fixture.Today,
	}
	require.NoError(t, insertUploading(p.Ctx, s.DB, half))
	before := p.list(t)
	require.NoError(t, deleteUploading(p.Ctx, s.DB, ready))
	require.NoError(t, pg.InTx(p.Ctx, s.DB, func(tx pgx.Tx) error {
		updated, err := updateReady(p.Ctx, tx, ready)
		require.False(t, updated)
		return err
	}))
	require.NoError(t, pg.InTx(p.Ctx, s.DB, func(tx pgx.Tx) error {
		deleted, err := deleteReady(p.Ctx, tx, half)
		require.False(t, deleted)
		return err
	}))
	require.Len(t, p.list(t), 1)
	require.True(t, proto.Equal(before[0], p.list(t)[0]))
	require.Equal(t, 1, s.uploading(t))

	// Ids are unique for each owner only.
	other := newPerson(t, s)
	theirs := half
	theirs.OwnerID, theirs.TransactionID = other.ID, uuid.MustParse(other.transaction)
	require.NoError(t, insertUploading(p.Ctx, s.DB, theirs))
	half.MediaType, half.SHA256 = "text/plain", make([]byte, 32)
	require.NoError(t, pg.InTx(p.Ctx, s.DB, func(tx pgx.Tx) error {
		updated, err := updateReady(p.Ctx, tx, half)
		require.True(t, updated)
		return err
	}))
	require.Empty(t, other.list(t))
	require.NoError(t, deleteUploading(p.Ctx, s.DB, half))
	require.Equal(t, 1, s.uploading(t))
}
