package attachments

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/media"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const pdf = "%PDF-1.7\n\x00\xff"

func TestCreateAttachment(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	content := pdf + strings.Repeat("\x00\x01invoice", 70_000)
	resp, err := p.attach("invoice.html", content)
	require.NoError(t, err)
	require.Empty(t, resp.GetCode(), "the first success option")
	a := resp.GetAttachment()
	sum := sha256.Sum256([]byte(content))
	require.True(t, proto.Equal(&ledgerv1.Attachment{
		Id: a.GetId(), TransactionId: p.transaction, Name: "invoice.html", MediaType: media.PDF, Size: int64(len(content)),
		Sha256: hex.EncodeToString(sum[:]), CreatedAt: "2026-03-15T12:00:00.000Z",
	}, a), a)
	require.Equal(t, 1, p.count(t))
	require.Equal(t, 3, s.rows(t, "attachment_chunks"))

	header, got, err := p.download(a.GetId())
	require.NoError(t, err)
	require.Equal(t, content, got)
	require.Equal(t, media.PDF, header.GetMediaType())
	require.Equal(t, "invoice.html", header.GetFileName())
	require.Equal(t, int64(len(content)), header.GetSize())

	second := p.mustAttach(t, "note.txt", "paid in cash")
	list := p.list(t)
	require.Len(t, list, 2)
	require.True(t, proto.Equal(a, list[0]))
	require.True(t, proto.Equal(second, list[1]))
}

func TestCreateAttachmentKeepsVersion(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	before, err := p.GetTransaction(p.Ctx, &ledgerv1.GetTransactionRequest{Id: p.transaction})
	require.NoError(t, err)
	p.mustAttach(t, "a.txt", "a")
	after, err := p.GetTransaction(p.Ctx, &ledgerv1.GetTransactionRequest{Id: p.transaction})
	require.NoError(t, err)
	require.Equal(t, before.GetEtag(), after.GetEtag())
	updated, err := p.UpdateTransaction(p.Ctx, &ledgerv1.UpdateTransactionRequest{Id: p.transaction, Description: new("x"), IfMatch: before.GetEtag()})
	require.NoError(t, err)
	require.Equal(t, int32(1), updated.GetTransaction().GetAttachmentCount(), "an update keeps the count")
}

// TestAttachmentsNumberTheTransaction checks that devices that follow the account see the new
// count.
func TestAttachmentsNumberTheTransaction(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	seq := func() int {
		return s.rows(t, "generate_series(1, (SELECT seq FROM transactions))")
	}
	before := seq()
	a := p.mustAttach(t, "a.txt", "a")
	created := seq()
	require.Greater(t, created, before)
	_, err := p.DeleteAttachment(p.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: a.GetId()})
	require.NoError(t, err)
	require.Greater(t, seq(), created)
}

// TestAttachmentsPublishEvents checks that each change has one event. Repeated and rejected
// requests have none.
func TestAttachmentsPublishEvents(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	before := len(p.Events(t))
	created, err := p.attach("a.txt", "a", "key")
	require.NoError(t, err)
	for _, key := range []string{"key", "another key"} {
		_, err = p.attach("a.txt", "a", key)
		require.NoError(t, err)
	}
	_, err = p.attach("a.exe", "MZ\x90\x00")
	require.ErrorIs(t, err, errUnsupportedType)
	deletion := &ledgerv1.DeleteAttachmentRequest{Id: created.GetAttachment().GetId()}
	_, err = p.DeleteAttachment(p.Ctx, deletion)
	require.NoError(t, err)
	_, err = p.DeleteAttachment(p.Ctx, deletion)
	require.ErrorIs(t, err, errAttachmentNotFound)

	events := p.Events(t)[before:]
	require.Len(t, events, 2)
	require.True(t, proto.Equal(&ledgerv1.AttachmentCreated{OwnerId: p.ID.String(), Attachment: created.GetAttachment()}, events[0]), events[0])
	require.True(t, proto.Equal(&ledgerv1.AttachmentDeleted{OwnerId: p.ID.String(), Attachment: created.GetAttachment()}, events[1]), events[1])
}

func TestCreateAttachmentTypes(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	for content, want := range map[string]string{
		"\xff\xd8\xff\xe0\x00": media.JPEG, "\x89PNG\r\n\x1a\n\x00": media.PNG, "GIF89a\x00": media.GIF, "RIFF\x01\x02\x03\x04WEBPVP8 ": media.WebP,
		"\x00\x00\x00\x18ftypheic": media.HEIC, pdf: media.PDF, "Käse\n": media.Text, "<html><script>": media.Text, "BMW, 3 l oil": media.Text, "x": media.Text,
		"BM\x00\x01": "", "II*\x00": "", "MZ\x90\x00": "", "PK\x03\x04": "", "K\xe4se": "", "a\x00b": "", "\xef\xbb": "",
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
		"": "file", " \t": "file", "a.pdf": "a.pdf", " März.pdf ": "März.pdf", "a\r\nb\x00.pdf": "ab.pdf",
		strings.Repeat("ä", 300): strings.Repeat("ä", 255), "\xff.pdf": ".pdf", "Ma\u0308rz.pdf": "M\u00e4rz.pdf",
		"\u200b": "file", "invoice\u202efdp.exe": "invoicefdp.exe", "\u2066a\u2069.pdf": "a.pdf",
	} {
		require.Equal(t, want, fileName(given), "%q", given)
	}
}

func TestCreateAttachmentReferences(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, other := newPerson(t, s), newPerson(t, s)
	for transaction, want := range map[string]error{
		"": errInvalidTransactionID, "x": errInvalidTransactionID, uuid.NewString(): errTransactionNotFound, other.transaction: errTransactionOwnerMismatch,
	} {
		err := p.CreateAttachment(stream(p.Ctx, transaction, "a", "x"))
		require.ErrorIs(t, err, want)
		_, err = p.ListAttachments(p.Ctx, &ledgerv1.ListAttachmentsRequest{TransactionId: transaction})
		require.ErrorIs(t, err, want)
	}
	s.requireNothingStored(t)
	theirs := other.mustAttach(t, "a", "x").GetId()
	for id, want := range map[string]error{"": errInvalidAttachmentID, "x": errInvalidAttachmentID, uuid.NewString(): errAttachmentNotFound, theirs: errAttachmentNotFound} {
		_, content, err := p.download(id)
		require.ErrorIs(t, err, want)
		require.Empty(t, content)
		_, err = p.DeleteAttachment(p.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: id})
		require.ErrorIs(t, err, want)
	}
	require.Len(t, other.list(t), 1)
}

// TestCreateAttachmentOfTransfer checks that the attachments of a transfer belong to its leg out.
func TestCreateAttachmentOfTransfer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	other, transfer := s.MakeWallet(p.Ctx, t, "Bank", "EUR"), uuid.Must(uuid.NewV7())
	row := posting.Transaction{WalletID: p.Wallet, Currency: "EUR", Date: fixture.Today, TransferID: &transfer, AmountMinor: -700}
	legs := []posting.Transaction{row, row}
	legs[1].WalletID, legs[1].AmountMinor = other, 700
	s.Record(p.Ctx, t, legs...)
	require.NoError(t, p.CreateAttachment(stream(p.Ctx, legs[0].ID.String(), "a", "x")))
	up := stream(p.Ctx, legs[1].ID.String(), "a", "x")
	received := 0
	next := up.Next
	up.Next = func() (*ledgerv1.CreateAttachmentRequest, error) {
		received++
		return next()
	}
	require.ErrorIs(t, p.CreateAttachment(up), errTransactionIsTransfer)
	require.Equal(t, 1, received, "the upload is rejected before its file arrives")
}

// TestAttachmentsOfTransactions checks that lists and downloads have only files of the transaction
// and of the attachment.
func TestAttachmentsOfTransactions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	other := p
	other.transaction = p.Create(t, p.Spends("1")).GetId()
	first, second, third := p.mustAttach(t, "a", "first"), p.mustAttach(t, "b", "second"), other.mustAttach(t, "c", "third")
	names := func(of person) (names []string) {
		for _, a := range of.list(t) {
			names = append(names, a.GetName())
		}
		return names
	}
	require.Equal(t, []string{"a", "b"}, names(p))
	require.Equal(t, []string{"c"}, names(other))
	for id, want := range map[string]string{first.GetId(): "first", second.GetId(): "second", third.GetId(): "third"} {
		_, content, err := p.download(id)
		require.NoError(t, err)
		require.Equal(t, want, content)
	}
}

// TestDeleteUploading checks that each statement changes attachments in one state only. An upload
// whose commit succeeded although the connection failed is discarded when it is ready, and must
// stay.
func TestDeleteUploading(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	ready := attachment{ID: uuid.MustParse(p.mustAttach(t, "a", "x").GetId()), OwnerID: p.ID, MediaType: "text/plain", Size: 1, SHA256: make([]byte, 32)}
	half := attachment{ID: s.NewID(), OwnerID: p.ID, TransactionID: uuid.MustParse(p.transaction), Name: "half", CreatedAt: fixture.Today}
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
	require.NotEqual(t, first.GetId(), elsewhere.mustAttach(t, "a.txt", "same").GetId(), "another transaction has its own")
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
	_, err = p.DeleteAttachment(p.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: first.GetAttachment().GetId()})
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
			_, err := p.DeleteTransaction(p.Ctx, &ledgerv1.DeleteTransactionRequest{Id: p.transaction})
			require.NoError(t, err)
		}, errTransactionNotFound},
		"leg in": {func(t *testing.T, p person) {
			t.Helper()
			_, err := s.DB.Exec(t.Context(), `
				UPDATE transactions SET transfer_id = gen_random_uuid(), category_id = NULL, amount_minor = 1230 WHERE id = $1`, p.transaction)
			require.NoError(t, err)
		}, errTransactionIsTransfer},
		"limit reached": {func(t *testing.T, p person) {
			t.Helper()
			_, err := s.DB.Exec(t.Context(), `UPDATE transactions SET attachment_count = $2 WHERE id = $1`, p.transaction, maxPerTransaction)
			require.NoError(t, err)
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

func TestDeleteAttachment(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	a := p.mustAttach(t, "a.pdf", pdf)
	kept := p.mustAttach(t, "b.txt", "b")
	resp, err := p.DeleteAttachment(p.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: a.GetId()})
	require.NoError(t, err)
	require.Equal(t, a.GetId(), resp.GetId())
	_, err = p.DeleteAttachment(p.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: a.GetId()})
	require.ErrorIs(t, err, errAttachmentNotFound)
	_, _, err = p.download(a.GetId())
	require.ErrorIs(t, err, errAttachmentNotFound)
	require.Len(t, p.list(t), 1)
	require.Equal(t, kept.GetId(), p.list(t)[0].GetId())
	require.Equal(t, 1, p.count(t))
	require.Equal(t, 1, s.rows(t, "attachment_chunks"))
}

func TestDeleteTransactionDeletesAttachments(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	a := p.mustAttach(t, "a.pdf", pdf)
	_, err := p.DeleteTransaction(p.Ctx, &ledgerv1.DeleteTransactionRequest{Id: p.transaction})
	require.NoError(t, err)
	s.requireNothingStored(t)
	_, _, err = p.download(a.GetId())
	require.ErrorIs(t, err, errAttachmentNotFound)
}

// TestDownloadAttachmentDeletedMeanwhile checks that a client never takes a part for the whole
// file.
func TestDownloadAttachmentDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	a := p.mustAttach(t, "a.pdf", pdf+strings.Repeat("x", 1<<20))
	down := &fixture.DownloadStream[ledgerv1.DownloadAttachmentResponse]{Ctx: p.Ctx}
	down.OnSend = func() {
		if len(down.Sent) == 3 {
			_, err := p.DeleteAttachment(p.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: a.GetId()})
			require.NoError(t, err)
		}
	}
	require.ErrorIs(t, p.DownloadAttachment(&ledgerv1.DownloadAttachmentRequest{Id: a.GetId()}, down), errAttachmentNotFound)
}

func TestExpire(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	p.mustAttach(t, "a.txt", "kept")
	// The process ended here.
	half := attachment{ID: s.NewID(), OwnerID: p.ID, TransactionID: uuid.MustParse(p.transaction), Name: "half", CreatedAt: fixture.Today}
	require.NoError(t, insertUploading(p.Ctx, s.DB, half))
	require.NoError(t, insertChunk(p.Ctx, s.DB, half, 0, []byte("half")))
	require.Len(t, p.list(t), 1)
	_, _, err := p.download(half.ID.String())
	require.ErrorIs(t, err, errAttachmentNotFound)
	_, err = p.DeleteAttachment(p.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: half.ID.String()})
	require.ErrorIs(t, err, errAttachmentNotFound)

	require.NoError(t, Expire(p.Ctx, s.DB, fixture.Today.Add(uploadAge)))
	require.Equal(t, 1, s.uploading(t), "it may still run")
	require.NoError(t, Expire(p.Ctx, s.DB, fixture.Today.Add(time.Hour-ExpireInterval)))
	require.Zero(t, s.uploading(t))
	require.Equal(t, 1, s.rows(t, "attachment_chunks"))
}
