package views

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*accounts.Accounts
	*Server
}

func setup(t testing.TB) (*server, fixture.User) {
	t.Helper()
	f := fixture.New(t)
	s := &server{Service: f, Accounts: &accounts.Accounts{
		Ledger: f.Ledger, Cursors: f.Cursors,
	}, Server: &Server{Ledger: f.Ledger}}
	f.RPCs = s
	return s, s.NewUser(t.Context(), t)
}

// listed are the names of a user's views.
func (s *server) listed(t testing.TB, u fixture.User) []string {
	t.Helper()
	resp, err := s.ListViews(u.Ctx, &ledgerv1.ListViewsRequest{})
	require.NoError(t, err)
	names := []string{}
	for _, v := range resp.GetViews() {
		names = append(names, v.GetName())
	}
	return names
}

func TestCreateView(t *testing.T) {
	t.Parallel()
	srv, me := setup(t)
	other := srv.NewUser(t.Context(), t)
	query := "categoryId=" + me.Category.String() + "&sort=-amount&tag=a&tag=b%20c&untagged=false"
	req := &ledgerv1.CreateViewRequest{
		Name: " food ", Kind: "transactions", Query: query, IdempotencyKey: "key",
	}
	created, err := srv.CreateView(me.Ctx, req)
	require.NoError(t, err)
	want := &ledgerv1.View{
		Id: created.GetView().GetId(), Name: "food", Kind: "transactions", Query: query,
		CreatedAt: calendar.FormatTime(fixture.Today),
		UpdatedAt: calendar.FormatTime(fixture.Today),
	}
	require.True(t, proto.Equal(want, created.GetView()), created)
	require.Equal(t, `"1"`, created.GetEtag())
	again, err := srv.CreateView(me.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())

	get := &ledgerv1.GetViewRequest{Id: want.GetId()}
	got, err := srv.GetView(me.Ctx, get)
	require.NoError(t, err)
	require.True(t, proto.Equal(want, got.GetView()), got)
	require.Equal(t, `"1"`, got.GetEtag())
	_, err = srv.GetView(other.Ctx, get)
	require.ErrorIs(t, err, errNotFound)
	_, err = srv.GetView(me.Ctx, &ledgerv1.GetViewRequest{Id: "x"})
	require.ErrorIs(t, err, errInvalidID)

	for _, tc := range []struct{ name, kind, query string }{
		{"Zoo", "report", "interval=year&groupBy=category&top=5"},
		{"Bills", "comparison", "groupBy=payee&orderBy=income&with=year"},
		{"Worth", "balances", "interval=quarter&walletId=" + me.Wallet.String()},
		{"Days", "calendar", "to=2026-02-28&tag=trip"},
	} {
		created, err := srv.CreateView(me.Ctx, &ledgerv1.CreateViewRequest{
			Name: tc.name, Kind: tc.kind, Query: tc.query,
		})
		require.NoError(t, err)
		require.Equal(t, tc.kind, created.GetView().GetKind())
	}
	require.Equal(t, []string{"Bills", "Days", "food", "Worth", "Zoo"}, srv.listed(t, me))
	require.Empty(t, srv.listed(t, other))
}

func TestCreateViewChecksTheQuery(t *testing.T) {
	t.Parallel()
	srv, me := setup(t)
	for _, tc := range []struct{ kind, query, problem string }{
		{"transactions", "color=red", `must not have the parameter "color"`},
		{"transactions", "cursor=x", `must not have the parameter "cursor"`},
		{"transactions", "limit=5", `must not have the parameter "limit"`},
		{"transactions", "include=totals", `must not have the parameter "include"`},
		{"transactions", "groupBy=tag", `must not have the parameter "groupBy"`},
		{"transactions", "walletId=x", "walletId must be a UUID"},
		{"transactions", "sort=payee", "sort must be -date, date, -amount or amount"},
		{"transactions", "sort=date&sort=amount", "sort has a value that is not allowed"},
		{"transactions", "untagged=perhaps", "untagged has a value that is not allowed"},
		{"transactions", "%zz", "must be a query string of at most 2000 characters"},
		{
			"transactions", "q=" + strings.Repeat("x", 1999),
			"must be a query string of at most 2000 characters",
		},
		{"report", "sort=amount", `must not have the parameter "sort"`},
		{"report", "top=51", "top must be between 1 and 50"},
		{"report", "top=x", "top has a value that is not allowed"},
		{"report", "interval=decade", "interval must be day, week, month, quarter or year"},
		{"calendar", "interval=decade", "interval must be day, week, month, quarter or year"},
		{"comparison", "interval=month", `must not have the parameter "interval"`},
		{"comparison", "groupBy=none", "groupBy must be category, wallet, payee or tag"},
		{"comparison", "with=decade", "with must be previous or year"},
		{"comparison", "orderBy=name", "orderBy must be expense, income or net"},
		{"comparison", "top=51", "top must be between 1 and 50"},
		{"balances", "tag=a", `must not have the parameter "tag"`},
		{"balances", "interval=decade", "interval must be day, week, month, quarter or year"},
	} {
		_, err := srv.CreateView(me.Ctx, &ledgerv1.CreateViewRequest{
			Name: "x", Kind: tc.kind, Query: tc.query,
		})
		e := apierr.From(err)
		if assert.NotNil(t, e, tc.query) && assert.NotEmpty(t, e.Fields, tc.query) {
			assert.Equal(t, apierr.Field{Name: "query", Message: tc.problem}, e.Fields[0], tc.query)
		}
	}
	_, err := srv.CreateView(me.Ctx, &ledgerv1.CreateViewRequest{Kind: "chart"})
	require.Equal(t, []string{"name", "kind"}, fixture.FieldNames(*apierr.From(err)))
	require.Empty(t, srv.listed(t, me))
}

// TestCreateViewSetsEachField sets each parameter of lists and reports. Another type of field
// needs code in set.
func TestCreateViewSetsEachField(t *testing.T) {
	t.Parallel()
	for _, req := range []proto.Message{
		&ledgerv1.ListTransactionsRequest{}, &ledgerv1.GetSeriesRequest{},
		&ledgerv1.GetComparisonRequest{}, &ledgerv1.GetBalancesRequest{},
	} {
		m := req.ProtoReflect()
		fields := m.Descriptor().Fields()
		for i := range fields.Len() {
			field := fields.Get(i)
			value, ok := map[protoreflect.Kind]string{
				protoreflect.StringKind: "a", protoreflect.BoolKind: "true",
				protoreflect.Int32Kind: "5",
			}[field.Kind()]
			require.True(t, ok, field.FullName())
			require.False(t, field.IsMap(), field.FullName())
			require.True(t, set(m, field, []string{value}), field.FullName())
			require.True(t, m.Has(field), field.FullName())
		}
	}
}

// TestCreateViewLimit creates the last allowed view at the same time as others.
func TestCreateViewLimit(t *testing.T) {
	t.Parallel()
	srv, me := setup(t)
	create := func() error {
		_, err := srv.CreateView(me.Ctx, &ledgerv1.CreateViewRequest{
			Name: "x", Kind: "transactions",
		})
		return err
	}
	for range maxViews - 1 {
		require.NoError(t, create())
	}
	var created, rejected atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := create(); err == nil {
				created.Add(1)
			} else if assert.ErrorIs(t, err, errLimitReached) {
				rejected.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, created.Load())
	require.EqualValues(t, 7, rejected.Load())
	require.Len(t, srv.listed(t, me), maxViews)
}

func TestUpdateView(t *testing.T) {
	t.Parallel()
	srv, me := setup(t)
	other := srv.NewUser(t.Context(), t)
	created, err := srv.CreateView(me.Ctx, &ledgerv1.CreateViewRequest{
		Name: "Food", Kind: "report", Query: "interval=year",
	})
	require.NoError(t, err)
	id := created.GetView().GetId()
	update := func(
		u fixture.User, req *ledgerv1.UpdateViewRequest,
	) (*ledgerv1.UpdateViewResponse, error) {
		req.Id = id
		return srv.UpdateView(u.Ctx, req)
	}
	renamed, err := update(me, &ledgerv1.UpdateViewRequest{Name: new("Meals"), IfMatch: `"1"`})
	require.NoError(t, err)
	require.Equal(t, "interval=year", renamed.GetView().GetQuery())
	require.Equal(t, `"2"`, renamed.GetEtag())
	changed, err := update(me, &ledgerv1.UpdateViewRequest{Query: new("")})
	require.NoError(t, err)
	require.Equal(t, "Meals", changed.GetView().GetName())
	require.Empty(t, changed.GetView().GetQuery())

	_, err = update(me, &ledgerv1.UpdateViewRequest{Name: new("Old"), IfMatch: `"2"`})
	require.ErrorIs(t, err, apierr.VersionMismatch)
	_, err = update(me, &ledgerv1.UpdateViewRequest{})
	require.ErrorIs(t, err, apierr.EmptyUpdate)
	_, err = update(me, &ledgerv1.UpdateViewRequest{Query: new("sort=amount"), Name: new("")})
	require.Equal(t, []string{"name", "query"}, fixture.FieldNames(*apierr.From(err)),
		"the query is one of a report")
	_, err = update(other, &ledgerv1.UpdateViewRequest{Name: new("Mine")})
	require.ErrorIs(t, err, errNotFound)
	_, err = srv.UpdateView(me.Ctx, &ledgerv1.UpdateViewRequest{Id: "x", Name: new("y")})
	require.ErrorIs(t, err, errInvalidID)
	require.Equal(t, []string{"Meals"}, srv.listed(t, me))
}

func TestDeleteView(t *testing.T) {
	t.Parallel()
	srv, me := setup(t)
	other := srv.NewUser(t.Context(), t)
	ids := make([]string, 2)
	for i := range ids {
		created, err := srv.CreateView(me.Ctx, &ledgerv1.CreateViewRequest{
			Name: fmt.Sprint("View ", i), Kind: "transactions",
		})
		require.NoError(t, err)
		ids[i] = created.GetView().GetId()
	}
	_, err := srv.DeleteView(other.Ctx, &ledgerv1.DeleteViewRequest{Id: ids[0]})
	require.ErrorIs(t, err, errNotFound)
	_, err = srv.DeleteView(me.Ctx, &ledgerv1.DeleteViewRequest{Id: ids[0], IfMatch: `"2"`})
	require.ErrorIs(t, err, apierr.VersionMismatch)
	_, err = srv.DeleteView(me.Ctx, &ledgerv1.DeleteViewRequest{Id: "x"})
	require.ErrorIs(t, err, errInvalidID)
	resp, err := srv.DeleteView(me.Ctx, &ledgerv1.DeleteViewRequest{Id: ids[0], IfMatch: `"1"`})
	require.NoError(t, err)
	require.Equal(t, ids[0], resp.GetId())
	require.Equal(t, []string{"View 1"}, srv.listed(t, me))
	_, err = srv.DeleteView(me.Ctx, &ledgerv1.DeleteViewRequest{Id: ids[0]})
	require.ErrorIs(t, err, errNotFound)
}
