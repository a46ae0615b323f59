package attachments

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/media"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const pdf = "%PDF-1.7\n\x00\xff"

func TestCreateAttachment(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	content := pdf + strings.Repeat("\x00\x01invoice", 70_000)
	resp, err := me.attach("invoice.html", content)
	require.NoError(t, err)
	require.Empty(t, resp.GetCode(), "the first success option")
	attachment := resp.GetAttachment()
	sum := sha256.Sum256([]byte(content))
	require.True(t, proto.Equal(&ledgerv1.Attachment{
		Id: attachment.GetId(), TransactionId: me.transaction, Name: "invoice.html",
		MediaType: media.PDF, Size: int64(len(content)), Sha256: hex.EncodeToString(sum[:]),
		CreatedAt: "2026-03-15T12:00:00.000Z",
	}, attachment), attachment)
	require.Equal(t, 1, me.count(t))
	require.Equal(t, 3, srv.rows(t, "attachment_chunks"))

	header, got, err := me.download(attachment.GetId())
	require.NoError(t, err)
	require.Equal(t, content, got)
	require.Equal(t, media.PDF, header.GetMediaType())
	require.Equal(t, "invoice.html", header.GetFileName())
	require.Equal(t, int64(len(content)), header.GetSize())

	second := me.mustAttach(t, "note.txt", "paid in cash")
	list := me.list(t)
	require.Len(t, list, 2)
	require.True(t, proto.Equal(attachment, list[0]))
	require.True(t, proto.Equal(second, list[1]))
}

func TestCreateAttachmentKeepsVersion(t *testing.T) {
	t.Parallel()
	me := newPerson(t, setup(t))
	before, err := me.GetTransaction(me.Ctx, &ledgerv1.GetTransactionRequest{Id: me.transaction})
	require.NoError(t, err)
	me.mustAttach(t, "a.txt", "a")
	after, err := me.GetTransaction(me.Ctx, &ledgerv1.GetTransactionRequest{Id: me.transaction})
	require.NoError(t, err)
	require.Equal(t, before.GetEtag(), after.GetEtag())
	updated, err := me.UpdateTransaction(me.Ctx, &ledgerv1.UpdateTransactionRequest{
		Id: me.transaction, Description: new("x"), IfMatch: before.GetEtag(),
	})
	require.NoError(t, err)
	require.Equal(t, int32(1), updated.GetTransaction().GetAttachmentCount(),
		"an update keeps the count")
}

// TestAttachmentsNumberTheTransaction checks that devices that follow the account see the new
// count.
func TestAttachmentsNumberTheTransaction(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t, s)
	seq := func() int {
		return s.rows(t, "generate_series(1, (SELECT seq FROM transactions))")
	}
	before := seq()
	a := me.mustAttach(t, "a.txt", "a")
	created := seq()
	require.Greater(t, created, before)
	_, err := me.DeleteAttachment(me.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: a.GetId()})
	require.NoError(t, err)
	require.Greater(t, seq(), created)
}

// TestAttachmentsPublishEvents checks that each change has one event. Repeated and rejected
// requests have none.
func TestAttachmentsPublishEvents(t *testing.T) {
	t.Parallel()
	me := newPerson(t, setup(t))
	before := len(me.Events(t))
	created, err := me.attach("a.txt", "a", "key")
	require.NoError(t, err)
	for _, key := range []string{"key", "another key"} {
		_, err = me.attach("a.txt", "a", key)
		require.NoError(t, err)
	}
	_, err = me.attach("a.exe", "MZ\x90\x00")
	require.ErrorIs(t, err, errUnsupportedType)
	deletion := &ledgerv1.DeleteAttachmentRequest{Id: created.GetAttachment().GetId()}
	_, err = me.DeleteAttachment(me.Ctx, deletion)
	require.NoError(t, err)
	_, err = me.DeleteAttachment(me.Ctx, deletion)
	require.ErrorIs(t, err, errAttachmentNotFound)

	events := me.Events(t)[before:]
	require.Len(t, events, 2)
	require.True(t, proto.Equal(&ledgerv1.AttachmentCreated{
		OwnerId: me.ID.String(), Attachment: created.GetAttachment(),
	}, events[0]), events[0])
	require.True(t, proto.Equal(&ledgerv1.AttachmentDeleted{
		OwnerId: me.ID.String(), Attachment: created.GetAttachment(),
	}, events[1]), events[1])
}

func TestCreateAttachmentReferences(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, other := newPerson(t, srv), newPerson(t, srv)
	for transaction, want := range map[string]error{
		"": errInvalidTransactionID, "x": errInvalidTransactionID,
		uuid.NewString():  posting.ErrTransactionNotFound,
		other.transaction: posting.ErrTransactionOwnerMismatch,
	} {
		err := me.CreateAttachment(stream(me.Ctx, transaction, "a", "x"))
		require.ErrorIs(t, err, want)
		_, err = me.ListAttachments(me.Ctx,
			&ledgerv1.ListAttachmentsRequest{TransactionId: transaction})
		require.ErrorIs(t, err, want)
	}
	srv.requireNothingStored(t)
	theirs := other.mustAttach(t, "a", "x").GetId()
	for id, want := range map[string]error{
		"": errInvalidAttachmentID, "x": errInvalidAttachmentID,
		uuid.NewString(): errAttachmentNotFound, theirs: errAttachmentNotFound,
	} {
		_, content, err := me.download(id)
		require.ErrorIs(t, err, want)
		require.Empty(t, content)
		_, err = me.DeleteAttachment(me.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: id})
		require.ErrorIs(t, err, want)
	}
	require.Len(t, other.list(t), 1)
}

// TestCreateAttachmentOfTransfer checks that the attachments of a transfer belong to its leg out.
func TestCreateAttachmentOfTransfer(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	other, transfer := srv.MakeWallet(me.Ctx, t, "Bank", "EUR"), uuid.Must(uuid.NewV7())
	row := posting.Transaction{
		WalletID: me.Wallet, Currency: "EUR", Date: fixture.Today, TransferID: &transfer,
		AmountMinor: -700,
	}
	legs := []posting.Transaction{row, row}
	legs[1].WalletID, legs[1].AmountMinor = other, 700
	srv.Record(me.Ctx, t, legs...)
	require.NoError(t, me.CreateAttachment(stream(me.Ctx, legs[0].ID.String(), "a", "x")))
	up := stream(me.Ctx, legs[1].ID.String(), "a", "x")
	received := 0
	next := up.Next
	up.Next = func() (*ledgerv1.CreateAttachmentRequest, error) {
		received++
		return next()
	}
	require.ErrorIs(t, me.CreateAttachment(up), errTransactionIsTransfer)
	require.Equal(t, 1, received, "the upload is rejected before its file arrives")
}

// TestAttachmentsOfTransactions checks that lists and downloads have only files of the transaction
// and of the attachment.
func TestAttachmentsOfTransactions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t, s)
	other := me
	other.transaction = me.Create(t, me.Spends("1")).GetId()
	first, second, third := me.mustAttach(t, "a",
		"first"), me.mustAttach(t, "b", "second"), other.mustAttach(t, "c", "third")
	names := func(of person) (names []string) {
		for _, a := range of.list(t) {
			names = append(names, a.GetName())
		}
		return names
	}
	require.Equal(t, []string{"a", "b"}, names(me))
	require.Equal(t, []string{"c"}, names(other))
	for id, want := range map[string]string{
		first.GetId(): "first", second.GetId(): "second", third.GetId(): "third",
	} {
		_, content, err := me.download(id)
		require.NoError(t, err)
		require.Equal(t, want, content)
	}
}

func TestDeleteAttachment(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	attachment := me.mustAttach(t, "a.pdf", pdf)
	kept := me.mustAttach(t, "b.txt", "b")
	resp, err := me.DeleteAttachment(me.Ctx,
		&ledgerv1.DeleteAttachmentRequest{Id: attachment.GetId()})
	require.NoError(t, err)
	require.Equal(t, attachment.GetId(), resp.GetId())
	_, err = me.DeleteAttachment(me.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: attachment.GetId()})
	require.ErrorIs(t, err, errAttachmentNotFound)
	_, _, err = me.download(attachment.GetId())
	require.ErrorIs(t, err, errAttachmentNotFound)
	require.Len(t, me.list(t), 1)
	require.Equal(t, kept.GetId(), me.list(t)[0].GetId())
	require.Equal(t, 1, me.count(t))
	require.Equal(t, 1, srv.rows(t, "attachment_chunks"))
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
	me := newPerson(t, setup(t))
	attachment := me.mustAttach(t, "a.pdf", pdf+strings.Repeat("x", 1<<20))
	down := &fixture.DownloadStream[ledgerv1.DownloadAttachmentResponse]{Ctx: me.Ctx}
	down.OnSend = func() {
		if len(down.Sent) == 3 {
			_, err := me.DeleteAttachment(me.Ctx,
				&ledgerv1.DeleteAttachmentRequest{Id: attachment.GetId()})
			require.NoError(t, err)
		}
	}
	require.ErrorIs(t,
		me.DownloadAttachment(&ledgerv1.DownloadAttachmentRequest{Id: attachment.GetId()},
			down), errAttachmentNotFound)
}

func TestExpire(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	me.mustAttach(t, "a.txt", "kept")
	// The process ended here.
	half := attachment{
		ID: srv.NewID(), OwnerID: me.ID, TransactionID: uuid.MustParse(me.transaction),
		Name: "half", CreatedAt: fixture.Today,
	}
	require.NoError(t, insertUploading(me.Ctx, srv.DB, half))
	require.NoError(t, insertChunk(me.Ctx, srv.DB, half, 0, []byte("half")))
	require.Len(t, me.list(t), 1)
	_, _, err := me.download(half.ID.String())
	require.ErrorIs(t, err, errAttachmentNotFound)
	_, err = me.DeleteAttachment(me.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: half.ID.String()})
	require.ErrorIs(t, err, errAttachmentNotFound)

	require.NoError(t, Expire(me.Ctx, srv.DB, fixture.Today.Add(uploadAge)))
	require.Equal(t, 1, srv.uploading(t), "it may still run")
	require.NoError(t, Expire(me.Ctx, srv.DB, fixture.Today.Add(time.Hour-ExpireInterval)))
	require.Zero(t, srv.uploading(t))
	require.Equal(t, 1, srv.rows(t, "attachment_chunks"))
}
