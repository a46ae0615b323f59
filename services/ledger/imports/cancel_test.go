package imports

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/jobs"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

func TestCancelImport(t *testing.T) {
	t.Parallel()
	cancel := func(t *testing.T, p person, m *ledgerv1.Import, code string) *ledgerv1.Import {
		t.Helper()
		resp, err := p.CancelImport(p.Ctx, &ledgerv1.CancelImportRequest{Id: m.GetId()})
		require.NoError(t, err)
		require.Equal(t, code, resp.GetCode())
		return resp.GetImport()
	}
	t.Run("restores the rows of an update", func(t *testing.T) {
		t.Parallel()
		s := setupJobs(t)
		p := newPerson(t, s)
		m := p.finish(t, p.mustUpload(t, largeStatement(300)))
		before := p.state(t, m)
		fun := p.MakeCategory(p.Ctx, t, "Fun")
		p.start(t, defaultsOf(m, fun))
		_, chunk := p.lease(t, s.Imports, m)
		_, err := chunk()
		require.NoError(t, err)
		changed := p.categorized(t, m, fun)
		require.Positive(t, changed)
		require.Less(t, changed, 300)
		m = cancel(t, p, m, codeCanceled)
		require.Equal(t, staging.Updating, m.GetStatus())
		_, err = chunk()
		require.ErrorIs(t, err, jobs.ErrLostLease)
		cancel(t, p, m, codeFetched)
		m = p.finish(t, m)
		require.Equal(t, staging.Preview, m.GetStatus())
		require.Equal(t, "CANCELED", m.GetProgress().GetProblem())
		require.Equal(t, before, p.state(t, m))
		cancel(t, p, m, codeFetched)
		p.start(t, defaultsOf(m, fun))
		m = p.finish(t, m)
		require.Nil(t, m.GetProgress(), "a later update has succeeded")
		require.Equal(t, 300, p.categorized(t, m, fun))
	})
	t.Run("lets another change follow at once", func(t *testing.T) {
		t.Parallel()
		s := setupJobs(t)
		p := newPerson(t, s)
		m := p.finish(t, p.mustUpload(t, largeStatement(300)))
		fun, games := p.MakeCategory(p.Ctx, t, "Fun"), p.MakeCategory(p.Ctx, t, "Games")
		for name, change := range map[string]func() error{
			"defaults": func() error {
				_, err := p.UpdateImport(p.Ctx, defaultsOf(m, games))
				return err
			},
			"rows": func() error {
				_, err := p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
					Id: m.GetId(), Rows: []*rowChange{{N: 2, Action: new("skip")}},
				})
				return err
			},
		} {
			before := p.categorized(t, m, fun)
			p.start(t, defaultsOf(m, fun))
			p.lease(t, s.Imports, m)
			canceled := cancel(t, p, m, codeCanceled)
			require.Equal(t, staging.Updating, canceled.GetStatus(), name)
			require.Equal(t, "CANCELED", canceled.GetProgress().GetProblem(), name)
			_, chunk := p.lease(t, s.Imports, m)
			_, err := chunk()
			require.NoError(t, err)
			_, err = p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
			require.ErrorIs(t, err, errState, "its rows are partly of before")
			require.NoError(t, change(), name)
			_, err = chunk()
			require.ErrorIs(t, err, jobs.ErrLostLease)
			last := p.finish(t, m)
			require.Equal(t, staging.Preview, last.GetStatus())
			require.Nil(t, last.GetProgress())
			require.Equal(t, before, p.categorized(t, m, fun), name)
		}
		require.Positive(t, p.categorized(t, m, games)+p.categorized(t, m, p.Category))
	})
	t.Run("keeps the choices for rows that started an update", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		p := newPerson(t, s)
		m := p.uploadBooks(t, twoAccounts)
		s.inlineRows = 0
		p.change(t, m, &rowChange{N: 6, Action: new("skip")})
		require.Equal(t, staging.Updating, cancel(t, p, m, codeCanceled).GetStatus())
		require.Equal(t, staging.Preview, p.finish(t, m).GetStatus())
		require.Equal(t, "skipped", p.rows(t, m)[5].GetStatus())
	})
	t.Run("stops a commit, which another one continues", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		p := newPerson(t, s)
		m := p.mustUpload(t, largeStatement(300))
		p.queueCommit(t, m)
		_, chunk := p.lease(t, s.Imports, m)
		for p.get(t, m).GetCounts().GetBooked() == 0 {
			_, err := chunk()
			require.NoError(t, err)
		}
		m = cancel(t, p, m, codeCanceled)
		require.Equal(t, staging.Failed, m.GetStatus())
		require.Equal(t, "CANCELED", m.GetProgress().GetProblem())
		require.Equal(t, m.GetId(), s.LastEvent(t).(*ledgerv1.ImportFailed).GetImport().GetId())
		_, err := chunk()
		require.ErrorIs(t, err, jobs.ErrLostLease)
		booked := m.GetCounts().GetBooked()
		require.Less(t, booked, int32(300))
		require.EqualValues(t, booked, m.GetProgress().GetDone())
		s.RequireConsistent(t)
		cancel(t, p, m, codeFetched)
		p.change(t, m, &rowChange{N: 300, Action: new("skip")})
		m = p.update(t, defaultsOf(m, p.MakeCategory(p.Ctx, t, "Fun")))
		require.EqualValues(t, booked, m.GetProgress().GetDone())
		require.EqualValues(t, 299, m.GetProgress().GetTotal(), "the skipped row is no part of it")
		m = p.commit(t, m)
		require.Equal(t, staging.Done, m.GetStatus())
		require.EqualValues(t, 299, m.GetCounts().GetBooked())
		cancel(t, p, m, codeFetched)
		s.RequireConsistent(t)
	})
	t.Run("stops a commit, which an undo removes, and stops the undo", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		p := newPerson(t, s)
		before := s.stored(t)
		m := p.mustUpload(t, largeStatement(300))
		p.queueCommit(t, m)
		_, chunk := p.lease(t, s.Imports, m)
		for p.get(t, m).GetCounts().GetBooked() == 0 {
			_, err := chunk()
			require.NoError(t, err)
		}
		cancel(t, p, m, codeCanceled)
		_, err := p.UndoImport(p.Ctx, &ledgerv1.UndoImportRequest{Id: m.GetId()})
		require.NoError(t, err)
		require.Equal(t, staging.Done, cancel(t, p, m, codeCanceled).GetStatus())
		require.Equal(t, staging.Undone, p.undo(t, m, false).GetStatus())
		require.Equal(t, before, s.stored(t))
		s.RequireConsistent(t)
	})
	t.Run("stops a commit before its first row", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		p := newPerson(t, s)
		m := p.mustUpload(t, statementFile)
		p.queueCommit(t, m)
		require.Equal(t, staging.Failed, cancel(t, p, m, codeCanceled).GetStatus())
		s.runJobs(t)
		require.Equal(t, "0.00", p.balance(t))
		require.Equal(t, staging.Done, p.commit(t, m).GetStatus())
	})
}

// TestUpdateImportFails makes the job of an update fail, and then the return to the details before
// it, too. The commit derives the rows again, before it books one.
func TestUpdateImportFails(t *testing.T) {
	t.Parallel()
	s := setupJobs(t)
	p := newPerson(t, s)
	m := p.finish(t, p.mustUpload(t, largeStatement(200)))
	before := p.state(t, m)
	fun := p.MakeCategory(p.Ctx, t, "Fun")
	p.start(t, defaultsOf(m, fun))
	j, chunk := p.lease(t, s.Imports, m)
	_, err := chunk()
	require.NoError(t, err)
	require.NoError(t, s.Jobs.Fail(p.Ctx, j, "LIMIT_REACHED"))
	require.Equal(t, staging.Updating, p.get(t, m).GetStatus())
	j, _ = p.lease(t, s.Imports, m)
	require.NoError(t, s.Jobs.Fail(p.Ctx, j, "INTERNAL"))
	m = p.get(t, m)
	require.Equal(t, staging.Preview, m.GetStatus())
	require.Equal(t, "INTERNAL", m.GetProgress().GetProblem())
	require.NotEqual(t, before, p.state(t, m))
	m = p.commit(t, m)
	require.Equal(t, staging.Done, m.GetStatus())
	require.EqualValues(t, 200, m.GetCounts().GetBooked())
	require.Equal(t, 200, p.categorized(t, m, p.Category))
}

// TestUpdateImportFailsMapping makes the job of a new mapping fail, and then the return to the
// mapping before it, too. The next update or commit reads the cells with that mapping again.
func TestUpdateImportFailsMapping(t *testing.T) {
	t.Parallel()
	for name, inline := range map[string]int32{"commit": -1, "update by a job": 0, "update": 1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setupJobs(t)
			p := newPerson(t, s)
			m := p.finish(t, p.mustUpload(t, largeStatement(200)))
			before := p.state(t, m)
			mapping := m.GetMapping()
			mapping.Invert = !mapping.GetInvert()
			p.start(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: mapping})
			j, chunk := p.lease(t, s.Imports, m)
			_, err := chunk()
			require.NoError(t, err)
			require.NoError(t, s.Jobs.Fail(p.Ctx, j, "INTERNAL"))
			j, _ = p.lease(t, s.Imports, m)
			require.NoError(t, s.Jobs.Fail(p.Ctx, j, "INTERNAL"))
			require.Equal(t, staging.Preview, p.get(t, m).GetStatus())
			require.NotEqual(t, before, p.state(t, m))
			if inline >= 0 {
				s.inlineRows = inline
				_, err = p.UpdateImport(p.Ctx, defaultsOf(m, p.Category))
				require.NoError(t, err)
				m = p.finish(t, m)
				require.Equal(t, before, p.state(t, m))
			}
			require.Equal(t, staging.Done, p.commit(t, m).GetStatus())
			for _, r := range p.rows(t, m) {
				require.True(t, strings.HasPrefix(r.GetAmount(), "-"), r.GetAmount())
			}
			s.RequireConsistent(t)
		})
	}
}

// TestGetImportWait waits for a job that does not run. A request with a deadline gets a response
// before it.
func TestGetImportWait(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, largeStatement(20))
	_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(p.Ctx, 1200*time.Millisecond)
	defer cancel()
	resp, err := p.GetImport(ctx, &ledgerv1.GetImportRequest{Id: m.GetId(), Wait: new(int32(8))})
	require.NoError(t, err)
	require.Equal(t, staging.Queued, resp.GetImport().GetStatus())
}
