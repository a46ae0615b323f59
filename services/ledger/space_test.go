package ledger

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/storage"
)

// TestUploadsRejectedWithoutSpace measures the volume of a folder against a minimum that no volume
// has. Files are rejected, and other writes succeed.
func TestUploadsRejectedWithoutSpace(t *testing.T) {
	t.Parallel()
	isolated := newIsolated(t)
	user := isolated.env.NewUser(t.Context(), t)
	spent := user.Create(t, user.Spends("3"))
	isolated.env.Ledger.Volume = storage.Volume{Folder: t.TempDir(), Minimum: 1.01}
	before := isolated.env.Stored(t)
	for name, upload := range map[string]func() error{
		"import": func() error {
			return isolated.imports.CreateImport(fixture.NewUpload(user.Ctx,
				&ledgerv1.CreateImportRequest{}, []byte(statement)))
		},
		"attachment": func() error {
			return isolated.files.CreateAttachment(fixture.Upload[
				ledgerv1.CreateAttachmentRequest, ledgerv1.CreateAttachmentResponse,
			](user.Ctx, &ledgerv1.CreateAttachmentRequest{
				TransactionId: spent.GetId(), Header: &restv1.FileHeader{FileName: "a.txt"},
			}))
		},
		"receipt": func() error {
			_, err := isolated.CreateTransactionsFromReceipt(user.Ctx,
				&ledgerv1.CreateTransactionsFromReceiptRequest{
					Receipt: []byte("a photograph"), WalletId: user.Wallet.String(),
					CategoryId: user.Category.String(),
				})
			return err
		},
	} {
		fixture.RequireReason(t, upload(), codes.ResourceExhausted, "STORAGE_FULL")
		require.Equal(t, before, isolated.env.Stored(t), name)
	}
	user.Create(t, user.Spends("4"))
}
