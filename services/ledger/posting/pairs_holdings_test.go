package posting_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// holdings is the data that each pair of writes starts with: wallets and categories with
// transactions, and an unused wallet and category whose totals have returned to zero.
type holdings struct {
	person
	otherWallet, otherCategory, unusedWallet, unusedCategory uuid.UUID
	// food is in wallet and category, fun in otherWallet and otherCategory; scanned are the
	// transactions of a receipt. food and out are cleared.
	food, fun string
	receipt   string
	scanned   [2]string
	// rule sets the category Category, whose id is the lowest.
	rule string
	// transfer is a transfer from wallet to otherWallet with the legs out and in. split is a
	// transaction with parts in category and otherCategory. food and split have the tag trip, fun
	// has the tag work. income is an income of the amount of food in otherWallet.
	transfer, out, in, split, income string
	// adjustment is an adjustment of wallet. locked is a transaction of the reconciliation, of the
	// requests that prepare them, in otherWallet.
	adjustment, locked, reconciliation string
	// attachment and applied are the attachment and the rule of the requests that prepare them, and
	// the others are imports.
	attachment, applied                                                       string
	uploaded, ruled, detailed, undone, ruledUndone, detailedUndone, discarded string
}

// named returns the condition of a rule that names a wallet, and sets its action that names a
// category.
func (h holdings) named(wallet uuid.UUID) []*ledgerv1.RuleCondition {
	return []*ledgerv1.RuleCondition{{
		Field: "walletId", Op: "is", Values: []string{wallet.String()},
	}}
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
	for index := range all {
		owner, receipt := p.NewID(), p.NewID()
		holdings := holdings{
			person: person{service: p.service, User: fixture.User{
				Ctx: fixture.ActAs(t.Context(), owner), ID: owner, Wallet: p.NewID(),
				Category: p.NewID(),
			}},
			otherWallet: p.NewID(), otherCategory: p.NewID(),
			unusedWallet: p.NewID(), unusedCategory: p.NewID(),
		}
		insert := func(tr posting.Transaction) string {
			tr.ID, tr.OwnerID, tr.Currency = p.NewID(), owner, "EUR"
			tr.Version, tr.CreatedAt, tr.UpdatedAt = 1, fixture.Today, fixture.Today
			if tr.Date.IsZero() {
				tr.Date = fixture.Today
			}
			ts = append(ts, tr)
			events = append(events, p.Service.Ledger.Created(t.Context(), owner, tr.Proto()))
			return tr.ID.String()
		}
		add := func(
			wallet, category uuid.UUID, month int, receipt *uuid.UUID, tags ...string,
		) string {
			return insert(posting.Transaction{
				WalletID: wallet, CategoryID: &category, ReceiptID: receipt, AmountMinor: -700,
				Date: fixture.Today.AddDate(0, month, 0), Tags: tags,
			})
		}
		holdings.food = add(holdings.Wallet, holdings.Category, 0, nil, "trip")
		ts[len(ts)-1].Cleared = true
		holdings.fun = add(holdings.otherWallet, holdings.otherCategory, 0, nil, "work")
		transfer := p.NewID()
		holdings.transfer = transfer.String()
		holdings.out = insert(posting.Transaction{
			WalletID: holdings.Wallet, AmountMinor: -300, TransferID: &transfer, Cleared: true,
		})
		holdings.in = insert(posting.Transaction{
			WalletID: holdings.otherWallet, AmountMinor: 300, TransferID: &transfer,
		})
		holdings.split = insert(posting.Transaction{
			WalletID: holdings.Wallet, AmountMinor: -1000, Tags: []string{"trip"},
			Splits: []posting.Split{
				{CategoryID: holdings.Category, AmountMinor: -1200},
				{CategoryID: holdings.otherCategory, AmountMinor: 200},
			},
		})
		holdings.income = insert(posting.Transaction{
			WalletID: holdings.otherWallet, CategoryID: &holdings.otherCategory, AmountMinor: 700,
		})
		holdings.adjustment = insert(posting.Transaction{
			WalletID: holdings.Wallet, AmountMinor: 90, Adjustment: true,
		})
		holdings.receipt = receipt.String()
		for i := range holdings.scanned {
			holdings.scanned[i] = add(holdings.Wallet, holdings.Category, 0, &receipt)
		}
		add(holdings.Wallet, holdings.Category, 1, nil)
		add(holdings.Wallet, holdings.otherCategory, 1, nil)
		owners = append(owners, owner, owner, owner)
		receipts = append(receipts, receipt, receipt, receipt)
		wallets = append(wallets, holdings.unusedWallet, holdings.Wallet, holdings.otherWallet)
		categories = append(categories, holdings.unusedCategory, holdings.Category,
			holdings.otherCategory)
		// The rule has the id of its owner, so that one statement inserts those of all holdings.
		holdings.rule = owner.String()
		all[index] = holdings
	}
	pgtest.Exec(t, p.DB, `
		WITH holding AS (
			SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[])
				AS h (owner_id, wallet_id, category_id, receipt_id)
		), wallet AS (
			INSERT INTO wallets (owner_id, id, name, currency, initial_minor, created_at,
				updated_at)
			SELECT owner_id, wallet_id, wallet_id::text, 'EUR', 0, now(), now() FROM holding
		), balance AS (
			INSERT INTO wallet_balances (owner_id, wallet_id, currency, amount_minor)
			SELECT owner_id, wallet_id, 'EUR', 0 FROM holding
		), category AS (
			INSERT INTO categories (owner_id, id, name, created_at, updated_at)
			SELECT owner_id, category_id, category_id::text, now(), now() FROM holding
		), tag AS (
			INSERT INTO tags (owner_id, key, name, created_at)
			SELECT DISTINCT owner_id, key, key, now() FROM holding, unnest('{trip,work}'::text[])
				AS t (key)
		), total AS (
			INSERT INTO monthly_totals (owner_id, month, wallet_id, category_id, currency,
				income_minor, expense_minor, transaction_count)
			SELECT owner_id, '2026-03-01', wallet_id, category_id, 'EUR', 0, 0, 0 FROM holding
		), rule AS (
			INSERT INTO rules (owner_id, id, name, enabled, position, match_any, stop, sources,
				conditions, actions, category_id, version, seq, created_at, updated_at)
			SELECT DISTINCT ON (owner_id) owner_id, owner_id, 'Rule', true, 1, false, false,
				'{import}'::text[],
				'[{"field": "payee", "op": "is", "values": ["Shop"]}]'::jsonb,
				'[{"kind": "setCategory"}]'::jsonb, category_id, 1, 0, now(), now()
			FROM holding
			ORDER BY owner_id, category_id
		)
		INSERT INTO receipts (owner_id, id, file_sha256, content, created_at)
		SELECT DISTINCT owner_id, receipt_id, ''::bytea, ''::bytea, now()
		FROM holding`, owners, wallets, categories, receipts)
	rows, err := outbox.Encode(events...)
	require.NoError(t, err)
	written, err := posting.Insert(t.Context(), p.DB, 0, ts, rows, make([]idem.Record, len(ts)))
	require.NoError(t, err)
	require.Len(t, written, len(ts))
	return all
}
