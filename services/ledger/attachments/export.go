package attachments

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/files"
)

// Exported is an attachment in the archive of an account.
type Exported struct{ attachment }

// Page returns up to limit of an owner's attachments with an id below before, newest first.
func Page(
	ctx context.Context, q pg.Querier, owner, before uuid.UUID, limit int,
) ([]Exported, error) {
	return selectPage(ctx, q, owner, before, limit)
}

// Proto returns e as the API shows it.
func (e Exported) Proto() *ledgerv1.Attachment { return e.proto() }

// Path returns the path of the content in the archive. Attachments may have the same name.
func (e Exported) Path() string {
	name := strings.NewReplacer("/", "_", `\`, "_").Replace(e.Name)
	return fmt.Sprintf("attachments/%s-%s", e.ID, name)
}

// Copy writes the content to w. If q is a snapshot, the chunks are those of its moment. An object
// stays in the store for files.Retention after its row has changed, longer than an export.
func (e Exported) Copy(
	ctx context.Context, q pg.Querier, store *files.Store, w io.Writer,
) error {
	if e.Object != nil {
		content, err := store.Open(ctx, files.Object{
			OwnerID: e.OwnerID, ID: *e.Object, Size: e.Size, SHA256: e.SHA256,
		})
		if err != nil {
			return err
		}
		defer func() { _ = content.Close() }()
		_, err = io.Copy(w, content)
		return err
	}
	for n, sent := 0, int64(0); sent < e.Size; n++ {
		chunk, err := selectChunk(ctx, q, e.attachment, n)
		if err != nil {
			return err
		}
		if _, err := w.Write(chunk); err != nil {
			return err
		}
		sent += int64(len(chunk))
	}
	return nil
}
