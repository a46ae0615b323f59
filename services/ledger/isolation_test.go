package ledger

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/attachments"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/receipts"
	"github.com/coffer-budget/coffer/services/ledger/reports"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/settings"
	"github.com/coffer-budget/coffer/services/ledger/sync"
	"github.com/coffer-budget/coffer/services/ledger/tags"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
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
	require.Empty(t, beside.watch.changed, "requests change rows of another user")
	beside.requireAllRPCs(t)
	beside.trace.requireAllStatements(t)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i])
	}
	require.Equal(t, alone.rowsOf(t, alone.user.ID), beside.rowsOf(t, beside.user.ID))
}

// mergeDifferently changes the targets of a user's merges, and adds a merge of an id that the other
// user does not have. So a statement that follows the merges of the wrong user is noticed. The
// user's receipts are of a file that the other user uploads later, and one of them has no
// transactions.
func (s *isolated) mergeDifferently(t *testing.T, user uuid.UUID) {
	t.Helper()
	for _, statement := range []string{
		`UPDATE merged_categories SET category_id = $2 WHERE owner_id = $1`,
		`UPDATE budget_references SET category_id = $2 WHERE owner_id = $1 AND category_id <> held_id`,
		`INSERT INTO merged_categories (owner_id, id, category_id) VALUES ($1, '` + unknown + `', $2)`,
		`UPDATE receipts SET file_sha256 = sha256('another file') WHERE owner_id = $1 AND $2::uuid IS NOT NULL`,
		`UPDATE import_rows SET pair_n = NULL, duplicate_of = NULL, status = 'ready' WHERE owner_id = $1 AND status <> 'booked' AND $2::uuid IS NOT NULL`,
		`UPDATE transactions SET receipt_id = NULL WHERE owner_id = $1 AND receipt_id = '` + s.receipt + `' AND $2::uuid IS NOT NULL`,
	} {
		_, err := s.db.Exec(t.Context(), statement, user, s.user.Category)
		require.NoError(t, err)
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

func newIsolated(t *testing.T) *isolated {
	t.Helper()
	db, trace := traced(t, pgtest.New(t, Migrations))
	f := fixture.On(db)
	var last uint64
	f.NewID = func() uuid.UUID {
		last++
		id := uuid.UUID{6: 0x70, 8: 0x80}
		binary.BigEndian.PutUint32(id[2:], uint32(last>>8))
		binary.BigEndian.PutUint64(id[8:], 0x8000000000000000|last)
		return id
	}
	f.Ledger.NewID = f.NewID
	s := &isolated{env: f, settings: &settings.Server{Ledger: f.Ledger}, changes: &sync.Server{Ledger: f.Ledger, Cursors: f.Cursors}, tags: &tags.Server{Ledger: f.Ledger, Reads: f.Reads}, db: db, server: server{
		Accounts:     &accounts.Accounts{Ledger: f.Ledger, Cursors: f.Cursors},
		Transactions: transactions.New(f.Ledger, f.Cursors, f.Reads),
		Receipts: &receipts.Receipts{
			Ledger: f.Ledger, Cursors: f.Cursors, Log: slog.New(slog.DiscardHandler), OCR: &fixture.OCR{Receipt: fixture.Groceries(), Pictures: [][]byte{[]byte("a page")}},
		},
		Reports: &reports.Reports{Ledger: f.Ledger, Reads: f.Reads},
	}}
	s.answered, s.trace = map[protoreflect.FullName]bool{}, trace
	s.files = &attachments.Attachments{Ledger: f.Ledger, Quota: 1000}
	f.RPCs = &s.server
	s.rules = rules.New(f.Ledger, f.Reads, slog.New(slog.DiscardHandler))
	s.imports = imports.New(s.Accounts, f.Cursors, "a secret of the tests", slog.New(slog.DiscardHandler))
	s.Run(t.Context())
	return s
}

// statement is a file to import: two rows of an account. The commit creates the category of the
// first one.
const statement = "Account;Date;Payee;Amount;Currency;Category\nDE02;2026-02-03;Bakery;-3.50;EUR;Bread\nDE02;2026-02-04;Employer;900.00;EUR;\n"

// importFile uploads a file whose account belongs to a wallet, and returns the id of the import.
func (s *isolated) importFile(t *testing.T, file string) string {
	t.Helper()
	ctx := s.user.Ctx
	upload := fixture.NewUpload(ctx, &ledgerv1.CreateImportRequest{}, []byte(file))
	require.NoError(t, s.imports.CreateImport(upload))
	m := upload.Response.GetImport()
	_, err := s.imports.UpdateImport(ctx, &ledgerv1.UpdateImportRequest{
		Id: m.GetId(), Accounts: []*ledgerv1.ImportAccount{{Key: m.GetAccounts()[0].GetKey(), WalletId: s.wallets[1]}},
		Defaults: &ledgerv1.ImportDefaults{ExpenseCategoryId: s.categories[0], IncomeCategoryId: s.categories[0]},
	})
	require.NoError(t, err)
	return m.GetId()
}

// useImports changes, commits, undoes and deletes imports.
func (s *isolated) useImports() {
	ctx := s.user.Ctx
	s.record(s.imports.ListImports(ctx, &ledgerv1.ListImportsRequest{}))
	s.record(s.imports.ListImportProfiles(ctx, &ledgerv1.ListImportProfilesRequest{}))
	s.record(s.imports.ListImportRows(ctx, &ledgerv1.ListImportRowsRequest{Id: s.preview}))
	s.record(s.imports.UpdateImportRows(ctx, &ledgerv1.UpdateImportRowsRequest{
		Id: s.preview, Rows: []*ledgerv1.ImportRowChange{{N: 3, Action: new("book"), CategoryId: &s.categories[1]}},
	}))
	s.record(s.imports.UpdateImport(ctx, &ledgerv1.UpdateImportRequest{Id: s.preview, Defaults: &ledgerv1.ImportDefaults{WalletId: s.wallets[0], ExpenseCategoryId: s.categories[1]}}))
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
		s.record(s.imports.DeleteImportProfile(ctx, &ledgerv1.DeleteImportProfileRequest{Id: p.GetId()}))
	}
}

// insertDetailed inserts both legs of a transfer, and a transaction with splits.
func (s *isolated) insertDetailed(t *testing.T) {
	t.Helper()
	other, transfer := uuid.MustParse(s.wallets[1]), s.env.NewID()
	row := posting.Transaction{OwnerID: s.user.ID, WalletID: s.user.Wallet, Currency: "EUR", Date: fixture.Today, CreatedAt: fixture.Today}
	out, in, split := row, row, row
	out.ID, out.AmountMinor, out.TransferID = s.env.NewID(), -700, &transfer
	in.ID, in.AmountMinor, in.TransferID, in.WalletID = s.env.NewID(), 700, &transfer, other
	split.ID, split.AmountMinor = s.env.NewID(), -300
	split.Splits = []posting.Split{
		{CategoryID: s.user.Category, AmountMinor: -400, Description: "food"},
		{CategoryID: uuid.MustParse(s.categories[0]), AmountMinor: 100, Description: "refund"},
	}
	written, err := posting.Insert(t.Context(), s.db, 0, []posting.Transaction{out, in, split}, outbox.Rows{}, nil)
	require.NoError(t, err)
	require.Len(t, written, 3)
}

// prepare creates rows in all tables: two wallets of the user, categories of which one was merged,
// transactions in two currencies, a transfer, a split transaction, a receipt with an image, and a
// budget's references.
func (s *isolated) prepare(t *testing.T) {
	t.Helper()
	s.user = s.env.NewUser(t.Context(), t)
	s.wallets = []string{s.user.Wallet.String()}
	for _, name := range []string{"Bank", "Empty"} {
		s.wallets = append(s.wallets, s.env.MakeWallet(s.user.Ctx, t, name, "EUR").String())
	}
	for _, name := range []string{"Rent", "Fun", "Old", "Spare"} {
		s.categories = append(s.categories, s.env.MakeCategory(s.user.Ctx, t, name).String())
	}
	for _, amount := range []string{"1.10", "2.20", "4.40", "8.80"} {
		s.transactions = append(s.transactions, s.user.Create(t, s.user.Spends(amount)))
	}
	foreign := s.user.Spends("500")
	foreign.Currency, foreign.CategoryId = "JPY", s.categories[2]
	foreign.Tags, foreign.Payee, foreign.ExternalId = []string{"Trip", "Gift"}, "Kiosk", "bank:1"
	s.transactions = append(s.transactions, s.user.Create(t, foreign))
	emptied := s.user.Spends("3")
	emptied.WalletId = s.wallets[2]
	_, err := s.DeleteTransaction(s.user.Ctx, &ledgerv1.DeleteTransactionRequest{Id: s.user.Create(t, emptied).GetId()})
	require.NoError(t, err)
	s.insertDetailed(t)
	s.prepareAttachments(t)
	s.prepareRules(t)
	s.committed = s.importFile(t, statement)
	_, err = s.imports.CommitImport(s.user.Ctx, &ledgerv1.CommitImportRequest{Id: s.committed})
	require.NoError(t, err)
	s.imports.Jobs.RunQueued(t.Context())
	s.prepareImports()
	s.preview = s.importFile(t, strings.NewReplacer("900.00", "901.00", "Bread", "Rolls").Replace(statement))
	for i, file := range []string{"a file", "a second file"} {
		receipt, err := s.CreateTransactionsFromReceipt(s.user.Ctx, &ledgerv1.CreateTransactionsFromReceiptRequest{
			Receipt: []byte(file), WalletId: s.wallets[0], CategoryId: s.categories[0], KeepImage: true,
		})
		require.NoError(t, err)
		s.receipt, s.bought[i] = receipt.GetReceipt().GetId(), receipt.GetTransactions()
	}
	_, err = s.DeleteCategory(s.user.Ctx, &ledgerv1.DeleteCategoryRequest{Id: s.categories[2], ReassignTo: &s.categories[1]})
	require.NoError(t, err)
	_, err = s.settings.UpdateSettings(s.user.Ctx, &ledgerv1.UpdateSettingsRequest{
		DefaultWalletId: &s.wallets[2], DefaultCategoryId: new(s.user.Category.String()),
	})
	require.NoError(t, err)
	s.reserve(t, s.categories[3])
	s.budget, s.reservation = s.reserve(t, s.categories[0])
	_, err = s.SyncReferences(t.Context(), s.hold(1, s.user.Category.String(), s.categories[2]))
	require.NoError(t, err)
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
		OwnerId: s.user.ID.String(), WalletId: s.wallets[0], CategoryIds: []string{category}, BudgetId: budget, Reservation: reservation,
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
		text = regexp.MustCompile(` +`).ReplaceAllString(cursor.ReplaceAllString(string(b), ""), " ")
	}
	s.compareRows(fmt.Sprintf("request %d %T", len(s.responses), resp))
	s.responses = append(s.responses, fmt.Sprintf("%d %T %s", len(s.responses), resp, text))
}

// use calls every RPC for the user, and returns what it responds.
func (s *isolated) use() []string {
	ctx, wallets, categories, ts := s.user.Ctx, s.wallets, s.categories, s.transactions
	food := s.user.Category.String()
	s.read(ctx, wallets, food)
	s.useMore(ctx)
	s.useAttachments(ctx)
	s.useImports()
	s.useRules(ctx)

	s.record(s.settings.UpdateSettings(ctx, &ledgerv1.UpdateSettingsRequest{WeekStart: new("sunday")}))
	s.record(s.tags.UpdateTag(ctx, &ledgerv1.UpdateTagRequest{Tag: "trip", Name: new("Rome"), Color: new("#112233")}))
	s.record(s.tags.UpdateTag(ctx, &ledgerv1.UpdateTagRequest{Tag: "new", Name: new("ROME"), Merge: new(true)}))
	s.record(s.tags.DeleteTag(ctx, &ledgerv1.DeleteTagRequest{Tag: "gift"}))
	s.record(s.UpdateTransaction(ctx, &ledgerv1.UpdateTransactionRequest{Id: ts[0].GetId(), Amount: new("3.30"), WalletId: &wallets[1]}))
	s.record(s.UpdateTransaction(ctx, &ledgerv1.UpdateTransactionRequest{Id: ts[0].GetId(), CategoryId: &categories[1]}))
	s.record(s.DeleteTransaction(ctx, &ledgerv1.DeleteTransactionRequest{Id: ts[1].GetId()}))
	tagged := s.user.Spends("5.00")
	tagged.Tags, tagged.ExternalId = []string{"TRIP", "New"}, "bank:1"
	s.record(s.CreateTransaction(ctx, tagged))
	tagged.ExternalId = "bank:2"
	s.record(s.CreateTransaction(ctx, tagged))
	s.record(s.UpdateTransaction(ctx, &ledgerv1.UpdateTransactionRequest{
		Id: ts[3].GetId(), Payee: new("Bakery"), Tags: &ledgerv1.Tags{Values: []string{"gift"}}, Splits: &ledgerv1.Splits{Values: []*ledgerv1.Split{
			{CategoryId: categories[0], Amount: "8.00"}, {CategoryId: food, Amount: "0.80"},
		}},
	}))
	s.record(s.CreateTransactions(ctx, fixture.Bulk(s.user.Spends("7.00"), s.user.Spends("9.00"))))
	s.record(s.CreateTransactionsFromReceipt(ctx, &ledgerv1.CreateTransactionsFromReceiptRequest{
		Receipt: []byte("another file"), WalletId: wallets[1], CategoryId: categories[0],
	}))
	s.record(s.ListReceipts(ctx, &ledgerv1.ListReceiptsRequest{Limit: new(int32(1))}))
	scanned, err := s.CreateTransactionsFromReceipt(ctx, &ledgerv1.CreateTransactionsFromReceiptRequest{
		Receipt: []byte("a deleted file"), WalletId: wallets[1], CategoryId: categories[0],
	})
	s.record(scanned, err)
	s.record(s.DeleteReceipt(ctx, &ledgerv1.DeleteReceiptRequest{Id: scanned.GetReceipt().GetId()}))
	// The last transaction of a receipt deletes the receipt.
	for _, bought := range s.bought {
		for _, transaction := range bought {
			s.record(s.DeleteTransaction(ctx, &ledgerv1.DeleteTransactionRequest{Id: transaction.GetId()}))
			s.record(s.GetReceipt(ctx, &ledgerv1.GetReceiptRequest{Id: transaction.GetReceiptId()}))
		}
	}
	s.read(ctx, wallets, food)

	s.record(s.SyncReferences(ctx, s.hold(2, categories[2], categories[1], food)))
	settled := s.hold(3, categories[2], food)
	settled.Budgets[0].SettledReservations = []string{s.reservation}
	s.record(s.SyncReferences(ctx, settled))
	s.record(s.DeleteCategory(ctx, &ledgerv1.DeleteCategoryRequest{Id: food}))
	s.record(s.DeleteCategory(ctx, &ledgerv1.DeleteCategoryRequest{Id: food, ReassignTo: &categories[1]}))
	s.record(s.SyncReferences(ctx, s.hold(4, categories[1])))
	s.record(s.SyncReferences(ctx, s.hold(5, food, unknown)))
	s.record(s.SyncReferences(ctx, s.hold(6)))
	s.record(s.DeleteCategory(ctx, &ledgerv1.DeleteCategoryRequest{Id: categories[3]}))
	s.env.Ledger.Now = func() time.Time { return fixture.Today.AddDate(0, 0, 2) }
	s.record(s.DeleteCategory(ctx, &ledgerv1.DeleteCategoryRequest{Id: categories[3]}))
	s.record(s.UpdateCategory(ctx, &ledgerv1.UpdateCategoryRequest{Id: categories[1], Name: new("Play")}))
	s.record(s.UpdateCategory(ctx, &ledgerv1.UpdateCategoryRequest{Id: categories[1], Name: new("Rent")}))
	s.record(s.UpdateWallet(ctx, &ledgerv1.UpdateWalletRequest{Id: wallets[0], Name: new("Purse"), Archived: new(true), Position: new("3")}))
	s.record(s.DeleteWallet(ctx, &ledgerv1.DeleteWalletRequest{Id: wallets[0]}))
	s.record(s.DeleteWallet(ctx, &ledgerv1.DeleteWalletRequest{Id: wallets[2]}))
	s.record(s.DeleteTransaction(ctx, &ledgerv1.DeleteTransactionRequest{Id: ts[2].GetId()}))
	s.read(ctx, wallets, categories[1])
	return s.responses
}

// read calls every RPC that changes nothing.
func (s *isolated) read(ctx context.Context, wallets []string, category string) {
	for _, id := range wallets {
		s.record(s.GetWallet(ctx, &ledgerv1.GetWalletRequest{Id: id}))
	}
	s.record(s.ListWallets(ctx, &ledgerv1.ListWalletsRequest{}))
	s.record(s.ListWallets(ctx, &ledgerv1.ListWalletsRequest{Archived: new(false), Limit: new(int32(1))}))
	s.record(s.GetCategory(ctx, &ledgerv1.GetCategoryRequest{Id: category}))
	s.record(s.ListCategories(ctx, &ledgerv1.ListCategoriesRequest{}))
	for _, t := range s.transactions {
		s.record(s.GetTransaction(ctx, &ledgerv1.GetTransactionRequest{Id: t.GetId()}))
	}
	for _, req := range []*ledgerv1.ListTransactionsRequest{
		{},
		{Limit: new(int32(2))},
		{WalletId: wallets[:1]},
		{CategoryId: []string{category}},
		{WalletId: wallets, CategoryId: []string{category}},
		{Type: new("expense"), From: new("2026-03-01")},
		{Q: new("Milk")},
		{Tag: []string{"TRIP", "gift"}},
		{Untagged: new(true)},
		{Payee: new("bakery")},
		{Sort: new("-amount"), Limit: new(int32(3))},
	} {
		s.record(s.ListTransactions(ctx, req))
		req.Include = []string{"totals"}
		s.record(s.ListTransactions(ctx, req))
	}
	s.record(s.changes.ListChanges(ctx, &ledgerv1.ListChangesRequest{}))
	s.record(s.changes.ListChanges(ctx, &ledgerv1.ListChangesRequest{Limit: new(int32(3))}))
	s.record(s.settings.GetSettings(ctx, &ledgerv1.GetSettingsRequest{}))
	s.record(s.tags.ListTags(ctx, &ledgerv1.ListTagsRequest{}))
	s.record(s.ListPayees(ctx, &ledgerv1.ListPayeesRequest{}))
	s.record(s.GetReceipt(ctx, &ledgerv1.GetReceiptRequest{Id: s.receipt}))
	s.record(s.GetReceiptImage(ctx, &ledgerv1.GetReceiptImageRequest{Id: s.receipt, Page: 1}))
	for _, req := range []*ledgerv1.GetSummaryRequest{
		{},
		{Currency: new("EUR")},
		{From: new("2026-02-10"), To: new("2026-03-14")},
		{From: new("2026-02-10"), To: new("2026-03-14"), Include: []string{"daily"}},
		// The transactions are in the part before the whole months, or in the part after them.
		{From: new("2026-03-10"), To: new("2026-04-05")},
		{From: new("2026-01-20"), To: new("2026-03-20")},
		// The transfer is in a month after the window.
		{From: new("2026-01-20"), To: new("2026-02-20")},
	} {
		s.record(s.GetSummary(ctx, req))
	}
	s.record(s.SumSpending(ctx, &ledgerv1.SumSpendingRequest{Windows: []*ledgerv1.SpendingWindow{
		{OwnerId: s.user.ID.String(), WalletId: wallets[0], CategoryIds: []string{category}, From: "2026-03-01", To: "2026-03-31"},
		{OwnerId: s.user.ID.String(), WalletId: wallets[0], CategoryIds: []string{category}, From: "2026-02-20", To: "2026-03-14"},
		// The transactions are in the part before the whole months, or in the part after them.
		{OwnerId: s.user.ID.String(), WalletId: wallets[0], CategoryIds: []string{category}, From: "2026-03-10", To: "2026-04-05"},
		{OwnerId: s.user.ID.String(), WalletId: wallets[0], CategoryIds: []string{category}, From: "2026-01-20", To: "2026-03-20"},
	}}))
}

// ownedTables returns the names and columns of the tables with a column owner_id.
func (s *isolated) ownedTables(t *testing.T) []ownedTable {
	t.Helper()
	tables, err := pg.All[ownedTable](t.Context(), s.db, `
		SELECT table_name::text AS name, array_agg(quote_ident(column_name::text)) FILTER (WHERE column_name <> 'owner_id') AS columns
		FROM information_schema.columns
		WHERE table_schema = current_schema() AND is_identity = 'NO' AND is_generated = 'NEVER'
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
				values = regexp.MustCompile(`\bid\b`).ReplaceAllString(values, "('ff' || substr(id::text, 3))::uuid")
			}
			_, err = tx.Exec(t.Context(), fmt.Sprintf(`INSERT INTO %[1]s (owner_id, %[2]s) SELECT $2, %[3]s FROM %[1]s WHERE owner_id = $1`,
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
		rows, err := s.db.Query(t.Context(), fmt.Sprintf(`SELECT (to_jsonb(x) - 'owner_id' - 'deleted_at')::text FROM %s x WHERE owner_id = $1 ORDER BY 1`, table.Name), user)
		require.NoError(t, err)
		all[table.Name], err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
	}
	return all
}
