package posting_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
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
var writes = slices.Concat(plainWrites, transferWrites, detailWrites, importWrites, ruleWrites, accountWrites)

// plainWrites are requests without transfers, splits, tags, attachments and imports.
var plainWrites = []request{
	{name: "create", write: func(h holdings) error { return h.add(h.Wallet, h.Category, "") }},
	{name: "create with a key", write: func(h holdings) error { return h.add(h.otherWallet, h.otherCategory, "key") }},
	{name: "create in the unused wallet and category", write: func(h holdings) error { return h.add(h.unusedWallet, h.unusedCategory, "") }},
	{name: "batch", write: func(h holdings) error {
		req := h.batch(h.expense(h.otherWallet, h.Category, "2026-04-01"), h.expense(h.Wallet, h.otherCategory, "2026-03-01"),
			h.expense(h.Wallet, h.Category, "2026-03-01"), h.expense(h.unusedWallet, h.Category, "2026-03-01"))
		req.IdempotencyKey = "key"
		_, err := h.CreateTransactions(h.Ctx, req)
		return err
	}},
	{name: "receipt", write: func(h holdings) error { _, err := h.scan("second"); return err }},
	{name: "amount", write: func(h holdings) error {
		return h.update(h.food, func(r *ledgerv1.UpdateTransactionRequest) { r.Amount = new("9") })
	}},
	{name: "month", write: func(h holdings) error {
		return h.update(h.food, func(r *ledgerv1.UpdateTransactionRequest) { r.Date = new("2026-04-02") })
	}},
	{name: "category", write: func(h holdings) error {
		return h.update(h.food, func(r *ledgerv1.UpdateTransactionRequest) { r.CategoryId = new(h.otherCategory.String()) })
	}},
	{name: "category and wallet of the other", write: func(h holdings) error {
		return h.update(h.fun, func(r *ledgerv1.UpdateTransactionRequest) {
			r.CategoryId, r.WalletId = new(h.Category.String()), new(h.Wallet.String())
		})
	}},
	{name: "wallet", write: func(h holdings) error {
		return h.update(h.food, func(r *ledgerv1.UpdateTransactionRequest) { r.WalletId = new(h.unusedWallet.String()) })
	}},
	{name: "delete", write: func(h holdings) error { return h.remove(h.food) }},
	{name: "delete of a receipt's first", write: func(h holdings) error { return h.remove(h.scanned[0]) }},
	{name: "delete of a receipt's last", write: func(h holdings) error { return h.remove(h.scanned[1]) }},
	{name: "delete of a receipt", write: func(h holdings) error {
		_, err := h.DeleteReceipt(h.Ctx, &ledgerv1.DeleteReceiptRequest{Id: h.receipt})
		return err
	}},
	{name: "merge", write: func(h holdings) error { return h.merge(h.Category, h.otherCategory) }},
	{name: "merge back", write: func(h holdings) error { return h.merge(h.otherCategory, h.Category) }},
	{name: "merge into the unused category", write: func(h holdings) error { return h.merge(h.Category, h.unusedCategory) }},
	{name: "category deleted", write: func(h holdings) error {
		_, err := h.DeleteCategory(h.Ctx, &ledgerv1.DeleteCategoryRequest{Id: h.unusedCategory.String()})
		return err
	}},
	{name: "wallet deleted", write: func(h holdings) error {
		_, err := h.DeleteWallet(h.Ctx, &ledgerv1.DeleteWalletRequest{Id: h.unusedWallet.String()})
		return err
	}},
	{name: "rule created", write: func(h holdings) error {
		_, err := h.rules.CreateRule(h.Ctx, &ledgerv1.CreateRuleRequest{Name: "Shop", Conditions: h.named(h.unusedWallet), Actions: h.sets(h.unusedCategory)})
		return err
	}},
	{name: "rule changed", write: func(h holdings) error {
		_, err := h.rules.UpdateRule(h.Ctx, &ledgerv1.UpdateRuleRequest{
			Id: h.rule, Conditions: &ledgerv1.RuleConditions{Values: h.named(h.otherWallet)}, Actions: &ledgerv1.RuleActions{Values: h.sets(h.unusedCategory)},
		})
		return err
	}},
	{name: "category renamed", write: func(h holdings) error {
		_, err := h.UpdateCategory(h.Ctx, &ledgerv1.UpdateCategoryRequest{Id: h.Category.String(), Name: new("Groceries")})
		return err
	}},
	{name: "wallet renamed", write: func(h holdings) error {
		_, err := h.UpdateWallet(h.Ctx, &ledgerv1.UpdateWalletRequest{Id: h.Wallet.String(), Name: new("Purse")})
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
			// Each first write has a separate database, so that a server runs no jobs of another one's
			// imports.
			s := setup(t)
			installPauses(t, s.DB)
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
	var reached []string
	for _, pause := range pauses {
		if p.reaches(t, pause, first) {
			reached = append(reached, pause)
		}
	}
	for i, pause := range reached {
		switch {
		case i == 0 || i == len(reached)-1:
			p.runPairs(t, pause, first, writes)
		case plain:
			p.runPairs(t, pause, first, plainWrites)
		}
	}
}

// runPairs runs the first write with each second one. Each pair has separate holdings.
func (p pausedServer) runPairs(t *testing.T, pause string, first request, seconds []request) {
	t.Helper()
	owners := map[uuid.UUID]string{}
	all := p.newHoldings(t, len(seconds))
	for i, second := range seconds {
		h := all[i]
		first.setUp(t, &h)
		second.setUp(t, &h)
		replica := h
		replica.service = p.replica
		owners[h.ID] = fmt.Sprintf("%s, then %s", pause, second.name)
		release := p.hold(t, pause, h.ID)
		firstEnded := p.start(t, 1, func() error { return first.write(h) })
		require.Empty(t, firstEnded, "%s: the first write did not stop", owners[h.ID])
		secondEnded := p.start(t, 2, func() error { return second.write(replica) })
		release()
		for _, ended := range []<-chan error{firstEnded, secondEnded} {
			err := <-ended
			e := apierr.From(err)
			assert.True(t, err == nil || e != nil && e.Reason != apierr.Unavailable.Reason, "%s: %v", owners[h.ID], err)
		}
		assert.Zero(t, p.deadlocks.Swap(0), "%s: deadlock", owners[h.ID])
		h.requireEnded(t, owners[h.ID])
	}
	for owner, differences := range p.Differences(t) {
		if pair, ok := owners[owner]; ok {
			assert.Fail(t, "balances and totals differ from a recomputation", "%s: %s", pair, differences)
		}
	}
}

// setUp prepares the holdings for the request.
func (r request) setUp(t require.TestingT, h *holdings) {
	if r.prepare != nil {
		r.prepare(t, h)
	}
}

// holdings is the data that each pair of writes starts with: wallets and categories with
// transactions, and an unused wallet and category whose totals have returned to zero.
type holdings struct {
	person
	otherWallet, otherCategory, unusedWallet, unusedCategory uuid.UUID
	// food is in wallet and category, fun in otherWallet and otherCategory; scanned are the
	// transactions of a receipt.
	food, fun string
	receipt   string
	scanned   [2]string
	// rule sets the category Category, whose id is the lowest.
	rule string
	// transfer is a transfer from wallet to otherWallet with the legs out and in. split is a
	// transaction with parts in category and otherCategory. food and split have the tag trip, fun has
	// the tag work. income is an income of the amount of food in otherWallet.
	transfer, out, in, split, income string
	// attachment and applied are the attachment and the rule of the requests that prepare them, and
	// the others are imports.
	attachment, applied                                                       string
	uploaded, ruled, detailed, undone, ruledUndone, detailedUndone, discarded string
}

// named returns the condition of a rule that names a wallet, and sets its action that names a
// category.
func (h holdings) named(wallet uuid.UUID) []*ledgerv1.RuleCondition {
	return []*ledgerv1.RuleCondition{{Field: "walletId", Op: "is", Values: []string{wallet.String()}}}
}

func (h holdings) sets(category uuid.UUID) []*ledgerv1.RuleAction {
	return []*ledgerv1.RuleAction{{Kind: "setCategory", Value: category.String()}}
}

// newHoldings inserts n holdings with few statements, because a test needs hundreds.
func (p pausedServer) newHoldings(t *testing.T, n int) []holdings {
	t.Helper()
	all := make([]holdings, n)
	var owners, wallets, categories, receipts []uuid.UUID
	var ts []posting.Transaction
	var events []outbox.Event
	for i := range all {
		owner, receipt := p.NewID(), p.NewID()
		h := holdings{
			person:      person{service: p.service, User: fixture.User{Ctx: fixture.ActAs(t.Context(), owner), ID: owner, Wallet: p.NewID(), Category: p.NewID()}},
			otherWallet: p.NewID(), otherCategory: p.NewID(), unusedWallet: p.NewID(), unusedCategory: p.NewID(),
		}
		insert := func(tr posting.Transaction) string {
			tr.ID, tr.OwnerID, tr.Currency, tr.Version, tr.CreatedAt, tr.UpdatedAt = p.NewID(), owner, "EUR", 1, fixture.Today, fixture.Today
			if tr.Date.IsZero() {
				tr.Date = fixture.Today
			}
			ts, events = append(ts, tr), append(events, p.Service.Ledger.Created(t.Context(), owner, tr.Proto()))
			return tr.ID.String()
		}
		add := func(wallet, category uuid.UUID, month int, receipt *uuid.UUID, tags ...string) string {
			return insert(posting.Transaction{
				WalletID: wallet, CategoryID: &category, ReceiptID: receipt, AmountMinor: -700, Date: fixture.Today.AddDate(0, month, 0), Tags: tags,
			})
		}
		h.food, h.fun = add(h.Wallet, h.Category, 0, nil, "trip"), add(h.otherWallet, h.otherCategory, 0, nil, "work")
		transfer := p.NewID()
		h.transfer = transfer.String()
		h.out = insert(posting.Transaction{WalletID: h.Wallet, AmountMinor: -300, TransferID: &transfer})
		h.in = insert(posting.Transaction{WalletID: h.otherWallet, AmountMinor: 300, TransferID: &transfer})
		h.split = insert(posting.Transaction{WalletID: h.Wallet, AmountMinor: -1000, Tags: []string{"trip"}, Splits: []posting.Split{
			{CategoryID: h.Category, AmountMinor: -1200}, {CategoryID: h.otherCategory, AmountMinor: 200},
		}})
		h.income = insert(posting.Transaction{WalletID: h.otherWallet, CategoryID: &h.otherCategory, AmountMinor: 700})
		h.receipt = receipt.String()
		h.scanned = [2]string{add(h.Wallet, h.Category, 0, &receipt), add(h.Wallet, h.Category, 0, &receipt)}
		add(h.Wallet, h.Category, 1, nil)
		add(h.Wallet, h.otherCategory, 1, nil)
		owners, receipts = append(owners, owner, owner, owner), append(receipts, receipt, receipt, receipt)
		wallets = append(wallets, h.unusedWallet, h.Wallet, h.otherWallet)
		categories = append(categories, h.unusedCategory, h.Category, h.otherCategory)
		// The rule has the id of its owner, so that one statement inserts those of all holdings.
		h.rule = owner.String()
		all[i] = h
	}
	_, err := p.DB.Exec(t.Context(), `
		WITH holding AS (
			SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) AS h (owner_id, wallet_id, category_id, receipt_id)
		), wallet AS (
			INSERT INTO wallets (owner_id, id, name, currency, initial_minor, created_at, updated_at)
			SELECT owner_id, wallet_id, wallet_id::text, 'EUR', 0, now(), now() FROM holding
		), balance AS (
			INSERT INTO wallet_balances (owner_id, wallet_id, currency, amount_minor)
			SELECT owner_id, wallet_id, 'EUR', 0 FROM holding
		), category AS (
			INSERT INTO categories (owner_id, id, name, created_at, updated_at)
			SELECT owner_id, category_id, category_id::text, now(), now() FROM holding
		), tag AS (
			INSERT INTO tags (owner_id, key, name, created_at)
			SELECT DISTINCT owner_id, key, key, now() FROM holding, unnest('{trip,work}'::text[]) AS t (key)
		), total AS (
			INSERT INTO monthly_totals (owner_id, month, wallet_id, category_id, currency, income_minor, expense_minor, transaction_count)
			SELECT owner_id, '2026-03-01', wallet_id, category_id, 'EUR', 0, 0, 0 FROM holding
		), rule AS (
			INSERT INTO rules (owner_id, id, name, enabled, position, match_any, stop, sources, conditions, actions, category_id, version, seq, created_at, updated_at)
			SELECT DISTINCT ON (owner_id) owner_id, owner_id, 'Rule', true, 1, false, false, '{import}'::text[],
				'[{"field": "payee", "op": "is", "values": ["Shop"]}]'::jsonb, '[{"kind": "setCategory"}]'::jsonb, category_id, 1, 0, now(), now()
			FROM holding
			ORDER BY owner_id, category_id
		)
		INSERT INTO receipts (owner_id, id, file_sha256, content, created_at)
		SELECT DISTINCT owner_id, receipt_id, ''::bytea, ''::bytea, now() FROM holding`, owners, wallets, categories, receipts)
	require.NoError(t, err)
	rows, err := outbox.Encode(events...)
	require.NoError(t, err)
	written, err := posting.Insert(t.Context(), p.DB, 0, ts, rows, make([]idem.Record, len(ts)))
	require.NoError(t, err)
	require.Len(t, written, len(ts))
	return all
}

func (h holdings) expense(wallet, category uuid.UUID, date string) *ledgerv1.CreateTransactionRequest {
	return &ledgerv1.CreateTransactionRequest{
		Amount: "7", Date: date, Currency: "EUR", WalletId: wallet.String(), CategoryId: category.String(), Type: new(posting.Expense),
	}
}

func (h holdings) batch(items ...*ledgerv1.CreateTransactionRequest) *ledgerv1.CreateTransactionsRequest {
	return &ledgerv1.CreateTransactionsRequest{Transactions: items}
}

func (h holdings) scan(file string) (*ledgerv1.CreateTransactionsFromReceiptResponse, error) {
	return h.CreateTransactionsFromReceipt(h.Ctx, &ledgerv1.CreateTransactionsFromReceiptRequest{
		Receipt: []byte(file), WalletId: h.Wallet.String(), CategoryId: h.Category.String(),
	})
}

func (h holdings) update(id string, change func(*ledgerv1.UpdateTransactionRequest)) error {
	req := &ledgerv1.UpdateTransactionRequest{Id: id}
	change(req)
	_, err := h.UpdateTransaction(h.Ctx, req)
	return err
}

func (h holdings) remove(id string) error {
	_, err := h.DeleteTransaction(h.Ctx, &ledgerv1.DeleteTransactionRequest{Id: id})
	return err
}

func (h holdings) merge(from, to uuid.UUID) error {
	_, err := h.DeleteCategory(h.Ctx, &ledgerv1.DeleteCategoryRequest{Id: from.String(), ReassignTo: new(to.String())})
	return err
}

// add creates a transaction. key is its idempotency key, or empty.
func (h holdings) add(wallet, category uuid.UUID, key string) error {
	req := h.expense(wallet, category, "2026-03-20")
	req.IdempotencyKey = key
	_, err := h.CreateTransaction(h.Ctx, req)
	return err
}
