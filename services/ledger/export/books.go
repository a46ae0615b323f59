package export

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/reconciliations"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// books holds the contents of an export without the transactions: the wallets and the categories.
type books struct {
	// wallets and categories are in the order of their creation.
	wallets    []wallet
	categories []category
	// whole is set if the export has all transactions of its wallets from the first one on. Only
	// then do opening balances and transactions add up to a balance, so a journal with another
	// filter has no opening balances.
	whole bool
	// reconciliations calls do for each reconciliation whose transactions the export has, oldest
	// first. It is nil if the export may lack some of them.
	reconciliations func(do func(*ledgerv1.Reconciliation) error) error
	// end is the exclusive end of the exported transactions, or nil.
	end *time.Time
}

type wallet struct {
	walletRow
	shown *ledgerv1.Wallet
}

type category struct {
	ID    uuid.UUID
	Name  string
	shown *ledgerv1.Category
}

// eachReconciliation calls do for each reconciliation of the wallets of a filter that ends before
// the end of the filter.
func eachReconciliation(
	ctx context.Context, q pg.Querier, filter filter, do func(*ledgerv1.Reconciliation) error,
) error {
	for after := uuid.Nil; ; {
		page, err := reconciliations.PageAfter(ctx, q, filter.owner, after, pageSize)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, r := range page {
			after = r.ID
			if len(filter.wallets) > 0 && !slices.Contains(filter.wallets, r.WalletID) ||
				filter.end != nil && r.Date.AddDate(0, 0, 1).After(*filter.end) {
				continue
			}
			if err := do(r.Proto()); err != nil {
				return err
			}
		}
	}
}

func selectBooks(ctx context.Context, q pg.Querier, filter filter) (books, error) {
	whole := filter.from == nil && len(filter.categories)+len(filter.tags) == 0 &&
		filter.Origin == (request.Origin{})
	result := books{whole: whole, end: filter.end}
	if whole {
		result.reconciliations = func(do func(*ledgerv1.Reconciliation) error) error {
			return eachReconciliation(ctx, q, filter, do)
		}
	}
	rows, err := selectWallets(ctx, q, filter)
	if err != nil {
		return books{}, err
	}
	shown, err := accounts.AllWallets(ctx, q, filter.owner)
	if err != nil {
		return books{}, err
	}
	for _, w := range rows {
		result.wallets = append(result.wallets, wallet{walletRow: w, shown: shown[w.ID]})
	}
	all, err := accounts.AllCategories(ctx, q, filter.owner)
	if err != nil {
		return books{}, err
	}
	for _, c := range all {
		result.categories = append(result.categories,
			category{ID: uuid.MustParse(c.GetId()), Name: c.GetName(), shown: c})
	}
	return result, nil
}
