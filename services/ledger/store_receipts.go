package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// receipt is a row of receipts.
type receipt struct {
	ID       uuid.UUID
	OwnerID  uuid.UUID `db:"owner_id"`
	FileHash []byte    `db:"file_sha256"`
	// Content is the coffer.ocr.v1.Receipt that was answered.
	Content   []byte
	CreatedAt time.Time `db:"created_at"`
}

// lockReceiptFile makes uploads of one file by one owner wait for each other until tx ends.
func lockReceiptFile(ctx context.Context, tx pgx.Tx, owner uuid.UUID, hash []byte) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1::text || encode($2, 'hex'), 0))`, owner, hash)
	if err != nil {
		return fmt.Errorf("locking a receipt's file: %w", err)
	}
	return nil
}

// selectReceiptByFile returns the id of the newest receipt of a file, or pgx.ErrNoRows.
func selectReceiptByFile(ctx context.Context, q pg.Querier, owner uuid.UUID, hash []byte) (uuid.UUID, error) {
	type row struct{ ID uuid.UUID }
	r, err := pg.One[row](ctx, q, `
		SELECT id
		FROM receipts
		WHERE owner_id = $1 AND file_sha256 = $2
		ORDER BY id DESC
		LIMIT 1`, owner, hash)
	if err != nil {
		return uuid.Nil, fmt.Errorf("selecting a receipt by its file: %w", err)
	}
	return r.ID, nil
}

func insertReceipt(ctx context.Context, q pg.Querier, r receipt) error {
	_, err := q.Exec(ctx, `
		INSERT INTO receipts (id, owner_id, file_sha256, content, created_at)
		VALUES ($1, $2, $3, $4, $5)`, r.ID, r.OwnerID, r.FileHash, r.Content, r.CreatedAt)
	if err != nil {
		return fmt.Errorf("inserting a receipt: %w", err)
	}
	return nil
}

// selectReceipt returns pgx.ErrNoRows for an id that is unknown or another owner's.
func selectReceipt(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (receipt, error) {
	r, err := pg.One[receipt](ctx, q, `
		SELECT id, owner_id, file_sha256, content, created_at
		FROM receipts
		WHERE id = $1 AND owner_id = $2`, id, owner)
	if err != nil {
		return receipt{}, fmt.Errorf("selecting receipt %s: %w", id, err)
	}
	return r, nil
}

// insertReceiptImages stores the pictures of a receipt's pages, the first being page 1.
func insertReceiptImages(ctx context.Context, q pg.Querier, owner, receipt uuid.UUID, pictures [][]byte) error {
	if len(pictures) == 0 {
		return nil
	}
	_, err := q.Exec(ctx, `
		INSERT INTO receipt_images (owner_id, receipt_id, page, content)
		SELECT $1, $2, p.page, p.content
		FROM unnest($3::bytea[]) WITH ORDINALITY AS p (content, page)`, owner, receipt, pictures)
	if err != nil {
		return fmt.Errorf("inserting pictures of receipt %s: %w", receipt, err)
	}
	return nil
}

// selectReceiptImage returns nil for a page without a picture, and pgx.ErrNoRows for a receipt that is unknown or another
// owner's.
func selectReceiptImage(ctx context.Context, q pg.Querier, owner, receipt uuid.UUID, page int32) ([]byte, error) {
	type row struct{ Content []byte }
	r, err := pg.One[row](ctx, q, `
		SELECT i.content
		FROM receipts r
		LEFT JOIN receipt_images i ON i.owner_id = r.owner_id AND i.receipt_id = r.id AND i.page = $3::int
		WHERE r.owner_id = $1 AND r.id = $2`, owner, receipt, page)
	if err != nil {
		return nil, fmt.Errorf("selecting a picture of receipt %s: %w", receipt, err)
	}
	return r.Content, nil
}

// deleteBareReceipt deletes the receipt of a transaction that was deleted, with its pictures, if that was its last one. The
// lock lets simultaneous deletions see each other: the second statement's snapshot is taken when it is held.
func deleteBareReceipt(ctx context.Context, tx pgx.Tx, deleted transaction) error {
	if deleted.ReceiptID == nil {
		return nil
	}
	owner, receipt := deleted.OwnerID, *deleted.ReceiptID
	_, err := tx.Exec(ctx, `SELECT FROM receipts WHERE owner_id = $1 AND id = $2 FOR UPDATE`, owner, receipt)
	if err != nil {
		return fmt.Errorf("locking receipt %s: %w", receipt, err)
	}
	_, err = tx.Exec(ctx, `
		DELETE FROM receipts r
		WHERE r.owner_id = $1 AND r.id = $2
			AND NOT EXISTS (SELECT FROM transactions t WHERE t.owner_id = r.owner_id AND t.receipt_id = r.id)`, owner, receipt)
	if err != nil {
		return fmt.Errorf("deleting receipt %s: %w", receipt, err)
	}
	return nil
}
