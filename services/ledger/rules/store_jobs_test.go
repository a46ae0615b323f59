package rules

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/jobs/jobstest"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

func TestLeaseJob(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, other := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	req := setsCategory("shop", p.Category)
	req.Actions = []*ledgerv1.RuleAction{{Kind: matching.SetNotes, Value: "seen"}}
	apply := func() string {
		r := p.rule(t, req)
		_, err := p.ApplyRule(p.Ctx, &ledgerv1.ApplyRuleRequest{Id: r.GetId()})
		require.NoError(t, err)
		return r.GetId()
	}
	apply()
	for _, table := range []string{"rules", "rule_jobs"} {
		_, err := s.DB.Exec(t.Context(), `
			INSERT INTO `+table+`
			SELECT (jsonb_populate_record(r, jsonb_build_object('owner_id', $1::uuid))).*
			FROM `+table+` r`, other.ID)
		require.NoError(t, err)
	}
	req.Name = "later"
	later := apply()
	_, err := s.DB.Exec(t.Context(), `
		UPDATE rule_jobs
		SET queued_at = queued_at
			+ CASE WHEN rule_id = $2 THEN interval '2 seconds' ELSE interval '1 second' END
		WHERE owner_id = $1 OR rule_id = $2`, other.ID, later)
	require.NoError(t, err)
	end := func(ctx context.Context, q pg.Querier, j jobs.Job) error {
		return endJob(ctx, q, j, done, "")
	}
	jobstest.Leases(t, s.DB, jobTable, end, p.ID, other.ID)
}
