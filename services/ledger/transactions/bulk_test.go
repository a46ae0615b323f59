package transactions

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func TestCreateTransactionsKeepsOrder(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	var requests []*createRequest
	for i := range maxBulkItems {
		requests = append(requests, me.Spends(strconv.Itoa(i+1)))
	}
	earned := me.Spends("1000000")
	earned.Type, earned.Date = new(posting.Income), "2026-02-01"
	requests[7] = earned
	resp, err := me.CreateTransactions(me.Ctx, fixture.Bulk(requests...))
	require.NoError(t, err)
	require.Len(t, resp.GetTransactions(), maxBulkItems)
	created := map[string]bool{}
	for _, e := range me.Events(t) {
		if c, ok := e.(*ledgerv1.TransactionCreated); ok {
			created[c.GetTransaction().GetId()] = true
		}
	}
	for i, m := range resp.GetTransactions() {
		require.Equal(t, requests[i].GetType(), m.GetType())
		require.True(t, created[m.GetId()], "each has its event")
		one, err := me.GetTransaction(me.Ctx, &ledgerv1.GetTransactionRequest{Id: m.GetId()})
		require.NoError(t, err)
		require.Equal(t, m.String(), one.GetTransaction().String())
	}
	require.Equal(t, "-1.00", resp.GetTransactions()[0].GetAmount())
	require.Equal(t, "874758.00", me.Balances(t, me.Wallet)["EUR"])
}

func TestCreateTransactionsIsAtomic(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	before := srv.Stored(t)
	for name, tc := range map[string]struct {
		change func(*ledgerv1.CreateTransactionsRequest)
		code   codes.Code
		reason string
		fields []string
	}{
		"none": {
			func(r *ledgerv1.CreateTransactionsRequest) { r.Transactions = nil },
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"transactions"},
		},
		"too many": {
			func(r *ledgerv1.CreateTransactionsRequest) {
				r.Transactions = slices.Repeat(r.GetTransactions(), maxBulkItems)
			},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"transactions"},
		},
		"a bad date": {
			func(r *ledgerv1.CreateTransactionsRequest) { r.Transactions[1].Date = "x" },
			codes.InvalidArgument, "INVALID_TRANSACTION_DATE",
			[]string{"transactions[1].date"},
		},
		"several": {
			func(r *ledgerv1.CreateTransactionsRequest) {
				r.Transactions[0].Date, r.Transactions[2].Amount = "x", "0"
			},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"transactions[2].amount", "transactions[0].date"},
		},
		"a key of its own": {
			func(r *ledgerv1.CreateTransactionsRequest) { r.Transactions[0].IdempotencyKey = "k" },
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"transactions[0].idempotencyKey"},
		},
		"another user's wallet": {
			func(r *ledgerv1.CreateTransactionsRequest) {
				r.Transactions[2].WalletId = stranger.Wallet.String()
			},
			codes.NotFound, "WALLET_NOT_FOUND",
			[]string{"transactions[2].walletId"},
		},
		"another user's category": {
			func(r *ledgerv1.CreateTransactionsRequest) {
				r.Transactions[1].CategoryId, r.IdempotencyKey = stranger.Category.String(), "k"
			},
			codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"transactions[1].categoryId"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := fixture.Bulk(me.Spends("1"), me.Spends("2"), me.Spends("3"))
			tc.change(req)
			e := srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := srv.CreateTransactions(me.Ctx, req)
				return err
			})
			require.Equal(t, tc.fields, fixture.FieldNames(e))
			require.Equal(t, before, srv.Stored(t))
		})
	}
}

func TestCreateTransactionsNamesAllProblems(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	unknown := srv.NewID().String()
	for name, c := range problemCases(unknown) {
		t.Run(name, func(t *testing.T) {
			req := fixture.Bulk(me.Spends("1"), me.Spends("2"))
			c.change(req.GetTransactions()[1])
			e := srv.RequireRejected(t, c.code, c.reason, func() error {
				_, err := srv.CreateTransactions(me.Ctx, req)
				return err
			})
			var fields []string
			for _, field := range c.fields {
				fields = append(fields, "transactions[1]."+field)
			}
			require.Equal(t, fields, fixture.FieldNames(e))
		})
	}
	t.Run("items with different problems", func(t *testing.T) {
		req := fixture.Bulk(me.Spends("1"), me.Spends("2"), me.Spends("3"), me.Spends("0"))
		req.Transactions[0].WalletId, req.Transactions[2].CategoryId = unknown, unknown
		e := srv.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := srv.CreateTransactions(me.Ctx, req)
			return err
		})
		require.ElementsMatch(t, []string{
			"transactions[0].walletId", "transactions[2].categoryId", "transactions[3].amount",
		}, fixture.FieldNames(e))
	})
	t.Run("unknown references of all items", func(t *testing.T) {
		req := fixture.Bulk(me.Spends("1"), me.Spends("2"), me.Spends("3"))
		req.Transactions[0].WalletId, req.Transactions[2].CategoryId = unknown, unknown
		e := srv.RequireRejected(t, codes.NotFound, "WALLET_NOT_FOUND", func() error {
			_, err := srv.CreateTransactions(me.Ctx, req)
			return err
		})
		require.Equal(t, []string{"transactions[0].walletId", "transactions[2].categoryId"},
			fixture.FieldNames(e))
	})
}

func TestCreateTransactionsLimitsReportedProblems(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	e := p.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
		_, err := p.CreateTransactions(p.Ctx,
			fixture.Bulk(slices.Repeat([]*createRequest{{}}, maxBulkItems)...))
		return err
	})
	require.Len(t, e.Fields, 5*maxBadItems)
}

func TestCreateTransactionsReplaysKey(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	req := fixture.Bulk(me.Spends("1"), me.Spends("2"))
	req.IdempotencyKey = "k"
	first, err := me.CreateTransactions(me.Ctx, req)
	require.NoError(t, err)
	again, err := me.CreateTransactions(me.Ctx, req)
	require.NoError(t, err)
	require.False(t, first.GetReplayed())
	require.True(t, again.GetReplayed())
	again.Replayed = false
	require.Equal(t, first.String(), again.String())
	require.Equal(t, "-3.00", me.Balances(t, me.Wallet)["EUR"])

	req.Transactions = req.GetTransactions()[:1]
	me.RequireRejected(t, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT", func() error {
		_, err := me.CreateTransactions(me.Ctx, req)
		return err
	})
}

func TestCreateTransactionsQueueLimit(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	leave, err := p.bulks.Enter(t.Context())
	require.NoError(t, err)
	_, err = p.CreateTransactions(p.Ctx, fixture.Bulk(p.Spends("1")))
	require.ErrorIs(t, err, apierr.Unavailable)
	leave()
	_, err = p.CreateTransactions(p.Ctx, fixture.Bulk(p.Spends("1")))
	require.NoError(t, err)
	require.Equal(t, "-1.00", p.Balances(t, p.Wallet)["EUR"])
}
