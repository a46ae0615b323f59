package rules

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

// TestUndoRuleMovedTransaction moves a changed transaction behind the position of the job, which
// then changes it again.
func TestUndoRuleMovedTransaction(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	fun := srv.MakeCategory(me.Ctx, t, "Fun")
	req := me.Spends("9.50")
	req.Payee = "Cinema"
	id := me.Create(t, req).GetId()
	rule := me.rule(t, setsCategory("cinema", fun))
	_, err := me.UpdateRule(me.Ctx, &ledgerv1.UpdateRuleRequest{
		Id: rule.GetId(), Actions: &ledgerv1.RuleActions{Values: append(rule.GetActions(),
			&ledgerv1.RuleAction{Kind: matching.SetNotes, Value: "seen"})},
	})
	require.NoError(t, err)
	_, err = me.ApplyRule(me.Ctx, &ledgerv1.ApplyRuleRequest{Id: rule.GetId()})
	require.NoError(t, err)
	j, err := jobTable.Lease(t.Context(), srv.DB, time.Minute)
	require.NoError(t, err)
	_, err = srv.runChunk(me.Ctx, j, jobs.NewPace(time.Now))
	require.NoError(t, err)
	me.edit(t, id, &ledgerv1.UpdateTransactionRequest{
		Date: new(fixture.Today.AddDate(0, 0, 1).Format(time.DateOnly)), Notes: new("mine"),
	})
	pgtest.Exec(t, srv.DB, `UPDATE rule_jobs SET leased_until = now() - interval '1 s'`)
	srv.Jobs.RunQueued(t.Context())
	require.Equal(t, "seen", me.get(t, id).GetNotes())
	application := me.undo(t, rule.GetId()).GetApplication()
	require.EqualValues(t, 1, application.GetChanged())
	require.EqualValues(t, 1, application.GetRestored())
	got := me.get(t, id)
	require.Equal(t, "mine", got.GetNotes())
	require.Equal(t, me.Category.String(), got.GetCategoryId())
}

func TestExpire(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	spent := me.spends(t, "Cinema", "3").GetId()
	id := me.rule(t, sets("cinema", srv.MakeCategory(me.Ctx, t, "Fun"))).GetId()
	me.apply(t, id)
	begin := srv.Service.Ledger.Now()
	left := func(at time.Time) int64 {
		t.Helper()
		require.NoError(t, Expire(t.Context(), srv.DB, at))
		n, err := pg.Value[int64](t.Context(), srv.DB, `SELECT count(*) FROM rule_changes`)
		require.NoError(t, err)
		return n
	}
	for _, end := range []func(rule string){
		func(rule string) {
			_, err := me.DeleteRule(me.Ctx, &ledgerv1.DeleteRuleRequest{Id: rule})
			require.NoError(t, err)
		},
		// Another application, which changes nothing. The clock of the test stands still.
		func(rule string) {
			me.apply(t, rule)
			pgtest.Exec(t, srv.DB, `
				UPDATE rule_jobs
				SET applied_at = applied_at + interval '1 s'
				WHERE rule_id = $1`, rule)
		},
	} {
		other := me.rule(t, &ledgerv1.CreateRuleRequest{
			Name: "Other", Conditions: sets("rex", me.Category).GetConditions(),
			Actions: []*ledgerv1.RuleAction{{Kind: matching.SetPayee, Value: "Rex Cinema"}},
		}).GetId()
		me.apply(t, other)
		end(other)
		changes, err := pg.Value[int64](t.Context(), srv.DB, `SELECT count(*) FROM rule_changes`)
		require.NoError(t, err)
		require.EqualValues(t, 2, changes)
		require.EqualValues(t, 1, left(begin))
		me.edit(t, spent, &ledgerv1.UpdateTransactionRequest{Payee: new("Rex")})
	}
	require.EqualValues(t, 1, left(begin.Add(retention-time.Hour)))
	require.Zero(t, left(begin.Add(retention+time.Hour)))
	pgtest.Exec(t, srv.DB, `UPDATE rule_jobs SET applied_at = applied_at - interval '31 days'`)
	_, err := me.UndoRule(me.Ctx, &ledgerv1.UndoRuleRequest{Id: id})
	require.ErrorIs(t, err, errNotUndoable)
}

// TestExpireManyChanges has applications with more changes than a statement reads.
func TestExpireManyChanges(t *testing.T) {
	t.Parallel()
	s := setup(t)
	begin := s.Service.Ledger.Now()
	insert := func(at time.Time, changes int) (owner uuid.UUID) {
		owner = uuid.New()
		pgtest.Exec(t, s.DB, `
			INSERT INTO rule_changes (owner_id, rule_id, transaction_id, applied_at, tagged)
			SELECT $1, $1, gen_random_uuid(), $2, false FROM generate_series(1, $3)`,
			owner, at, changes)
		return owner
	}
	p := newPerson(t.Context(), t, s)
	id := p.rule(t, sets("cinema", p.Category)).GetId()
	p.apply(t, id)
	pgtest.Exec(t, s.DB, `UPDATE rule_jobs SET applied_at = $1`, begin)
	live := insert(begin, 250)
	pgtest.Exec(t, s.DB, `
		UPDATE rule_changes SET owner_id = $1, rule_id = $2 WHERE owner_id = $3`, p.ID, id, live)
	// Of deleted rules, before, at the same time as and after those of the live one.
	for _, after := range []time.Duration{-time.Hour, 0, 0, 0, time.Hour} {
		insert(begin.Add(after), 150)
	}
	require.NoError(t, Expire(t.Context(), s.DB, begin))
	owners, err := pg.Values[uuid.UUID](t.Context(), s.DB, `SELECT owner_id FROM rule_changes`)
	require.NoError(t, err)
	require.Len(t, owners, 250)
	require.Equal(t, []uuid.UUID{p.ID}, slices.Compact(owners))
}

// TestChangesPlans deletes and takes changes of an application that has far more of them than most.
// From the sixth time on, PostgreSQL plans a prepared statement without its arguments.
func TestChangesPlans(t *testing.T) {
	t.Parallel()
	s := setup(t)
	owner, at := uuid.New(), s.Service.Ledger.Now()
	pgtest.Exec(t, s.DB, `
		INSERT INTO rule_changes (owner_id, rule_id, transaction_id, applied_at, tagged)
		SELECT $1::uuid, $1::uuid, gen_random_uuid(), $2::timestamptz, false
		FROM generate_series(1, 20000)
		UNION ALL
		SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), $2, false
		FROM generate_series(1, 3000)`, owner, at)
	pgtest.Exec(t, s.DB, `ANALYZE rule_changes`)
	pgtest.Exec(t, s.DB, `
		DO $$ BEGIN
			EXECUTE format('ALTER DATABASE %I SET plan_cache_mode = force_generic_plan',
				current_database());
		END $$`)
	pool, plans := fixture.Explained(t, s.DB)
	for range 3 {
		more, err := deleteChanges(t.Context(), pool, application{owner, owner, at})
		require.NoError(t, err)
		require.True(t, more)
		plans.RequireCheap(t, 2*expiredRows, 10*expiredRows)
		taken, err := takeChanges(t.Context(), pool, jobs.Job{OwnerID: owner, ID: owner}, at, 500)
		require.NoError(t, err)
		require.Len(t, taken, 500)
		plans.RequireCheap(t, 10*500, 100*500)
	}
}

func TestChangeRestore(t *testing.T) {
	t.Parallel()
	transfer := uuid.New()
	was, wrote := "was", "wrote"
	written := written{Payee: &wrote}
	for name, tc := range map[string]struct {
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
			after, changed, complete := change{Payee: &was}.restore(tc.transaction, written)
			require.Equal(t, tc.want, after)
			require.Equal(t, []bool{tc.changed, tc.complete}, []bool{changed, complete})
		})
	}
}
