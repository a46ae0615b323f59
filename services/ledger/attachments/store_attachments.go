package attachments

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

type attachment struct {
	ID            uuid.UUID
	OwnerID       uuid.UUID `db:"owner_id"`
	TransactionID uuid.UUID `db:"transaction_id"`
	// Name is the name that the client sent, after fileName.
	Name string
	// MediaType, Size and SHA256 describe the whole file, so they are empty during the upload.
	MediaType string `db:"media_type"`
	Size      int64
	SHA256    []byte
	CreatedAt time.Time `db:"created_at"`
	// Object is the id of the object with the content, and nil if the content is in chunks.
	Object *uuid.UUID
}

const attachmentColumns = `id, owner_id, transaction_id, name, media_type, size, sha256,
	created_at, object`

type transaction struct {
	TransferID      *uuid.UUID `db:"transfer_id"`
	AmountMinor     int64      `db:"amount_minor"`
	AttachmentCount int        `db:"attachment_count"`
}

// isLegIn reports whether the transaction is the leg in of a transfer. The attachments of a
// transfer belong to its leg out.
func (t transaction) isLegIn() bool { return t.TransferID != nil && t.AmountMinor > 0 }

const selectTransactionSQL = `
	SELECT transfer_id, amount_minor, attachment_count
	FROM transactions
	WHERE owner_id = $1 AND id = $2`

// selectTransaction returns one of the owner's transactions, or pgx.ErrNoRows.
func selectTransaction(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID,
) (transaction, error) {
	return pg.One[transaction](ctx, q, selectTransactionSQL, owner, id)
}

// lockTransaction is selectTransaction with a lock that prevents changes until the transaction
// ends. The lock protects attachment_count, and keeps the transaction from being deleted or
// becoming a leg.
func lockTransaction(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID,
) (transaction, error) {
	return pg.One[transaction](ctx, q, selectTransactionSQL+` FOR UPDATE`, owner, id)
}

// addToCount changes the number of attachments of a transaction, whose row must be locked. Its
// version stays, because clients change attachments without If-Match.
func addToCount(ctx context.Context, tx pgx.Tx, owner, transaction uuid.UUID, n int) error {
	return pg.Exec(ctx, tx, `
		UPDATE transactions
		SET attachment_count = attachment_count + $3
		WHERE id = $1 AND owner_id = $2`, transaction, owner, n)
}

// insertUploading inserts an attachment whose file will follow. It returns
// posting.ErrTransactionNotFound if the transaction has been deleted.
func insertUploading(ctx context.Context, q pg.Querier, a attachment) error {
	err := pg.Exec(ctx, q, `
		INSERT INTO attachments (owner_id, id, transaction_id, status, name, created_at)
		VALUES ($1, $2, $3, 'uploading', $4, $5)`,
		a.OwnerID, a.ID, a.TransactionID, a.Name, a.CreatedAt)
	if pg.IsViolation(err, "attachments_transaction_fkey") {
		return posting.ErrTransactionNotFound
	}
	return err
}

// insertChunk inserts chunk n of a file. It returns posting.ErrTransactionNotFound if the
// attachment was deleted with its transaction.
func insertChunk(ctx context.Context, q pg.Querier, a attachment, n int, content []byte) error {
	err := pg.Exec(ctx, q, `
		INSERT INTO attachment_chunks (owner_id, attachment_id, n, content)
		VALUES ($1, $2, $3, $4)`, a.OwnerID, a.ID, n, content)
	if pg.IsViolation(err, "attachment_chunks_attachment_fkey") {
		return posting.ErrTransactionNotFound
	}
	return err
}

// updateReady makes an uploaded attachment visible. It returns false if Expire or a deletion of the
// transaction has deleted it.
func updateReady(ctx context.Context, tx pgx.Tx, a attachment) (bool, error) {
	return pg.Affected(ctx, tx, `
		UPDATE attachments
		SET status = 'ready', media_type = $3, size = $4, sha256 = $5
		WHERE owner_id = $1 AND id = $2 AND status = 'uploading'`,
		a.OwnerID, a.ID, a.MediaType, a.Size, a.SHA256)
}

// selectUsage returns the total size of an owner's ready attachments, in bytes. It reads their rows
// by an index, 2000 rows in 2 ms. A stored sum would be faster, but would have to be corrected when
// a foreign key deletes attachments with their transaction.
func selectUsage(ctx context.Context, q pg.Querier, owner uuid.UUID) (int64, error) {
	return pg.Value[int64](ctx, q, `
		SELECT coalesce(sum(size), 0)::bigint
		FROM attachments
		WHERE owner_id = $1 AND status = 'ready'`, owner)
}

// selectByContent returns the attachment of the same transaction with the same content, or
// pgx.ErrNoRows. The unique index attachments_content permits one ready attachment per transaction
// and content.
func selectByContent(ctx context.Context, q pg.Querier, a attachment) (attachment, error) {
	return pg.One[attachment](ctx, q, `
		SELECT `+attachmentColumns+`
		FROM attachments
		WHERE owner_id = $1 AND transaction_id = $2 AND sha256 = $3 AND status = 'ready'`,
		a.OwnerID, a.TransactionID, a.SHA256)
}

// selectReady returns an attachment, or pgx.ErrNoRows if the id is unknown, the attachment is
// another owner's, or it is not ready.
func selectReady(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (attachment, error) {
	return pg.One[attachment](ctx, q, `
		SELECT `+attachmentColumns+`
		FROM attachments
		WHERE owner_id = $1 AND id = $2 AND status = 'ready'`, owner, id)
}

// selectOfTransaction returns the attachments of a transaction, the oldest first. Ids are UUIDs of
// version 7, so their order is the order in which the uploads began.
func selectOfTransaction(
	ctx context.Context, q pg.Querier, owner, transaction uuid.UUID,
) ([]attachment, error) {
	return pg.All[attachment](ctx, q, `
		SELECT `+attachmentColumns+`
		FROM attachments
		WHERE owner_id = $1 AND transaction_id = $2 AND status = 'ready'
		ORDER BY id`, owner, transaction)
}

// selectChunk returns chunk n of an attachment, counted from 0, or pgx.ErrNoRows if the attachment
// was deleted.
func selectChunk(ctx context.Context, q pg.Querier, a attachment, n int) ([]byte, error) {
	return pg.Value[[]byte](ctx, q, `
		SELECT content
		FROM attachment_chunks
		WHERE owner_id = $1 AND attachment_id = $2 AND n = $3`, a.OwnerID, a.ID, n)
}

// selectPage returns up to limit of an owner's ready attachments with an id below before, newest
// first.
func selectPage(
	ctx context.Context, q pg.Querier, owner, before uuid.UUID, limit int,
) ([]Exported, error) {
	return pg.All[Exported](ctx, q, `
		SELECT `+attachmentColumns+`
		FROM attachments
		WHERE owner_id = $1 AND id < $2 AND status = 'ready'
		ORDER BY id DESC
		LIMIT $3`, owner, before, limit)
}

// deleteReady deletes a visible attachment with its chunks. It returns false if the attachment does
// not exist.
func deleteReady(ctx context.Context, tx pgx.Tx, a attachment) (bool, error) {
	return pg.Affected(ctx, tx,
		`DELETE FROM attachments WHERE owner_id = $1 AND id = $2 AND status = 'ready'`,
		a.OwnerID, a.ID)
}

// deleteUploading deletes an attachment that is not visible, with its chunks.
func deleteUploading(ctx context.Context, q pg.Querier, a attachment) error {
	return pg.Exec(ctx, q,
		`DELETE FROM attachments WHERE owner_id = $1 AND id = $2 AND status = 'uploading'`,
		a.OwnerID, a.ID)
}

// ExpireInterval is the time between calls of Expire. An upload that remained when its process
// ended is deleted within an hour.
const ExpireInterval = 10 * time.Minute

// uploadAge is the age at which an upload cannot be running any more, because its request has timed
// out.
const uploadAge = 2 * rpc.UploadTimeout

// Expire deletes the uploads that began before uploadAge and have not ended. Their process stopped,
// or could not discard them.
func Expire(ctx context.Context, q pg.Querier, now time.Time) error {
	before := now.Add(-uploadAge)
	return pg.SweepOwners(func() ([]uuid.UUID, error) {
		return selectStopped(ctx, q, before)
	}, func(owner uuid.UUID) (bool, error) {
		return pg.Affected(ctx, q, `
			DELETE FROM attachments
			WHERE owner_id = $1 AND status = 'uploading' AND created_at < $2`, owner, before)
	})
}

// selectStopped returns the owners of uploads that began before a time and have not ended. The
// partial index attachments_uploading contains only uploads.
func selectStopped(ctx context.Context, q pg.Querier, before time.Time) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, `
		SELECT owner_id
		FROM attachments
		WHERE status = 'uploading' AND created_at < $1
		LIMIT 1000`, before)
}
