package ledger

import (
	"encoding/binary"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/attachments"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/receipts"
	"github.com/coffer-budget/coffer/services/ledger/reconciliations"
	"github.com/coffer-budget/coffer/services/ledger/reports"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/settings"
	"github.com/coffer-budget/coffer/services/ledger/sync"
	"github.com/coffer-budget/coffer/services/ledger/tags"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
	"github.com/coffer-budget/coffer/services/ledger/views"
)

func newIsolated(t *testing.T) *isolated {
	t.Helper()
	db, trace := traced(t, pgtest.New(t, Migrations))
	s := isolatedOn(t, db)
	s.trace = trace
	return s
}

// isolatedOn returns a ledger on a database.
func isolatedOn(t *testing.T, db *pgxpool.Pool) *isolated {
	t.Helper()
	base := fixture.On(db)
	var last uint64
	base.NewID = func() uuid.UUID {
		last++
		id := uuid.UUID{6: 0x70, 8: 0x80}
		binary.BigEndian.PutUint32(id[2:], uint32(last>>8))
		binary.BigEndian.PutUint64(id[8:], 0x8000000000000000|last)
		return id
	}
	base.Ledger.NewID = base.NewID
	isolated := &isolated{
		env: base, settings: &settings.Server{Ledger: base.Ledger},
		changes: &sync.Server{Ledger: base.Ledger, Cursors: base.Cursors},
		tags:    &tags.Server{Ledger: base.Ledger, Reads: base.Reads}, db: db,
	}
	isolated.server = server{
		Accounts: &accounts.Accounts{
			Ledger: base.Ledger, Cursors: base.Cursors, Gates: base.Reads,
		},
		Transactions: transactions.New(base.Ledger, base.Cursors, base.Reads),
		Receipts: &receipts.Receipts{
			Ledger: base.Ledger, Cursors: base.Cursors, Log: slog.New(slog.DiscardHandler),
			OCR: &fixture.OCR{Receipt: fixture.Groceries(), Pictures: [][]byte{[]byte("a page")}},
		},
		Reports: &reports.Reports{Ledger: base.Ledger, Reads: base.Reads},
	}
	isolated.answered = map[protoreflect.FullName]bool{}
	isolated.files = &attachments.Attachments{Ledger: base.Ledger, Quota: 1000}
	base.RPCs = &isolated.server
	isolated.rules = rules.New(base.Ledger, base.Reads, slog.New(slog.DiscardHandler))
	isolated.imports = imports.New(isolated.Accounts, base.Cursors, "a secret of the tests",
		slog.New(slog.DiscardHandler))
	isolated.Run(t.Context())
	return isolated
}

// importFile uploads a file whose account belongs to a wallet, and returns the id of the import.
func (s *isolated) importFile(t *testing.T, file string) string {
	t.Helper()
	ctx := s.user.Ctx
	upload := fixture.NewUpload(ctx, &ledgerv1.CreateImportRequest{}, []byte(file))
	require.NoError(t, s.imports.CreateImport(upload))
	imp := upload.Response.GetImport()
	_, err := s.imports.UpdateImport(ctx, &ledgerv1.UpdateImportRequest{
		Id: imp.GetId(), Accounts: []*ledgerv1.ImportAccount{{
			Key: imp.GetAccounts()[0].GetKey(), WalletId: s.wallets[1],
		}},
		Defaults: &ledgerv1.ImportDefaultsChange{
			ExpenseCategoryId: new(s.categories[0]), IncomeCategoryId: new(s.categories[0]),
		},
	})
	require.NoError(t, err)
	return imp.GetId()
}

// insertDetailed inserts both legs of a transfer, and a transaction with splits.
func (s *isolated) insertDetailed(t *testing.T) {
	t.Helper()
	other, transfer := uuid.MustParse(s.wallets[1]), s.env.NewID()
	row := posting.Transaction{
		OwnerID: s.user.ID, WalletID: s.user.Wallet, Currency: "EUR", Date: fixture.Today,
		CreatedAt: fixture.Today,
	}
	out, in, split := row, row, row
	out.ID, out.AmountMinor, out.TransferID = s.env.NewID(), -700, &transfer
	in.ID, in.AmountMinor, in.TransferID, in.WalletID = s.env.NewID(), 700, &transfer, other
	split.ID, split.AmountMinor = s.env.NewID(), -300
	split.Splits = []posting.Split{
		{CategoryID: s.user.Category, AmountMinor: -400, Description: "food"},
		{CategoryID: uuid.MustParse(s.categories[0]), AmountMinor: 100, Description: "refund"},
	}
	written, err := posting.Insert(t.Context(), s.db, 0, []posting.Transaction{out, in, split},
		outbox.Rows{}, nil)
	require.NoError(t, err)
	require.Len(t, written, 3)
}

// reconciling returns the RPCs of reconciliations.
func (s *isolated) reconciling() *reconciliations.Reconciliations {
	return &reconciliations.Reconciliations{Ledger: s.env.Ledger, Cursors: s.env.Cursors}
}

// prepareReconciliation reconciles an adjustment in another currency, which it locks, and the
// opening balance of the same wallet, which a request changes later.
func (s *isolated) prepareReconciliation(t *testing.T) {
	t.Helper()
	for _, stated := range []struct{ currency, balance string }{{"USD", "5"}, {"EUR", "0"}} {
		_, err := s.reconciling().ReconcileWallet(s.user.Ctx, &ledgerv1.ReconcileWalletRequest{
			WalletId: s.wallets[1], Currency: &stated.currency, Date: "2026-02-01",
			Balance: stated.balance, Adjust: true,
		})
		require.NoError(t, err)
	}
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
	_, err := s.DeleteTransaction(s.user.Ctx,
		&ledgerv1.DeleteTransactionRequest{Id: s.user.Create(t, emptied).GetId()})
	require.NoError(t, err)
	s.insertDetailed(t)
	s.prepareReconciliation(t)
	s.prepareAttachments(t)
	s.prepareRules(t)
	s.committed = s.importFile(t, statement)
	_, err = s.imports.CommitImport(s.user.Ctx, &ledgerv1.CommitImportRequest{Id: s.committed})
	require.NoError(t, err)
	s.imports.Jobs.RunQueued(t.Context())
	s.prepareImports()
	s.preview = s.importFile(t,
		strings.NewReplacer("900.00", "901.00", "Bread", "Rolls").Replace(statement))
	for i, file := range []string{"a file", "a second file"} {
		receipt, err := s.CreateTransactionsFromReceipt(s.user.Ctx,
			&ledgerv1.CreateTransactionsFromReceiptRequest{
				Receipt: []byte(file), WalletId: s.wallets[0], CategoryId: s.categories[0],
				KeepImage: true,
			})
		require.NoError(t, err)
		s.receipt, s.bought[i] = receipt.GetReceipt().GetId(), receipt.GetTransactions()
	}
	_, err = s.DeleteCategory(s.user.Ctx,
		&ledgerv1.DeleteCategoryRequest{Id: s.categories[2], ReassignTo: &s.categories[1]})
	require.NoError(t, err)
	_, err = s.settings.UpdateSettings(s.user.Ctx, &ledgerv1.UpdateSettingsRequest{
		DefaultWalletId: &s.wallets[2], DefaultCategoryId: new(s.user.Category.String()),
	})
	require.NoError(t, err)
	_, err = (&views.Server{Ledger: s.env.Ledger}).CreateView(s.user.Ctx,
		&ledgerv1.CreateViewRequest{Name: "All", Kind: "transactions"})
	require.NoError(t, err)
	s.reserve(t, s.categories[3])
	s.budget, s.reservation = s.reserve(t, s.categories[0])
	_, err = s.SyncReferences(t.Context(), s.hold(1, s.user.Category.String(), s.categories[2]))
	require.NoError(t, err)
}
