package posting_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/sync"
)

// accountWrites are requests that write no transactions, but wait for the locks of those that do.
var accountWrites = []request{
	{name: "wallet created", write: func(h holdings) error {
		_, err := h.CreateWallet(h.Ctx,
			&ledgerv1.CreateWalletRequest{Name: "Savings", Currency: "EUR"})
		return err
	}},
	{name: "category created", write: func(h holdings) error {
		_, err := h.CreateCategory(h.Ctx, &ledgerv1.CreateCategoryRequest{Name: "Savings"})
		return err
	}},
	{name: "settings", write: func(h holdings) error {
		_, err := h.settings.UpdateSettings(h.Ctx, &ledgerv1.UpdateSettingsRequest{
			DefaultWalletId:   new(h.unusedWallet.String()),
			DefaultCategoryId: new(h.Category.String()),
		})
		return err
	}},
	{name: "rules ordered", write: func(h holdings) error {
		// A rule that another request has created makes the order invalid.
		_, err := h.rules.OrderRules(h.Ctx, &ledgerv1.OrderRulesRequest{Ids: []string{h.rule}})
		return err
	}},
	{name: "categories reserved for a budget", write: func(h holdings) error {
		_, err := h.CheckReferences(h.Ctx, &ledgerv1.CheckReferencesRequest{
			OwnerId: h.ID.String(), BudgetId: h.ID.String(), Reservation: h.Wallet.String(),
			CategoryIds: h.budgeted(),
		})
		return err
	}},
	{name: "categories of a budget", write: func(h holdings) error {
		references := &ledgerv1.BudgetReferences{
			OwnerId: h.ID.String(), BudgetId: h.ID.String(), Version: 1, CategoryIds: h.budgeted(),
			SettledReservations: []string{h.Wallet.String()},
		}
		_, err := h.SyncReferences(h.Ctx, &ledgerv1.SyncReferencesRequest{
			Budgets: []*ledgerv1.BudgetReferences{references},
		})
		return err
	}},
	{name: "rows numbered", write: func(h holdings) error {
		_, err := h.sync.ListChanges(h.Ctx, &ledgerv1.ListChangesRequest{})
		return err
	}, prepare: func(t require.TestingT, h *holdings) {
		// The release before migration 0027 took no numbers.
		for _, table := range []string{"transactions", "wallets", "categories"} {
			_, err := h.DB.Exec(h.Ctx, `UPDATE `+table+` SET seq = -1 WHERE owner_id = $1`, h.ID)
			require.NoError(t, err)
		}
	}},
	{name: "tombstones deleted", write: func(h holdings) error {
		return sync.Sweep(h.Ctx, h.DB, time.Now())
	}, prepare: func(t require.TestingT, h *holdings) {
		_, err := h.DB.Exec(h.Ctx, `
			INSERT INTO tombstones (owner_id, kind, id, seq, deleted_at)
			SELECT $1, 'transaction', id, 0, now() - interval '1 year' FROM unnest($2::text[])
				AS t (id)
			ON CONFLICT DO NOTHING`, h.ID, []string{h.food, h.in, h.split})
		require.NoError(t, err)
	}},
}

// budgeted returns the categories of a budget, of which merges change some.
func (h holdings) budgeted() []string {
	return []string{h.Category.String(), h.otherCategory.String()}
}

// unpaired are the RPCs that write, but no row that the writes of TestConcurrentWrites share.
var unpaired = map[protoreflect.Name]string{
	"UpdateImport":        "changes staged rows under the lock of the import",
	"UpdateImportRows":    "changes staged rows under the lock of the import",
	"CancelImport":        "ends the lease of a job under the lock of the import",
	"DeleteImportProfile": "deletes a mapping, which nothing refers to",
	"CreateView":          "stores a query, which nothing refers to",
	"UpdateView":          "changes a query, which nothing refers to",
	"DeleteView":          "deletes a query, which nothing refers to",
}

// TestConcurrentWritesAreComplete requires that each RPC of the ledger that writes is among the
// writes of TestConcurrentWrites.
func TestConcurrentWritesAreComplete(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("pairs_*test.go")
	require.NoError(t, err)
	var source strings.Builder
	for _, name := range files {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		source.Write(content)
	}
	check := func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				m := methods.Get(j)
				options, _ := m.Options().(*descriptorpb.MethodOptions)
				if options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS ||
					unpaired[m.Name()] != "" {
					continue
				}
				assert.Contains(t, source.String(), "."+string(m.Name())+"(",
					"no pair has this RPC")
			}
		}
		return true
	}
	protoregistry.GlobalFiles.RangeFilesByPackage("coffer.ledger.v1", check)
}
