package posting_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// request is a request that changes balances, totals or counts, or the wallets, categories and tags
// that they belong to.
type request struct {
	name  string
	write func(holdings) error
	// prepare changes the holdings before the write, or is nil.
	prepare func(t require.TestingT, h *holdings)
}

// writes are the requests of TestConcurrentWrites.
var writes = slices.Concat(plainWrites, transferWrites, detailWrites, importWrites, ruleWrites,
	accountWrites, balanceWrites)

// plainWrites are requests without transfers, splits, tags, attachments and imports.
var plainWrites = []request{
	{name: "create", write: func(h holdings) error { return h.add(h.Wallet, h.Category, "") }},
	{name: "create with a key", write: func(h holdings) error {
		return h.add(h.otherWallet, h.otherCategory, "key")
	}},
	{name: "create in the unused wallet and category", write: func(h holdings) error {
		return h.add(h.unusedWallet, h.unusedCategory, "")
	}},
	{name: "batch", write: func(h holdings) error {
		req := h.batch(h.expense(h.otherWallet, h.Category, "2026-04-01"),
			h.expense(h.Wallet, h.otherCategory, "2026-03-01"),
			h.expense(h.Wallet, h.Category, "2026-03-01"),
			h.expense(h.unusedWallet, h.Category, "2026-03-01"))
		req.IdempotencyKey = "key"
		_, err := h.CreateTransactions(h.Ctx, req)
		return err
	}},
	{name: "receipt", write: func(h holdings) error { _, err := h.scan("second"); return err }},
	{name: "amount", write: func(h holdings) error {
		return h.update(h.food, func(r *updateRequest) { r.Amount = new("9") })
	}},
	{name: "month", write: func(h holdings) error {
		return h.update(h.food, func(r *updateRequest) { r.Date = new("2026-04-02") })
	}},
	{name: "category", write: func(h holdings) error {
		return h.update(h.food, func(r *updateRequest) {
			r.CategoryId = new(h.otherCategory.String())
		})
	}},
	{name: "category and wallet of the other", write: func(h holdings) error {
		return h.update(h.fun, func(r *updateRequest) {
			r.CategoryId, r.WalletId = new(h.Category.String()), new(h.Wallet.String())
		})
	}},
	{name: "wallet", write: func(h holdings) error {
		return h.update(h.food, func(r *updateRequest) {
			r.WalletId = new(h.unusedWallet.String())
		})
	}},
	{name: "changes of several", write: func(h holdings) error {
		_, err := h.UpdateTransactions(h.Ctx, &ledgerv1.UpdateTransactionsRequest{
			Items: []*ledgerv1.TransactionChange{
				{Id: h.fun, WalletId: new(h.unusedWallet.String()), Date: new("2026-04-02")},
				{Id: h.food, Amount: new("9"), CategoryId: new(h.otherCategory.String())},
			},
		})
		return err
	}},
	{name: "delete", write: func(h holdings) error { return h.remove(h.food) }},
	{name: "delete of several", write: func(h holdings) error {
		_, err := h.DeleteTransactions(h.Ctx, &ledgerv1.DeleteTransactionsRequest{
			Ids: []string{h.scanned[1], h.food, h.scanned[0]}, IdempotencyKey: "key",
		})
		return err
	}},
	{name: "delete of a receipt's first", write: func(h holdings) error {
		return h.remove(h.scanned[0])
	}},
	{name: "delete of a receipt's last", write: func(h holdings) error {
		return h.remove(h.scanned[1])
	}},
	{name: "delete of a receipt", write: func(h holdings) error {
		_, err := h.DeleteReceipt(h.Ctx, &ledgerv1.DeleteReceiptRequest{Id: h.receipt})
		return err
	}},
	{name: "merge", write: func(h holdings) error { return h.merge(h.Category, h.otherCategory) }},
	{name: "merge back", write: func(h holdings) error {
		return h.merge(h.otherCategory, h.Category)
	}},
	{name: "merge into the unused category", write: func(h holdings) error {
		return h.merge(h.Category, h.unusedCategory)
	}},
	{name: "category deleted", write: func(h holdings) error {
		_, err := h.DeleteCategory(h.Ctx,
			&ledgerv1.DeleteCategoryRequest{Id: h.unusedCategory.String()})
		return err
	}},
	{name: "wallet deleted", write: func(h holdings) error {
		_, err := h.DeleteWallet(h.Ctx, &ledgerv1.DeleteWalletRequest{Id: h.unusedWallet.String()})
		return err
	}},
	{name: "rule created", write: func(h holdings) error {
		_, err := h.rules.CreateRule(h.Ctx, &ledgerv1.CreateRuleRequest{
			Name: "Shop", Conditions: h.named(h.unusedWallet), Actions: h.sets(h.unusedCategory),
		})
		return err
	}},
	{name: "rule changed", write: func(h holdings) error {
		_, err := h.rules.UpdateRule(h.Ctx, &ledgerv1.UpdateRuleRequest{
			Id: h.rule, Conditions: &ledgerv1.RuleConditions{Values: h.named(h.otherWallet)},
			Actions: &ledgerv1.RuleActions{Values: h.sets(h.unusedCategory)},
		})
		return err
	}},
	{name: "category renamed", write: func(h holdings) error {
		_, err := h.UpdateCategory(h.Ctx,
			&ledgerv1.UpdateCategoryRequest{Id: h.Category.String(), Name: new("Groceries")})
		return err
	}},
	{name: "wallet renamed", write: func(h holdings) error {
		_, err := h.UpdateWallet(h.Ctx,
			&ledgerv1.UpdateWalletRequest{Id: h.Wallet.String(), Name: new("Purse")})
		return err
	}},
	{name: "opening balance", write: func(h holdings) error {
		_, err := h.UpdateWallet(h.Ctx, &ledgerv1.UpdateWalletRequest{
			Id: h.Wallet.String(), InitialBalance: new("70.07"), OpeningDate: new("2026-02-02"),
		})
		return err
	}},
}

// TestConcurrentWrites runs every ordered pair of writes: the first one is stopped at each point,
// the second one runs on another replica until it waits or returns, and the first one continues.
// Balances and totals must equal a recomputation. No statement may be a deadlock's victim: a retry
// would hide it here, but not from a client that meets two in a row.
func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	for i, first := range writes {
		t.Run(first.name, func(t *testing.T) {
			t.Parallel()
			// Each first write has a separate database, so that a server runs no jobs of another
			// one's imports.
			s := setup(t)
			p := newPausedServer(t, s, fmt.Sprint("first ", i))
			p.runFirst(t, first, i < len(plainWrites))
		})
	}
}

// runFirst runs the pairs of a first write. At its first and its last pause, it is paired with each
// second one. At the pauses between them only plain writes are paired with each other, to limit the
// time of the test.
func (p pausedServer) runFirst(t *testing.T, first request, plain bool) {
	t.Helper()
	installPauses(t, p.DB, pauses...)
	reached := p.reached(t, first)
	require.NotEmpty(t, reached, "the write does not stop")
	for i, pause := range reached {
		seconds := writes
		if i > 0 && i < len(reached)-1 {
			if !plain {
				continue
			}
			seconds = plainWrites
		}
		installPauses(t, p.DB, pause)
		p.runPairs(t, pause, first, seconds)
	}
}

// runPairs runs the first write with each second one. Each pair has separate holdings. The pause
// must be installed.
func (p pausedServer) runPairs(t *testing.T, pause string, first request, seconds []request) {
	t.Helper()
	owners := map[uuid.UUID]string{}
	all := p.newHoldings(t, len(seconds))
	for i, second := range seconds {
		holdings := all[i]
		first.setUp(t, &holdings)
		second.setUp(t, &holdings)
		replica := holdings
		replica.service = p.replica
		owners[holdings.ID] = fmt.Sprintf("%s, then %s", pause, second.name)
		release := p.hold(t, pause, holdings.ID)
		firstEnded := p.start(t, 1, func() error { return first.write(holdings) })
		require.Empty(t, firstEnded, "%s: the first write did not stop", owners[holdings.ID])
		secondEnded := p.start(t, 2, func() error { return second.write(replica) })
		release()
		for _, ended := range []<-chan error{firstEnded, secondEnded} {
			err := <-ended
			e := apierr.From(err)
			assert.True(t, err == nil || e != nil && e.Reason != apierr.Unavailable.Reason,
				"%s: %v", owners[holdings.ID], err)
		}
		assert.Zero(t, p.deadlocks.Swap(0), "%s: deadlock", owners[holdings.ID])
		holdings.requireEnded(t, owners[holdings.ID])
	}
	p.requireEventOrder(t, owners)
	for owner, differences := range p.Differences(t) {
		if pair, ok := owners[owner]; ok {
			assert.Fail(t, "balances and totals differ from a recomputation",
				"%s: %s", pair, differences)
		}
	}
}

// setUp prepares the holdings for the request.
func (r request) setUp(t require.TestingT, h *holdings) {
	if r.prepare != nil {
		r.prepare(t, h)
	}
}

func (h holdings) expense(
	wallet, category uuid.UUID, date string,
) *ledgerv1.CreateTransactionRequest {
	return &ledgerv1.CreateTransactionRequest{
		Amount: "7", Date: date, Currency: "EUR", WalletId: wallet.String(),
		CategoryId: category.String(), Type: new(posting.Expense),
	}
}

func (h holdings) batch(
	items ...*ledgerv1.CreateTransactionRequest,
) *ledgerv1.CreateTransactionsRequest {
	return &ledgerv1.CreateTransactionsRequest{Transactions: items}
}

func (h holdings) scan(file string) (*ledgerv1.CreateTransactionsFromReceiptResponse, error) {
	return h.CreateTransactionsFromReceipt(h.Ctx, &ledgerv1.CreateTransactionsFromReceiptRequest{
		Receipt: []byte(file), WalletId: h.Wallet.String(), CategoryId: h.Category.String(),
	})
}

func (h holdings) update(id string, change func(*updateRequest)) error {
	req := &updateRequest{Id: id}
	change(req)
	_, err := h.UpdateTransaction(h.Ctx, req)
	return err
}

func (h holdings) remove(id string) error {
	_, err := h.DeleteTransaction(h.Ctx, &ledgerv1.DeleteTransactionRequest{Id: id})
	return err
}

func (h holdings) merge(from, to uuid.UUID) error {
	_, err := h.DeleteCategory(h.Ctx,
		&ledgerv1.DeleteCategoryRequest{Id: from.String(), ReassignTo: new(to.String())})
	return err
}

// add creates a transaction. key is its idempotency key, or empty.
func (h holdings) add(wallet, category uuid.UUID, key string) error {
	req := h.expense(wallet, category, "2026-03-20")
	req.IdempotencyKey = key
	_, err := h.CreateTransaction(h.Ctx, req)
	return err
}
