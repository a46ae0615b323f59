package transfers_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestUpdateTransfer(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	type req = updateRequest
	for name, tc := range map[string]struct {
		change func(p person, r *req)
		want   func(p person, t *ledgerv1.Transfer)
	}{
		"an amount alone changes both": {
			func(_ person, r *req) { r.Amount = new("7") },
			func(_ person, t *ledgerv1.Transfer) { t.Amount, t.ToAmount = "7.00", "7.00" },
		},
		"the wallets": {
			func(p person, r *req) {
				r.FromWalletId, r.ToWalletId = new(p.bank.String()), new(p.Wallet.String())
			},
			func(p person, t *ledgerv1.Transfer) {
				t.FromWalletId, t.ToWalletId = p.bank.String(), p.Wallet.String()
			},
		},
		"another currency": {
			func(_ person, r *req) { r.ToCurrency, r.ToAmount = new("JPY"), new("1500") },
			func(_ person, t *ledgerv1.Transfer) {
				t.ToCurrency, t.ToAmount, t.Rate = "JPY", "1500", "150"
			},
		},
		"description, notes and date": {
			func(_ person, r *req) {
				r.Description, r.Notes, r.Date = new("rent"), new("flat"), new("2026-02-01")
			},
			func(_ person, t *ledgerv1.Transfer) {
				t.Description, t.Notes, t.Date = "rent", "flat", "2026-02-01T00:00:00.000Z"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			me := newPerson(t.Context(), t, srv)
			before := me.transfer(t, me.moves("10"))
			req := &req{Id: before.GetId(), IfMatch: `"1"`}
			tc.change(me, req)
			changed, err := me.UpdateTransfer(me.Ctx, req)
			require.NoError(t, err)
			want := proto.CloneOf(before)
			tc.want(me, want)
			require.True(t, proto.Equal(want, changed.GetTransfer()), changed.GetTransfer())
			require.Equal(t, `"2"`, changed.GetEtag())
			out, in := me.leg(t, want.GetOutTransactionId()), me.leg(t, want.GetInTransactionId())
			require.Equal(t, "-"+want.GetAmount(), out.GetAmount())
			require.Equal(t, want.GetToAmount(), in.GetAmount())
			for _, leg := range []*ledgerv1.Transaction{out, in} {
				require.Equal(t, want.GetDescription(), leg.GetDescription())
				require.Equal(t, want.GetNotes(), leg.GetNotes())
				require.Equal(t, want.GetDate(), leg.GetDate())
			}
			req.IfMatch = `"1"`
			_, err = me.UpdateTransfer(me.Ctx, req)
			require.ErrorIs(t, err, apierr.VersionMismatch)
		})
	}
	t.Cleanup(func() { srv.RequireConsistent(t) })
}

func TestUpdateTransferRejects(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	made := me.transfer(t, me.moves("10"))
	type req = updateRequest
	for name, tc := range map[string]struct {
		req    *req
		code   codes.Code
		reason string
	}{
		"nothing": {&req{Id: made.GetId()}, codes.InvalidArgument, "EMPTY_UPDATE"},
		"a malformed id": {
			&req{Id: "x", Amount: new("1")}, codes.InvalidArgument, "INVALID_TRANSFER_ID",
		},
		"an unknown id": {
			&req{Id: srv.NewID().String(), Amount: new("1")}, codes.NotFound, "TRANSFER_NOT_FOUND",
		},
		"a currency without its amount": {
			&req{Id: made.GetId(), Currency: new("USD")}, codes.InvalidArgument, "VALIDATION_ERROR",
		},
		"a second currency alone": {
			&req{Id: made.GetId(), ToCurrency: new("USD")}, codes.InvalidArgument,
			"VALIDATION_ERROR",
		},
		"a second amount alone": {
			&req{Id: made.GetId(), ToAmount: new("9")}, codes.InvalidArgument,
			"TRANSFER_AMOUNT_MISMATCH",
		},
		"the same wallet": {
			&req{Id: made.GetId(), ToWalletId: new(me.Wallet.String())}, codes.InvalidArgument,
			"TRANSFER_SAME_WALLET",
		},
		"another user's wallet": {
			&req{Id: made.GetId(), ToWalletId: new(stranger.bank.String())}, codes.NotFound,
			"WALLET_NOT_FOUND",
		},
		"an old version": {
			&req{Id: made.GetId(), Amount: new("1"), IfMatch: `"7"`}, codes.FailedPrecondition,
			"VERSION_MISMATCH",
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := me.UpdateTransfer(me.Ctx, tc.req)
				return err
			})
		})
	}
}
