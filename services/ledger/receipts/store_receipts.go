package receipts

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

type receipt struct {
	ID      uuid.UUID
	OwnerID uuid.UUID `db:"owner_id"`
	// FileHash is the SHA-256 of the uploaded file.
	FileHash []byte `db:"file_sha256"`
	// Content is the encoded coffer.ocr.v1.Receipt of the response.
	Content   []byte
	CreatedAt time.Time `db:"created_at"`
}

// lockReceiptFile serializes uploads of one file by one owner until tx ends, so that only one of
// them is not a duplicate. It is an advisory lock because the receipt has no row yet, and precedes
// the owner's lock in the order of all locks (posting, ownerLock).
func lockReceiptFile(ctx context.Context, tx pgx.Tx, owner uuid.UUID, hash []byte) error {
	return pg.Exec(ctx, tx,
		`SELECT pg_advisory_xact_lock(hashtextextended($1::text || encode($2, 'hex'), 0))`,
		owner, hash)
}

// selectReceiptByFile returns the id of the newest receipt of a file, or pgx.ErrNoRows. Ids are
// UUIDv7, so the greatest one is the newest.
func selectReceiptByFile(
	ctx context.Context, q pg.Querier, owner uuid.UUID, hash []byte,
) (uuid.UUID, error) {
	return pg.Value[uuid.UUID](ctx, q, `
		SELECT id
		FROM receipts
		WHERE owner_id = $1 AND file_sha256 = $2
		ORDER BY id DESC
		LIMIT 1`, owner, hash)
}

// insertReceipt inserts a receipt. Several receipts of one owner may have the same file.
func insertReceipt(ctx context.Context, q pg.Querier, r receipt) error {
	return pg.Exec(ctx, q, `
		INSERT INTO receipts (id, owner_id, file_sha256, content, created_at)
		VALUES ($1, $2, $3, $4, $5)`, r.ID, r.OwnerID, r.FileHash, r.Content, r.CreatedAt)
}

// selectReceipt returns a receipt, or pgx.ErrNoRows if the id is unknown or the receipt belongs to
// another owner.
func selectReceipt(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (receipt, error) {
	return pg.One[receipt](ctx, q, `
		SELECT id, owner_id, file_sha256, content, created_at
		FROM receipts
		WHERE id = $1 AND owner_id = $2`, id, owner)
}

// selectReceipts returns up to limit of an owner's receipts with an id less than before, newest
// first.
func selectReceipts(
	ctx context.Context, q pg.Querier, owner, before uuid.UUID, limit int,
) ([]receipt, error) {
	return pg.All[receipt](ctx, q, `
		SELECT id, owner_id, file_sha256, content, created_at
		FROM receipts
		WHERE owner_id = $1 AND id < $2
		ORDER BY id DESC
		LIMIT $3`, owner, before, limit)
}

// lockTransactionsOf returns the transactions of a receipt. Their ids order the locks.
func lockTransactionsOf(
	ctx context.Context, q pg.Querier, owner, receipt uuid.UUID,
) ([]posting.Transaction, error) {
	return pg.All[posting.Transaction](ctx, q, `
		SELECT `+posting.TransactionColumns+`
		FROM transactions t
		WHERE t.owner_id = $1 AND t.receipt_id = $2
		ORDER BY t.id
		FOR UPDATE`, owner, receipt)
}

func removeReceipt(
	ctx context.Context, q pg.Querier, owner, receipt uuid.UUID, at time.Time,
) error {
	return pg.Exec(ctx, q, `
		UPDATE transactions
		SET receipt_id = NULL, version = version + 1, updated_at = $3
		WHERE owner_id = $1 AND receipt_id = $2`, owner, receipt, at)
}

// deleteReceipt deletes a receipt, and reports whether the owner has it. The images are deleted by
// ON DELETE CASCADE.
func deleteReceipt(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (bool, error) {
	return pg.Affected(ctx, q, `DELETE FROM receipts WHERE owner_id = $1 AND id = $2`, owner, id)
}

// insertReceiptImages inserts the images of a receipt's pages. Pages are numbered from 1.
func insertReceiptImages(
	ctx context.Context, q pg.Querier, owner, receipt uuid.UUID, images [][]byte,
) error {
	if len(images) == 0 {
		return nil
	}
	return pg.Exec(ctx, q, `
		INSERT INTO receipt_images (owner_id, receipt_id, page, content)
		SELECT $1, $2, p.page, p.content
		FROM unnest($3::bytea[]) WITH ORDINALITY AS p (content, page)`, owner, receipt, images)
}

// receiptImage is the image of a page: its content, or the object with its content. Both are nil if
// no image was stored for the page.
type receiptImage struct {
	Content []byte
	Object  *uuid.UUID
	Size    int64
	SHA256  []byte
}

// selectReceiptImage returns the image of a page, or pgx.ErrNoRows if the receipt is unknown or
// belongs to another owner.
func selectReceiptImage(
	ctx context.Context, q pg.Querier, owner, receipt uuid.UUID, page int32,
) (receiptImage, error) {
	return pg.One[receiptImage](ctx, q, `
		SELECT i.content, i.object, coalesce(i.size, 0) AS size, i.sha256
		FROM receipts r
		LEFT JOIN receipt_images i
			ON i.owner_id = r.owner_id AND i.receipt_id = r.id AND i.page = $3::int
		WHERE r.owner_id = $1 AND r.id = $2`, owner, receipt, page)
}

// selectImages returns up to limit of an owner's images after another one, by receipt and page.
func selectImages(
	ctx context.Context, q pg.Querier, owner uuid.UUID, after Image, limit int,
) ([]Image, error) {
	return pg.All[Image](ctx, q, `
		SELECT receipt_id, page
		FROM receipt_images
		WHERE owner_id = $1 AND (receipt_id, page) > ($2, $3)
		ORDER BY receipt_id, page
		LIMIT $4`, owner, after.ReceiptID, after.Page, limit)
}
