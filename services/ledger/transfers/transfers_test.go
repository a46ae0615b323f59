package transfers_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestCreateTransfer(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	req := me.moves("12.50")
	req.Notes, req.IdempotencyKey = "one\ntwo", "key"
	created, err := me.CreateTransfer(me.Ctx, req)
	require.NoError(t, err)
	want := created.GetTransfer()
	require.Equal(t, `"1"`, created.GetEtag())
	srv.RequireEvent(t, &ledgerv1.TransferCreated{OwnerId: me.ID.String(), Transfer: want})
	require.True(t, proto.Equal(want, &ledgerv1.Transfer{
		Id: want.GetId(), FromWalletId: me.Wallet.String(), ToWalletId: me.bank.String(),
		Amount: "12.50", Currency: "EUR",
		ToAmount: "12.50", ToCurrency: "EUR", Rate: "1", Date: "2026-03-14T00:00:00.000Z",
		Description: "card", Notes: "one\ntwo",
		OutTransactionId: want.GetOutTransactionId(), InTransactionId: want.GetInTransactionId(),
		CreatedAt: "2026-03-15T12:00:00.000Z", UpdatedAt: "2026-03-15T12:00:00.000Z",
	}), want)
	got, err := me.GetTransfer(me.Ctx, &ledgerv1.GetTransferRequest{Id: want.GetId()})
	require.NoError(t, err)
	require.True(t, proto.Equal(want, got.GetTransfer()))
	require.Equal(t, created.GetEtag(), got.GetEtag())
	for id, wallet := range map[string]string{
		want.GetOutTransactionId(): me.Wallet.String(),
		want.GetInTransactionId():  me.bank.String(),
	} {
		leg := me.leg(t, id)
		require.Equal(t, "transfer", leg.GetType())
		require.Equal(t, want.GetId(), leg.GetTransferId())
		require.Equal(t, wallet, leg.GetWalletId())
		require.Empty(t, leg.GetCategoryId())
	}
	require.Equal(t, map[string]string{"EUR": "-12.50"}, me.Balances(t, me.Wallet))
	require.Equal(t, map[string]string{"EUR": "12.50"}, me.Balances(t, me.bank))

	stored := srv.Stored(t)
	again, err := me.CreateTransfer(me.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(want, again.GetTransfer()))
	require.Equal(t, stored, srv.Stored(t))
	srv.RequireConsistent(t)
}

// TestCreateTransferReplay deletes a wallet between a request and its repetition with the same key.
func TestCreateTransferReplay(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t.Context(), t, s)
	req := me.moves("3")
	req.IdempotencyKey = "key"
	first, err := me.CreateTransfer(me.Ctx, req)
	require.NoError(t, err)
	_, err = me.DeleteTransfer(me.Ctx,
		&ledgerv1.DeleteTransferRequest{Id: first.GetTransfer().GetId()})
	require.NoError(t, err)
	_, err = me.DeleteWallet(me.Ctx, &ledgerv1.DeleteWalletRequest{Id: me.bank.String()})
	require.NoError(t, err)
	again, err := me.CreateTransfer(me.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.Equal(t, first.GetTransfer().GetId(), again.GetTransfer().GetId())
	req.IdempotencyKey = "another key"
	_, err = me.CreateTransfer(me.Ctx, req)
	fixture.RequireReason(t, err, codes.NotFound, "WALLET_NOT_FOUND")
}

func TestCreateTransferKeepsAllDecimals(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	dinar := me.MakeWallet(me.Ctx, t, "Dinar", "BHD")
	req := me.moves("12345")
	req.FromWalletId, req.ToWalletId, req.ToAmount = me.yen.String(), dinar.String(), new("31.025")
	made := me.transfer(t, req)
	require.Equal(t, "12345", made.GetAmount())
	require.Equal(t, "JPY", made.GetCurrency())
	require.Equal(t, "31.025", made.GetToAmount())
	require.Equal(t, "BHD", made.GetToCurrency())
	require.Equal(t, "0.0025131632", made.GetRate())
	require.Equal(t, map[string]string{"JPY": "-12345"}, me.Balances(t, me.yen))
	require.Equal(t, map[string]string{"BHD": "31.025"}, me.Balances(t, dinar))
	srv.RequireConsistent(t)
}

func TestCreateTransferWithinAWallet(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	req := p.moves("10")
	req.ToWalletId, req.ToCurrency, req.ToAmount = p.Wallet.String(), new("usd"), new("11.50")
	made := p.transfer(t, req)
	require.Equal(t, "1.15", made.GetRate())
	require.Equal(t, map[string]string{"EUR": "-10.00", "USD": "11.50"}, p.Balances(t, p.Wallet))
	s.RequireConsistent(t)
}

func TestCreateTransferRejects(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	type req = createRequest
	for name, tc := range map[string]struct {
		change func(*req)
		code   codes.Code
		reason string
		fields []string
	}{
		"nothing": {
			func(r *req) { proto.Reset(r) }, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"fromWalletId", "toWalletId", "amount", "date"},
		},
		"another amount in one currency": {
			func(r *req) { r.ToAmount = new("9.99") }, codes.InvalidArgument,
			"TRANSFER_AMOUNT_MISMATCH",
			[]string{"toAmount"},
		},
		"no second amount between currencies": {
			func(r *req) { r.ToWalletId = me.yen.String() }, codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"toAmount"},
		},
		"one wallet": {
			func(r *req) { r.ToWalletId = r.GetFromWalletId() },
			codes.InvalidArgument, "TRANSFER_SAME_WALLET",
			[]string{"toWalletId"},
		},
		"malformed wallets": {
			func(r *req) { r.FromWalletId, r.ToWalletId = "x", "y" },
			codes.InvalidArgument, "WALLET_NOT_FOUND",
			[]string{"fromWalletId", "toWalletId"},
		},
		"another user's wallets": {
			func(r *req) {
				r.FromWalletId, r.ToWalletId = stranger.Wallet.String(), stranger.bank.String()
			},
			codes.NotFound, "WALLET_NOT_FOUND",
			[]string{"fromWalletId", "toWalletId"},
		},
		"too many decimals": {
			func(r *req) { r.Amount = "1.005" }, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
		"a negative amount": {
			func(r *req) { r.Amount = "-1" }, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
		"zero": {
			func(r *req) { r.Amount = "0" }, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
		"an unknown currency": {
			func(r *req) { r.ToCurrency = new("XXX") }, codes.InvalidArgument,
			"UNSUPPORTED_CURRENCY",
			[]string{"toCurrency"},
		},
		"no date": {
			func(r *req) { r.Date = "soon" }, codes.InvalidArgument, "INVALID_TRANSACTION_DATE",
			[]string{"date"},
		},
		"decimals of a yen": {
			func(r *req) { r.ToWalletId, r.ToAmount = me.yen.String(), new("10.5") },
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"toAmount"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := me.moves("10.00")
			tc.change(r)
			e := srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := me.CreateTransfer(me.Ctx, r)
				return err
			})
			require.Equal(t, tc.fields, fixture.FieldNames(e))
		})
	}
}

func TestDeleteTransfer(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	made := me.transfer(t, me.moves("10"))
	srv.RequireRejected(t, codes.NotFound, "TRANSFER_NOT_FOUND", func() error {
		_, err := srv.DeleteTransfer(stranger.Ctx,
			&ledgerv1.DeleteTransferRequest{Id: made.GetId()})
		return err
	})
	srv.RequireRejected(t, codes.NotFound, "TRANSFER_NOT_FOUND", func() error {
		_, err := srv.GetTransfer(stranger.Ctx, &ledgerv1.GetTransferRequest{Id: made.GetId()})
		return err
	})
	for _, wallet := range []string{made.GetFromWalletId(), made.GetToWalletId()} {
		srv.RequireRejected(t, codes.FailedPrecondition, "WALLET_IN_USE", func() error {
			_, err := srv.DeleteWallet(me.Ctx, &ledgerv1.DeleteWalletRequest{Id: wallet})
			return err
		})
	}
	_, err := me.DeleteTransfer(me.Ctx,
		&ledgerv1.DeleteTransferRequest{Id: made.GetId(), IfMatch: `"1"`})
	require.NoError(t, err)
	srv.RequireEvent(t, &ledgerv1.TransferDeleted{OwnerId: me.ID.String(), Transfer: made})
	for _, id := range []string{made.GetOutTransactionId(), made.GetInTransactionId()} {
		_, err := me.GetTransaction(me.Ctx, &ledgerv1.GetTransactionRequest{Id: id})
		fixture.RequireReason(t, err, codes.NotFound, "TRANSACTION_NOT_FOUND")
	}
	require.Equal(t, map[string]string{"EUR": "0.00"}, me.Balances(t, me.Wallet))
	srv.RequireConsistent(t)
}

// TestCreateTransferOpposite creates 1000 transfers in both directions at once.
func TestCreateTransferOpposite(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	back := me.moves("2")
	back.FromWalletId, back.ToWalletId = back.GetToWalletId(), back.GetFromWalletId()
	var wg sync.WaitGroup
	errs := make(chan error, 1000)
	for i := range cap(errs) {
		wg.Go(func() {
			_, err := me.CreateTransfer(me.Ctx, []*createRequest{me.moves("3"), back}[i%2])
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, map[string]string{"EUR": "-500.00"}, me.Balances(t, me.Wallet))
	require.Equal(t, map[string]string{"EUR": "500.00"}, me.Balances(t, me.bank))
	srv.RequireConsistent(t)
}
