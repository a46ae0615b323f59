package ledger

import (
	"context"
	"time"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// use calls every RPC for the user, and returns what it responds.
func (s *isolated) use() []string {
	ctx, wallets, categories, ts := s.user.Ctx, s.wallets, s.categories, s.transactions
	food := s.user.Category.String()
	s.read(ctx, wallets, food)
	s.useMore(ctx)
	s.useAttachments(ctx)
	s.useImports()
	s.useRules(ctx)

	s.record(s.settings.UpdateSettings(ctx,
		&ledgerv1.UpdateSettingsRequest{WeekStart: new("sunday")}))
	s.record(s.tags.UpdateTag(ctx,
		&ledgerv1.UpdateTagRequest{Tag: "trip", Name: new("Rome"), Color: new("#112233")}))
	s.record(s.tags.UpdateTag(ctx,
		&ledgerv1.UpdateTagRequest{Tag: "new", Name: new("ROME"), Merge: new(true)}))
	s.record(s.tags.DeleteTag(ctx, &ledgerv1.DeleteTagRequest{Tag: "gift"}))
	s.record(s.UpdateTransaction(ctx, &ledgerv1.UpdateTransactionRequest{
		Id: ts[0].GetId(), Amount: new("3.30"), WalletId: &wallets[1],
	}))
	s.record(s.UpdateTransaction(ctx,
		&ledgerv1.UpdateTransactionRequest{Id: ts[0].GetId(), CategoryId: &categories[1]}))
	s.record(s.DeleteTransaction(ctx, &ledgerv1.DeleteTransactionRequest{Id: ts[1].GetId()}))
	tagged := s.user.Spends("5.00")
	tagged.Tags, tagged.ExternalId = []string{"TRIP", "New"}, "bank:1"
	s.record(s.CreateTransaction(ctx, tagged))
	tagged.ExternalId = "bank:2"
	s.record(s.CreateTransaction(ctx, tagged))
	s.record(s.UpdateTransaction(ctx, &ledgerv1.UpdateTransactionRequest{
		Id: ts[3].GetId(), Payee: new("Bakery"), Tags: &ledgerv1.Tags{Values: []string{"gift"}},
		Splits: &ledgerv1.Splits{Values: []*ledgerv1.Split{
			{CategoryId: categories[0], Amount: "8.00"}, {CategoryId: food, Amount: "0.80"},
		}},
	}))
	many, err := s.CreateTransactions(ctx,
		fixture.Bulk(s.user.Spends("7.00"), s.user.Spends("9.00")))
	s.record(many, err)
	s.useBulk(ctx, ts[0].GetId(), many.GetTransactions()[0].GetId())
	s.record(s.CreateTransactionsFromReceipt(ctx, &ledgerv1.CreateTransactionsFromReceiptRequest{
		Receipt: []byte("another file"), WalletId: wallets[1], CategoryId: categories[0],
	}))
	s.record(s.ListReceipts(ctx, &ledgerv1.ListReceiptsRequest{Limit: new(int32(1))}))
	scanned, err := s.CreateTransactionsFromReceipt(ctx,
		&ledgerv1.CreateTransactionsFromReceiptRequest{
			Receipt: []byte("a deleted file"), WalletId: wallets[1], CategoryId: categories[0],
		})
	s.record(scanned, err)
	s.record(s.DeleteReceipt(ctx, &ledgerv1.DeleteReceiptRequest{Id: scanned.GetReceipt().GetId()}))
	// The last transaction of a receipt deletes the receipt.
	for _, bought := range s.bought {
		for _, transaction := range bought {
			s.record(s.DeleteTransaction(ctx,
				&ledgerv1.DeleteTransactionRequest{Id: transaction.GetId()}))
			s.record(s.GetReceipt(ctx, &ledgerv1.GetReceiptRequest{Id: transaction.GetReceiptId()}))
		}
	}
	s.read(ctx, wallets, food)

	s.record(s.SyncReferences(ctx, s.hold(2, categories[2], categories[1], food)))
	settled := s.hold(3, categories[2], food)
	settled.Budgets[0].SettledReservations = []string{s.reservation}
	s.record(s.SyncReferences(ctx, settled))
	s.record(s.DeleteCategory(ctx, &ledgerv1.DeleteCategoryRequest{Id: food}))
	s.record(s.DeleteCategory(ctx,
		&ledgerv1.DeleteCategoryRequest{Id: food, ReassignTo: &categories[1]}))
	s.record(s.SyncReferences(ctx, s.hold(4, categories[1])))
	s.record(s.SyncReferences(ctx, s.hold(5, food, unknown)))
	s.record(s.SyncReferences(ctx, s.hold(6)))
	s.record(s.DeleteCategory(ctx, &ledgerv1.DeleteCategoryRequest{Id: categories[3]}))
	s.env.Ledger.Now = func() time.Time { return fixture.Today.AddDate(0, 0, 2) }
	s.record(s.DeleteCategory(ctx, &ledgerv1.DeleteCategoryRequest{Id: categories[3]}))
	s.record(s.UpdateCategory(ctx,
		&ledgerv1.UpdateCategoryRequest{Id: categories[1], Name: new("Play")}))
	s.record(s.UpdateCategory(ctx,
		&ledgerv1.UpdateCategoryRequest{Id: categories[1], Name: new("Rent")}))
	s.record(s.UpdateWallet(ctx, &ledgerv1.UpdateWalletRequest{
		Id: wallets[0], Name: new("Purse"), Archived: new(true), Position: new("3"),
	}))
	s.record(s.DeleteWallet(ctx, &ledgerv1.DeleteWalletRequest{Id: wallets[0]}))
	s.record(s.DeleteWallet(ctx, &ledgerv1.DeleteWalletRequest{Id: wallets[2]}))
	s.record(s.DeleteTransaction(ctx, &ledgerv1.DeleteTransactionRequest{Id: ts[2].GetId()}))
	s.read(ctx, wallets, categories[1])
	return s.responses
}

// useBulk changes two transactions together, and deletes the second one.
func (s *isolated) useBulk(ctx context.Context, first, second string) {
	tags := &ledgerv1.Tags{Values: []string{"gift", "Bulk"}}
	s.record(s.UpdateTransactions(ctx, &ledgerv1.UpdateTransactionsRequest{
		Items: []*ledgerv1.TransactionChange{
			{Id: first, Payee: new("Market"), AddTags: tags},
			{Id: second, Amount: new("6.00"), CategoryId: &s.categories[1], RemoveTags: tags},
		},
	}))
	s.record(s.DeleteTransactions(ctx, &ledgerv1.DeleteTransactionsRequest{Ids: []string{second}}))
}

// read calls every RPC that changes nothing.
func (s *isolated) read(ctx context.Context, wallets []string, category string) {
	for _, id := range wallets {
		s.record(s.GetWallet(ctx, &ledgerv1.GetWalletRequest{Id: id}))
	}
	s.record(s.ListWallets(ctx, &ledgerv1.ListWalletsRequest{}))
	s.record(s.ListWallets(ctx,
		&ledgerv1.ListWalletsRequest{Archived: new(false), Limit: new(int32(1))}))
	s.record(s.GetCategory(ctx, &ledgerv1.GetCategoryRequest{Id: category}))
	s.record(s.ListCategories(ctx, &ledgerv1.ListCategoriesRequest{}))
	for _, t := range s.transactions {
		s.record(s.GetTransaction(ctx, &ledgerv1.GetTransactionRequest{Id: t.GetId()}))
	}
	for _, req := range []*ledgerv1.ListTransactionsRequest{
		{},
		{Limit: new(int32(2))},
		{WalletId: wallets[:1]},
		{CategoryId: []string{category}},
		{WalletId: wallets, CategoryId: []string{category}},
		{Type: new("expense"), From: new("2026-03-01")},
		{Q: new("Milk")},
		{Tag: []string{"TRIP", "gift"}},
		{Untagged: new(true)},
		{Payee: new("bakery")},
		{ExceptCategoryId: []string{s.user.ID.String()}, Counted: new(true)},
		{Sort: new("-amount"), Limit: new(int32(3))},
	} {
		s.record(s.ListTransactions(ctx, req))
		req.Include = []string{"totals"}
		s.record(s.ListTransactions(ctx, req))
	}
	s.record(s.changes.ListChanges(ctx, &ledgerv1.ListChangesRequest{}))
	s.record(s.changes.ListChanges(ctx, &ledgerv1.ListChangesRequest{Limit: new(int32(3))}))
	s.record(s.settings.GetSettings(ctx, &ledgerv1.GetSettingsRequest{}))
	s.record(s.tags.ListTags(ctx, &ledgerv1.ListTagsRequest{}))
	s.record(s.ListPayees(ctx, &ledgerv1.ListPayeesRequest{}))
	s.record(s.GetReceipt(ctx, &ledgerv1.GetReceiptRequest{Id: s.receipt}))
	s.record(s.GetReceiptImage(ctx, &ledgerv1.GetReceiptImageRequest{Id: s.receipt, Page: 1}))
	for _, req := range []*ledgerv1.GetSummaryRequest{
		{},
		{Currency: new("EUR")},
		{From: new("2026-02-10"), To: new("2026-03-14")},
		{From: new("2026-02-10"), To: new("2026-03-14"), Include: []string{"daily", "tags"}},
		// The transactions are in the part before the whole months, or in the part after them.
		{From: new("2026-03-10"), To: new("2026-04-05")},
		{From: new("2026-01-20"), To: new("2026-03-20")},
		// The transfer is in a month after the window.
		{From: new("2026-01-20"), To: new("2026-02-20")},
	} {
		s.record(s.GetSummary(ctx, req))
	}
	s.record(s.ReadBalances(ctx, &ledgerv1.ReadBalancesRequest{
		OwnerId: s.user.ID.String(), WalletIds: wallets,
	}))
	s.record(s.SumSpending(ctx, &ledgerv1.SumSpendingRequest{Windows: []*ledgerv1.SpendingWindow{
		{
			OwnerId: s.user.ID.String(), WalletId: wallets[0], CategoryIds: []string{category},
			From: "2026-03-01", To: "2026-03-31",
		},
		{
			OwnerId: s.user.ID.String(), WalletId: wallets[0], CategoryIds: []string{category},
			From: "2026-02-20", To: "2026-03-14",
		},
		// The transactions are in the part before the whole months, or in the part after them.
		{
			OwnerId: s.user.ID.String(), WalletId: wallets[0], CategoryIds: []string{category},
			From: "2026-03-10", To: "2026-04-05",
		},
		{
			OwnerId: s.user.ID.String(), WalletId: wallets[0], CategoryIds: []string{category},
			From: "2026-01-20", To: "2026-03-20",
		},
	}}))
}
