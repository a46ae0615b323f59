package imports

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

type rowChange = ledgerv1.ImportRowChange

// server is a ledger with the RPCs of imports and accounts.
type server struct {
	*fixture.Service
	*accounts.Accounts
	*Imports
}

// setup returns a server with a fresh database. Its queue does not run: tests run jobs themselves.
func setup(t testing.TB) *server {
	t.Helper()
	f := fixture.New(t)
	f.Ledger.Now = time.Now
	a := &accounts.Accounts{Ledger: f.Ledger, Cursors: f.Cursors}
	s := &server{Service: f, Accounts: a, Imports: New(a, f.Cursors, "a secret of the tests",
		slog.New(slog.NewTextHandler(t.Output(), nil)))}
	f.RPCs = struct {
		*fixture.Service
		*accounts.Accounts
	}{f, a}
	return s
}

// person is a user of a server.
type person struct {
	*server
	fixture.User
}

func newPerson(t testing.TB, s *server) person {
	t.Helper()
	return person{s, s.NewUser(t.Context(), t)}
}

// upload uploads a file with a form.
func (p person) upload(
	form *ledgerv1.CreateImportRequest, file string,
) (*ledgerv1.CreateImportResponse, error) {
	if form.Header == nil {
		form.Header = &restv1.FileHeader{FileName: "statement.csv"}
	}
	u := fixture.NewUpload(p.Ctx, form, []byte(file))
	err := p.CreateImport(u)
	return u.Response, err
}

// mustUpload uploads a file for the wallet of the user, whose category is the default.
func (p person) mustUpload(t testing.TB, file string) *ledgerv1.Import {
	t.Helper()
	resp, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: p.Wallet.String()}, file)
	require.NoError(t, err)
	m := p.update(t, &ledgerv1.UpdateImportRequest{
		Id: resp.GetImport().GetId(),
		Defaults: &ledgerv1.ImportDefaultsChange{
			WalletId: new(p.Wallet.String()), ExpenseCategoryId: new(p.Category.String()),
			IncomeCategoryId: new(p.Category.String()),
		},
	})
	if m.GetStatus() == staging.Updating && p.inlineRows > 0 {
		return p.finish(t, m)
	}
	return m
}

// commit commits an import and runs its job.
func (p person) commit(t testing.TB, m *ledgerv1.Import) *ledgerv1.Import {
	t.Helper()
	_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	return p.finish(t, m)
}

// undo undoes an import and runs its job.
func (p person) undo(t testing.TB, m *ledgerv1.Import, force bool) *ledgerv1.Import {
	t.Helper()
	_, err := p.UndoImport(p.Ctx, &ledgerv1.UndoImportRequest{Id: m.GetId(), Force: force})
	require.NoError(t, err)
	return p.finish(t, m)
}

// unfinished are the statuses of an import while its job runs.
var unfinished = []string{staging.Updating, staging.Queued, staging.Running, staging.Undoing}

// finish runs jobs until the job of an import has ended. Another test with the same server may run
// it.
func (p person) finish(t testing.TB, m *ledgerv1.Import) *ledgerv1.Import {
	t.Helper()
	for {
		p.runJobs(t)
		resp, err := p.GetImport(p.Ctx,
			&ledgerv1.GetImportRequest{Id: m.GetId(), Wait: new(int32(1))})
		require.NoError(t, err)
		if !slices.Contains(unfinished, resp.GetImport().GetStatus()) {
			return resp.GetImport()
		}
	}
}

func (p person) get(t testing.TB, m *ledgerv1.Import) *ledgerv1.Import {
	t.Helper()
	resp, err := p.GetImport(p.Ctx, &ledgerv1.GetImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	return resp.GetImport()
}

// runJobs runs all queued jobs.
func (s *server) runJobs(t testing.TB) {
	t.Helper()
	s.Jobs.RunQueued(t.Context())
}

// rows returns the rows of an import.
func (p person) rows(t testing.TB, m *ledgerv1.Import) []*ledgerv1.ImportRow {
	t.Helper()
	resp, err := p.ListImportRows(p.Ctx,
		&ledgerv1.ListImportRowsRequest{Id: m.GetId(), Limit: new(int32(200))})
	require.NoError(t, err)
	return resp.GetRows()
}
