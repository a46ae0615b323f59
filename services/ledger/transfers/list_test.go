package transfers_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// TestListTransfersScan lists the transfers of a wallet that has only the oldest one of many. Each
// page examines a limited number of them.
func TestListTransfersScan(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	exchange := me.moves("10")
	exchange.ToWalletId = me.yen.String()
	exchange.ToAmount, exchange.Date = new("1600"), "2020-01-01"
	oldest := me.transfer(t, exchange).GetId()
	const (
		examinedTransfers = 10_000
		count             = 2*examinedTransfers + 10
	)
	pgtest.Exec(t, srv.DB, `
		ALTER TABLE transactions DISABLE TRIGGER ALL;
		INSERT INTO transactions (id, owner_id, wallet_id, currency, amount_minor, amount_e4,
			description, date, created_at, updated_at, transfer_id, seq)
		SELECT gen_random_uuid(), '`+me.ID.String()+`',
			CASE WHEN leg < 0 THEN '`+me.Wallet.String()+`' ELSE '`+me.bank.String()+`' END::uuid,
			'EUR', leg, leg * 100, '', timestamptz '2026-01-01' - n * interval '1 minute',
			now(), now(),
			('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 0
		FROM generate_series(1, `+strconv.Itoa(count)+`) AS n, unnest('{-1,1}'::integer[]) AS leg;
		ALTER TABLE transactions ENABLE TRIGGER ALL`)
	list := func(req *listRequest) (found []string, pages int) {
		for {
			resp, err := me.ListTransfers(me.Ctx, req)
			require.NoError(t, err)
			pages++
			for _, transfer := range resp.GetTransfers() {
				found = append(found, transfer.GetId())
			}
			if !resp.GetPagination().GetHasMore() {
				return found, pages
			}
			req.Cursor = resp.GetPagination().GetNextCursor()
		}
	}
	found, pages := list(&listRequest{WalletId: new(me.yen.String())})
	require.Equal(t, []string{oldest}, found)
	require.Equal(t, 3, pages)
	resp, err := me.ListTransfers(me.Ctx,
		&listRequest{WalletId: new(me.bank.String()), Limit: new(int32(200))})
	require.NoError(t, err)
	require.Len(t, resp.GetTransfers(), 200)
}

func TestListTransfers(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	stranger.transfer(t, stranger.moves("99"))
	var ids []string
	for _, day := range []string{"2026-03-01", "2026-03-02", "2026-03-02", "2026-03-03"} {
		req := me.moves("1")
		req.Date = day
		ids = append([]string{me.transfer(t, req).GetId()}, ids...)
	}
	exchange := me.moves("10")
	exchange.ToWalletId = me.yen.String()
	exchange.ToAmount, exchange.Date = new("1600"), "2026-01-01"
	oldest := me.transfer(t, exchange).GetId()
	list := func(req *listRequest) []string {
		var found []string
		for {
			resp, err := me.ListTransfers(me.Ctx, req)
			require.NoError(t, err)
			for _, transfer := range resp.GetTransfers() {
				got, err := me.GetTransfer(me.Ctx,
					&ledgerv1.GetTransferRequest{Id: transfer.GetId()})
				require.NoError(t, err)
				require.True(t, proto.Equal(got.GetTransfer(), transfer))
				found = append(found, transfer.GetId())
			}
			if !resp.GetPagination().GetHasMore() {
				return found
			}
			req.Cursor = resp.GetPagination().GetNextCursor()
		}
	}
	require.Equal(t, append(ids, oldest), list(&listRequest{}))
	require.Equal(t, append(ids, oldest), list(&listRequest{Limit: new(int32(2))}))
	require.Equal(t, ids, list(&listRequest{WalletId: new(me.bank.String()), Limit: new(int32(1))}))
	require.Equal(t, []string{oldest}, list(&listRequest{WalletId: new(me.yen.String())}))
	require.Equal(t, ids[:3], list(&listRequest{From: new("2026-03-02"), To: new("2026-03-03")}))
	require.Equal(t, ids[1:], list(&listRequest{From: new("2026-02-02"), To: new("2026-03-02")}))

	_, err := me.ListTransfers(me.Ctx,
		&listRequest{WalletId: new(stranger.bank.String()), From: new("x"), Limit: new(int32(0))})
	e := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	require.Equal(t, []string{"limit", "from", "walletId"}, fixture.FieldNames(e))
	for _, tc := range []struct {
		req    *listRequest
		code   codes.Code
		reason string
	}{
		{&listRequest{WalletId: new("x")}, codes.InvalidArgument, "WALLET_NOT_FOUND"},
		{&listRequest{WalletId: new(stranger.bank.String())}, codes.NotFound, "WALLET_NOT_FOUND"},
		{&listRequest{From: new("x")}, codes.InvalidArgument, "INVALID_TRANSACTION_DATE"},
		{
			&listRequest{From: new("2026-03-02"), To: new("2026-03-01")}, codes.InvalidArgument,
			"VALIDATION_ERROR",
		},
		{&listRequest{Cursor: "x"}, codes.InvalidArgument, "INVALID_CURSOR"},
		{&listRequest{Limit: new(int32(0))}, codes.InvalidArgument, "VALIDATION_ERROR"},
	} {
		_, err := me.ListTransfers(me.Ctx, tc.req)
		fixture.RequireReason(t, err, tc.code, tc.reason)
	}
}
