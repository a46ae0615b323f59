package ledger

import (
	"context"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/export"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/series"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// useMore calls the RPCs that the other parts of use do not need.
func (s *isolated) useMore(ctx context.Context) {
	s.record(s.CreateWallet(ctx,
		&ledgerv1.CreateWalletRequest{Name: "Cash", Currency: "EUR", Balance: new("1")}))
	s.record(s.CreateCategory(ctx, &ledgerv1.CreateCategoryRequest{Name: "Travel"}))
	s.record(s.UpdateWallet(ctx, &ledgerv1.UpdateWalletRequest{
		Id: s.wallets[1], InitialBalance: new("7"), OpeningDate: new("2026-01-01"),
	}))
	reconciling := s.reconciling()
	s.record(reconciling.CreateAdjustment(ctx, &ledgerv1.CreateAdjustmentRequest{
		WalletId: s.wallets[0], Date: "2026-02-15", Balance: "70",
	}))
	reconciled, err := reconciling.ReconcileWallet(ctx, &ledgerv1.ReconcileWalletRequest{
		WalletId: s.wallets[0], Date: "2026-02-15", Balance: "70", Adjust: true,
	})
	s.record(reconciled, err)
	s.record(reconciling.ListReconciliations(ctx,
		&ledgerv1.ListReconciliationsRequest{WalletId: s.wallets[0]}))
	s.record(s.GetWallet(ctx,
		&ledgerv1.GetWalletRequest{Id: s.wallets[0], Include: []string{"cleared"}}))
	s.unlock(ctx)
	s.record(reconciling.DeleteReconciliation(ctx, &ledgerv1.DeleteReconciliationRequest{
		WalletId: s.wallets[0], ReconciliationId: reconciled.GetReconciliation().GetId(),
	}))
	s.record(s.ListCurrencies(ctx, &ledgerv1.ListCurrenciesRequest{}))
	s.record(s.tags.GetTag(ctx, &ledgerv1.GetTagRequest{Tag: "trip"}))
	s.record(s.CheckReferences(ctx, &ledgerv1.CheckReferencesRequest{
		OwnerId: s.user.ID.String(), WalletId: s.wallets[0], CategoryIds: s.categories[:1],
		BudgetId: s.env.NewID().String(), Reservation: s.env.NewID().String(),
	}))
	s.record(s.CreateTransactionsFromReceipt(ctx, &ledgerv1.CreateTransactionsFromReceiptRequest{
		Receipt: []byte("a third file"), WalletId: s.wallets[1], CategoryId: s.categories[0],
		KeepImage: true,
	}))
	s.useNewRule(ctx)
	s.useTransfers(ctx)
	s.useNewImports(ctx)
	s.useImportedTransfers(ctx)
	s.useSides(ctx)
	s.useBooks(ctx)
	s.useReconciled(ctx)
	stream := &fixture.DownloadStream[ledgerv1.ExportTransactionsResponse]{Ctx: ctx}
	err = export.New(s.env.Ledger, nil).
		ExportTransactions(&ledgerv1.ExportTransactionsRequest{Format: "json"}, stream)
	for _, m := range stream.Sent {
		s.record(m, err)
	}
	archive := &fixture.DownloadStream[ledgerv1.ExportOwnerResponse]{Ctx: ctx}
	err = export.New(s.env.Ledger, nil).
		ExportOwner(&ledgerv1.ExportOwnerRequest{OwnerId: s.user.ID.String()}, archive)
	for _, m := range archive.Sent {
		s.record(m, err)
	}
	s.useReports(ctx)
	s.useViews(ctx)
}

// unlock deletes the adjustments of the reconciled wallet.
func (s *isolated) unlock(ctx context.Context) {
	list, err := s.ListTransactions(ctx, &ledgerv1.ListTransactionsRequest{
		Type: new("adjustment"), Cleared: new(true),
	})
	s.record(list, err)
	for _, t := range list.GetTransactions() {
		s.record(s.DeleteTransaction(ctx,
			&ledgerv1.DeleteTransactionRequest{Id: t.GetId(), Unlock: true}))
	}
}

// useReports calls the reports with each source of numbers and each group.
func (s *isolated) useReports(ctx context.Context) {
	reports := &series.Reports{Ledger: s.env.Ledger, Reads: s.env.Reads}
	eur := new("EUR")
	for _, req := range []*ledgerv1.GetSeriesRequest{
		{Currency: eur},
		{Currency: eur, GroupBy: new("category"), Interval: new("year")},
		{
			Currency: eur, GroupBy: new("wallet"), WalletId: s.wallets[:1],
			CategoryId: s.categories[:2],
		},
		{
			Currency: eur, GroupBy: new("category"), Interval: new("week"),
			CategoryId: s.categories[:2],
		},
		{Currency: eur, GroupBy: new("category"), Type: new("expense")},
		{Currency: eur, GroupBy: new("wallet"), Q: new("Milk")},
		{GroupBy: new("payee"), Tag: []string{"trip", "gift"}},
		{Currency: eur, GroupBy: new("tag"), Payee: new("kiosk")},
	} {
		req.From, req.To = new("2026-02-01"), new("2026-04-30")
		s.record(reports.GetSeries(ctx, req))
	}
	s.record(reports.GetFlow(ctx, &ledgerv1.GetFlowRequest{From: new("2026-02-01"), Currency: eur}))
	s.record(reports.GetComparison(ctx,
		&ledgerv1.GetComparisonRequest{From: new("2026-03-01"), Currency: eur}))
	for _, req := range []*ledgerv1.GetBalancesRequest{
		{From: new("2026-02-01"), To: new("2026-04-30")},
		{To: new("2026-03-15"), Interval: new("week"), WalletId: s.wallets[:1]},
	} {
		s.record(reports.GetBalances(ctx, req))
	}
	worth := &fixture.DownloadStream[ledgerv1.ExportBalancesResponse]{Ctx: ctx}
	worthErr := reports.ExportBalances(&ledgerv1.ExportBalancesRequest{}, worth)
	for _, m := range worth.Sent {
		s.record(m, worthErr)
	}
	table := &fixture.DownloadStream[ledgerv1.ExportSeriesResponse]{Ctx: ctx}
	err := reports.ExportSeries(&ledgerv1.ExportSeriesRequest{Currency: eur}, table)
	for _, m := range table.Sent {
		s.record(m, err)
	}
	compared := &fixture.DownloadStream[ledgerv1.ExportComparisonResponse]{Ctx: ctx}
	err = reports.ExportComparison(
		&ledgerv1.ExportComparisonRequest{From: new("2026-03-01"), Currency: eur}, compared)
	for _, m := range compared.Sent {
		s.record(m, err)
	}
}

// useNewRule creates a rule and applies it to transactions that it changes.
func (s *isolated) useNewRule(ctx context.Context) {
	created, err := s.rules.CreateRule(ctx, &ledgerv1.CreateRuleRequest{
		Name: "Kiosk", Conditions: []*ledgerv1.RuleCondition{{
			Field: "payee", Op: "matches", Values: []string{"Ki.sk"},
		}},
		Actions: []*ledgerv1.RuleAction{{Kind: "addTag", Value: "Paper"}},
	})
	s.record(created, err)
	s.record(s.rules.ApplyRule(ctx, &ledgerv1.ApplyRuleRequest{Id: created.GetRule().GetId()}))
	s.rules.Jobs.RunQueued(ctx)
	s.record(s.rules.DeleteRule(ctx, &ledgerv1.DeleteRuleRequest{Id: created.GetRule().GetId()}))
}

// useTransfers calls every RPC of transfers.
func (s *isolated) useTransfers(ctx context.Context) {
	server := &transfers.Transfers{Ledger: s.env.Ledger, Cursors: s.env.Cursors, Reads: s.env.Reads}
	created, err := server.CreateTransfer(ctx, &ledgerv1.CreateTransferRequest{
		FromWalletId: s.wallets[0], ToWalletId: s.wallets[1], Amount: "5", Currency: new("EUR"),
		Date: "2026-03-01", Tags: []string{"Trip"},
	})
	s.record(created, err)
	id := created.GetTransfer().GetId()
	s.record(server.UpdateTransfer(ctx, &ledgerv1.UpdateTransferRequest{
		Id: id, Amount: new("6"), Tags: &ledgerv1.Tags{Values: []string{"Gift"}},
	}))
	s.record(server.GetTransfer(ctx, &ledgerv1.GetTransferRequest{Id: id}))
	s.record(server.ListTransfers(ctx, &ledgerv1.ListTransfersRequest{}))
	s.record(server.ListTransfers(ctx, &ledgerv1.ListTransfersRequest{WalletId: &s.wallets[1]}))
	s.record(server.UnlinkTransfer(ctx,
		&ledgerv1.UnlinkTransferRequest{Id: id, CategoryId: s.categories[0]}))
	s.record(server.SuggestTransfers(ctx, &ledgerv1.SuggestTransfersRequest{}))
	s.record(server.MatchTransfer(ctx, &ledgerv1.MatchTransferRequest{
		OutTransactionId: created.GetTransfer().GetOutTransactionId(),
		InTransactionId:  created.GetTransfer().GetInTransactionId(),
	}))
	list, err := server.ListTransfers(ctx, &ledgerv1.ListTransfersRequest{})
	s.record(list, err)
	for _, transfer := range list.GetTransfers()[:1] {
		s.record(server.DeleteTransfer(ctx, &ledgerv1.DeleteTransferRequest{Id: transfer.GetId()}))
	}
}

// ownExport is Coffer's own export with both legs of a transfer.
const ownExport = `{"wallet":{"id":"w1","name":"Cash","currency":"EUR","balance":0,` +
	`"initialBalance":0}}
{"wallet":{"id":"w2","name":"Bank","currency":"EUR","balance":0,"initialBalance":0}}
{"reconciliation":{"id":"r1","walletId":"w2","currency":"EUR","date":"2026-02-01","balance":5.00,` +
	`"locked":1,"differs":false}}
{"transaction":{"id":"t1","amount":-5.00,"currency":"EUR","type":"transfer",` +
	`"date":"2026-02-01T10:00:00.000Z","walletId":"w1","transferId":"x"}}
{"transaction":{"id":"t2","amount":5.00,"currency":"EUR","type":"transfer",` +
	`"date":"2026-02-01T10:00:00.000Z","walletId":"w2","transferId":"x"}}
`

// upload uploads a file for a wallet, or for those that it names.
func (s *isolated) upload(ctx context.Context, wallet, file string) *ledgerv1.Import {
	u := fixture.NewUpload(ctx, &ledgerv1.CreateImportRequest{WalletId: wallet}, []byte(file))
	err := s.imports.CreateImport(u)
	s.record(u.Response, err)
	return u.Response.GetImport()
}

// prepareImports stages a transfer whose rows are a pair, and a row that is the same payment as the
// first transaction.
func (s *isolated) prepareImports() {
	for _, m := range []*ledgerv1.Import{
		s.upload(s.user.Ctx, "", ownExport),
		s.upload(s.user.Ctx, s.wallets[0], "Date;Amount;Currency\n2026-03-14;-1.10;EUR\n"),
	} {
		s.staged = append(s.staged, m.GetId())
	}
}

// useNewImports uploads files, matches a row with a transaction, and tries the ids of another user
// in each field of a row.
func (s *isolated) useNewImports(ctx context.Context) {
	s.upload(ctx, "", "not a statement")
	// The other user has copies of these imports, whose rows are not yet derived.
	for _, id := range s.staged {
		s.record(s.imports.UpdateImport(ctx,
			&ledgerv1.UpdateImportRequest{Id: id, Defaults: &ledgerv1.ImportDefaultsChange{
				WalletId: new(s.wallets[0]), ExpenseCategoryId: new(s.categories[0]),
			}}))
		s.record(s.imports.ListImportRows(ctx, &ledgerv1.ListImportRowsRequest{Id: id}))
	}
	s.record(s.imports.DeleteImport(ctx, &ledgerv1.DeleteImportRequest{Id: s.staged[0]}))
	s.imports.Jobs.RunQueued(ctx)
	imp := s.upload(ctx, s.wallets[0],
		"Date;Amount;Currency\n2026-03-14;-1.10;EUR\n2026-03-14;-2.20;EUR\n")
	change := func(row *ledgerv1.ImportRowChange) {
		s.record(s.imports.UpdateImportRows(ctx, &ledgerv1.UpdateImportRowsRequest{
			Id: imp.GetId(), Rows: []*ledgerv1.ImportRowChange{row},
		}))
	}
	s.record(s.imports.ListImportRows(ctx, &ledgerv1.ListImportRowsRequest{Id: imp.GetId()}))
	for _, row := range foreignChanges(s.foreign()) {
		change(row)
	}
	change(&ledgerv1.ImportRowChange{N: 2, Action: new("match:" + s.transactions[0].GetId())})
	change(&ledgerv1.ImportRowChange{N: 3, Action: new("skip")})
	s.record(s.imports.CommitImport(ctx, &ledgerv1.CommitImportRequest{Id: imp.GetId()}))
	s.imports.Jobs.RunQueued(ctx)
	s.record(s.imports.ListImportRows(ctx, &ledgerv1.ListImportRowsRequest{Id: imp.GetId()}))
	s.usePending(ctx)
}

// usePending books a pending payment, replaces it with the booking, and undoes that.
func (s *isolated) usePending(ctx context.Context) {
	var id string
	for _, row := range []string{"-7.70,pending", "-7.80,posted"} {
		id = s.upload(ctx, s.wallets[0],
			"Date,Amount,Status,Currency\n2026-03-20,"+row+",EUR\n").GetId()
		s.record(s.imports.UpdateImport(ctx,
			&ledgerv1.UpdateImportRequest{Id: id, Defaults: &ledgerv1.ImportDefaultsChange{
				WalletId: new(s.wallets[0]), ExpenseCategoryId: new(s.categories[0]),
			}}))
		action := map[bool]string{true: "book", false: "auto"}[strings.Contains(row, "pending")]
		s.record(s.imports.UpdateImportRows(ctx, &ledgerv1.UpdateImportRowsRequest{
			Id: id, Rows: []*ledgerv1.ImportRowChange{{N: 2, Action: &action}},
		}))
		s.record(s.imports.CommitImport(ctx, &ledgerv1.CommitImportRequest{Id: id}))
		s.imports.Jobs.RunQueued(ctx)
		s.record(s.imports.ListImportRows(ctx, &ledgerv1.ListImportRowsRequest{Id: id}))
	}
	s.record(s.imports.UndoImport(ctx, &ledgerv1.UndoImportRequest{Id: id}))
	s.imports.Jobs.RunQueued(ctx)
	s.record(s.imports.GetImport(ctx, &ledgerv1.GetImportRequest{Id: id}))
}

// foreign returns the id of the other user's copy of the first transaction. Without another user,
// it is unknown.
func (s *isolated) foreign() string { return "ff" + s.transactions[0].GetId()[2:] }

// foreignChanges returns a change of a row for each text of a change, whose value is or contains an
// id of another user. A field that does not accept ids keeps the value as a text.
func foreignChanges(id string) []*ledgerv1.ImportRowChange {
	var changes []*ledgerv1.ImportRowChange
	fields := (&ledgerv1.ImportRowChange{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if field.Kind() != protoreflect.StringKind {
			continue
		}
		for _, value := range []string{id, "match:" + id} {
			if field.Name() == "action" || !strings.Contains(value, ":") {
				row := &ledgerv1.ImportRowChange{N: 2}
				row.ProtoReflect().Set(field, protoreflect.ValueOfString(value))
				changes = append(changes, row)
			}
		}
	}
	return changes
}
