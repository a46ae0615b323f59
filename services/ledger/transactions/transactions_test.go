package transactions

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func TestCreateTransaction(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	req := me.Spends("12.3")
	req.Description, req.Currency, req.Date = " Lunch ", "eur", "2026-03-14T23:30:00.1239+02:00"
	resp, err := me.CreateTransaction(me.Ctx, req)
	require.NoError(t, err)
	want := &ledgerv1.Transaction{
		Id: resp.GetTransaction().GetId(), Amount: "-12.30", Description: "Lunch",
		Date: "2026-03-14T21:30:00.123Z", Currency: "EUR",
		WalletId: me.Wallet.String(), CategoryId: me.Category.String(), Type: "expense",
		CreatedAt: "2026-03-15T12:00:00.000Z", UpdatedAt: "2026-03-15T12:00:00.000Z",
	}
	require.True(t, proto.Equal(want, resp.GetTransaction()), resp)
	require.Equal(t, `"1"`, resp.GetEtag())
	got, err := me.GetTransaction(me.Ctx,
		&ledgerv1.GetTransactionRequest{Id: strings.ToUpper(want.GetId())})
	require.NoError(t, err)
	require.True(t, proto.Equal(want, got.GetTransaction()), got)
	me.RequireEvent(t, &ledgerv1.TransactionCreated{OwnerId: me.ID.String(), Transaction: want})
	me.RequireConsistent(t)
}

func TestCreateTransactionSignFollowsType(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	for kind, want := range map[*string]string{
		nil: "5.00", new("income"): "5.00", new("expense"): "-5.00",
	} {
		req := p.Spends("5")
		req.Type = kind
		require.Equal(t, want, p.Create(t, req).GetAmount())
	}
	require.Equal(t, map[string]string{"EUR": "5.00"}, p.Balances(t, p.Wallet))
}

func TestCreateTransactionOtherCurrency(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	for amount, currency := range map[string]string{"1.25": "EUR", "700": "JPY", "0.125": "BHD"} {
		req := p.Spends(amount)
		req.Currency = currency
		p.Create(t, req)
	}
	require.Equal(t, map[string]string{"EUR": "-1.25", "JPY": "-700", "BHD": "-0.125"},
		p.Balances(t, p.Wallet))
	p.RequireConsistent(t)
}

func TestCreateTransactionReplaysKey(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	req := me.Spends("5")
	req.IdempotencyKey = "k"
	answers := make([]*ledgerv1.CreateTransactionResponse, 8)
	var asking sync.WaitGroup
	for i := range answers {
		asking.Go(func() {
			var err error
			answers[i], err = me.CreateTransaction(me.Ctx, req)
			if err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	first := 0
	for _, a := range answers {
		require.True(t, proto.Equal(answers[0].GetTransaction(), a.GetTransaction()))
		if !a.GetReplayed() {
			first++
		}
	}
	require.Equal(t, 1, first)
	require.Equal(t, map[string]string{"EUR": "-5.00"}, me.Balances(t, me.Wallet))
	me.RequireConsistent(t)
}

func TestTransactionIDErrors(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	theirs := stranger.Create(t, stranger.Spends("5")).GetId()
	for id, want := range map[string]*apierr.Error{
		"":                       errInvalidTransactionID,
		"1":                      errInvalidTransactionID,
		strings.Repeat("0", 36):  errInvalidTransactionID,
		"{" + theirs[1:35] + "}": errInvalidTransactionID,
		uuid.Nil.String():        posting.ErrTransactionNotFound,
		srv.NewID().String():     posting.ErrTransactionNotFound,
		theirs:                   posting.ErrTransactionOwnerMismatch,
	} {
		for name, do := range map[string]func() error{
			"get": func() error {
				_, err := srv.GetTransaction(me.Ctx, &ledgerv1.GetTransactionRequest{Id: id})
				return err
			},
			"update": func() error {
				_, err := srv.UpdateTransaction(me.Ctx, &updateRequest{Id: id, Amount: new("1")})
				return err
			},
			"delete": func() error {
				_, err := srv.DeleteTransaction(me.Ctx, &deleteRequest{Id: id})
				return err
			},
		} {
			t.Run(name+" "+id, func(t *testing.T) {
				srv.RequireRejected(t, want.Code, want.Reason, do)
			})
		}
	}
}

func TestDeleteTransactionCorrectsBalance(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	me.Create(t, me.Spends("1"))
	tr := me.Create(t, me.Spends("5"))
	del := func(ifMatch string) func() error {
		return func() error {
			_, err := me.DeleteTransaction(me.Ctx, &deleteRequest{Id: tr.GetId(), IfMatch: ifMatch})
			return err
		}
	}
	me.RequireRejected(t, codes.FailedPrecondition, "VERSION_MISMATCH", del(`"2"`))
	require.NoError(t, del(`"1"`)())
	me.RequireEvent(t, &ledgerv1.TransactionDeleted{OwnerId: me.ID.String(), Transaction: tr})
	require.Equal(t, map[string]string{"EUR": "-1.00"}, me.Balances(t, me.Wallet))
	me.RequireConsistent(t)
	me.RequireRejected(t, codes.NotFound, "TRANSACTION_NOT_FOUND", del(""))
}
