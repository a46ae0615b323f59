package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

type wanted = ledgerv1.ExportTransactionsRequest

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*accounts.Accounts
	*transactions.Transactions
	*Exports
}

func setup(t testing.TB) (*server, fixture.User) {
	t.Helper()
	f := fixture.New(t)
	s := &server{
		Service: f, Accounts: &accounts.Accounts{Ledger: f.Ledger, Cursors: f.Cursors},
		Transactions: transactions.New(f.Ledger, f.Cursors, f.Reads), Exports: New(f.Ledger, nil),
	}
	f.RPCs = rpcs{f, s.Accounts, s.Transactions}
	s.Run(t.Context())
	return s, s.NewUser(t.Context(), t)
}

// rpcs are the RPCs that the fixture calls.
type rpcs struct {
	*fixture.Service
	*accounts.Accounts
	*transactions.Transactions
}

// download receives a file.
type download struct {
	grpc.ServerStream
	ctx    context.Context //nolint:containedctx // A stream has a context.
	header *restv1.FileHeader
	file   bytes.Buffer
	// send is called before each piece. It may be nil.
	send func() error
}

// Context implements grpc.ServerStream.
func (d *download) Context() context.Context { return d.ctx }

// Send receives a message.
func (d *download) Send(message *ledgerv1.ExportTransactionsResponse) error {
	if message.GetHeader() != nil {
		d.header = message.GetHeader()
		return nil
	}
	if d.send != nil {
		if err := d.send(); err != nil {
			return err
		}
	}
	d.file.Write(message.GetContent())
	return nil
}

// export returns the file of an export.
func (s *server) export(ctx context.Context, t *testing.T, req *wanted) *download {
	t.Helper()
	d := &download{ctx: ctx}
	require.NoError(t, s.ExportTransactions(req, d))
	return d
}

// table returns the rows of an export as CSV, without the heading.
func (s *server) table(ctx context.Context, t *testing.T, req *wanted) [][]string {
	t.Helper()
	req.Format = "csv"
	rows, err := csv.NewReader(&s.export(ctx, t, req).file).ReadAll()
	require.NoError(t, err)
	require.Equal(t, columns, rows[0])
	return rows[1:]
}

// transfer stores both legs of a transfer.
func (s *server) transfer(t *testing.T, u fixture.User, out, in posting.Transaction) {
	t.Helper()
	id := s.NewID()
	out.TransferID, in.TransferID, out.Date, in.Date = &id, &id, fixture.Today, fixture.Today
	s.Record(u.Ctx, t, out, in)
}

// detailed creates a transaction with all details, one with splits and a transfer between
// currencies.
func (s *server) detailed(t *testing.T, user fixture.User) {
	t.Helper()
	fun, bank := s.MakeCategory(user.Ctx, t, "Fun: and, games"), s.MakeWallet(user.Ctx, t, "=Bank",
		"JPY")
	full := user.Spends("12.34")
	full.Payee, full.Description, full.Notes = "-Corner \"Shop\"", "@SUM(A1)", "one\ntwo; three"
	full.Tags, full.ExternalId = []string{"Trip", "Été 2026"}, "bank:1"
	user.Create(t, full)
	split := user.Spends("10.00")
	split.CategoryId, split.Date, split.Description = "", "2026-03-13T10:00:00Z", "Market"
	split.Splits = []*ledgerv1.Split{
		{CategoryId: user.Category.String(), Amount: "11.00", Description: "Food"},
		{CategoryId: fun.String(), Amount: "-1.00"},
	}
	user.Create(t, split)
	s.transfer(t, user,
		posting.Transaction{
			WalletID: user.Wallet, Currency: "EUR", AmountMinor: -333, Description: "Exchange",
		},
		posting.Transaction{
			WalletID: bank, Currency: "JPY", AmountMinor: 1000, Description: "Exchange",
		})
}
