package transactions

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestUpdateTransactionNamesAllProblems(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	id := me.Create(t, me.Spends("5.25")).GetId()
	for name, tc := range problemCases(srv.NewID().String()) {
		t.Run(name, func(t *testing.T) {
			before, after := me.Spends("5.25"), me.Spends("5.25")
			tc.change(after)
			changed := func(before, after string) *string {
				if before == after {
					return nil
				}
				return &after
			}
			req := &updateRequest{
				Id: id, Amount: changed(before.GetAmount(), after.GetAmount()),
				Description: changed(before.GetDescription(), after.GetDescription()),
				Date:        changed(before.GetDate(), after.GetDate()),
				Currency:    changed(before.GetCurrency(), after.GetCurrency()),
				WalletId:    changed(before.GetWalletId(), after.GetWalletId()),
				CategoryId:  changed(before.GetCategoryId(), after.GetCategoryId()),
				Type:        changed(before.GetType(), after.GetType()),
			}
			e := srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := srv.UpdateTransaction(me.Ctx, req)
				return err
			})
			require.Equal(t, tc.fields, fixture.FieldNames(e))
		})
	}
}

func TestUpdateTransactionFields(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		req  *updateRequest
		want map[string]string
		did  func(*ledgerv1.Transaction)
	}{
		"an amount alone keeps the sign": {
			&updateRequest{Amount: new("7")},
			map[string]string{"EUR": "-7.00"},
			func(t *ledgerv1.Transaction) { t.Amount = "-7.00" },
		},
		"a type alone turns the sign": {
			&updateRequest{Type: new("income")},
			map[string]string{"EUR": "5.00"},
			func(t *ledgerv1.Transaction) { t.Amount, t.Type = "5.00", "income" },
		},
		"the type that it has changes nothing": {
			&updateRequest{Type: new("expense")},
			map[string]string{"EUR": "-5.00"},
			func(*ledgerv1.Transaction) {},
		},
		"an amount follows the type that is given": {
			&updateRequest{Amount: new("7"), Type: new("income")},
			map[string]string{"EUR": "7.00"},
			func(t *ledgerv1.Transaction) { t.Amount, t.Type = "7.00", "income" },
		},
		"the currency that it has changes nothing": {
			&updateRequest{Currency: new("eur")},
			map[string]string{"EUR": "-5.00"},
			func(*ledgerv1.Transaction) {},
		},
		"a currency with an amount of its own": {
			&updateRequest{Currency: new("BHD"), Amount: new("0.125")},
			map[string]string{"EUR": "0.00", "BHD": "-0.125"},
			func(t *ledgerv1.Transaction) { t.Amount, t.Currency = "-0.125", "BHD" },
		},
		"a description is emptied": {
			&updateRequest{Description: new("  ")},
			map[string]string{"EUR": "-5.00"},
			func(t *ledgerv1.Transaction) { t.Description = "" },
		},
		"a date in another month": {
			&updateRequest{Date: new("2025-12-31")},
			map[string]string{"EUR": "-5.00"},
			func(t *ledgerv1.Transaction) { t.Date = "2025-12-31T00:00:00.000Z" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			me := newPerson(t.Context(), t, setup(t))
			req := me.Spends("5")
			req.Description = "Lunch"
			before := me.Create(t, req)
			tc.req.Id = before.GetId()
			resp, err := me.UpdateTransaction(me.Ctx, tc.req)
			require.NoError(t, err)
			after := proto.CloneOf(before)
			tc.did(after)
			require.True(t, proto.Equal(after, resp.GetTransaction()), resp)
			require.Equal(t, `"2"`, resp.GetEtag())
			got, err := me.GetTransaction(me.Ctx,
				&ledgerv1.GetTransactionRequest{Id: before.GetId()})
			require.NoError(t, err)
			require.True(t, proto.Equal(after, got.GetTransaction()), got)
			require.Equal(t, tc.want, me.Balances(t, me.Wallet))
			me.RequireEvent(t,
				&ledgerv1.TransactionUpdated{OwnerId: me.ID.String(), Before: before, After: after})
			me.RequireConsistent(t)
		})
	}
}

func TestUpdateTransactionWalletAndCategory(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	bank, fun := me.MakeWallet(me.Ctx, t, "Bank", "USD"), me.MakeCategory(me.Ctx, t, "Fun")
	before := me.Create(t, me.Spends("5"))
	resp, err := me.UpdateTransaction(me.Ctx, &updateRequest{
		Id: before.GetId(), WalletId: new(bank.String()), CategoryId: new(fun.String()),
		IfMatch: `"1"`,
	})
	require.NoError(t, err)
	require.Equal(t, bank.String(), resp.GetTransaction().GetWalletId())
	require.Equal(t, fun.String(), resp.GetTransaction().GetCategoryId())
	require.Equal(t, map[string]string{"EUR": "0.00"}, me.Balances(t, me.Wallet))
	require.Equal(t, map[string]string{"USD": "0.00", "EUR": "-5.00"}, me.Balances(t, bank))
	me.RequireConsistent(t)
}

func TestUpdateTransactionErrors(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	tr := me.Create(t, me.Spends("5.25"))
	for name, tc := range map[string]struct {
		req    *updateRequest
		code   codes.Code
		reason string
		fields []string
	}{
		"nothing": {&updateRequest{}, codes.InvalidArgument, "EMPTY_UPDATE", nil},
		"an amount of zero": {
			&updateRequest{Amount: new("0")}, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
		"an empty amount": {
			&updateRequest{Amount: new("")}, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
		"an amount too fine": {
			&updateRequest{Amount: new("1.125")}, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
		"another currency alone": {
			&updateRequest{Currency: new("USD")}, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
		"a currency too coarse": {
			&updateRequest{Currency: new("JPY"), Amount: new("0.5")}, codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"amount"},
		},
		"an empty currency": {
			&updateRequest{Currency: new("")}, codes.InvalidArgument, "UNSUPPORTED_CURRENCY",
			[]string{"currency"},
		},
		"an empty date": {
			&updateRequest{Date: new("")}, codes.InvalidArgument, "INVALID_TRANSACTION_DATE",
			[]string{"date"},
		},
		"a type that is none": {
			&updateRequest{Type: new("gift")}, codes.InvalidArgument, "INVALID_TRANSACTION_TYPE",
			[]string{"type"},
		},
		"a malformed wallet": {
			&updateRequest{WalletId: new("")}, codes.InvalidArgument, "WALLET_NOT_FOUND",
			[]string{"walletId"},
		},
		"another user's wallet": {
			&updateRequest{WalletId: new(stranger.Wallet.String())}, codes.NotFound,
			"WALLET_NOT_FOUND",
			[]string{"walletId"},
		},
		"a malformed category": {
			&updateRequest{CategoryId: new("x")}, codes.InvalidArgument,
			"INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"categoryId"},
		},
		"another user's category": {
			&updateRequest{CategoryId: new(stranger.Category.String())}, codes.NotFound,
			"INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"categoryId"},
		},
		"a description too long": {
			&updateRequest{Description: new(strings.Repeat("x", 1001))}, codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"description"},
		},
		"a version that is not met": {
			&updateRequest{Amount: new("1"), IfMatch: `"2"`}, codes.FailedPrecondition,
			"VERSION_MISMATCH", nil,
		},
		"more than one thing at all": {
			&updateRequest{Amount: new("x"), Date: new("y")}, codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"amount", "date"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.req.Id = tr.GetId()
			e := srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := srv.UpdateTransaction(me.Ctx, tc.req)
				return err
			})
			require.Equal(t, tc.fields, fixture.FieldNames(e))
		})
	}
}

func TestUpdateTransactionConcurrentVersions(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	tr := me.Create(t, me.Spends("5"))
	errs := make([]error, 8)
	var asking sync.WaitGroup
	for i := range errs {
		asking.Go(func() {
			_, errs[i] = me.UpdateTransaction(me.Ctx,
				&updateRequest{Id: tr.GetId(), Amount: new("6"), IfMatch: `"1"`})
		})
	}
	asking.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		fixture.RequireReason(t, err, codes.FailedPrecondition, "VERSION_MISMATCH")
	}
	require.Equal(t, 1, won)
	me.RequireConsistent(t)
}
