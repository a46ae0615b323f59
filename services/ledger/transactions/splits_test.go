package transactions

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// splits returns a request for a split expense of the person.
func (p person) splits(amount string, parts ...*ledgerv1.Split) *createRequest {
	req := p.Spends(amount)
	req.CategoryId, req.Splits = "", parts
	return req
}

func TestCreateTransactionSplits(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	fun := me.MakeCategory(me.Ctx, t, "Fun").String()
	parts := []*ledgerv1.Split{
		{CategoryId: me.Category.String(), Amount: "12.00", Description: "Food"},
		{CategoryId: fun, Amount: "0.50"},
		{CategoryId: fun, Amount: "-2.50", Description: "Deposit"},
	}
	created := me.Create(t, me.splits("10", parts...))
	require.Equal(t, "-10.00", created.GetAmount())
	require.Empty(t, created.GetCategoryId())
	require.Len(t, created.GetSplits(), 3)
	for i := range parts {
		require.True(t, proto.Equal(parts[i], created.GetSplits()[i]), created)
	}
	require.True(t, proto.Equal(created, me.get(t, created.GetId())))
	require.True(t,
		proto.Equal(created, me.LastEvent(t).(*ledgerv1.TransactionCreated).GetTransaction()))
	require.Equal(t, map[string]string{"EUR": "-10.00"}, me.Balances(t, me.Wallet))
	srv.RequireConsistent(t)

	_, err := me.DeleteCategory(me.Ctx, &ledgerv1.DeleteCategoryRequest{Id: fun})
	fixture.RequireReason(t, err, codes.FailedPrecondition, "CATEGORY_IN_USE")
	_, err = me.DeleteTransaction(me.Ctx, &deleteRequest{Id: created.GetId()})
	require.NoError(t, err)
	_, err = me.DeleteCategory(me.Ctx, &ledgerv1.DeleteCategoryRequest{Id: fun})
	require.NoError(t, err)
	srv.RequireConsistent(t)
}

func TestCreateTransactionSplitErrors(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	part := func(amount string) *ledgerv1.Split {
		return &ledgerv1.Split{CategoryId: me.Category.String(), Amount: amount}
	}
	of := func(category, amount string) *ledgerv1.Split {
		return &ledgerv1.Split{CategoryId: category, Amount: amount}
	}
	beside := me.splits("3", part("1"), part("2"))
	beside.CategoryId = me.Category.String()
	yen := me.splits("3", part("1.5"), part("1.5"))
	yen.Currency = "JPY"
	invalid, notFound := codes.InvalidArgument, codes.NotFound
	for name, tc := range map[string]struct {
		req    *createRequest
		code   codes.Code
		reason string
		fields []string
	}{
		"one part": {me.splits("3", part("3")), invalid, "VALIDATION_ERROR", []string{"splits"}},
		"51 parts": {
			me.splits("3", make([]*ledgerv1.Split, 51)...), invalid, "VALIDATION_ERROR",
			[]string{"splits"},
		},
		"a category beside": {beside, invalid, "VALIDATION_ERROR", []string{"categoryId"}},
		"a part of zero": {
			me.splits("3", part("3"), part("0")), invalid, "VALIDATION_ERROR",
			[]string{"splits[1].amount"},
		},
		"no amount and no category": {
			me.splits("3", part("3"), of("", "")), invalid, "VALIDATION_ERROR",
			[]string{"splits[1].categoryId", "splits[1].amount"},
		},
		"a part that is no number": {
			me.splits("3", part("3"), part("x")), invalid, "VALIDATION_ERROR",
			[]string{"splits[1].amount"},
		},
		"a part too fine": {
			yen, invalid, "VALIDATION_ERROR", []string{"splits[0].amount", "splits[1].amount"},
		},
		"a malformed category, too fine": {
			me.splits("3", part("1"), of("x", "2.001")), invalid, "VALIDATION_ERROR",
			[]string{"splits[1].amount", "splits[1].categoryId"},
		},
		"a malformed category": {
			me.splits("3", part("1"), of("x", "2")), invalid, "INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"splits[1].categoryId"},
		},
		"an unknown category": {
			me.splits("3", part("1"), of(srv.NewID().String(), "2")), notFound,
			"INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"splits[1].categoryId"},
		},
		"another user's category": {
			me.splits("3", of(stranger.Category.String(), "1"), part("2")), notFound,
			"INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"splits[0].categoryId"},
		},
		"a sum too small": {
			me.splits("3", part("1"), part("1.99")), invalid, "SPLIT_SUM_MISMATCH",
			[]string{"splits"},
		},
		"a sum of the opposite sign": {
			me.splits("3", part("-1"), part("-2")), invalid, "SPLIT_SUM_MISMATCH",
			[]string{"splits"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			failure := srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := srv.CreateTransaction(me.Ctx, tc.req)
				return err
			})
			require.Equal(t, tc.fields, fixture.FieldNames(failure))
			failure = srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := srv.CreateTransactions(me.Ctx, fixture.Bulk(me.Spends("1"), tc.req))
				return err
			})
			require.Equal(t, "transactions[1]."+tc.fields[0], failure.Fields[0].Name)
		})
	}
	_, err := me.CreateTransaction(me.Ctx, me.splits("3", part("1"), part("1.8")))
	require.Equal(t, "The parts add up to 2.80, which is 0.20 less than the amount",
		apierr.From(err).Message)
}

// TestCreateTransactionSplitsReplay merges the category of a part between a request and its
// repetition with the same key.
func TestCreateTransactionSplitsReplay(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t.Context(), t, s)
	part := func(category string) []*ledgerv1.Split {
		return []*ledgerv1.Split{
			{CategoryId: category, Amount: "4"},
			{CategoryId: me.Category.String(), Amount: "6"},
		}
	}
	one := func(req *createRequest) func() (string, bool, error) {
		return func() (string, bool, error) {
			resp, err := me.CreateTransaction(me.Ctx, req)
			return resp.GetTransaction().GetId(), resp.GetReplayed(), err
		}
	}
	for name, request := range map[string]func(category string) func() (string, bool, error){
		"one": func(category string) func() (string, bool, error) {
			req := me.splits("10", part(category)...)
			req.IdempotencyKey = "one"
			return one(req)
		},
		"tagged": func(category string) func() (string, bool, error) {
			req := me.splits("10", part(category)...)
			req.IdempotencyKey, req.Tags = "tagged", []string{"Trip"}
			return one(req)
		},
		"bulk": func(category string) func() (string, bool, error) {
			req := fixture.Bulk(me.splits("10", part(category)...))
			req.IdempotencyKey = "bulk"
			return func() (string, bool, error) {
				resp, err := me.CreateTransactions(me.Ctx, req)
				if err != nil {
					return "", false, err
				}
				return resp.GetTransactions()[0].GetId(), resp.GetReplayed(), nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			category := me.MakeCategory(me.Ctx, t, name).String()
			send := request(category)
			first, replayed, err := send()
			require.NoError(t, err)
			require.False(t, replayed)
			_, err = me.DeleteCategory(me.Ctx,
				&ledgerv1.DeleteCategoryRequest{
					Id: category, ReassignTo: new(me.Category.String()),
				})
			require.NoError(t, err)
			again, replayed, err := send()
			require.NoError(t, err)
			require.True(t, replayed)
			require.Equal(t, first, again)
		})
	}
}
