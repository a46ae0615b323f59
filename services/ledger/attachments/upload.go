package attachments

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/media"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	maxFile = 10 << 20
	// chunkSize is the size of a stored chunk. An upload keeps one in memory.
	chunkSize = 256 << 10
	// maxName is the maximum length of a name in characters.
	maxName = 255
	// fetchedCode is the response's code if the transaction has the file already.
	fetchedCode = "ATTACHMENT_FETCHED"
	// discardTime limits the time to delete a failed upload. If it does not suffice, Expire deletes
	// the upload later.
	discardTime = 5 * time.Second
)

// accepted are the media types of attachments, besides text.
var accepted = []string{media.JPEG, media.PNG, media.WebP, media.GIF, media.HEIC, media.PDF}

type upload = grpc.ClientStreamingServer[
	ledgerv1.CreateAttachmentRequest, ledgerv1.CreateAttachmentResponse]

// CreateAttachment receives a file and attaches it to one of the caller's transactions. The stream
// ends with io.EOF only after the whole form has arrived. Nothing is visible before that, so an
// interrupted upload leaves no partial file.
//
// Errors: TRANSACTION_NOT_FOUND, also if the transaction is deleted during the upload;
// TRANSACTION_IS_TRANSFER for the leg in of a transfer, whose files belong to the leg out;
// UNSUPPORTED_ATTACHMENT_TYPE; LIMIT_REACHED.
func (s *Attachments) CreateAttachment(stream upload) error {
	ctx := stream.Context()
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	if err := s.Volume.Check(); err != nil {
		return err
	}
	id, ok := text.ID(first.GetTransactionId())
	if !ok {
		return errInvalidTransactionID
	}
	attachment := attachment{
		ID: s.NewID(), OwnerID: caller.ID(ctx), TransactionID: id,
		Name: fileName(first.GetHeader().GetFileName()), CreatedAt: s.Now(),
	}
	resp := &ledgerv1.CreateAttachmentResponse{}
	if err := s.begin(ctx, attachment); err != nil {
		if err := s.replayRejected(ctx, &attachment, first, stream, resp, err); err != nil {
			return err
		}
		return stream.SendAndClose(resp)
	}
	created, err := s.store(ctx, &attachment, first, stream, resp)
	if !created {
		err = errors.Join(err, s.discard(ctx, attachment))
	}
	if err != nil {
		return err
	}
	return stream.SendAndClose(resp)
}

func (s *Attachments) begin(ctx context.Context, a attachment) error {
	t, err := own(ctx, s.DB, a.TransactionID, selectTransaction)
	if err != nil {
		return err
	}
	if t.isLegIn() {
		return errTransactionIsTransfer
	}
	return insertUploading(ctx, s.DB, a)
}

// replayRejected fills the response of a rejected upload that repeats an earlier one with the same
// key, and returns rejected for any other upload. The transaction may have been deleted after the
// first request. The file is received for its hash, and not stored. Without a key, the upload is
// rejected before its file arrives.
func (s *Attachments) replayRejected(
	ctx context.Context, attachment *attachment, first *ledgerv1.CreateAttachmentRequest,
	stream upload, resp *ledgerv1.CreateAttachmentResponse, rejected error,
) (err error) {
	if first.GetIdempotencyKey() == "" {
		return rejected
	}
	if err := receive(attachment, stream, func(int, []byte) error { return nil }); err != nil {
		return rejected
	}
	resp.Replayed, err = idem.ReplayRejected(ctx, s.DB, attachment.call(first), resp, rejected)
	return err
}

// store receives the file and fills the response. It reports whether the attachment was created. It
// is not created in two cases: a repeated request returns the first response, and a file that the
// transaction already has returns the existing attachment.
func (s *Attachments) store(
	ctx context.Context, attachment *attachment, first *ledgerv1.CreateAttachmentRequest,
	stream upload, resp *ledgerv1.CreateAttachmentResponse,
) (created bool, err error) {
	err = receive(attachment, stream, func(n int, chunk []byte) error {
		return insertChunk(ctx, s.DB, *attachment, n, chunk)
	})
	if err != nil {
		return false, err
	}
	replayed, err := idem.InTx(ctx, s.DB, attachment.call(first), resp, func(tx pgx.Tx) error {
		created, err = s.complete(ctx, tx, *attachment, resp)
		return err
	})
	resp.Replayed = replayed
	return created && !replayed && err == nil, err
}

// call returns the idempotent call of an upload that was received. A repeated request must have the
// same file. Its hash represents it, because the file is not in memory.
func (a *attachment) call(first *ledgerv1.CreateAttachmentRequest) idem.Call {
	same := proto.CloneOf(first)
	same.File = a.SHA256
	return idem.Call{Owner: a.OwnerID, Key: first.GetIdempotencyKey(), Request: same}
}

// receive passes the file to keep in chunks, numbered from 0, and sets its type, size and hash. It
// returns errFileRequired for an empty file and errUnsupportedType for a type that is not accepted.
func receive(received *attachment, stream upload, keep func(n int, chunk []byte) error) error {
	file := rpc.NewFileReader(maxFile, func() ([]byte, error) {
		m, err := stream.Recv()
		return m.GetFile(), err
	})
	seen := &recognizer{hash: sha256.New()}
	chunk := make([]byte, chunkSize)
	for n := 0; ; n++ {
		read, err := io.ReadFull(file, chunk)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if read > 0 {
			if !seen.add(chunk[:read]) {
				return errUnsupportedType.With("file",
					"must be JPEG, PNG, WebP, GIF, HEIC, PDF or plain text in UTF-8")
			}
			if err := keep(n, chunk[:read]); err != nil {
				return err
			}
			received.Size += int64(read)
		}
		if err != nil {
			break
		}
	}
	if received.Size == 0 {
		return errFileRequired
	}
	if received.MediaType = seen.mediaType(); received.MediaType == "" {
		return errUnsupportedType.With("file",
			"must be JPEG, PNG, WebP, GIF, HEIC, PDF or plain text in UTF-8")
	}
	received.SHA256 = seen.hash.Sum(nil)
	return nil
}

// complete makes an attachment ready within the limits, and fills the response. It returns false if
// the transaction already has the file; the response is then the existing attachment. ShareOwner
// makes other writes of the owner wait. So of two simultaneous uploads the second one sees the size
// and the content of the first, and both limits hold exactly.
func (s *Attachments) complete(
	ctx context.Context, tx pgx.Tx, uploaded attachment, resp *ledgerv1.CreateAttachmentResponse,
) (bool, error) {
	resp.Reset()
	if err := posting.ShareOwner(ctx, tx, uploaded.OwnerID); err != nil {
		return false, err
	}
	transaction, err := own(ctx, tx, uploaded.TransactionID, lockTransaction)
	if err != nil {
		return false, err
	}
	if transaction.isLegIn() { // MatchTransfer made it one during the upload.
		return false, errTransactionIsTransfer
	}
	switch first, err := selectByContent(ctx, tx, uploaded); {
	case err == nil:
		resp.Code, resp.Attachment = fetchedCode, first.proto()
		return false, nil
	case !errors.Is(err, pgx.ErrNoRows):
		return false, err
	}
	if transaction.AttachmentCount >= maxPerTransaction {
		return false, errLimitReached.With("file",
			fmt.Sprintf("a transaction may have at most %d attachments", maxPerTransaction))
	}
	if err := s.checkQuota(ctx, tx, uploaded); err != nil {
		return false, err
	}
	updated, err := updateReady(ctx, tx, uploaded)
	if err != nil {
		return false, err
	}
	if !updated { // Expire has deleted it.
		return false, apierr.Unavailable
	}
	if err := addToCount(ctx, tx, uploaded.OwnerID, uploaded.TransactionID, 1); err != nil {
		return false, err
	}
	resp.Attachment = uploaded.proto()
	return true, s.Publish(ctx, tx, uploaded.OwnerID,
		&ledgerv1.AttachmentCreated{
			OwnerId: uploaded.OwnerID.String(), Attachment: resp.GetAttachment(),
		})
}

// discard deletes an upload that was not completed. The request's context may have ended, so the
// deletion has a separate timeout.
func (s *Attachments) discard(ctx context.Context, a attachment) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTime)
	defer cancel()
	return deleteUploading(ctx, s.DB, a)
}

// recognizer detects the type of a file and computes its hash while the file arrives.
type recognizer struct {
	hash hash.Hash
	// kind is the type of an accepted file that is not text.
	kind  string
	begun bool
	text  media.TextChecker
}

// add adds a piece, and reports whether the file may still be of an accepted type. So an upload of
// another type ends with its first chunk. A chunk is larger than the signature of any type, so the
// first one suffices to detect it.
func (r *recognizer) add(piece []byte) bool {
	if kind := media.TypeOf(piece); !r.begun && slices.Contains(accepted, kind) {
		r.kind = kind
	}
	r.begun = true
	r.hash.Write(piece)
	return r.kind != "" || r.text.Check(piece)
}

func (r *recognizer) mediaType() string {
	switch {
	case r.kind != "":
		return r.kind
	case r.text.End():
		return media.Text
	}
	return ""
}

// fileName returns a name that can be stored and shown: one line of at most 255 characters in
// Unicode Normalization Form C, or "file" if no visible character remains. Controls of the
// direction of text are removed, because they can hide the ending of a name. PostgreSQL cannot
// store NUL or invalid UTF-8, and the name becomes part of a header of the download.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, name)
	return cmp.Or(text.Fit(name, maxName), "file")
}
