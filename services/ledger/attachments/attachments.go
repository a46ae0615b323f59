// Package attachments stores files with transactions, byte for byte as they were sent.
//
//   - attachments.go: the RPC methods
//   - upload.go: receives a file and detects its type. quota.go: the limits of an owner
//   - content.go: reads a file
//   - store_attachments.go: the statements
//
// A file is stored in chunks, each in a separate short database transaction, so that none stays
// open while a client sends (ADR 79). The attachment has the status uploading until the last
// database transaction. That one checks the limits of the transaction and of the owner, and makes
// the attachment ready. Only ready attachments are visible and count. A failed upload is deleted
// immediately. Expire deletes the uploads of a process that ended, so call it regularly.
//
// The column attachment_count of a transaction is the number of its ready attachments, so that
// lists of transactions do not count them. A change of it gets a number for synchronization, like
// every write (posting.ShareOwner), and not a new version. The row is locked before the
// attachments, also by the deletion of a transaction, which deletes the attachments by a foreign
// key and without their events.
//
// If there is a store of files, package files moves the content of ready attachments into it, and
// back.
//
// A created or deleted attachment publishes its event in the same database transaction. The event
// is the attachment's and not a TransactionUpdated, because the transaction keeps its version, and
// consumers of TransactionUpdated check the spending again.
package attachments

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const maxPerTransaction = 10

// Attachments implements AttachmentService.
type Attachments struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeAttachmentServiceServer
	*posting.Ledger

	// Quota is the maximum total size of an owner's attachments, in bytes.
	Quota int64
	// Files has the content of attachments that files.Store has moved there.
	Files *files.Store
}

var _ ledgerv1.AttachmentServiceServer = (*Attachments)(nil)

// ListAttachments returns the attachments of one of the caller's transactions, the oldest first.
// There are at most maxPerTransaction, so the list has no pages.
func (s *Attachments) ListAttachments(
	ctx context.Context, req *ledgerv1.ListAttachmentsRequest,
) (*ledgerv1.ListAttachmentsResponse, error) {
	id, ok := text.ID(req.GetTransactionId())
	if !ok {
		return nil, errInvalidTransactionID
	}
	if _, err := own(ctx, s.DB, id, selectTransaction); err != nil {
		return nil, err
	}
	rows, err := selectOfTransaction(ctx, s.DB, caller.ID(ctx), id)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.ListAttachmentsResponse{}
	for _, a := range rows {
		resp.Attachments = append(resp.Attachments, a.proto())
	}
	return resp, nil
}

// DownloadAttachment sends one of the caller's attachments. If it is in PostgreSQL and deleted
// meanwhile, the stream ends with an error.
func (s *Attachments) DownloadAttachment(
	req *ledgerv1.DownloadAttachmentRequest,
	stream grpc.ServerStreamingServer[ledgerv1.DownloadAttachmentResponse],
) error {
	ctx := stream.Context()
	id, ok := text.ID(req.GetId())
	if !ok {
		return errInvalidAttachmentID
	}
	file, err := ready(ctx, s.DB, id)
	if err != nil {
		return err
	}
	content, err := s.open(ctx, file)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	header := &restv1.FileHeader{MediaType: file.MediaType, FileName: file.Name, Size: file.Size}
	if err := stream.Send(&ledgerv1.DownloadAttachmentResponse{Header: header}); err != nil {
		return err
	}
	w := rpc.NewFileWriter(func(piece []byte) error {
		return stream.Send(&ledgerv1.DownloadAttachmentResponse{Content: piece})
	})
	if _, err := io.Copy(w, content); err != nil {
		return err
	}
	return w.Flush()
}

// DeleteAttachment deletes one of the caller's attachments. Of two simultaneous deletions one gets
// ATTACHMENT_NOT_FOUND, so the count of the transaction decreases once.
func (s *Attachments) DeleteAttachment(
	ctx context.Context, req *ledgerv1.DeleteAttachmentRequest,
) (*ledgerv1.DeleteAttachmentResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidAttachmentID
	}
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		file, err := ready(ctx, tx, id)
		if err != nil {
			return err
		}
		// The owner and the transaction are locked first, as in uploads. If the transaction was
		// deleted, so was the attachment.
		if err := posting.ShareOwner(ctx, tx, file.OwnerID); err != nil {
			return err
		}
		if _, err := own(ctx, tx, file.TransactionID, lockTransaction); err != nil {
			if errors.Is(err, posting.ErrTransactionNotFound) {
				return errAttachmentNotFound
			}
			return err
		}
		deleted, err := deleteReady(ctx, tx, file)
		if err != nil {
			return err
		}
		if !deleted {
			return errAttachmentNotFound
		}
		if err := addToCount(ctx, tx, file.OwnerID, file.TransactionID, -1); err != nil {
			return err
		}
		return s.Publish(ctx, tx, file.OwnerID,
			&ledgerv1.AttachmentDeleted{OwnerId: file.OwnerID.String(), Attachment: file.proto()})
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteAttachmentResponse{Id: id.String()}, nil
}

func (a attachment) proto() *ledgerv1.Attachment {
	return &ledgerv1.Attachment{
		Id: a.ID.String(), TransactionId: a.TransactionID.String(), Name: a.Name,
		MediaType: a.MediaType, Size: a.Size, Sha256: hex.EncodeToString(a.SHA256),
		CreatedAt: calendar.FormatTime(a.CreatedAt),
	}
}

// own returns one of the caller's transactions. read is selectTransaction or lockTransaction. Like
// the RPCs of transactions, own distinguishes a missing transaction from another user's (ADR 14).
func own(
	ctx context.Context, q pg.Querier, id uuid.UUID,
	read func(context.Context, pg.Querier, uuid.UUID, uuid.UUID) (transaction, error),
) (transaction, error) {
	owner := caller.ID(ctx)
	t, err := read(ctx, q, owner, id)
	if !errors.Is(err, pgx.ErrNoRows) {
		return t, err
	}
	missing, err := posting.NotFound(ctx, q, owner, id)
	return transaction{}, cmp.Or(err, error(missing[id]))
}

func ready(ctx context.Context, q pg.Querier, id uuid.UUID) (attachment, error) {
	a, err := selectReady(ctx, q, caller.ID(ctx), id)
	return a, pg.IfNoRows(err, errAttachmentNotFound)
}
