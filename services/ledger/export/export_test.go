package export

import (
	"bytes"
	"cmp"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

func TestExportTransactionsAsCSV(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	srv.detailed(t, user)
	d := srv.export(user.Ctx, t, &wanted{Format: "csv", Bom: new(true)})
	require.Equal(t, "coffer-2026-03-15.csv", d.header.GetFileName())
	require.Equal(t, "text/csv; charset=utf-8", d.header.GetMediaType())
	require.True(t, bytes.HasPrefix(d.file.Bytes(), []byte("\ufeffid,date,")))

	rows := srv.table(user.Ctx, t, &wanted{})
	require.Len(t, rows, 5)
	split := rows[0][13]
	require.Equal(t, []string{
		split + ".1", "2026-03-13T10:00:00.000Z", "expense", "-11.00", "EUR", "Cash", "Food", "",
		"Food", "", "", "", "", split,
	}, rows[0])
	require.Equal(t, []string{
		split + ".2", "2026-03-13T10:00:00.000Z", "expense", "1.00", "EUR", "Cash",
		"Fun: and, games", "", "Market", "", "", "", "", split,
	}, rows[1])
	require.Equal(t, []string{
		rows[2][0], "2026-03-14T00:00:00.000Z", "expense", "-12.34", "EUR", "Cash", "Food",
		`'-Corner "Shop"`, "'@SUM(A1)", "one\ntwo; three", "Trip,Été 2026", "", "bank:1", "",
	}, rows[2])
	require.Equal(t, []string{"transfer", "-3.33", "EUR", "Cash"}, rows[3][2:6])
	require.Equal(t, []string{"transfer", "1000", "JPY", "'=Bank"}, rows[4][2:6])
	require.Equal(t, rows[3][11], rows[4][11])
}

// TestExportTransactionsRoundTrip reads an export as an import does.
func TestExportTransactionsRoundTrip(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	srv.detailed(t, user)
	same := srv.MakeWallet(user.Ctx, t, "Cash", "USD")
	other := user.Spends("5")
	other.WalletId = same.String()
	other.Currency = "USD"
	other.Type = new(posting.Income)
	other.Date = "2026-03-16"
	user.Create(t, other)
	list, err := srv.ListTransactions(user.Ctx,
		&ledgerv1.ListTransactionsRequest{Sort: new("date")})
	require.NoError(t, err)

	file, err := formats.Open(&srv.export(user.Ctx, t, &wanted{Format: "json"}).file,
		statement.Options{})
	require.NoError(t, err)
	require.Equal(t, statement.Coffer, file.Format())
	var records []statement.Record
	for r, err := range file.Records() {
		require.NoError(t, err)
		require.Empty(t, r.Problem)
		records = append(records, r)
	}
	require.Len(t, records, len(list.GetTransactions()))
	wallets := map[string]bool{}
	for i, want := range list.GetTransactions() {
		got := records[i]
		wallets[got.Account] = true
		require.Equal(t, cmp.Or(want.GetExternalId(), "coffer:"+want.GetId()), got.ExternalID)
		require.Equal(t, want.GetCurrency(), got.Currency)
		require.Equal(t, want.GetAmount(), got.Amount)
		require.Equal(t, []string{want.GetPayee(), want.GetDescription(), want.GetNotes()},
			[]string{got.Payee, got.Description, got.Notes})
		require.Equal(t, want.GetTags(), got.Tags)
		require.Len(t, got.Splits, len(want.GetSplits()))
		require.Equal(t, want.GetTransferId() != "", got.Transfer != nil)
		if got.Transfer == nil && len(got.Splits) == 0 {
			require.Equal(t, "Food", got.Category)
		}
	}
	require.Len(t, wallets, 3, "two wallets with the same name remain two accounts")
}

func TestExportTransactionsFilters(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	srv.detailed(t, user)
	stranger := srv.NewUser(t.Context(), t)
	stranger.Create(t, stranger.Spends("99"))
	count := func(req *wanted) int { return len(srv.table(user.Ctx, t, req)) }
	require.Equal(t, 5, count(&wanted{}))
	require.Equal(t, 4, count(&wanted{WalletId: []string{user.Wallet.String()}}))
	require.Equal(t, 3, count(&wanted{CategoryId: []string{user.Category.String()}}))
	require.Equal(t, 1, count(&wanted{Tag: []string{"unknown", "éTÉ 2026"}}))
	require.Equal(t, 3, count(&wanted{From: new("2026-03-14")}))
	require.Equal(t, 3, count(&wanted{To: new("2026-03-14")}))

	for name, tc := range map[string]struct {
		req  *wanted
		want *apierr.Error
	}{
		"no format":         {&wanted{}, errUnsupportedFormat},
		"an unknown format": {&wanted{Format: "xlsx"}, errUnsupportedFormat},
		"a malformed wallet": {
			&wanted{Format: "csv", WalletId: []string{"x"}}, request.ErrInvalidWalletID,
		},
		"another user's wallet": {
			&wanted{Format: "csv", WalletId: []string{stranger.Wallet.String()}},
			request.ErrWalletNotFound,
		},
		"another user's category": {
			&wanted{Format: "csv", CategoryId: []string{stranger.Category.String()}},
			request.ErrCategoryNotFound,
		},
		"an invalid date": {&wanted{Format: "csv", From: new("yesterday")}, request.ErrInvalidDate},
		"a window that ends before": {
			&wanted{Format: "csv", From: new("2026-03-14"), To: new("2026-03-13")},
			&apierr.Error{Code: codes.InvalidArgument, Reason: "VALIDATION_ERROR"},
		},
		"a malformed import": {
			&wanted{Format: "csv", ImportId: new("x")}, request.ErrInvalidImportID,
		},
		"a malformed receipt": {
			&wanted{Format: "csv", ReceiptId: new("x")}, request.ErrInvalidReceiptID,
		},
		"a blank external id": {
			&wanted{Format: "csv", ExternalId: new(" ")},
			&apierr.Error{Code: codes.InvalidArgument, Reason: "VALIDATION_ERROR"},
		},
		"an invalid tag": {
			&wanted{Format: "csv", Tag: []string{"a,b"}},
			&apierr.Error{Code: codes.InvalidArgument, Reason: "VALIDATION_ERROR"},
		},
	} {
		d := &download{ctx: user.Ctx}
		require.ErrorIs(t, srv.ExportTransactions(tc.req, d), tc.want, name)
		require.Nil(t, d.header, name)
	}
	err := srv.ExportTransactions(&wanted{
		WalletId: []string{stranger.Wallet.String()}, From: new("x"),
	}, &download{ctx: user.Ctx})
	problem := fixture.RequireReason(t, err, codes.InvalidArgument, "UNSUPPORTED_EXPORT_FORMAT")
	require.Equal(t, []string{"format", "from", "walletId"}, fixture.FieldNames(problem))
}

// TestExportTransactionsOpeningBalances requires that journals book an opening balance on its day,
// and omit one that counts only after the end of the export.
func TestExportTransactionsOpeningBalances(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	user.Create(t, user.Spends("5"))
	for name, date := range map[string]string{
		"Bank": "2026-03-10", "Vault": "2026-03-20", "Safe": "",
	} {
		_, err := srv.CreateWallet(user.Ctx, &ledgerv1.CreateWalletRequest{
			Name: name, Currency: "EUR", Balance: new("7"), OpeningDate: &date,
		})
		require.NoError(t, err)
	}
	for format, entry := range map[string]string{
		"hledger":   "%s * Opening balance\n    assets:%s",
		"beancount": "%s * \"Opening balance\"\n  Assets:%s",
	} {
		whole := srv.export(user.Ctx, t, &wanted{Format: format}).file.String()
		require.Contains(t, whole, fmt.Sprintf(entry, "2026-03-10", "Bank"))
		require.Contains(t, whole, fmt.Sprintf(entry, "2026-03-20", "Vault"))
		require.Contains(t, whole, fmt.Sprintf(entry, "2026-03-15", "Safe"))
		early := srv.export(user.Ctx, t,
			&wanted{Format: format, To: new("2026-03-19")}).file.String()
		require.Contains(t, early, fmt.Sprintf(entry, "2026-03-10", "Bank"))
		require.NotContains(t, early, "2026-03-20 *")
		require.Contains(t, early, fmt.Sprintf(entry, "2026-03-15", "Safe"))
	}
}
