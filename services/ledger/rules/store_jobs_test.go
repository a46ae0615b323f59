package rules

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/jobs/jobstest"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

func TestLeaseJob(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, other := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	req := setsCategory("shop", me.Category)
	req.Actions = []*ledgerv1.RuleAction{{Kind: matching.SetNotes, Value: "seen"}}
	apply := func() string {
		r := me.rule(t, req)
		_, err := me.ApplyRule(me.Ctx, &ledgerv1.ApplyRuleRequest{Id: r.GetId()})
		require.NoError(t, err)
		return r.GetId()
	}
	apply()
	for _, table := range []string{"rules", "rule_jobs"} {
		pgtest.Exec(t, srv.DB, `
			INSERT INTO `+table+`
			SELECT (jsonb_populate_record(r, jsonb_build_object('owner_id', $1::uuid))).*
			FROM `+table+` r`, other.ID)
	}
	req.Name = "later"
	later := apply()
	pgtest.Exec(t, srv.DB, `
		UPDATE rule_jobs
		SET queued_at = queued_at
			+ CASE WHEN rule_id = $2 THEN interval '2 seconds' ELSE interval '1 second' END
		WHERE owner_id = $1 OR rule_id = $2`, other.ID, later)
	end := func(ctx context.Context, q pg.Querier, j jobs.Job) error {
		return endJob(ctx, q, j, done, "")
	}
	jobstest.Leases(t, srv.DB, jobTable, end, me.ID, other.ID)
}
