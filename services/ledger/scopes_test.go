package ledger

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/export"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// TestReadScopeNeverWrites calls each RPC that accepts the scope read, on connections whose
// transactions are read-only. PostgreSQL rejects each statement that writes, locks a row or takes a
// number of a sequence. So it is the statements that decide, and not the names of the RPCs.
func TestReadScopeNeverWrites(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, Migrations)
	writer := isolatedOn(t, db)
	writer.prepare(t)
	pool, denied := pgtest.ReadOnly(t, db)
	reader := isolatedOn(t, pool)
	reader.user, reader.wallets, reader.categories = writer.user, writer.wallets, writer.categories
	reader.transactions, reader.receipt = writer.transactions, writer.receipt
	reader.attached, reader.ruleIDs = writer.attached, writer.ruleIDs
	reader.preview, reader.committed = writer.preview, writer.committed
	reader.readAll()
	require.Empty(t, denied(), "the statements write")

	called := 0
	for _, method := range methodsWithScope("read") {
		require.True(t, reader.answered[method.Output().FullName()],
			"the test does not call %s", method.FullName())
		called++
	}
	require.Greater(t, called, 25)

	// The connections reject what a write would be.
	_, err := reader.CreateCategory(reader.user.Ctx,
		&ledgerv1.CreateCategoryRequest{Name: "Rejected"})
	require.Error(t, err)
	require.NotEmpty(t, denied())
}

// readAll calls every RPC that accepts the scope read.
func (s *isolated) readAll() {
	ctx := s.user.Ctx
	s.read(ctx, s.wallets, s.user.Category.String())
	s.readAttachments(ctx)
	s.readRules(ctx)
	s.useReports(ctx)
	s.readViews(ctx)
	s.record(s.ListCurrencies(ctx, &ledgerv1.ListCurrenciesRequest{}))
	s.record(s.tags.GetTag(ctx, &ledgerv1.GetTagRequest{Tag: "trip"}))
	s.record(s.ListReceipts(ctx, &ledgerv1.ListReceiptsRequest{}))
	s.record(s.imports.ListImports(ctx, &ledgerv1.ListImportsRequest{}))
	s.record(s.imports.ListImportProfiles(ctx, &ledgerv1.ListImportProfilesRequest{}))
	for _, id := range []string{s.preview, s.committed} {
		s.record(s.imports.GetImport(ctx, &ledgerv1.GetImportRequest{Id: id}))
		s.record(s.imports.ListImportRows(ctx, &ledgerv1.ListImportRowsRequest{Id: id}))
	}
	s.record(s.reconciling().ListReconciliations(ctx,
		&ledgerv1.ListReconciliationsRequest{WalletId: s.wallets[1]}))
	server := &transfers.Transfers{Ledger: s.env.Ledger, Cursors: s.env.Cursors, Reads: s.env.Reads}
	list, err := server.ListTransfers(ctx, &ledgerv1.ListTransfersRequest{})
	s.record(list, err)
	for _, transfer := range list.GetTransfers() {
		s.record(server.GetTransfer(ctx, &ledgerv1.GetTransferRequest{Id: transfer.GetId()}))
	}
	s.record(server.SuggestTransfers(ctx, &ledgerv1.SuggestTransfersRequest{}))
	for _, format := range []string{"json", "csv"} {
		stream := &fixture.DownloadStream[ledgerv1.ExportTransactionsResponse]{Ctx: ctx}
		err = export.New(s.env.Ledger, nil).
			ExportTransactions(&ledgerv1.ExportTransactionsRequest{Format: format}, stream)
		for _, m := range stream.Sent {
			s.record(m, err)
		}
	}
}

// methodsWithScope returns the methods of the ledger that accept a scope.
func methodsWithScope(scope string) (found []protoreflect.MethodDescriptor) {
	protoregistry.GlobalFiles.RangeFilesByPackage("coffer.ledger.v1",
		func(file protoreflect.FileDescriptor) bool {
			for i := range file.Services().Len() {
				methods := file.Services().Get(i).Methods()
				for j := range methods.Len() {
					accepted := proto.GetExtension(methods.Get(j).Options(), restv1.E_Scopes)
					if slices.Contains(accepted.([]string), scope) {
						found = append(found, methods.Get(j))
					}
				}
			}
			return true
		})
	return found
}
