package transactions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/rpc"
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
	p := newPerson(t.Context(), t, setup(t))
	bank, fun := p.MakeWallet(p.Ctx, t, "Bank", "EUR"), p.MakeCategory(p.Ctx, t, "Fun")
	for _, c := range []struct {
		description, amount, currency, date, kind string
		wallet, category                          uuid.UUID
	}{
		{"rent", "700", "EUR", "2026-03-01", posting.Expense, bank, p.Category},
		{"salary", "2000", "EUR", "2026-02-28T23:59:59.999Z", posting.Income, bank, p.Category},
		{"Café 100%", "3.50", "EUR", "2026-03-10", posting.Expense, p.Wallet, fun},
		{"sushi_bar", "1800", "JPY", "2026-03-10T12:00:00Z", posting.Expense, p.Wallet, fun},
		{"refund", "3.50", "EUR", "2026-03-11", posting.Income, p.Wallet, fun},
	} {
		p.Create(t, &createRequest{
			Amount: c.amount, Description: c.description, Date: c.date, Currency: c.currency,
			Type: &c.kind, WalletId: c.wallet.String(), CategoryId: c.category.String(),
		})
	}
	stranger := newPerson(t.Context(), t, p.server)
	stranger.Create(t, stranger.Spends("1"))
	type list = listRequest
	for name, c := range map[string]struct {
		req  *list
		want []string
	}{
		"everything, newest first": {&list{}, []string{"refund", "sushi_bar", "Café 100%", "rent", "salary"}},
		"page by page":             {&list{Limit: new(int32(2))}, []string{"refund", "sushi_bar", "Café 100%", "rent", "salary"}},
		"oldest first":             {&list{Sort: new("date"), Limit: new(int32(2))}, []string{"salary", "rent", "Café 100%", "sushi_bar", "refund"}},
		"least amount first":       {&list{Sort: new("amount"), Limit: new(int32(1))}, []string{"sushi_bar", "rent", "Café 100%", "refund", "salary"}},
		"largest amount first":     {&list{Sort: new("-amount"), Limit: new(int32(2))}, []string{"salary", "refund", "Café 100%", "rent", "sushi_bar"}},
		"one wallet":               {&list{WalletId: []string{bank.String()}}, []string{"rent", "salary"}},
		"several wallets":          {&list{WalletId: []string{bank.String(), strings.ToUpper(p.Wallet.String())}, Limit: new(int32(3))}, []string{"refund", "sushi_bar", "Café 100%", "rent", "salary"}},
		"one category":             {&list{CategoryId: []string{fun.String(), fun.String()}}, []string{"refund", "sushi_bar", "Café 100%"}},
		"wallet and category":      {&list{WalletId: []string{bank.String()}, CategoryId: []string{fun.String()}}, []string{}},
		"expenses":                 {&list{Type: new("expense")}, []string{"sushi_bar", "Café 100%", "rent"}},
		"income":                   {&list{Type: new("income")}, []string{"refund", "salary"}},
		"a currency":               {&list{Currency: new("jpy")}, []string{"sushi_bar"}},
		"a currency without any":   {&list{Currency: new("CHF")}, []string{}},
		"from a day":               {&list{From: new("2026-03-10")}, []string{"refund", "sushi_bar", "Café 100%"}},
		"to a day, all of it":      {&list{To: new("2026-03-10")}, []string{"sushi_bar", "Café 100%", "rent", "salary"}},
		"from and to a moment":     {&list{From: new("2026-02-28T23:59:59.999Z"), To: new("2026-03-10T00:00:00Z")}, []string{"Café 100%", "rent", "salary"}},
		"a moment elsewhere":       {&list{From: new("2026-03-10T13:00:00+01:00")}, []string{"refund", "sushi_bar"}},
		"an amount or more":        {&list{MinAmount: new("3.5")}, []string{"refund", "salary"}},
		"an amount or less":        {&list{MaxAmount: new("-3.50")}, []string{"sushi_bar", "Café 100%", "rent"}},
		"amounts between":          {&list{MinAmount: new("-700"), MaxAmount: new("3.5")}, []string{"refund", "Café 100%", "rent"}},
		"a part in any case":       {&list{Q: new("CAFÉ")}, []string{"Café 100%"}},
		"a percent sign is itself": {&list{Q: new("0%")}, []string{"Café 100%"}},
		"an underscore is itself":  {&list{Q: new("i_b")}, []string{"sushi_bar"}},
		"a backslash is itself":    {&list{Q: new(`\`)}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, p.listed(t, c.req))
		})
	}
}

func TestListTransactionsErrors(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	type list = listRequest
	for name, c := range map[string]struct {
		req    *list
		code   codes.Code
		reason string
		fields []string
	}{
		"a limit of zero":       {&list{Limit: new(int32(0))}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"limit"}},
		"an unknown order":      {&list{Sort: new("description")}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"sort"}},
		"an empty order":        {&list{Sort: new("")}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"sort"}},
		"a malformed wallet":    {&list{WalletId: []string{p.Wallet.String(), "x"}}, codes.InvalidArgument, "WALLET_NOT_FOUND", []string{"walletId"}},
		"an unknown wallet":     {&list{WalletId: []string{p.Wallet.String(), s.NewID().String()}}, codes.NotFound, "WALLET_NOT_FOUND", []string{"walletId"}},
		"another user's wallet": {&list{WalletId: []string{stranger.Wallet.String()}}, codes.NotFound, "WALLET_NOT_FOUND", []string{"walletId"}},
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
				CategoryId: []string{s.NewID().String()}, From: new("x"), Limit: new(int32(0)),
			},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"limit", "walletId", "from", "walletId", "categoryId"},
		},
		"a malformed category":    {&list{CategoryId: []string{""}}, codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS", []string{"categoryId"}},
		"another user's category": {&list{CategoryId: []string{stranger.Category.String()}}, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", []string{"categoryId"}},
		"too many wallets":        {&list{WalletId: slices.Repeat([]string{p.Wallet.String()}, 101)}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"walletId"}},
		"a type that is none":     {&list{Type: new("gift")}, codes.InvalidArgument, "INVALID_TRANSACTION_TYPE", []string{"type"}},
		"a currency that is none": {&list{Currency: new("")}, codes.InvalidArgument, "UNSUPPORTED_CURRENCY", []string{"currency"}},
		"dates that are none":     {&list{From: new("x"), To: new("")}, codes.InvalidArgument, "INVALID_TRANSACTION_DATE", []string{"from", "to"}},
		"dates upside down":       {&list{From: new("2026-03-02"), To: new("2026-03-01")}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"from"}},
		"amounts that are none":   {&list{MinAmount: new("x"), MaxAmount: new("0.00001")}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"minAmount", "maxAmount"}},
		"amounts upside down":     {&list{MinAmount: new("2"), MaxAmount: new("1")}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"minAmount"}},
		"a part that is too long": {&list{Q: new(strings.Repeat("x", 1001))}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"q"}},
		"a cursor that is none":   {&list{Cursor: "eyJpZCI6MX0"}, codes.InvalidArgument, "INVALID_CURSOR", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := s.ListTransactions(p.Ctx, c.req)
			require.Equal(t, c.fields,
				fixture.FieldNames(fixture.RequireReason(t, err, c.code, c.reason)))
		})
	}
}

func TestListTransactionsCursorScope(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	for range 3 {
		p.Create(t, p.Spends("1"))
	}
	resp, err := s.ListTransactions(p.Ctx,
		&listRequest{Limit: new(int32(1)), Type: new(posting.Expense)})
	require.NoError(t, err)
	cursor := resp.GetPagination().GetNextCursor()
	for name, c := range map[string]struct {
		ctx context.Context
		req *listRequest
	}{
		"another filter": {p.Ctx, &listRequest{Cursor: cursor}},
		"another order":  {p.Ctx, &listRequest{Cursor: cursor, Type: new(posting.Expense), Sort: new("date")}},
		"another user":   {stranger.Ctx, &listRequest{Cursor: cursor, Type: new(posting.Expense)}},
		"a changed one":  {p.Ctx, &listRequest{Cursor: strings.ToUpper(cursor), Type: new(posting.Expense)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := s.ListTransactions(c.ctx, c.req)
			fixture.RequireReason(t, err, codes.InvalidArgument, "INVALID_CURSOR")
		})
	}
	// The page size is not part of a cursor's scope.
	_, err = s.ListTransactions(p.Ctx,
		&listRequest{Limit: new(int32(2)), Type: new(posting.Expense), Cursor: cursor})
	require.NoError(t, err)
}

// TestListTransactionsPagesAreComplete compares the pages of random lists with a sorted slice,
// while rows with equal keys abound and new ones arrive at the head.
func TestListTransactionsPagesAreComplete(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		p := newPerson(context.Background(), r, s)
		var all []posting.Transaction
		for i := range rapid.IntRange(0, 25).Draw(r, "transactions") {
			hours := rapid.IntRange(0, 3).Draw(r, "hours")
			all = append(all, posting.Transaction{
				WalletID: p.Wallet, CategoryID: &p.Category, Currency: "EUR",
				Description: fmt.Sprint(i),
				AmountMinor: rapid.SampledFrom([]int64{-200, -100, 100}).Draw(r, "amount"),
				Date:        fixture.Today.Add(time.Duration(hours) * time.Hour),
			})
		}
		p.Record(p.Ctx, r, all...)
		sort := rapid.SampledFrom([]string{"-date", "date", "-amount", "amount"}).Draw(r, "sort")
		slices.SortFunc(all, func(a, b posting.Transaction) int {
			order := cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.ID.String(), b.ID.String()))
			if strings.HasSuffix(sort, "amount") {
				order = cmp.Or(cmp.Compare(a.AmountMinor, b.AmountMinor),
					cmp.Compare(a.ID.String(), b.ID.String()))
			}
			if sort[0] == '-' {
				order = -order
			}
			return order
		})
		want := []string{}
		for _, tr := range all {
			want = append(want, tr.Description)
		}
		req := &listRequest{Sort: &sort, Limit: new(int32(rapid.IntRange(1, 7).Draw(r, "limit")))}
		require.Equal(r, want, p.listed(r, req))
	})
}

func TestListTransactionsMaximumLimit(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	ts := make([]posting.Transaction, 201)
	for i := range ts {
		ts[i] = posting.Transaction{
			WalletID: p.Wallet, CategoryID: &p.Category, Currency: "EUR",
			AmountMinor: 1, Date: fixture.Today,
		}
	}
	p.Record(p.Ctx, t, ts...)
	limits := map[*int32]int{nil: 50, new(int32(200)): 200, new(int32(1_000_000)): 200}
	for asked, want := range limits {
		resp, err := p.ListTransactions(p.Ctx, &listRequest{Limit: asked})
		require.NoError(t, err)
		require.Len(t, resp.GetTransactions(), want)
		require.EqualValues(t, want, resp.GetPagination().GetLimit())
		require.True(t, resp.GetPagination().GetHasMore())
	}
}

// TestListTransactionsSize lists transactions with parts of the maximum length, of which 200 would
// be four times a message's maximum.
func TestListTransactionsSize(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	const count, parts = 60, 50
	ts := make([]posting.Transaction, count)
	for i := range ts {
		ts[i] = posting.Transaction{
			WalletID: p.Wallet, Currency: "EUR", AmountMinor: -parts, Date: fixture.Today,
			SplitCount: parts, Notes: strings.Repeat("💶", 4000),
		}
		for range parts {
			ts[i].Splits = append(ts[i].Splits, posting.Split{
				CategoryID: p.Category, AmountMinor: -1, Description: strings.Repeat("💶", 1000),
			})
		}
	}
	s.Record(p.Ctx, t, ts...)
	req, seen := &listRequest{Limit: new(int32(200))}, map[string]bool{}
	for {
		resp, err := p.ListTransactions(p.Ctx, req)
		require.NoError(t, err)
		require.Less(t, proto.Size(resp), rpc.MaxMessage*9/10)
		require.EqualValues(t, 200, resp.GetPagination().GetLimit())
		for _, m := range resp.GetTransactions() {
			require.False(t, seen[m.GetId()])
			require.Len(t, m.GetSplits(), parts)
			seen[m.GetId()] = true
		}
		if !resp.GetPagination().GetHasMore() {
			break
		}
		req.Cursor = resp.GetPagination().GetNextCursor()
	}
	require.Len(t, seen, count)
}
