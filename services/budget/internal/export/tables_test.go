package export

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// tablesOf has the file with the rows of each table, or the reason why the archive of an account
// lacks them.
var tablesOf = map[string]string{
	"budgets": "budgets.jsonl", "budget_limits": "limits.jsonl",
	"members": "memberships.jsonl", "notifications": "notifications.jsonl",
	"goals": "goals.jsonl", "assignments": "assignments.jsonl",
	"goal_members": "goal-memberships.jsonl",
	"webhooks":     "webhooks.jsonl", "webhook_deliveries": "deliveries.jsonl",

	"goal_wallets":     "sums of assignments",
	"alerts":           "an alert is a notification",
	"alert_checks":     "it is the state of a job",
	"reference_syncs":  "it is the state of a job",
	"erasures":         "the archive has all rows, or the account is being deleted",
	"invitation_tries": "times for the limits per day",
	"outbox":           "events about rows of the files",
	"idempotency_keys": "sealed responses, deleted after 24 hours",
}

// TestExportTables requires that each table is in the archive, or has a reason.
func TestExportTables(t *testing.T) {
	t.Parallel()
	tables, err := pg.Values[string](t.Context(), pgtest.New(t, os.DirFS("../..")), `
		SELECT table_name
		FROM information_schema.tables
		WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`)
	require.NoError(t, err)
	got, err := export(t, nothing{}, &auth{}, &ledger{pieces: files(), end: io.EOF})
	require.NoError(t, err)
	rows, _ := contents(t, got)
	for _, table := range tables {
		file, named := tablesOf[table]
		require.True(t, named, "the archive of an account lacks the rows of %s", table)
		if strings.HasSuffix(file, ".jsonl") {
			require.Contains(t, rows, file)
		}
	}
}

func (nothing) ListGoalInvitations(
	context.Context, *budgetv1.ListGoalInvitationsRequest,
) (*budgetv1.ListGoalInvitationsResponse, error) {
	return &budgetv1.ListGoalInvitationsResponse{}, nil
}

func (deleted) ListGoalMembers(
	context.Context, *budgetv1.ListGoalMembersRequest,
) (*budgetv1.ListGoalMembersResponse, error) {
	return nil, errGoalNotFound
}
