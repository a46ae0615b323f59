package ledger

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/attachments"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/settings"
	"github.com/coffer-budget/coffer/services/ledger/sync"
	"github.com/coffer-budget/coffer/services/ledger/tags"
)

// TestUserWithTheIDsOfAnother runs the same requests on two databases. In one of them a second user
// has a copy of all rows of the first one, with the same ids. A statement that forgets the owner in
// any of its conditions returns or changes rows of that user, so the responses differ or the copy
// changes. Random ids would hide the mistake: a condition on the id alone selects the right row.
func TestUserWithTheIDsOfAnother(t *testing.T) {
	t.Parallel()
	alone := newIsolated(t)
	alone.prepare(t)
	want := alone.use()

	beside := newIsolated(t)
	beside.prepare(t)
	other := uuid.Must(uuid.NewV7())
	beside.copyRows(t, beside.user.ID, other)
	beside.mergeDifferently(t, other)
	for table, rows := range beside.rowsOf(t, other) {
		require.NotEmpty(t, rows, "prepare must write the table %s", table)
	}
	beside.trace.forget()
	clear(beside.answered)
	beside.watchRows(t, other)
	got := beside.use()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i])
	}
	require.Equal(t, alone.rowsOf(t, alone.user.ID), beside.rowsOf(t, beside.user.ID))
	beside.eraseUser(t)
	beside.compareRows("the erasure of the user")
	require.Empty(t, beside.watch.changed, "requests change rows of another user")
	beside.requireAllRPCs(t)
	beside.trace.requireAllStatements(t)
}

// mergeDifferently changes the targets of a user's merges, and adds a merge of an id that the other
// user does not have. So a statement that follows the merges of the wrong user is noticed. The
// user's receipts are of a file that the other user uploads later, and one of them has no
// transactions.
func (s *isolated) mergeDifferently(t *testing.T, user uuid.UUID) {
	t.Helper()
	for _, statement := range []string{
		`UPDATE merged_categories SET category_id = $2 WHERE owner_id = $1`,
		`
			UPDATE budget_references
			SET category_id = $2
			WHERE owner_id = $1 AND category_id <> held_id`,
		`
			INSERT INTO merged_categories (owner_id, id, category_id)
			VALUES ($1, '` + unknown + `', $2)`,
		`
			UPDATE receipts
			SET file_sha256 = sha256('another file')
			WHERE owner_id = $1 AND $2::uuid IS NOT NULL`,
		`
			UPDATE import_rows
			SET pair_n = NULL, duplicate_of = NULL, status = 'ready'
			WHERE owner_id = $1 AND status <> 'booked' AND $2::uuid IS NOT NULL`,
		`
			UPDATE transactions
			SET receipt_id = NULL
			WHERE owner_id = $1 AND receipt_id = '` + s.receipt + `' AND $2::uuid IS NOT NULL`,
	} {
		pgtest.Exec(t, s.db, statement, user, s.user.Category)
	}
}

// unknown is an id that is not in use.
const unknown = "ffffffff-ffff-7fff-bfff-ffffffffffff"

// isolated is a ledger whose ids are a sequence, and one user of it.
type isolated struct {
	server
	env      *fixture.Service
	settings *settings.Server
	changes  *sync.Server
	tags     *tags.Server
	rules    *rules.Rules
	ruleIDs  []string
	db       *pgxpool.Pool
	user     fixture.User
	// The ids of wallets and categories, in the order of their creation.
	wallets, categories []string
	transactions        []*ledgerv1.Transaction
	receipt             string
	files               *attachments.Attachments
	// attached are the ids of attachments of the first transactions.
	attached []string
	// An import in preview, and a committed one.
	preview, committed string
	// staged are imports with a pair of rows, and with a duplicate.
	staged  []string
	imports *imports.Imports
	// The transactions of two receipts.
	bought [2][]*ledgerv1.Transaction
	// A budget with references, and a reservation of it.
	budget, reservation string
	responses           []string
	// answered has the messages of successful responses, and trace the statements since use began.
	answered map[protoreflect.FullName]bool
	trace    *tracer
	watch    watch
}

// statement is a file to import: two rows of an account. The commit creates the category of the
// first one.
const statement = "Account;Date;Payee;Amount;Currency;Category\n" +
	"DE02;2026-02-03;Bakery;-3.50;EUR;Bread\nDE02;2026-02-04;Employer;900.00;EUR;\n"

// useImports changes, commits, undoes and deletes imports.
func (s *isolated) useImports() {
	ctx := s.user.Ctx
	s.record(s.imports.ListImports(ctx, &ledgerv1.ListImportsRequest{}))
	s.record(s.imports.ListImportProfiles(ctx, &ledgerv1.ListImportProfilesRequest{}))
	s.record(s.imports.ListImportRows(ctx, &ledgerv1.ListImportRowsRequest{Id: s.preview}))
	s.record(s.imports.UpdateImportRows(ctx, &ledgerv1.UpdateImportRowsRequest{
		Id: s.preview, Rows: []*ledgerv1.ImportRowChange{{
			N: 3, Action: new("book"), CategoryId: &s.categories[1],
		}},
	}))
	s.record(s.imports.UpdateImport(ctx, &ledgerv1.UpdateImportRequest{
		Id: s.preview,
		Defaults: &ledgerv1.ImportDefaultsChange{
			WalletId: new(s.wallets[0]), ExpenseCategoryId: new(s.categories[1]),
		},
	}))
	s.record(s.imports.CommitImport(ctx, &ledgerv1.CommitImportRequest{Id: s.preview}))
	s.record(s.imports.CancelImport(ctx, &ledgerv1.CancelImportRequest{Id: s.preview}))
	s.record(s.imports.CommitImport(ctx, &ledgerv1.CommitImportRequest{Id: s.preview}))
	s.imports.Jobs.RunQueued(ctx)
	s.record(s.imports.GetImport(ctx, &ledgerv1.GetImportRequest{Id: s.preview}))
	s.record(s.imports.UndoImport(ctx, &ledgerv1.UndoImportRequest{Id: s.committed, Force: true}))
	s.imports.Jobs.RunQueued(ctx)
	s.record(s.imports.ListImportRows(ctx, &ledgerv1.ListImportRowsRequest{Id: s.committed}))
	s.record(s.imports.DeleteImport(ctx, &ledgerv1.DeleteImportRequest{Id: s.committed}))
	profiles, err := s.imports.ListImportProfiles(ctx, &ledgerv1.ListImportProfilesRequest{})
	s.record(profiles, err)
	for _, p := range profiles.GetProfiles() {
		s.record(s.imports.DeleteImportProfile(ctx,
			&ledgerv1.DeleteImportProfileRequest{Id: p.GetId()}))
	}
}

// hold returns a request that records the categories of the budget.
func (s *isolated) hold(version int64, categories ...string) *ledgerv1.SyncReferencesRequest {
	return &ledgerv1.SyncReferencesRequest{Budgets: []*ledgerv1.BudgetReferences{{
		OwnerId: s.user.ID.String(), BudgetId: s.budget, Version: version, CategoryIds: categories,
	}}}
}

// reserve reserves a category for a budget.
func (s *isolated) reserve(t *testing.T, category string) (budget, reservation string) {
	t.Helper()
	budget, reservation = s.env.NewID().String(), s.env.NewID().String()
	_, err := s.CheckReferences(t.Context(), &ledgerv1.CheckReferencesRequest{
		OwnerId: s.user.ID.String(), WalletId: s.wallets[0], CategoryIds: []string{category},
		BudgetId: budget, Reservation: reservation,
	})
	require.NoError(t, err)
	return budget, reservation
}

// cursor matches a page's cursor. It is encrypted with a random nonce, so it differs between runs.
var cursor = regexp.MustCompile(`next_cursor: *"[^"]*"`)

// record appends the response or the error of a request.
func (s *isolated) record(resp proto.Message, err error) {
	text := fmt.Sprint(err)
	if err == nil {
		s.answered[resp.ProtoReflect().Descriptor().FullName()] = true
		// The options are set because the default output varies its spaces at random.
		b, _ := prototext.MarshalOptions{Multiline: true}.Marshal(resp)
		text = regexp.MustCompile(` +`).
			ReplaceAllString(cursor.ReplaceAllString(string(b), ""), " ")
	}
	s.compareRows(fmt.Sprintf("request %d %T", len(s.responses), resp))
	s.responses = append(s.responses, fmt.Sprintf("%d %T %s", len(s.responses), resp, text))
}

// ownedTables returns the names and columns of the tables with a column owner_id. It omits the
// idempotency records: their scopes are ids of owners, too, and their responses are encrypted with
// random nonces.
func (s *isolated) ownedTables(t *testing.T) []ownedTable {
	t.Helper()
	tables, err := pg.All[ownedTable](t.Context(), s.db, `
		SELECT table_name::text AS name,
			array_agg(quote_ident(column_name::text))
				FILTER (WHERE column_name <> 'owner_id') AS columns
		FROM information_schema.columns
		WHERE table_schema = current_schema() AND is_identity = 'NO' AND is_generated = 'NEVER'
			AND table_name NOT IN ('idempotency_keys', 'erasures')
		GROUP BY table_name
		HAVING bool_or(column_name = 'owner_id')
		ORDER BY table_name`)
	require.NoError(t, err)
	return tables
}

type ownedTable struct {
	Name    string
	Columns []string
}

// copyRows inserts a copy of all rows of one user for another one. Only the ids of transactions
// differ (see foreign): an id selects a transaction of any user, because a request for another
// user's transaction is answered with 403.
func (s *isolated) copyRows(t *testing.T, from, to uuid.UUID) {
	t.Helper()
	err := pg.InTx(t.Context(), s.db, func(tx pgx.Tx) error {
		// The tables are copied in any order, so their foreign keys are not checked.
		_, err := tx.Exec(t.Context(), `SET LOCAL session_replication_role = replica`)
		for _, table := range s.ownedTables(t) {
			if err != nil {
				return err
			}
			columns := strings.Join(table.Columns, ", ")
			values := columns
			if table.Name == "transactions" {
				values = regexp.MustCompile(`\bid\b`).
					ReplaceAllString(values, "('ff' || substr(id::text, 3))::uuid")
			}
			_, err = tx.Exec(t.Context(),
				fmt.Sprintf(`
					INSERT INTO %[1]s (owner_id, %[2]s)
					SELECT $2, %[3]s
					FROM %[1]s
					WHERE owner_id = $1`,
					table.Name, columns, values), from, to)
		}
		return err
	})
	require.NoError(t, err)
}

// rowsOf returns all rows of a user by table. It omits the user's id, and the times of deletions,
// because the database sets them.
func (s *isolated) rowsOf(t *testing.T, user uuid.UUID) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range s.ownedTables(t) {
		rows, err := s.db.Query(t.Context(),
			fmt.Sprintf(`
				SELECT (to_jsonb(x) - 'owner_id' - 'deleted_at')::text
				FROM %s x
				WHERE owner_id = $1
				ORDER BY 1`,
				table.Name), user)
		require.NoError(t, err)
		all[table.Name], err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
	}
	return all
}
