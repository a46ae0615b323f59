package imports

import (
	"fmt"
	"log/slog"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// setupJobs returns a server on which jobs derive the rows after each change.
func setupJobs(t testing.TB) *server {
	t.Helper()
	s := setup(t)
	s.inlineRows = 0
	return s
}

// other returns another replica of a server.
func (s *server) other() *Imports {
	return New(s.Accounts, s.Service.Cursors, "a secret of the tests",
		slog.New(slog.DiscardHandler))
}

// lease leases the job of an import for a replica, and returns the function that runs its chunks.
func (p person) lease(
	t testing.TB, at *Imports, m *ledgerv1.Import,
) (jobs.Job, func() (bool, error)) {
	t.Helper()
	j, err := pg.One[jobs.Job](t.Context(), p.DB, `
		UPDATE imports
		SET lease = gen_random_uuid(), leased_until = now() + interval '1 minute'
		WHERE id = $1
		RETURNING owner_id, id, lease, status, attempts`, m.GetId())
	require.NoError(t, err)
	j.LeaseTime = time.Minute
	chunk, pace := at.Jobs.Chunks(j), jobs.NewPace(time.Now)
	return j, func() (bool, error) { return chunk(p.Ctx, pace) }
}

// state returns what users see of an import and its rows, without what each change sets.
func (p person) state(t testing.TB, m *ledgerv1.Import) string {
	t.Helper()
	now := p.get(t, m)
	now.Id, now.UpdatedAt, now.CreatedAt, now.Progress, now.Warnings = "", "", "", nil, nil
	text := now.String()
	list := &ledgerv1.ListImportRowsRequest{Id: m.GetId(), Limit: new(int32(200))}
	for more := true; more; {
		page, err := p.ListImportRows(p.Ctx, list)
		require.NoError(t, err)
		for _, r := range page.GetRows() {
			text += "\n" + r.String()
		}
		list.Cursor, more = page.GetPagination().GetNextCursor(), page.GetPagination().GetHasMore()
	}
	return text
}

// categorized returns the number of rows of an import with a category.
func (p person) categorized(t testing.TB, m *ledgerv1.Import, category uuid.UUID) (rows int) {
	t.Helper()
	require.NoError(t, p.DB.QueryRow(t.Context(),
		`SELECT count(*) FROM import_rows WHERE import_id = $1 AND category_id = $2`,
		m.GetId(), category).Scan(&rows))
	return rows
}

// defaultsOf is a change of the default category.
func defaultsOf(m *ledgerv1.Import, category uuid.UUID) *ledgerv1.UpdateImportRequest {
	return &ledgerv1.UpdateImportRequest{Id: m.GetId(), Defaults: &ledgerv1.ImportDefaultsChange{
		ExpenseCategoryId: new(category.String()),
	}}
}

// start starts the job of a change.
func (p person) start(t testing.TB, req *ledgerv1.UpdateImportRequest) *ledgerv1.Import {
	t.Helper()
	req.Wait = new(int32(0))
	resp, err := p.UpdateImport(p.Ctx, req)
	require.NoError(t, err)
	require.Equal(t, codeUpdateStarted, resp.GetCode())
	require.Equal(t, staging.Updating, resp.GetImport().GetStatus())
	return resp.GetImport()
}

// TestUpdateImportJob requires that a job has the same result as a request, also if two replicas
// run its chunks in turn.
func TestUpdateImportJob(t *testing.T) {
	t.Parallel()
	remap := func(m *ledgerv1.Import) *ledgerv1.UpdateImportRequest {
		mapping := m.GetMapping()
		mapping.Invert = true
		mapping.Columns = append(mapping.GetColumns(),
			&ledgerv1.ImportColumn{Index: 5, Field: "category"})
		return &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: mapping}
	}
	file := "Date;Payee;Description;Amount;Currency;Quux\n"
	for i := range 500 {
		file += fmt.Sprintf("%02d.02.2026;Shop %d;Lunch;-%d,50;EUR;Group %d\n", 1+i%28, i%7, i%9, i/30)
	}
	for name, c := range map[string]struct {
		file   string
		change func(m *ledgerv1.Import) *ledgerv1.UpdateImportRequest
	}{
		"mapping": {file, remap},
		"categories of a file": {file, func(m *ledgerv1.Import) *ledgerv1.UpdateImportRequest {
			return &ledgerv1.UpdateImportRequest{
				Id:       m.GetId(),
				Defaults: &ledgerv1.ImportDefaultsChange{Currency: new("USD")},
			}
		}},
		"transfers": {exported, func(m *ledgerv1.Import) *ledgerv1.UpdateImportRequest {
			return &ledgerv1.UpdateImportRequest{Id: m.GetId(), Accounts: createAll(m)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			p := newPerson(t, s)
			for day := range 5 {
				p.enter(t, "-2.50", "Shop lunch", day+1)
			}
			inline := p.mustUpload(t, c.file)
			byJob := p.mustUpload(t, c.file)
			inTurn := p.mustUpload(t, c.file)
			p.update(t, c.change(inline))
			want := p.state(t, inline)
			s.inlineRows = 0

			p.start(t, c.change(byJob))
			require.Equal(t, staging.Preview, p.finish(t, byJob).GetStatus())
			require.Equal(t, want, p.state(t, byJob))

			p.start(t, c.change(inTurn))
			replicas := []*Imports{s.Imports, s.other()}
			finished := false
			for turn := 0; !finished; turn++ {
				require.Less(t, turn, 200)
				_, chunk := p.lease(t, replicas[turn%2], inTurn)
				var err error
				finished, err = chunk()
				require.NoError(t, err)
			}
			require.Equal(t, want, p.state(t, inTurn))
		})
	}
}

func TestUpdateImportStates(t *testing.T) {
	t.Parallel()
	s := setupJobs(t)
	p := newPerson(t, s)
	resp, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: p.Wallet.String()}, statementFile)
	require.NoError(t, err)
	change := defaultsOf(resp.GetImport(), p.Category)
	change.Defaults.IncomeCategoryId = change.GetDefaults().ExpenseCategoryId
	m := p.start(t, change)
	id := m.GetId()
	require.Equal(t, p.Wallet.String(), m.GetDefaults().GetWalletId(), "the wallet of the upload")
	require.EqualValues(t, 5, m.GetProgress().GetTotal())
	for name, do := range map[string]func() error{
		"UpdateImport": func() error { _, err := p.UpdateImport(p.Ctx, defaultsOf(m, p.Category)); return err },
		"UpdateImportRows": func() error {
			_, err := p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
				Id: id, Rows: []*rowChange{{N: 2, Action: new("skip")}},
			})
			return err
		},
		"CommitImport": func() error { _, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: id}); return err },
		"UndoImport":   func() error { _, err := p.UndoImport(p.Ctx, &ledgerv1.UndoImportRequest{Id: id}); return err },
		"DeleteImport": func() error { _, err := p.DeleteImport(p.Ctx, &ledgerv1.DeleteImportRequest{Id: id}); return err },
	} {
		e := fixture.RequireReason(t, do(), codes.FailedPrecondition, "IMPORT_STATE")
		require.NotNil(t, e, name)
	}
	m = p.finish(t, m)
	require.Equal(t, staging.Preview, m.GetStatus())
	require.Nil(t, m.GetProgress())
	require.Equal(t, staging.Done, p.commit(t, m).GetStatus())
	require.Equal(t, "1643.00", p.balance(t))
}

// TestUpdateImportSimultaneous sends changes at the same time. One is accepted at a time, and the
// rows have the last one.
func TestUpdateImportSimultaneous(t *testing.T) {
	t.Parallel()
	s := setupJobs(t)
	p := newPerson(t, s)
	m := p.finish(t, p.mustUpload(t, statementFile))
	var started atomic.Int32
	var changes sync.WaitGroup
	for range 8 {
		changes.Go(func() {
			change := defaultsOf(m, p.Category)
			change.Wait = new(int32(0))
			resp, err := p.UpdateImport(p.Ctx, change)
			if err == nil && resp.GetCode() == codeUpdateStarted {
				started.Add(1)
			}
		})
	}
	changes.Wait()
	require.EqualValues(t, 1, started.Load())
	require.Equal(t, staging.Preview, p.finish(t, m).GetStatus())
}

// TestUpdateImportRowsJob changes a side of a transfer. A job changes the other side.
func TestUpdateImportRowsJob(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.uploadExport(t, exported)
	var accounts []*ledgerv1.ImportAccount
	for _, a := range m.GetAccounts() {
		accounts = append(accounts, &ledgerv1.ImportAccount{
			Key: a.GetKey(), WalletId: p.MakeWallet(p.Ctx, t, a.GetKey(), "EUR").String(),
		})
	}
	p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Accounts: accounts})
	var n int32
	sides := func() (rows int) {
		for _, r := range p.rows(t, m) {
			if r.GetTransferWalletId() != "" {
				rows++
				n = r.GetN()
			}
		}
		return rows
	}
	before := sides()
	s.inlineRows = 0
	resp, err := p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
		Id: m.GetId(), Rows: []*rowChange{{N: n, Action: new("skip")}},
	})
	require.NoError(t, err)
	require.Equal(t, staging.Updating, resp.GetImport().GetStatus())
	m = p.finish(t, m)
	require.Equal(t, staging.Preview, m.GetStatus())
	require.EqualValues(t, 1, m.GetCounts().GetSkipped())
	require.Less(t, sides(), before, "the other side is an ordinary transaction")
}

// TestUpdateImportKilled kills the two replicas that run an update in turn, with SIGKILL.
// IMPORT_ROWS is the number of rows.
func TestUpdateImportKilled(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	n := rowsFromEnv(t, 4000)
	m := p.finish(t, p.mustUpload(t, largeStatement(n)))
	fun := p.MakeCategory(p.Ctx, t, "Fun")
	workers := []*exec.Cmd{s.startWorker(t), s.startWorker(t)}
	s.inlineRows = 0
	p.start(t, defaultsOf(m, fun))
	done := int64(0)
	for kill := range 3 {
		now := p.get(t, m)
		for now.GetStatus() == staging.Updating && now.GetProgress().GetDone() == done {
			now = p.get(t, m)
		}
		done = now.GetProgress().GetDone()
		w := &workers[kill%len(workers)]
		require.NoError(t, (*w).Process.Kill())
		_ = (*w).Wait()
		*w = s.startWorker(t)
	}
	for m = p.get(t, m); m.GetStatus() == staging.Updating; m = p.get(t, m) {
		require.NoError(t, t.Context().Err())
	}
	require.Equal(t, staging.Preview, m.GetStatus())
	require.EqualValues(t, n, m.GetCounts().GetReady())
	require.Equal(t, n, p.categorized(t, m, fun))
}
