package transactions

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// listed are the descriptions on all pages.
func (p person) listed(t require.TestingT, req *listRequest) []string {
	got := []string{}
	for {
		resp, err := p.ListTransactions(p.Ctx, req)
		require.NoError(t, err)
		for _, tr := range resp.GetTransactions() {
			got = append(got, tr.GetDescription())
		}
		require.Equal(t, resp.GetPagination().GetHasMore(),
			resp.GetPagination().GetNextCursor() != "")
		if !resp.GetPagination().GetHasMore() {
			return got
		}
		require.Len(t, resp.GetTransactions(), int(resp.GetPagination().GetLimit()))
		req.Cursor = resp.GetPagination().GetNextCursor()
	}
}

func TestListTransactionsFiltersAndSorts(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	bank, fun := me.MakeWallet(me.Ctx, t, "Bank", "EUR"), me.MakeCategory(me.Ctx, t, "Fun")
	for _, tc := range []struct {
		description, amount, currency, date, kind string
		wallet, category                          uuid.UUID
	}{
		{"rent", "700", "EUR", "2026-03-01", posting.Expense, bank, me.Category},
		{"salary", "2000", "EUR", "2026-02-28T23:59:59.999Z", posting.Income, bank, me.Category},
		{"Café 100%", "3.50", "EUR", "2026-03-10", posting.Expense, me.Wallet, fun},
		{"sushi_bar", "1800", "JPY", "2026-03-10T12:00:00Z", posting.Expense, me.Wallet, fun},
		{"refund", "3.50", "EUR", "2026-03-11", posting.Income, me.Wallet, fun},
	} {
		me.Create(t, &createRequest{
			Amount: tc.amount, Description: tc.description, Date: tc.date, Currency: tc.currency,
			Type: &tc.kind, WalletId: tc.wallet.String(), CategoryId: tc.category.String(),
		})
	}
	stranger := newPerson(t.Context(), t, me.server)
	stranger.Create(t, stranger.Spends("1"))
	type list = listRequest
	for name, tc := range map[string]struct {
		req  *list
		want []string
	}{
		"everything, newest first": {
			&list{}, []string{"refund", "sushi_bar", "Café 100%", "rent", "salary"},
		},
		"page by page": {
			&list{Limit: new(int32(2))},
			[]string{"refund", "sushi_bar", "Café 100%", "rent", "salary"},
		},
		"oldest first": {
			&list{Sort: new("date"), Limit: new(int32(2))},
			[]string{"salary", "rent", "Café 100%", "sushi_bar", "refund"},
		},
		"least amount first": {
			&list{Sort: new("amount"), Limit: new(int32(1))},
			[]string{"sushi_bar", "rent", "Café 100%", "refund", "salary"},
		},
		"largest amount first": {
			&list{Sort: new("-amount"), Limit: new(int32(2))},
			[]string{"salary", "refund", "Café 100%", "rent", "sushi_bar"},
		},
		"one wallet": {&list{WalletId: []string{bank.String()}}, []string{"rent", "salary"}},
		"several wallets": {
			&list{
				WalletId: []string{bank.String(), strings.ToUpper(me.Wallet.String())},
				Limit:    new(int32(3)),
			},
			[]string{"refund", "sushi_bar", "Café 100%", "rent", "salary"},
		},
		"one category": {
			&list{CategoryId: []string{fun.String(), fun.String()}},
			[]string{"refund", "sushi_bar", "Café 100%"},
		},
		"wallet and category": {
			&list{WalletId: []string{bank.String()}, CategoryId: []string{fun.String()}},
			[]string{},
		},
		"expenses": {
			&list{Type: new("expense")}, []string{"sushi_bar", "Café 100%", "rent"},
		},
		"income":                 {&list{Type: new("income")}, []string{"refund", "salary"}},
		"a currency":             {&list{Currency: new("jpy")}, []string{"sushi_bar"}},
		"a currency without any": {&list{Currency: new("CHF")}, []string{}},
		"from a day": {
			&list{From: new("2026-03-10")}, []string{"refund", "sushi_bar", "Café 100%"},
		},
		"to a day, all of it": {
			&list{To: new("2026-03-10")}, []string{"sushi_bar", "Café 100%", "rent", "salary"},
		},
		"from and to a moment": {
			&list{From: new("2026-02-28T23:59:59.999Z"), To: new("2026-03-10T00:00:00Z")},
			[]string{"Café 100%", "rent", "salary"},
		},
		"a moment elsewhere": {
			&list{From: new("2026-03-10T13:00:00+01:00")}, []string{"refund", "sushi_bar"},
		},
		"an amount or more": {&list{MinAmount: new("3.5")}, []string{"refund", "salary"}},
		"an amount or less": {
			&list{MaxAmount: new("-3.50")}, []string{"sushi_bar", "Café 100%", "rent"},
		},
		"amounts between": {
			&list{MinAmount: new("-700"), MaxAmount: new("3.5")},
			[]string{"refund", "Café 100%", "rent"},
		},
		"a part in any case":       {&list{Q: new("CAFÉ")}, []string{"Café 100%"}},
		"a percent sign is itself": {&list{Q: new("0%")}, []string{"Café 100%"}},
		"an underscore is itself":  {&list{Q: new("i_b")}, []string{"sushi_bar"}},
		"a backslash is itself":    {&list{Q: new(`\`)}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, me.listed(t, tc.req))
		})
	}
}

func TestListTransactionsErrors(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	type list = listRequest
	for name, tc := range map[string]struct {
		req    *list
		code   codes.Code
		reason string
		fields []string
	}{
		"a limit of zero": {
			&list{Limit: new(int32(0))}, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"limit"},
		},
		"an unknown order": {
			&list{Sort: new("description")}, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"sort"},
		},
		"an empty order": {
			&list{Sort: new("")}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"sort"},
		},
		"a malformed wallet": {
			&list{WalletId: []string{me.Wallet.String(), "x"}}, codes.InvalidArgument,
			"WALLET_NOT_FOUND",
			[]string{"walletId"},
		},
		"an unknown wallet": {
			&list{WalletId: []string{me.Wallet.String(), srv.NewID().String()}}, codes.NotFound,
			"WALLET_NOT_FOUND",
			[]string{"walletId"},
		},
		"another user's wallet": {
			&list{WalletId: []string{stranger.Wallet.String()}}, codes.NotFound, "WALLET_NOT_FOUND",
			[]string{"walletId"},
		},
		"unknown wallet and category": {
			&list{
				WalletId:   []string{stranger.Wallet.String()},
				CategoryId: []string{stranger.Category.String()},
			},
			codes.NotFound, "WALLET_NOT_FOUND",
			[]string{"walletId", "categoryId"},
		},
		"an unknown wallet beside other problems": {
			&list{
				WalletId:   []string{"x", stranger.Wallet.String()},
				CategoryId: []string{srv.NewID().String()}, From: new("x"), Limit: new(int32(0)),
			},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"limit", "walletId", "from", "walletId", "categoryId"},
		},
		"a malformed category": {
			&list{CategoryId: []string{""}}, codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"categoryId"},
		},
		"another user's category": {
			&list{CategoryId: []string{stranger.Category.String()}}, codes.NotFound,
			"INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"categoryId"},
		},
		"too many wallets": {
			&list{WalletId: slices.Repeat([]string{me.Wallet.String()}, 101)},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"walletId"},
		},
		"a type that is none": {
			&list{Type: new("gift")}, codes.InvalidArgument, "INVALID_TRANSACTION_TYPE",
			[]string{"type"},
		},
		"a currency that is none": {
			&list{Currency: new("")}, codes.InvalidArgument, "UNSUPPORTED_CURRENCY",
			[]string{"currency"},
		},
		"dates that are none": {
			&list{From: new("x"), To: new("")}, codes.InvalidArgument, "INVALID_TRANSACTION_DATE",
			[]string{"from", "to"},
		},
		"dates upside down": {
			&list{From: new("2026-03-02"), To: new("2026-03-01")}, codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"from"},
		},
		"amounts that are none": {
			&list{MinAmount: new("x"), MaxAmount: new("0.00001")}, codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"minAmount", "maxAmount"},
		},
		"amounts upside down": {
			&list{MinAmount: new("2"), MaxAmount: new("1")}, codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"minAmount"},
		},
		"a part that is too long": {
			&list{Q: new(strings.Repeat("x", 1001))}, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"q"},
		},
		"a cursor that is none": {
			&list{Cursor: "eyJpZCI6MX0"}, codes.InvalidArgument, "INVALID_CURSOR", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := srv.ListTransactions(me.Ctx, tc.req)
			require.Equal(t, tc.fields,
				fixture.FieldNames(fixture.RequireReason(t, err, tc.code, tc.reason)))
		})
	}
}
