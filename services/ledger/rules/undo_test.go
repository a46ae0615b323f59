package rules

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
	"github.com/coffer-budget/coffer/services/ledger/tags"
)

// sets returns the request for a rule that sets a category, a tag and all texts of a payee.
func sets(payee string, category uuid.UUID) *ledgerv1.CreateRuleRequest {
	req := setsCategory(payee, category)
	req.Actions = append(req.Actions,
		&ledgerv1.RuleAction{Kind: matching.AddTag, Value: "Film"},
		&ledgerv1.RuleAction{Kind: matching.SetPayee, Value: "Rex"},
		&ledgerv1.RuleAction{Kind: matching.SetDescription, Value: "Evening"},
		&ledgerv1.RuleAction{Kind: matching.SetNotes, Value: "seen"})
	return req
}

// apply applies a rule and runs the job.
func (p person) apply(t *testing.T, id string) {
	t.Helper()
	_, err := p.ApplyRule(p.Ctx, &ledgerv1.ApplyRuleRequest{Id: id})
	require.NoError(t, err)
	p.Jobs.RunQueued(t.Context())
}

// undo undoes the application of a rule, and returns the rule.
func (p person) undo(t *testing.T, id string) *ledgerv1.Rule {
	t.Helper()
	started, err := p.UndoRule(p.Ctx, &ledgerv1.UndoRuleRequest{Id: id})
	require.NoError(t, err)
	require.Equal(t, "undoing", started.GetRule().GetProgress().GetStatus())
	require.Empty(t, started.GetRule().GetApplication().GetUndoableUntil())
	p.Jobs.RunQueued(t.Context())
	got, err := p.GetRule(p.Ctx, &ledgerv1.GetRuleRequest{Id: id})
	require.NoError(t, err)
	require.Equal(t, "undone", got.GetRule().GetProgress().GetStatus())
	require.Empty(t, p.Differences(t)[p.ID])
	return got.GetRule()
}

// get returns a transaction without its version.
func (p person) get(t *testing.T, id string) *ledgerv1.Transaction {
	t.Helper()
	resp, err := p.GetTransaction(p.Ctx, &ledgerv1.GetTransactionRequest{Id: id})
	require.NoError(t, err)
	resp.GetTransaction().UpdatedAt = ""
	return resp.GetTransaction()
}

func (p person) edit(t *testing.T, id string, change *ledgerv1.UpdateTransactionRequest) {
	t.Helper()
	change.Id = id
	_, err := p.UpdateTransaction(p.Ctx, change)
	require.NoError(t, err)
}

func TestUndoRule(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t.Context(), t, s)
	fun := s.MakeCategory(me.Ctx, t, "Fun")
	req := me.Spends("9.50")
	req.Payee, req.Description, req.Notes, req.Tags = "Cinema", "Two seats", "late", []string{"Out"}
	var ids []string
	var before []*ledgerv1.Transaction
	for range 5 {
		ids = append(ids, me.Create(t, req).GetId())
		before = append(before, me.get(t, ids[len(ids)-1]))
	}
	other := me.spends(t, "Bakery", "3")
	id := me.rule(t, sets("cinema", fun)).GetId()
	_, err := me.UndoRule(me.Ctx, &ledgerv1.UndoRuleRequest{Id: id})
	require.ErrorIs(t, err, errNotUndoable)
	me.apply(t, id)
	require.Equal(t, []string{"Out", "Film"}, me.get(t, ids[0]).GetTags())

	// 0 is as the rule wrote it, 1 and 2 were edited in fields that it did and did not write.
	// 3 has its former category again, and 4 was deleted.
	me.edit(t, ids[1], &ledgerv1.UpdateTransactionRequest{Notes: new("mine")})
	type edit = ledgerv1.UpdateTransactionRequest
	me.edit(t, ids[2], &edit{Amount: new("8"), Date: new("2026-01-01")})
	me.edit(t, ids[3], &edit{CategoryId: new(me.Category.String())})
	_, err = me.DeleteTransaction(me.Ctx, &ledgerv1.DeleteTransactionRequest{Id: ids[4]})
	require.NoError(t, err)
	undone := me.undo(t, id)

	before[1].Notes = "mine"
	before[2].Amount, before[2].Date = "-8.00", "2026-01-01T00:00:00.000Z"
	for i, id := range ids[:4] {
		got := me.get(t, id)
		require.True(t, proto.Equal(before[i], got), "%d: %s\n%s", i, before[i], got)
	}
	require.Equal(t, other.GetUpdatedAt(), func() string {
		resp, err := me.GetTransaction(me.Ctx, &ledgerv1.GetTransactionRequest{Id: other.GetId()})
		require.NoError(t, err)
		return resp.GetTransaction().GetUpdatedAt()
	}())
	want := &ledgerv1.RuleApplication{Changed: 5, Restored: 3, Kept: 1}
	require.True(t, proto.Equal(want, undone.GetApplication()), undone.GetApplication())
	_, err = me.UndoRule(me.Ctx, &ledgerv1.UndoRuleRequest{Id: id})
	require.ErrorIs(t, err, errNotUndoable)
	me.apply(t, id)
	require.EqualValues(t, 4, me.undo(t, id).GetApplication().GetRestored(), "applied again")
}

// TestUndoRuleReferences merges, deletes and renames what an application has written or replaced.
func TestUndoRuleReferences(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	named := &tags.Server{Ledger: srv.Service.Ledger, Reads: srv.Reads}
	for name, tc := range map[string]struct {
		change   func(p person, food, fun, other uuid.UUID) error
		category func(food, fun, other uuid.UUID) uuid.UUID
		tags     []string
		restored int64
	}{
		"the former category is merged": {
			change: func(p person, food, _, other uuid.UUID) error {
				_, err := p.DeleteCategory(p.Ctx, &ledgerv1.DeleteCategoryRequest{
					Id: food.String(), ReassignTo: new(other.String()),
				})
				return err
			},
			category: func(_, _, other uuid.UUID) uuid.UUID { return other },
			restored: 1,
		},
		"the former category is deleted": {
			change: func(p person, food, _, _ uuid.UUID) error {
				_, err := p.DeleteCategory(p.Ctx,
					&ledgerv1.DeleteCategoryRequest{Id: food.String()})
				return err
			},
			category: func(_, fun, _ uuid.UUID) uuid.UUID { return fun },
		},
		"the written category is merged": {
			change: func(p person, _, fun, other uuid.UUID) error {
				_, err := p.DeleteCategory(p.Ctx, &ledgerv1.DeleteCategoryRequest{
					Id: fun.String(), ReassignTo: new(other.String()),
				})
				return err
			},
			category: func(food, _, _ uuid.UUID) uuid.UUID { return food },
			restored: 1,
		},
		"the tag is renamed": {
			change: func(p person, _, _, _ uuid.UUID) error {
				_, err := named.UpdateTag(p.Ctx,
					&ledgerv1.UpdateTagRequest{Tag: "film", Name: new("Movie")})
				return err
			},
			category: func(food, _, _ uuid.UUID) uuid.UUID { return food },
			restored: 1,
		},
		"the tag is merged": {
			change: func(p person, _, _, _ uuid.UUID) error {
				_, err := named.UpdateTag(p.Ctx, &ledgerv1.UpdateTagRequest{
					Tag: "film", Name: new("Out"), Merge: new(true),
				})
				return err
			},
			category: func(food, _, _ uuid.UUID) uuid.UUID { return food },
		},
		"a tag of the transaction is merged into the tag": {
			change: func(p person, _, _, _ uuid.UUID) error {
				_, err := named.UpdateTag(p.Ctx, &ledgerv1.UpdateTagRequest{
					Tag: "out", Name: new("Film"), Merge: new(true),
				})
				return err
			},
			category: func(food, _, _ uuid.UUID) uuid.UUID { return food },
			tags:     []string{"Film"},
		},
		"the tag is deleted and added by hand": {
			change: func(me person, _, _, _ uuid.UUID) error {
				_, err := named.DeleteTag(me.Ctx, &ledgerv1.DeleteTagRequest{Tag: "film"})
				if err != nil {
					return err
				}
				all, err := me.ListTransactions(me.Ctx, &ledgerv1.ListTransactionsRequest{})
				if err != nil {
					return err
				}
				_, err = me.UpdateTransaction(me.Ctx, &ledgerv1.UpdateTransactionRequest{
					Id:   all.GetTransactions()[0].GetId(),
					Tags: &ledgerv1.Tags{Values: []string{"Out", "Film"}},
				})
				return err
			},
			category: func(food, _, _ uuid.UUID) uuid.UUID { return food },
			tags:     []string{"Out", "Film"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			me := newPerson(t.Context(), t, srv)
			food, fun := srv.MakeCategory(me.Ctx, t, "Meals"), srv.MakeCategory(me.Ctx, t, "Fun")
			other := srv.MakeCategory(me.Ctx, t, "Other")
			req := me.Spends("9.50")
			req.Payee, req.CategoryId, req.Tags = "Cinema", food.String(), []string{"Out"}
			id := me.Create(t, req).GetId()
			rule := me.rule(t, sets("cinema", fun)).GetId()
			me.apply(t, rule)
			require.NoError(t, tc.change(me, food, fun, other))
			application := me.undo(t, rule).GetApplication()
			require.Equal(t, tc.restored, application.GetRestored())
			require.Equal(t, 1-tc.restored, application.GetKept())
			got := me.get(t, id)
			require.Equal(t, tc.category(food, fun, other).String(), got.GetCategoryId())
			require.Equal(t, "Cinema", got.GetPayee())
			if tc.tags == nil {
				tc.tags = []string{"Out"}
			}
			require.Equal(t, tc.tags, got.GetTags())
		})
	}
}

// TestUndoRuleKilled kills replicas that apply a rule and undo that, after a chunk of each. No
// transaction is changed or restored twice, and each has one event per change.
func TestUndoRuleKilled(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	fun := srv.MakeCategory(me.Ctx, t, "Fun")
	const count = 150
	for range 3 {
		batch := &ledgerv1.CreateTransactionsRequest{}
		for i := range count / 3 {
			req := me.Spends(strconv.Itoa(i + 1))
			req.Payee = "Cinema"
			batch.Transactions = append(batch.Transactions, req)
		}
		_, err := me.CreateTransactions(me.Ctx, batch)
		require.NoError(t, err)
	}
	id := me.rule(t, sets("cinema", fun)).GetId()
	// kill runs one chunk of a job on a replica, whose lease ends then.
	kill := func(chunk func(j jobs.Job) error) {
		j, err := jobTable.Lease(t.Context(), srv.DB, time.Minute)
		require.NoError(t, err)
		require.NoError(t, chunk(j))
		pgtest.Exec(t, srv.DB, `UPDATE rule_jobs SET leased_until = now() - interval '1 s'`)
		srv.Jobs.RunQueued(t.Context())
		require.ErrorIs(t, chunk(j), jobs.ErrLostLease)
	}
	run := func(j jobs.Job) error {
		_, err := srv.chunks(j)(me.Ctx, jobs.NewPace(time.Now))
		return err
	}
	_, err := me.ApplyRule(me.Ctx, &ledgerv1.ApplyRuleRequest{Id: id})
	require.NoError(t, err)
	kill(run)
	req := &ledgerv1.UndoRuleRequest{Id: id, IdempotencyKey: "key"}
	_, err = me.UndoRule(me.Ctx, req)
	require.NoError(t, err)
	for _, call := range []func() error{
		func() error {
			_, err := me.UndoRule(me.Ctx, &ledgerv1.UndoRuleRequest{Id: id})
			return err
		},
		func() error {
			_, err := me.ApplyRule(me.Ctx, &ledgerv1.ApplyRuleRequest{Id: id})
			return err
		},
	} {
		require.ErrorIs(t, call(), errRunning)
	}
	kill(run)

	repeated, err := me.UndoRule(me.Ctx, req)
	require.NoError(t, err)
	require.True(t, repeated.GetReplayed())
	type row struct{ Rows, Changed, Versions, Events int64 }
	got, err := pg.One[row](t.Context(), srv.DB, `
		SELECT count(*) AS rows, count(*) FILTER (WHERE payee <> 'Cinema' OR category_id = $2
			OR tags <> '{}') AS changed, sum(version) AS versions,
			(SELECT count(*) FROM outbox WHERE subject = 'ledger.v1.transaction.updated') AS events
		FROM transactions
		WHERE owner_id = $1`, me.ID, fun)
	require.NoError(t, err)
	require.Equal(t, row{Rows: count, Versions: 3 * count, Events: 2 * count}, got)
	rule, err := me.GetRule(me.Ctx, &ledgerv1.GetRuleRequest{Id: id})
	require.NoError(t, err)
	want := &ledgerv1.RuleApplication{Changed: count, Restored: count}
	require.True(t, proto.Equal(want, rule.GetRule().GetApplication()))
	require.EqualValues(t, count, rule.GetRule().GetProgress().GetDone())
	srv.RequireConsistent(t)
}
