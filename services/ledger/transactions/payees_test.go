package transactions

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestListPayees(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	fun := me.MakeCategory(me.Ctx, t, "Fun").String()
	for _, c := range []struct{ payee, date, category string }{
		{"Bakery", "2026-03-01", me.Category.String()},
		{"BÄCKEREI 100%", "2026-03-02", me.Category.String()},
		{"Bäckerei 100%", "2026-03-03", fun},
		{"Cinema", "2026-03-04", fun},
		{"", "2026-03-05", fun},
	} {
		req := me.Spends("1")
		req.Payee, req.Date, req.CategoryId = c.payee, c.date, c.category
		me.Create(t, req)
	}
	theirs := stranger.Spends("1")
	theirs.Payee = "Theirs"
	stranger.Create(t, theirs)
	names := func(req *payeesRequest) (names []string) {
		resp, err := me.ListPayees(me.Ctx, req)
		require.NoError(t, err)
		for _, m := range resp.GetPayees() {
			names = append(names, m.GetName())
		}
		return names
	}
	require.Equal(t, []string{"Bäckerei 100%", "Cinema", "Bakery"}, names(&payeesRequest{}))
	require.Equal(t, []string{"Bäckerei 100%"}, names(&payeesRequest{Limit: new(int32(1))}))
	require.Equal(t, []string{"Bäckerei 100%"}, names(&payeesRequest{Q: new("bÄCKEREI 100%")}))
	require.Equal(t, []string{"Bakery"}, names(&payeesRequest{Q: new("ba")}))
	require.Empty(t, names(&payeesRequest{Q: new("%")}), "a percent sign is itself")
	require.Empty(t, names(&payeesRequest{Q: new("akery")}))
	resp, err := me.ListPayees(me.Ctx, &payeesRequest{Limit: new(int32(1))})
	require.NoError(t, err)
	want := &ledgerv1.Payee{
		Name: "Bäckerei 100%", TransactionCount: 2,
		LastDate: "2026-03-03T00:00:00.000Z", CategoryId: fun,
	}
	require.True(t, proto.Equal(want, resp.GetPayees()[0]), resp)
	_, err = me.ListPayees(me.Ctx,
		&payeesRequest{Limit: new(int32(0)), Q: new(strings.Repeat("x", 201))})
	e := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	require.Equal(t, []string{"limit", "q"}, fixture.FieldNames(e))
}

// TestListPayeesPlan requires that the payees of a long history cost no more than scannedRows rows.
func TestListPayeesPlan(t *testing.T) {
	t.Parallel()
	s, u := fixture.NewRich(t)
	pool, plans := fixture.Explained(t, s.DB)
	p := person{server: serve(t.Context(), fixture.On(pool)), User: u}
	_, err := p.ListPayees(p.Ctx, &payeesRequest{Q: new("a")})
	require.NoError(t, err)
	plans.RequireCheap(t, scannedRows, 15_000)
}

func TestListCurrencies(t *testing.T) {
	t.Parallel()
	resp, err := setup(t).ListCurrencies(t.Context(), &ledgerv1.ListCurrenciesRequest{})
	require.NoError(t, err)
	list := resp.GetCurrencies()
	require.Len(t, list, len(money.All()))
	require.True(t, slices.IsSortedFunc(list, func(a, b *ledgerv1.Currency) int {
		return strings.Compare(a.GetCode(), b.GetCode())
	}))
	for _, want := range []*ledgerv1.Currency{
		{Code: "BHD", Name: "Bahraini Dinar", Decimals: 3},
		{Code: "EUR", Name: "Euro", Decimals: 2},
		{Code: "JPY", Name: "Japanese Yen"},
	} {
		require.True(t, slices.ContainsFunc(list, func(c *ledgerv1.Currency) bool {
			return proto.Equal(want, c)
		}), want)
	}
}
