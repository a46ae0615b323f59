package files

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

var receiptImages = table{
	selectEmbedded: selectEmbeddedImages, selectStored: selectStoredImages,
	selectContent: selectImageContent, store: storeImage, embed: embedImage,
}

// selectEmbeddedImages returns up to batch images with their content in PostgreSQL, in the order of
// the index receipt_images_embedded. They have no size and no hash.
func selectEmbeddedImages(ctx context.Context, q pg.Querier, after place) ([]file, error) {
	return pg.All[file](ctx, q, `
		SELECT owner_id, receipt_id AS id, page, object, 0::bigint AS size, ''::bytea AS sha256
		FROM receipt_images
		WHERE object IS NULL AND (owner_id, receipt_id, page) > ($1, $2, $3)
		ORDER BY owner_id, receipt_id, page
		LIMIT $4`, after.OwnerID, after.ID, after.Page, batch)
}

// selectStoredImages returns up to batch images with an object.
func selectStoredImages(ctx context.Context, q pg.Querier, after place) ([]file, error) {
	return pg.All[file](ctx, q, `
		SELECT owner_id, receipt_id AS id, page, object, size, sha256
		FROM receipt_images
		WHERE object IS NOT NULL AND (owner_id, receipt_id, page) > ($1, $2, $3)
		ORDER BY owner_id, receipt_id, page
		LIMIT $4`, after.OwnerID, after.ID, after.Page, batch)
}

// selectImageContent returns an image, or pgx.ErrNoRows if it was deleted or has an object.
func selectImageContent(ctx context.Context, q pg.Querier, f file) ([]byte, error) {
	return pg.Value[[]byte](ctx, q, `
		SELECT content
		FROM receipt_images
		WHERE owner_id = $1 AND receipt_id = $2 AND page = $3 AND object IS NULL`,
		f.OwnerID, f.ID, f.Page)
}

// storeImage replaces the content of an image by its object.
func storeImage(ctx context.Context, tx pgx.Tx, f file) (bool, error) {
	return pg.Affected(ctx, tx, `
		UPDATE receipt_images
		SET object = $4, size = $5, sha256 = $6, content = NULL
		WHERE owner_id = $1 AND receipt_id = $2 AND page = $3 AND object IS NULL
			AND sha256(content) = $6`,
		f.OwnerID, f.ID, f.Page, f.Object, f.Size, f.SHA256)
}

// embedImage replaces the object of an image by its content.
func embedImage(ctx context.Context, tx pgx.Tx, f file, content []byte) (bool, error) {
	return pg.Affected(ctx, tx, `
		UPDATE receipt_images
		SET object = NULL, size = NULL, sha256 = NULL, content = $5
		WHERE owner_id = $1 AND receipt_id = $2 AND page = $3 AND object = $4`,
		f.OwnerID, f.ID, f.Page, f.Object, content)
}
