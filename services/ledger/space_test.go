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
	s := newIsolated(t)
	u := s.env.NewUser(t.Context(), t)
	spent := u.Create(t, u.Spends("3"))
	s.env.Ledger.Volume = storage.Volume{Folder: t.TempDir(), Minimum: 1.01}
	before := s.env.Stored(t)
	for name, upload := range map[string]func() error{
		"import": func() error {
			return s.imports.CreateImport(fixture.NewUpload(u.Ctx, &ledgerv1.CreateImportRequest{},
				[]byte(statement)))
		},
		"attachment": func() error {
			return s.files.CreateAttachment(fixture.Upload[
				ledgerv1.CreateAttachmentRequest, ledgerv1.CreateAttachmentResponse,
			](u.Ctx, &ledgerv1.CreateAttachmentRequest{
				TransactionId: spent.GetId(), Header: &restv1.FileHeader{FileName: "a.txt"},
			}))
		},
		"receipt": func() error {
			_, err := s.CreateTransactionsFromReceipt(u.Ctx,
				&ledgerv1.CreateTransactionsFromReceiptRequest{
					Receipt: []byte("a photograph"), WalletId: u.Wallet.String(),
					CategoryId: u.Category.String(),
				})
			return err
		},
	} {
		fixture.RequireReason(t, upload(), codes.ResourceExhausted, "STORAGE_FULL")
		require.Equal(t, before, s.env.Stored(t), name)
	}
	u.Create(t, u.Spends("4"))
}
