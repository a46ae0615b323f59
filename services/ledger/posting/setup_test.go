package posting_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/attachments"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports"
	"github.com/coffer-budget/coffer/services/ledger/receipts"
	"github.com/coffer-budget/coffer/services/ledger/reconciliations"
	"github.com/coffer-budget/coffer/services/ledger/reports"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/settings"
	"github.com/coffer-budget/coffer/services/ledger/sync"
	"github.com/coffer-budget/coffer/services/ledger/tags"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// updateRequest is frequent in the tests.
type updateRequest = ledgerv1.UpdateTransactionRequest

// service serves all RPCs of the ledger, because these tests concern the writes of all resources.
type service struct {
	*fixture.Service
	*accounts.Accounts
	*transactions.Transactions
	*receipts.Receipts
	*reports.Reports
	transfers   *transfers.Transfers
	reconciling *reconciliations.Reconciliations
	tags        *tags.Server
	attachments *attachments.Attachments
	imports     *imports.Imports
	rules       *rules.Rules
	settings    *settings.Server
	sync        *sync.Server
	ocr         *fixture.OCR
}

// setup returns a service on a fresh database.
func setup(t testing.TB) *service {
	t.Helper()
	return serve(t.Context(), fixture.New(t))
}

// serve returns a service in an environment. Its writers end with ctx.
func serve(ctx context.Context, base *fixture.Service) *service {
	ocr := &fixture.OCR{Receipt: fixture.Groceries()}
	log := slog.New(slog.DiscardHandler)
	resources := &accounts.Accounts{Ledger: base.Ledger, Cursors: base.Cursors}
	service := &service{
		Service: base, ocr: ocr,
		Accounts:     resources,
		Transactions: transactions.New(base.Ledger, base.Cursors, base.Reads),
		Receipts:     &receipts.Receipts{Ledger: base.Ledger, OCR: ocr, Log: log},
		Reports:      &reports.Reports{Ledger: base.Ledger, Reads: base.Reads},
		rules:        rules.New(base.Ledger, base.Reads, log),
		transfers: &transfers.Transfers{
			Ledger: base.Ledger, Cursors: base.Cursors, Reads: base.Reads,
		},
		reconciling: &reconciliations.Reconciliations{Ledger: base.Ledger, Cursors: base.Cursors},
		tags:        &tags.Server{Ledger: base.Ledger, Reads: base.Reads},
		settings:    &settings.Server{Ledger: base.Ledger},
		sync:        &sync.Server{Ledger: base.Ledger, Cursors: base.Cursors},
		attachments: &attachments.Attachments{Ledger: base.Ledger, Quota: 1 << 30},
		imports:     imports.New(resources, base.Cursors, "a secret of the tests", log),
	}
	base.RPCs = service
	service.Run(ctx)
	return service
}

// person is a user of a service.
type person struct {
	*service
	fixture.User
}

func newPerson(ctx context.Context, t require.TestingT, s *service) person {
	return person{service: s, User: s.NewUser(ctx, t)}
}
