package rules

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

// spends creates an expense at a payee.
func (p person) spends(t *testing.T, payee, amount string) *ledgerv1.Transaction {
	t.Helper()
	req := p.Spends(amount)
	req.Payee = payee
	return p.Create(t, req)
}

func TestApplyRule(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	fun := srv.MakeCategory(me.Ctx, t, "Fun")
	first, second := me.spends(t, "Cinema Rex", "9.50"), me.spends(t, "CINEMA  REX", "12")
	other := me.spends(t, "Bakery", "3")
	req := setsCategory("cinema rex", fun)
	req.Actions = append(req.Actions,
		&ledgerv1.RuleAction{Kind: matching.AddTag, Value: "Film"},
		&ledgerv1.RuleAction{Kind: matching.SetPayee, Value: "Rex"})
	rule := me.rule(t, req)
	get := func(m *ledgerv1.Transaction) *ledgerv1.Transaction {
		resp, err := me.GetTransaction(me.Ctx, &ledgerv1.GetTransactionRequest{Id: m.GetId()})
		require.NoError(t, err)
		return resp.GetTransaction()
	}

	seen, err := me.ApplyRule(me.Ctx, &ledgerv1.ApplyRuleRequest{Id: rule.GetId(), DryRun: true})
	require.NoError(t, err)
	require.EqualValues(t, 2, seen.GetMatched())
	require.EqualValues(t, 2, seen.GetChanged())
	require.Equal(t, second.GetId(), seen.GetExamples()[0].GetBefore().GetId())
	require.Equal(t, "Rex", seen.GetExamples()[0].GetAfter().GetPayee())
	require.Equal(t, first.GetCategoryId(), get(first).GetCategoryId())

	started, err := me.ApplyRule(me.Ctx, &ledgerv1.ApplyRuleRequest{Id: rule.GetId()})
	require.NoError(t, err)
	require.Equal(t, "queued", started.GetRule().GetProgress().GetStatus())
	require.EqualValues(t, 3, started.GetRule().GetProgress().GetTotal())
	_, err = me.ApplyRule(me.Ctx, &ledgerv1.ApplyRuleRequest{Id: rule.GetId()})
	require.ErrorIs(t, err, errRunning)
	_, err = me.UpdateRule(me.Ctx, &ledgerv1.UpdateRuleRequest{Id: rule.GetId(), Stop: new(true)})
	require.ErrorIs(t, err, errRunning)
	srv.Jobs.RunQueued(t.Context())

	for _, before := range []*ledgerv1.Transaction{first, second} {
		after := get(before)
		require.Equal(t, fun.String(), after.GetCategoryId())
		require.Equal(t, "Rex", after.GetPayee())
		require.Equal(t, []string{"Film"}, after.GetTags())
		kept := func(m *ledgerv1.Transaction) []string {
			return []string{m.GetAmount(), m.GetDate(), m.GetWalletId(), m.GetCurrency()}
		}
		require.Equal(t, kept(before), kept(after))
	}
	require.Equal(t, other.GetUpdatedAt(), get(other).GetUpdatedAt())
	got, err := me.GetRule(me.Ctx, &ledgerv1.GetRuleRequest{Id: rule.GetId()})
	require.NoError(t, err)
	require.Equal(t, "done", got.GetRule().GetProgress().GetStatus())
	require.EqualValues(t, 3, got.GetRule().GetProgress().GetDone())
	require.EqualValues(t, 2, got.GetRule().GetAppliedCount())
	require.NotEmpty(t, got.GetRule().GetLastAppliedAt())
	require.Empty(t, srv.Differences(t)[me.ID])
}

func TestApplyRuleWindow(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me, other := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	bank := s.MakeWallet(me.Ctx, t, "Bank", "EUR")
	old, there := me.Spends("1"), me.Spends("2")
	old.Payee, old.Date, there.Payee, there.WalletId = "Shop", "2025-01-31", "Shop", bank.String()
	me.Create(t, old)
	me.Create(t, there)
	me.spends(t, "Shop", "3")
	req := setsCategory("shop", me.Category)
	req.Actions = []*ledgerv1.RuleAction{{Kind: matching.SetNotes, Value: "seen"}}
	rule := me.rule(t, req)
	for name, tc := range map[string]struct {
		req     *ledgerv1.ApplyRuleRequest
		matched int32
	}{
		"all":    {&ledgerv1.ApplyRuleRequest{}, 3},
		"to":     {&ledgerv1.ApplyRuleRequest{To: new("2025-01-31")}, 1},
		"from":   {&ledgerv1.ApplyRuleRequest{From: new("2025-02-01")}, 2},
		"wallet": {&ledgerv1.ApplyRuleRequest{WalletId: new(bank.String())}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			tc.req.Id, tc.req.DryRun = rule.GetId(), true
			seen, err := me.ApplyRule(me.Ctx, tc.req)
			require.NoError(t, err)
			require.Equal(t, tc.matched, seen.GetMatched())
		})
	}
	apply := &ledgerv1.ApplyRuleRequest{Id: rule.GetId(), WalletId: new(other.Wallet.String())}
	_, err := me.ApplyRule(me.Ctx, apply)
	require.Equal(t, restv1.Reason_WALLET_NOT_FOUND.String(), apierr.From(err).Reason)
	apply.From, apply.To = new("x"), new("x")
	_, err = me.ApplyRule(me.Ctx, apply)
	invalid := fixture.RequireReason(t, err, codes.InvalidArgument, "INVALID_TRANSACTION_DATE")
	require.Equal(t, []string{"from", "to", "walletId"}, fixture.FieldNames(invalid))
	_, err = other.ApplyRule(other.Ctx, &ledgerv1.ApplyRuleRequest{Id: rule.GetId()})
	require.ErrorIs(t, err, errNotFound)
}

// TestApplyRuleLostLease deletes a rule, and takes the lease of a job, before the replica that
// leased it continues.
func TestApplyRuleLostLease(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	me.spends(t, "Shop", "3")
	for name, lose := range map[string]string{
		"another replica": `UPDATE rule_jobs SET lease = gen_random_uuid() WHERE rule_id = $1`,
		"a deletion":      `DELETE FROM rules WHERE id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			rule := me.rule(t, setsCategory("shop", srv.MakeCategory(me.Ctx, t, name)))
			_, err := me.ApplyRule(me.Ctx, &ledgerv1.ApplyRuleRequest{Id: rule.GetId()})
			require.NoError(t, err)
			j, err := jobTable.Lease(t.Context(), srv.DB, time.Minute)
			require.NoError(t, err)
			pgtest.Exec(t, srv.DB, lose, rule.GetId())
			_, err = srv.runChunk(me.Ctx, j, jobs.NewPace(time.Now))
			require.ErrorIs(t, err, jobs.ErrLostLease)
			require.ErrorIs(t, srv.end(me.Ctx, j, done, ""), jobs.ErrLostLease)
		})
	}
}

// TestApplyRuleWaitsForSpace fills the disk for longer than the eight attempts of a job take.
func TestApplyRuleWaitsForSpace(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	fun := srv.MakeCategory(me.Ctx, t, "Fun")
	me.spends(t, "Cinema Rex", "9.50")
	rule := me.rule(t, setsCategory("cinema rex", fun))
	_, err := me.ApplyRule(me.Ctx, &ledgerv1.ApplyRuleRequest{Id: rule.GetId()})
	require.NoError(t, err)
	pgtest.Exec(t, srv.DB, `
		CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN RAISE 'no space left' USING ERRCODE = 'disk_full'; END $$;
		CREATE TRIGGER reject BEFORE UPDATE ON transactions FOR EACH ROW EXECUTE FUNCTION reject()`)
	status := func() string {
		srv.Jobs.RunQueued(t.Context())
		pgtest.Exec(t, srv.DB, `
			UPDATE rule_jobs
			SET leased_until = now() - interval '1 second'`)
		resp, err := me.GetRule(me.Ctx, &ledgerv1.GetRuleRequest{Id: rule.GetId()})
		require.NoError(t, err)
		return resp.GetRule().GetProgress().GetStatus()
	}
	for range 20 {
		require.Equal(t, "queued", status())
	}
	pgtest.Exec(t, srv.DB, `DROP TRIGGER reject ON transactions`)
	require.Equal(t, "done", status())
	srv.RequireConsistent(t)
}

// TestApplyRuleRepeated repeats an application after its job has ended and its wallet was deleted.
func TestApplyRuleRepeated(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	bank := srv.MakeWallet(me.Ctx, t, "Bank", "EUR")
	r := me.rule(t, setsCategory("cinema rex", me.Category))
	id, key := r.GetId(), srv.NewID().String()
	req := &ledgerv1.ApplyRuleRequest{Id: id, WalletId: new(bank.String()), IdempotencyKey: key}
	first, err := me.ApplyRule(me.Ctx, req)
	require.NoError(t, err)
	again, err := me.ApplyRule(me.Ctx, req)
	require.NoError(t, err, "RULE_RUNNING without a key")
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(first.GetRule(), again.GetRule()))
	_, err = me.DeleteWallet(me.Ctx, &ledgerv1.DeleteWalletRequest{Id: bank.String()})
	require.NoError(t, err)
	again, err = me.ApplyRule(me.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	_, err = me.ApplyRule(me.Ctx, &ledgerv1.ApplyRuleRequest{Id: id, IdempotencyKey: key})
	require.ErrorIs(t, err, apierr.IdempotencyKeyUsed)

	order := &ledgerv1.OrderRulesRequest{Ids: []string{id}, IdempotencyKey: srv.NewID().String()}
	_, err = me.OrderRules(me.Ctx, order)
	require.NoError(t, err)
	me.rule(t, setsCategory("shop", me.Category))
	repeated, err := me.OrderRules(me.Ctx, order)
	require.NoError(t, err, "the order names not all rules any more")
	require.True(t, repeated.GetReplayed())
	require.Len(t, repeated.GetRules(), 1)
}

// TestGetRuleWait waits for a job that does not run. A request with a deadline gets a response
// before it.
func TestGetRuleWait(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	id := p.rule(t, setsCategory("cinema", p.Category)).GetId()
	_, err := p.ApplyRule(p.Ctx, &ledgerv1.ApplyRuleRequest{Id: id})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(p.Ctx, 1200*time.Millisecond)
	defer cancel()
	resp, err := p.GetRule(ctx, &ledgerv1.GetRuleRequest{Id: id, Wait: new(int32(8))})
	require.NoError(t, err)
	require.Equal(t, "queued", resp.GetRule().GetProgress().GetStatus())
}
