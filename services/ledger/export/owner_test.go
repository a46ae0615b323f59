package export

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// tablesOf has the files with the rows of each table of an owner, or the reason why the archive of
// an account lacks them.
var tablesOf = map[string]string{
	"wallets": "wallets.jsonl", "wallet_balances": "wallets.jsonl",
	"categories": "categories.jsonl", "tags": "tags.jsonl", "settings": "settings.json",
	"transactions": "transactions.jsonl", "splits": "transactions.jsonl",
	"receipts": "receipts.jsonl", "receipt_images": "receipts/",
	"attachments": "attachments.jsonl", "attachment_chunks": "attachments/",
	"reconciliations": "reconciliations.jsonl", "views": "views.jsonl",
	"rules": "rules.jsonl", "rule_wallets": "rules.jsonl", "rule_jobs": "rules.jsonl",
	"imports": "imports.jsonl", "import_profiles": "import-profiles.jsonl",

	"import_rows":            "committed rows are transactions, and staged ones are of a file",
	"import_accounts":        "an account number is stored as a MAC, which cannot be read",
	"import_creations":       "it is the state of a job",
	"import_reconciliations": "it is the state of a job",
	"rule_changes":           "it is the state of a job",
	"monthly_totals":         "computed from the transactions",
	"monthly_transfers":      "computed from the transactions",
	"merged_categories":      "ids of categories that do not exist any more",
	"budget_references":      "the budgets are those of the budget service",
	"referencing_budgets":    "the budgets are those of the budget service",
	"owners":                 "the number of the last write",
	"tombstones":             "ids of deleted rows",
	"erasures":               "the archive has all rows, or the account is being deleted",
	"unreferenced_objects":   "content of deleted files",
	"idempotency_keys":       "sealed responses, deleted after 24 hours",
}

// TestExportOwnerTables requires that each table with an owner is in the archive, or has a reason.
func TestExportOwnerTables(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	srv.detailed(t, user)
	tables, err := pg.Values[string](t.Context(), srv.DB, `
		SELECT table_name
		FROM information_schema.columns
		WHERE table_schema = current_schema() AND column_name = 'owner_id'`)
	require.NoError(t, err)
	paths := srv.archived(user.Ctx, t, user)
	for _, table := range tables {
		file, named := tablesOf[table]
		require.True(t, named, "the archive of an account lacks the rows of %s", table)
		if strings.HasSuffix(file, ".jsonl") || strings.HasSuffix(file, ".json") {
			require.Contains(t, paths, file)
		}
	}
}

// archived returns the paths of the files of an owner.
func (s *server) archived(ctx context.Context, t *testing.T, of fixture.User) (paths []string) {
	t.Helper()
	stream := &fixture.DownloadStream[ledgerv1.ExportOwnerResponse]{Ctx: ctx}
	require.NoError(t,
		s.ExportOwner(&ledgerv1.ExportOwnerRequest{OwnerId: of.ID.String()}, stream))
	for _, m := range stream.Sent {
		if path := m.GetPiece().GetPath(); path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// TestExportOwner requires one export of a user at a time, and files without rows for a user who
// has none.
func TestExportOwner(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	other := srv.NewUser(t.Context(), t)
	full := srv.archived(user.Ctx, t, user)
	require.Equal(t, full, srv.archived(other.Ctx, t, other), "all users have the same files")
	require.True(t, slices.Contains(full, "transfers.jsonl"))
	err := pgx.BeginFunc(t.Context(), srv.DB, func(tx pgx.Tx) error {
		locked, err := tryLock(t.Context(), tx, user.ID)
		require.True(t, locked)
		require.NoError(t, err)
		stream := &fixture.DownloadStream[ledgerv1.ExportOwnerResponse]{Ctx: user.Ctx}
		req := &ledgerv1.ExportOwnerRequest{OwnerId: user.ID.String()}
		require.ErrorIs(t, srv.ExportOwner(req, stream), errExportRunning)
		require.Empty(t, stream.Sent)
		srv.archived(other.Ctx, t, other)
		return nil
	})
	require.NoError(t, err)
	stream := &fixture.DownloadStream[ledgerv1.ExportOwnerResponse]{Ctx: user.Ctx}
	require.ErrorContains(t, srv.ExportOwner(&ledgerv1.ExportOwnerRequest{OwnerId: "x"}, stream),
		"VALIDATION_ERROR")
}

// TestExportOwnerIdle requires that a slow client may receive until the deadline of the download,
// whatever the idle timeout of the installation.
func TestExportOwnerIdle(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	err := srv.inSnapshot(t.Context(), user.ID, func(tx pgx.Tx) error {
		limit := pgtest.Value[int64](t, tx, `
			SELECT setting::bigint FROM pg_settings
			WHERE name = 'idle_in_transaction_session_timeout'`)
		require.Greater(t, limit, rpc.DownloadTimeout.Milliseconds())
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, "0", pgtest.Value[string](t, srv.DB,
		`SHOW idle_in_transaction_session_timeout`), "it applies to exports only")
}
