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
func serve(ctx context.Context, f *fixture.Service) *service {
	ocr := &fixture.OCR{Receipt: fixture.Groceries()}
	log := slog.New(slog.DiscardHandler)
	a := &accounts.Accounts{Ledger: f.Ledger, Cursors: f.Cursors}
	s := &service{
		Service: f, ocr: ocr,
		Accounts:     a,
		Transactions: transactions.New(f.Ledger, f.Cursors, f.Reads),
		Receipts:     &receipts.Receipts{Ledger: f.Ledger, OCR: ocr, Log: log},
		Reports:      &reports.Reports{Ledger: f.Ledger, Reads: f.Reads},
		rules:        rules.New(f.Ledger, f.Reads, log),
		transfers:    &transfers.Transfers{Ledger: f.Ledger, Cursors: f.Cursors, Reads: f.Reads},
		tags:         &tags.Server{Ledger: f.Ledger, Reads: f.Reads},
		settings:     &settings.Server{Ledger: f.Ledger},
		sync:         &sync.Server{Ledger: f.Ledger, Cursors: f.Cursors},
		attachments:  &attachments.Attachments{Ledger: f.Ledger, Quota: 1 << 30},
		imports:      imports.New(a, f.Cursors, "a secret of the tests", log),
	}
	f.RPCs = s
	s.Run(ctx)
	return s
}

// person is a user of a service.
type person struct {
	*service
	fixture.User
}

func newPerson(ctx context.Context, t require.TestingT, s *service) person {
	return person{service: s, User: s.NewUser(ctx, t)}
}
