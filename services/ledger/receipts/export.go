package receipts

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ledger/files"
)

// Exported is a receipt in the archive of an account.
type Exported struct{ receipt }

// Page returns up to limit of an owner's receipts with an id below before, newest first.
func Page(
	ctx context.Context, q pg.Querier, owner, before uuid.UUID, limit int,
) ([]Exported, error) {
	rows, err := selectReceipts(ctx, q, owner, before, limit)
	exported := make([]Exported, len(rows))
	for i, r := range rows {
		exported[i] = Exported{r}
	}
	return exported, err
}

// Message returns the id of e, and e as the API shows it.
func (e Exported) Message() (uuid.UUID, proto.Message, error) {
	message := &ocrv1.Receipt{}
	if err := proto.Unmarshal(e.Content, message); err != nil {
		return uuid.Nil, nil, fmt.Errorf("decoding receipt %s: %w", e.ID, err)
	}
	return e.ID, message, nil
}

// Image is a stored image of a page, without its content.
type Image struct {
	ReceiptID uuid.UUID `db:"receipt_id"`
	Page      int32
}

// Images returns up to limit of an owner's images after another one, by receipt and page.
func Images(
	ctx context.Context, q pg.Querier, owner uuid.UUID, after Image, limit int,
) ([]Image, error) {
	return selectImages(ctx, q, owner, after, limit)
}

// Path returns the path of the image in the archive.
func (i Image) Path() string { return fmt.Sprintf("receipts/%s-%d.jpg", i.ReceiptID, i.Page) }

// Content returns the image of an owner in the snapshot of q.
func (i Image) Content(
	ctx context.Context, q pg.Querier, owner uuid.UUID, store *files.Store,
) ([]byte, error) {
	image, err := selectReceiptImage(ctx, q, owner, i.ReceiptID, i.Page)
	if err != nil || image.Object == nil {
		return image.Content, err
	}
	return store.Read(ctx, image.object(owner))
}

// object returns the object with the content of the image.
func (i receiptImage) object(owner uuid.UUID) files.Object {
	return files.Object{OwnerID: owner, ID: *i.Object, Size: i.Size, SHA256: i.SHA256}
}
