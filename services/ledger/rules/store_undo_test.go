package rules

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

// TestUndoRuleMovedTransaction moves a changed transaction behind the position of the job, which
// then changes it again.
func TestUndoRuleMovedTransaction(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	fun := s.MakeCategory(p.Ctx, t, "Fun")
	req := p.Spends("9.50")
	req.Payee = "Cinema"
	id := p.Create(t, req).GetId()
	rule := p.rule(t, setsCategory("cinema", fun))
	_, err := p.UpdateRule(p.Ctx, &ledgerv1.UpdateRuleRequest{
		Id: rule.GetId(), Actions: &ledgerv1.RuleActions{Values: append(rule.GetActions(),
			&ledgerv1.RuleAction{Kind: matching.SetNotes, Value: "seen"})},
	})
	require.NoError(t, err)
	_, err = p.ApplyRule(p.Ctx, &ledgerv1.ApplyRuleRequest{Id: rule.GetId()})
	require.NoError(t, err)
	j, err := jobTable.Lease(t.Context(), s.DB, time.Minute)
	require.NoError(t, err)
	_, err = s.runChunk(p.Ctx, j, jobs.NewPace(time.Now))
	require.NoError(t, err)
	p.edit(t, id, &ledgerv1.UpdateTransactionRequest{
		Date: new(fixture.Today.AddDate(0, 0, 1).Format(time.DateOnly)), Notes: new("mine"),
	})
	_, err = s.DB.Exec(t.Context(), `UPDATE rule_jobs SET leased_until = now() - interval '1 s'`)
	require.NoError(t, err)
	s.Jobs.RunQueued(t.Context())
	require.Equal(t, "seen", p.get(t, id).GetNotes())
	application := p.undo(t, rule.GetId()).GetApplication()
	require.EqualValues(t, 1, application.GetChanged())
	require.EqualValues(t, 1, application.GetRestored())
	got := p.get(t, id)
	require.Equal(t, "mine", got.GetNotes())
	require.Equal(t, p.Category.String(), got.GetCategoryId())
}

func TestExpire(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	spent := p.spends(t, "Cinema", "3").GetId()
	id := p.rule(t, sets("cinema", s.MakeCategory(p.Ctx, t, "Fun"))).GetId()
	p.apply(t, id)
	begin := s.Service.Ledger.Now()
	left := func(at time.Time) int64 {
		t.Helper()
		require.NoError(t, Expire(t.Context(), s.DB, at))
		n, err := pg.Value[int64](t.Context(), s.DB, `SELECT count(*) FROM rule_changes`)
		require.NoError(t, err)
		return n
	}
	for _, end := range []func(rule string){
		func(rule string) {
			_, err := p.DeleteRule(p.Ctx, &ledgerv1.DeleteRuleRequest{Id: rule})
			require.NoError(t, err)
		},
		// Another application, which changes nothing. The clock of the test stands still.
		func(rule string) {
			p.apply(t, rule)
			_, err := s.DB.Exec(t.Context(), `
				UPDATE rule_jobs
				SET applied_at = applied_at + interval '1 s'
				WHERE rule_id = $1`, rule)
			require.NoError(t, err)
		},
	} {
		other := p.rule(t, &ledgerv1.CreateRuleRequest{
			Name: "Other", Conditions: sets("rex", p.Category).GetConditions(),
			Actions: []*ledgerv1.RuleAction{{Kind: matching.SetPayee, Value: "Rex Cinema"}},
		}).GetId()
		p.apply(t, other)
		end(other)
		changes, err := pg.Value[int64](t.Context(), s.DB, `SELECT count(*) FROM rule_changes`)
		require.NoError(t, err)
		require.EqualValues(t, 2, changes)
		require.EqualValues(t, 1, left(begin))
		p.edit(t, spent, &ledgerv1.UpdateTransactionRequest{Payee: new("Rex")})
	}
	require.EqualValues(t, 1, left(begin.Add(retention-time.Hour)))
	require.Zero(t, left(begin.Add(retention+time.Hour)))
	_, err := s.DB.Exec(t.Context(),
		`UPDATE rule_jobs SET applied_at = applied_at - interval '31 days'`)
	require.NoError(t, err)
	_, err = p.UndoRule(p.Ctx, &ledgerv1.UndoRuleRequest{Id: id})
	require.ErrorIs(t, err, errNotUndoable)
}

func TestChangeRestore(t *testing.T) {
	t.Parallel()
	transfer := uuid.New()
	was, wrote := "was", "wrote"
	w := written{Payee: &wrote}
	for name, c := range map[string]struct {
		transaction, want posting.Transaction
		changed, complete bool
	}{
		"restores": {
			posting.Transaction{Payee: wrote}, posting.Transaction{Payee: was}, true, true,
		},
		"keeps an edit": {
			posting.Transaction{Payee: "x"}, posting.Transaction{Payee: "x"}, false, false,
		},
		"finds the former value": {
			posting.Transaction{Payee: was}, posting.Transaction{Payee: was}, false, true,
		},
		"keeps a leg": {
			posting.Transaction{Payee: wrote, TransferID: &transfer},
			posting.Transaction{Payee: wrote, TransferID: &transfer},
			false, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, changed, complete := change{Payee: &was}.restore(c.transaction, w)
			require.Equal(t, c.want, after)
			require.Equal(t, []bool{c.changed, c.complete}, []bool{changed, complete})
		})
	}
}
