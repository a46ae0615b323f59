package files

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// chunkSize is the size of a chunk of an attachment in PostgreSQL. Package attachments reads chunks
// of any size.
const chunkSize = 256 << 10

var attachments = table{
	selectEmbedded: selectEmbeddedAttachments, selectStored: selectStoredAttachments,
	selectContent: selectAttachmentContent, store: storeAttachment, embed: embedAttachment,
}

// selectEmbeddedAttachments returns up to batch visible attachments with their content in
// PostgreSQL, in the order of the index attachments_embedded.
func selectEmbeddedAttachments(ctx context.Context, q pg.Querier, after place) ([]file, error) {
	return pg.All[file](ctx, q, `
		SELECT owner_id, id, 0::smallint AS page, object, size, sha256
		FROM attachments
		WHERE status = 'ready' AND object IS NULL AND (owner_id, id) > ($1, $2)
		ORDER BY owner_id, id
		LIMIT $3`, after.OwnerID, after.ID, batch)
}

// selectStoredAttachments returns up to batch attachments with an object. After the last one of an
// owner, the next owner follows.
func selectStoredAttachments(ctx context.Context, q pg.Querier, after place) ([]file, error) {
	return pg.All[file](ctx, q, `
		SELECT owner_id, id, 0::smallint AS page, object, size, sha256
		FROM attachments
		WHERE object IS NOT NULL AND (owner_id, id) > ($1, $2)
		ORDER BY owner_id, id
		LIMIT $3`, after.OwnerID, after.ID, batch)
}

// selectAttachmentContent returns the chunks of an attachment as one value of at most 10 MiB, or
// pgx.ErrNoRows if the attachment was deleted or has an object.
func selectAttachmentContent(ctx context.Context, q pg.Querier, f file) ([]byte, error) {
	return pg.Value[[]byte](ctx, q, `
		SELECT coalesce(string_agg(c.content, ''::bytea ORDER BY c.n), ''::bytea)
		FROM attachments a
		LEFT JOIN attachment_chunks c ON c.owner_id = a.owner_id AND c.attachment_id = a.id
		WHERE a.owner_id = $1 AND a.id = $2 AND a.status = 'ready' AND a.object IS NULL
		GROUP BY a.owner_id, a.id`, f.OwnerID, f.ID)
}

// storeAttachment replaces the chunks of an attachment by its object.
func storeAttachment(ctx context.Context, tx pgx.Tx, f file) (bool, error) {
	stored, err := pg.Affected(ctx, tx, `
		UPDATE attachments
		SET object = $3
		WHERE owner_id = $1 AND id = $2 AND status = 'ready' AND object IS NULL AND sha256 = $4`,
		f.OwnerID, f.ID, f.Object, f.SHA256)
	if err != nil || !stored {
		return false, err
	}
	return true, deleteChunks(ctx, tx, f)
}

func deleteChunks(ctx context.Context, tx pgx.Tx, f file) error {
	return pg.Exec(ctx, tx,
		`DELETE FROM attachment_chunks WHERE owner_id = $1 AND attachment_id = $2`,
		f.OwnerID, f.ID)
}

// embedAttachment replaces the object of an attachment by chunks.
func embedAttachment(ctx context.Context, tx pgx.Tx, f file, content []byte) (bool, error) {
	embedded, err := pg.Affected(ctx, tx, `
		UPDATE attachments
		SET object = NULL
		WHERE owner_id = $1 AND id = $2 AND object = $3`, f.OwnerID, f.ID, f.Object)
	if err != nil || !embedded {
		return false, err
	}
	return true, insertChunks(ctx, tx, f, content)
}

func insertChunks(ctx context.Context, tx pgx.Tx, f file, content []byte) error {
	return pg.Exec(ctx, tx, `
		INSERT INTO attachment_chunks (owner_id, attachment_id, n, content)
		SELECT $1, $2, n, substring($3::bytea FROM n * $4::int + 1 FOR $4::int)
		FROM generate_series(0, (octet_length($3::bytea) - 1) / $4::int) AS n`,
		f.OwnerID, f.ID, content, chunkSize)
}
