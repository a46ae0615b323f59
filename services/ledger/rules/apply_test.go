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
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	fun := s.MakeCategory(p.Ctx, t, "Fun")
	first, second := p.spends(t, "Cinema Rex", "9.50"), p.spends(t, "CINEMA  REX", "12")
	other := p.spends(t, "Bakery", "3")
	req := setsCategory("cinema rex", fun)
	req.Actions = append(req.Actions,
		&ledgerv1.RuleAction{Kind: matching.AddTag, Value: "Film"},
		&ledgerv1.RuleAction{Kind: matching.SetPayee, Value: "Rex"})
	r := p.rule(t, req)
	get := func(m *ledgerv1.Transaction) *ledgerv1.Transaction {
		resp, err := p.GetTransaction(p.Ctx, &ledgerv1.GetTransactionRequest{Id: m.GetId()})
		require.NoError(t, err)
		return resp.GetTransaction()
	}

	seen, err := p.ApplyRule(p.Ctx, &ledgerv1.ApplyRuleRequest{Id: r.GetId(), DryRun: true})
	require.NoError(t, err)
	require.EqualValues(t, 2, seen.GetMatched())
	require.EqualValues(t, 2, seen.GetChanged())
	require.Equal(t, second.GetId(), seen.GetExamples()[0].GetBefore().GetId())
	require.Equal(t, "Rex", seen.GetExamples()[0].GetAfter().GetPayee())
	require.Equal(t, first.GetCategoryId(), get(first).GetCategoryId())

	started, err := p.ApplyRule(p.Ctx, &ledgerv1.ApplyRuleRequest{Id: r.GetId()})
	require.NoError(t, err)
	require.Equal(t, "queued", started.GetRule().GetProgress().GetStatus())
	require.EqualValues(t, 3, started.GetRule().GetProgress().GetTotal())
	_, err = p.ApplyRule(p.Ctx, &ledgerv1.ApplyRuleRequest{Id: r.GetId()})
	require.ErrorIs(t, err, errRunning)
	_, err = p.UpdateRule(p.Ctx, &ledgerv1.UpdateRuleRequest{Id: r.GetId(), Stop: new(true)})
	require.ErrorIs(t, err, errRunning)
	s.Jobs.RunQueued(t.Context())

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
	got, err := p.GetRule(p.Ctx, &ledgerv1.GetRuleRequest{Id: r.GetId()})
	require.NoError(t, err)
	require.Equal(t, "done", got.GetRule().GetProgress().GetStatus())
	require.EqualValues(t, 3, got.GetRule().GetProgress().GetDone())
	require.EqualValues(t, 2, got.GetRule().GetAppliedCount())
	require.NotEmpty(t, got.GetRule().GetLastAppliedAt())
	require.Empty(t, s.Differences(t)[p.ID])
}

func TestApplyRuleWindow(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, other := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	bank := s.MakeWallet(p.Ctx, t, "Bank", "EUR")
	old, there := p.Spends("1"), p.Spends("2")
	old.Payee, old.Date, there.Payee, there.WalletId = "Shop", "2025-01-31", "Shop", bank.String()
	p.Create(t, old)
	p.Create(t, there)
	p.spends(t, "Shop", "3")
	req := setsCategory("shop", p.Category)
	req.Actions = []*ledgerv1.RuleAction{{Kind: matching.SetNotes, Value: "seen"}}
	r := p.rule(t, req)
	for name, c := range map[string]struct {
		req     *ledgerv1.ApplyRuleRequest
		matched int32
	}{
		"all":    {&ledgerv1.ApplyRuleRequest{}, 3},
		"to":     {&ledgerv1.ApplyRuleRequest{To: new("2025-01-31")}, 1},
		"from":   {&ledgerv1.ApplyRuleRequest{From: new("2025-02-01")}, 2},
		"wallet": {&ledgerv1.ApplyRuleRequest{WalletId: new(bank.String())}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.req.Id, c.req.DryRun = r.GetId(), true
			seen, err := p.ApplyRule(p.Ctx, c.req)
			require.NoError(t, err)
			require.Equal(t, c.matched, seen.GetMatched())
		})
	}
	apply := &ledgerv1.ApplyRuleRequest{Id: r.GetId(), WalletId: new(other.Wallet.String())}
	_, err := p.ApplyRule(p.Ctx, apply)
	require.Equal(t, restv1.Reason_WALLET_NOT_FOUND.String(), apierr.From(err).Reason)
	apply.From, apply.To = new("x"), new("x")
	_, err = p.ApplyRule(p.Ctx, apply)
	invalid := fixture.RequireReason(t, err, codes.InvalidArgument, "INVALID_TRANSACTION_DATE")
	require.Equal(t, []string{"from", "to", "walletId"}, fixture.FieldNames(invalid))
	_, err = other.ApplyRule(other.Ctx, &ledgerv1.ApplyRuleRequest{Id: r.GetId()})
	require.ErrorIs(t, err, errNotFound)
}

// TestApplyRuleLostLease deletes a rule, and takes the lease of a job, before the replica that
// leased it continues.
func TestApplyRuleLostLease(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	p.spends(t, "Shop", "3")
	for name, lose := range map[string]string{
		"another replica": `UPDATE rule_jobs SET lease = gen_random_uuid() WHERE rule_id = $1`,
		"a deletion":      `DELETE FROM rules WHERE id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			r := p.rule(t, setsCategory("shop", s.MakeCategory(p.Ctx, t, name)))
			_, err := p.ApplyRule(p.Ctx, &ledgerv1.ApplyRuleRequest{Id: r.GetId()})
			require.NoError(t, err)
			j, err := jobTable.Lease(t.Context(), s.DB, time.Minute)
			require.NoError(t, err)
			_, err = s.DB.Exec(t.Context(), lose, r.GetId())
			require.NoError(t, err)
			_, err = s.runChunk(p.Ctx, j, jobs.NewPace(time.Now))
			require.ErrorIs(t, err, jobs.ErrLostLease)
			require.ErrorIs(t, s.end(p.Ctx, j, done, ""), jobs.ErrLostLease)
		})
	}
}

// TestApplyRuleWaitsForSpace fills the disk for longer than the eight attempts of a job take.
func TestApplyRuleWaitsForSpace(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	fun := s.MakeCategory(p.Ctx, t, "Fun")
	p.spends(t, "Cinema Rex", "9.50")
	r := p.rule(t, setsCategory("cinema rex", fun))
	_, err := p.ApplyRule(p.Ctx, &ledgerv1.ApplyRuleRequest{Id: r.GetId()})
	require.NoError(t, err)
	_, err = s.DB.Exec(t.Context(), `
		CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN RAISE 'no space left' USING ERRCODE = 'disk_full'; END $$;
		CREATE TRIGGER reject BEFORE UPDATE ON transactions FOR EACH ROW EXECUTE FUNCTION reject()`)
	require.NoError(t, err)
	status := func() string {
		s.Jobs.RunQueued(t.Context())
		_, err := s.DB.Exec(t.Context(), `
			UPDATE rule_jobs
			SET leased_until = now() - interval '1 second'`)
		require.NoError(t, err)
		resp, err := p.GetRule(p.Ctx, &ledgerv1.GetRuleRequest{Id: r.GetId()})
		require.NoError(t, err)
		return resp.GetRule().GetProgress().GetStatus()
	}
	for range 20 {
		require.Equal(t, "queued", status())
	}
	_, err = s.DB.Exec(t.Context(), `DROP TRIGGER reject ON transactions`)
	require.NoError(t, err)
	require.Equal(t, "done", status())
	s.RequireConsistent(t)
}

// TestApplyRuleRepeated repeats an application after its job has ended and its wallet was deleted.
func TestApplyRuleRepeated(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	bank := s.MakeWallet(p.Ctx, t, "Bank", "EUR")
	r := p.rule(t, setsCategory("cinema rex", p.Category))
	id, key := r.GetId(), s.NewID().String()
	req := &ledgerv1.ApplyRuleRequest{Id: id, WalletId: new(bank.String()), IdempotencyKey: key}
	first, err := p.ApplyRule(p.Ctx, req)
	require.NoError(t, err)
	again, err := p.ApplyRule(p.Ctx, req)
	require.NoError(t, err, "RULE_RUNNING without a key")
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(first.GetRule(), again.GetRule()))
	_, err = p.DeleteWallet(p.Ctx, &ledgerv1.DeleteWalletRequest{Id: bank.String()})
	require.NoError(t, err)
	again, err = p.ApplyRule(p.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	_, err = p.ApplyRule(p.Ctx, &ledgerv1.ApplyRuleRequest{Id: id, IdempotencyKey: key})
	require.ErrorIs(t, err, apierr.IdempotencyKeyUsed)

	order := &ledgerv1.OrderRulesRequest{Ids: []string{id}, IdempotencyKey: s.NewID().String()}
	_, err = p.OrderRules(p.Ctx, order)
	require.NoError(t, err)
	p.rule(t, setsCategory("shop", p.Category))
	repeated, err := p.OrderRules(p.Ctx, order)
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
