package transfers_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestCreateTransfer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	req := p.moves("12.50")
	req.Notes, req.IdempotencyKey = "one\ntwo", "key"
	created, err := p.CreateTransfer(p.Ctx, req)
	require.NoError(t, err)
	want := created.GetTransfer()
	require.Equal(t, `"1"`, created.GetEtag())
	require.True(t, proto.Equal(&ledgerv1.TransferCreated{OwnerId: p.ID.String(), Transfer: want}, s.LastEvent(t)))
	require.True(t, proto.Equal(want, &ledgerv1.Transfer{
		Id: want.GetId(), FromWalletId: p.Wallet.String(), ToWalletId: p.bank.String(), Amount: "12.50", Currency: "EUR",
		ToAmount: "12.50", ToCurrency: "EUR", Rate: "1", Date: "2026-03-14T00:00:00.000Z", Description: "card", Notes: "one\ntwo",
		OutTransactionId: want.GetOutTransactionId(), InTransactionId: want.GetInTransactionId(),
		CreatedAt: "2026-03-15T12:00:00.000Z", UpdatedAt: "2026-03-15T12:00:00.000Z",
	}), want)
	got, err := p.GetTransfer(p.Ctx, &ledgerv1.GetTransferRequest{Id: want.GetId()})
	require.NoError(t, err)
	require.True(t, proto.Equal(want, got.GetTransfer()))
	require.Equal(t, created.GetEtag(), got.GetEtag())
	for id, wallet := range map[string]string{want.GetOutTransactionId(): p.Wallet.String(), want.GetInTransactionId(): p.bank.String()} {
		leg := p.leg(t, id)
		require.Equal(t, "transfer", leg.GetType())
		require.Equal(t, want.GetId(), leg.GetTransferId())
		require.Equal(t, wallet, leg.GetWalletId())
		require.Empty(t, leg.GetCategoryId())
	}
	require.Equal(t, map[string]string{"EUR": "-12.50"}, p.Balances(t, p.Wallet))
	require.Equal(t, map[string]string{"EUR": "12.50"}, p.Balances(t, p.bank))

	stored := s.Stored(t)
	again, err := p.CreateTransfer(p.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(want, again.GetTransfer()))
	require.Equal(t, stored, s.Stored(t))
	s.RequireConsistent(t)
}

// TestCreateTransferReplay deletes a wallet between a request and its repetition with the same key.
func TestCreateTransferReplay(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	req := p.moves("3")
	req.IdempotencyKey = "key"
	first, err := p.CreateTransfer(p.Ctx, req)
	require.NoError(t, err)
	_, err = p.DeleteTransfer(p.Ctx, &ledgerv1.DeleteTransferRequest{Id: first.GetTransfer().GetId()})
	require.NoError(t, err)
	_, err = p.DeleteWallet(p.Ctx, &ledgerv1.DeleteWalletRequest{Id: p.bank.String()})
	require.NoError(t, err)
	again, err := p.CreateTransfer(p.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.Equal(t, first.GetTransfer().GetId(), again.GetTransfer().GetId())
	req.IdempotencyKey = "another key"
	_, err = p.CreateTransfer(p.Ctx, req)
	fixture.RequireReason(t, err, codes.NotFound, "WALLET_NOT_FOUND")
}

func TestCreateTransferKeepsAllDecimals(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	dinar := p.MakeWallet(p.Ctx, t, "Dinar", "BHD")
	req := p.moves("12345")
	req.FromWalletId, req.ToWalletId, req.ToAmount = p.yen.String(), dinar.String(), new("31.025")
	made := p.transfer(t, req)
	require.Equal(t, "12345", made.GetAmount())
	require.Equal(t, "JPY", made.GetCurrency())
	require.Equal(t, "31.025", made.GetToAmount())
	require.Equal(t, "BHD", made.GetToCurrency())
	require.Equal(t, "0.0025131632", made.GetRate())
	require.Equal(t, map[string]string{"JPY": "-12345"}, p.Balances(t, p.yen))
	require.Equal(t, map[string]string{"BHD": "31.025"}, p.Balances(t, dinar))
	s.RequireConsistent(t)
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
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	type req = ledgerv1.CreateTransferRequest
	for name, c := range map[string]struct {
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
			func(r *req) { r.ToWalletId = p.yen.String() }, codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"toAmount"},
		},
		"one wallet": {
			func(r *req) { r.ToWalletId = r.GetFromWalletId() }, codes.InvalidArgument, "TRANSFER_SAME_WALLET",
			[]string{"toWalletId"},
		},
		"malformed wallets": {
			func(r *req) { r.FromWalletId, r.ToWalletId = "x", "y" }, codes.InvalidArgument, "WALLET_NOT_FOUND",
			[]string{"fromWalletId", "toWalletId"},
		},
		"another user's wallets": {
			func(r *req) { r.FromWalletId, r.ToWalletId = stranger.Wallet.String(), stranger.bank.String() },
			codes.NotFound, "WALLET_NOT_FOUND",
			[]string{"fromWalletId", "toWalletId"},
		},
		"too many decimals":   {func(r *req) { r.Amount = "1.005" }, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"a negative amount":   {func(r *req) { r.Amount = "-1" }, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"zero":                {func(r *req) { r.Amount = "0" }, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"an unknown currency": {func(r *req) { r.ToCurrency = new("XXX") }, codes.InvalidArgument, "UNSUPPORTED_CURRENCY", []string{"toCurrency"}},
		"no date":             {func(r *req) { r.Date = "soon" }, codes.InvalidArgument, "INVALID_TRANSACTION_DATE", []string{"date"}},
		"decimals of a yen": {
			func(r *req) { r.ToWalletId, r.ToAmount = p.yen.String(), new("10.5") }, codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"toAmount"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := p.moves("10.00")
			c.change(r)
			e := s.RequireRejected(t, c.code, c.reason, func() error {
				_, err := p.CreateTransfer(p.Ctx, r)
				return err
			})
			require.Equal(t, c.fields, fixture.FieldNames(e))
		})
	}
}

func TestUpdateTransfer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	type req = ledgerv1.UpdateTransferRequest
	for name, c := range map[string]struct {
		change func(p person, r *req)
		want   func(p person, t *ledgerv1.Transfer)
	}{
		"an amount alone changes both": {
			func(_ person, r *req) { r.Amount = new("7") },
			func(_ person, t *ledgerv1.Transfer) { t.Amount, t.ToAmount = "7.00", "7.00" },
		},
		"the wallets": {
			func(p person, r *req) { r.FromWalletId, r.ToWalletId = new(p.bank.String()), new(p.Wallet.String()) },
			func(p person, t *ledgerv1.Transfer) {
				t.FromWalletId, t.ToWalletId = p.bank.String(), p.Wallet.String()
			},
		},
		"another currency": {
			func(_ person, r *req) { r.ToCurrency, r.ToAmount = new("JPY"), new("1500") },
			func(_ person, t *ledgerv1.Transfer) { t.ToCurrency, t.ToAmount, t.Rate = "JPY", "1500", "150" },
		},
		"description, notes and date": {
			func(_ person, r *req) { r.Description, r.Notes, r.Date = new("rent"), new("flat"), new("2026-02-01") },
			func(_ person, t *ledgerv1.Transfer) {
				t.Description, t.Notes, t.Date = "rent", "flat", "2026-02-01T00:00:00.000Z"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t.Context(), t, s)
			before := p.transfer(t, p.moves("10"))
			r := &req{Id: before.GetId(), IfMatch: `"1"`}
			c.change(p, r)
			changed, err := p.UpdateTransfer(p.Ctx, r)
			require.NoError(t, err)
			want := proto.CloneOf(before)
			c.want(p, want)
			require.True(t, proto.Equal(want, changed.GetTransfer()), changed.GetTransfer())
			require.Equal(t, `"2"`, changed.GetEtag())
			out, in := p.leg(t, want.GetOutTransactionId()), p.leg(t, want.GetInTransactionId())
			require.Equal(t, "-"+want.GetAmount(), out.GetAmount())
			require.Equal(t, want.GetToAmount(), in.GetAmount())
			for _, leg := range []*ledgerv1.Transaction{out, in} {
				require.Equal(t, want.GetDescription(), leg.GetDescription())
				require.Equal(t, want.GetNotes(), leg.GetNotes())
				require.Equal(t, want.GetDate(), leg.GetDate())
			}
			r.IfMatch = `"1"`
			_, err = p.UpdateTransfer(p.Ctx, r)
			require.ErrorIs(t, err, apierr.VersionMismatch)
		})
	}
	t.Cleanup(func() { s.RequireConsistent(t) })
}

func TestUpdateTransferRejects(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	made := p.transfer(t, p.moves("10"))
	type req = ledgerv1.UpdateTransferRequest
	for name, c := range map[string]struct {
		req    *req
		code   codes.Code
		reason string
	}{
		"nothing":                       {&req{Id: made.GetId()}, codes.InvalidArgument, "EMPTY_UPDATE"},
		"a malformed id":                {&req{Id: "x", Amount: new("1")}, codes.InvalidArgument, "INVALID_TRANSFER_ID"},
		"an unknown id":                 {&req{Id: s.NewID().String(), Amount: new("1")}, codes.NotFound, "TRANSFER_NOT_FOUND"},
		"a currency without its amount": {&req{Id: made.GetId(), Currency: new("USD")}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"a second currency alone":       {&req{Id: made.GetId(), ToCurrency: new("USD")}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"a second amount alone":         {&req{Id: made.GetId(), ToAmount: new("9")}, codes.InvalidArgument, "TRANSFER_AMOUNT_MISMATCH"},
		"the same wallet":               {&req{Id: made.GetId(), ToWalletId: new(p.Wallet.String())}, codes.InvalidArgument, "TRANSFER_SAME_WALLET"},
		"another user's wallet":         {&req{Id: made.GetId(), ToWalletId: new(stranger.bank.String())}, codes.NotFound, "WALLET_NOT_FOUND"},
		"an old version":                {&req{Id: made.GetId(), Amount: new("1"), IfMatch: `"7"`}, codes.FailedPrecondition, "VERSION_MISMATCH"},
	} {
		t.Run(name, func(t *testing.T) {
			s.RequireRejected(t, c.code, c.reason, func() error {
				_, err := p.UpdateTransfer(p.Ctx, c.req)
				return err
			})
		})
	}
}

func TestDeleteTransfer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	made := p.transfer(t, p.moves("10"))
	s.RequireRejected(t, codes.NotFound, "TRANSFER_NOT_FOUND", func() error {
		_, err := s.DeleteTransfer(stranger.Ctx, &ledgerv1.DeleteTransferRequest{Id: made.GetId()})
		return err
	})
	s.RequireRejected(t, codes.NotFound, "TRANSFER_NOT_FOUND", func() error {
		_, err := s.GetTransfer(stranger.Ctx, &ledgerv1.GetTransferRequest{Id: made.GetId()})
		return err
	})
	for _, wallet := range []string{made.GetFromWalletId(), made.GetToWalletId()} {
		s.RequireRejected(t, codes.FailedPrecondition, "WALLET_IN_USE", func() error {
			_, err := s.DeleteWallet(p.Ctx, &ledgerv1.DeleteWalletRequest{Id: wallet})
			return err
		})
	}
	_, err := p.DeleteTransfer(p.Ctx, &ledgerv1.DeleteTransferRequest{Id: made.GetId(), IfMatch: `"1"`})
	require.NoError(t, err)
	require.True(t, proto.Equal(&ledgerv1.TransferDeleted{OwnerId: p.ID.String(), Transfer: made}, s.LastEvent(t)))
	for _, id := range []string{made.GetOutTransactionId(), made.GetInTransactionId()} {
		_, err := p.GetTransaction(p.Ctx, &ledgerv1.GetTransactionRequest{Id: id})
		fixture.RequireReason(t, err, codes.NotFound, "TRANSACTION_NOT_FOUND")
	}
	require.Equal(t, map[string]string{"EUR": "0.00"}, p.Balances(t, p.Wallet))
	s.RequireConsistent(t)
}

// TestListTransfersScan lists the transfers of a wallet that has only the oldest one of many. Each
// page examines a limited number of them.
func TestListTransfersScan(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	exchange := p.moves("10")
	exchange.ToWalletId, exchange.ToAmount, exchange.Date = p.yen.String(), new("1600"), "2020-01-01"
	oldest := p.transfer(t, exchange).GetId()
	const (
		examinedTransfers = 10_000
		count             = 2*examinedTransfers + 10
	)
	_, err := s.DB.Exec(t.Context(), `
		ALTER TABLE transactions DISABLE TRIGGER ALL;
		INSERT INTO transactions (id, owner_id, wallet_id, currency, amount_minor, amount_e4, description, date, created_at, updated_at, transfer_id, seq)
		SELECT gen_random_uuid(), '`+p.ID.String()+`', CASE WHEN leg < 0 THEN '`+p.Wallet.String()+`' ELSE '`+p.bank.String()+`' END::uuid, 'EUR', leg,
			leg * 100, '', timestamptz '2026-01-01' - n * interval '1 minute', now(), now(), ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 0
		FROM generate_series(1, `+strconv.Itoa(count)+`) AS n, unnest('{-1,1}'::integer[]) AS leg;
		ALTER TABLE transactions ENABLE TRIGGER ALL`)
	require.NoError(t, err)
	list := func(req *ledgerv1.ListTransfersRequest) (found []string, pages int) {
		for {
			resp, err := p.ListTransfers(p.Ctx, req)
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
	found, pages := list(&ledgerv1.ListTransfersRequest{WalletId: new(p.yen.String())})
	require.Equal(t, []string{oldest}, found)
	require.Equal(t, 3, pages)
	resp, err := p.ListTransfers(p.Ctx, &ledgerv1.ListTransfersRequest{WalletId: new(p.bank.String()), Limit: new(int32(200))})
	require.NoError(t, err)
	require.Len(t, resp.GetTransfers(), 200)
}

func TestListTransfers(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	stranger.transfer(t, stranger.moves("99"))
	var ids []string
	for _, day := range []string{"2026-03-01", "2026-03-02", "2026-03-02", "2026-03-03"} {
		req := p.moves("1")
		req.Date = day
		ids = append([]string{p.transfer(t, req).GetId()}, ids...)
	}
	exchange := p.moves("10")
	exchange.ToWalletId, exchange.ToAmount, exchange.Date = p.yen.String(), new("1600"), "2026-01-01"
	oldest := p.transfer(t, exchange).GetId()
	list := func(req *ledgerv1.ListTransfersRequest) []string {
		var found []string
		for {
			resp, err := p.ListTransfers(p.Ctx, req)
			require.NoError(t, err)
			for _, transfer := range resp.GetTransfers() {
				got, err := p.GetTransfer(p.Ctx, &ledgerv1.GetTransferRequest{Id: transfer.GetId()})
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
	require.Equal(t, append(ids, oldest), list(&ledgerv1.ListTransfersRequest{}))
	require.Equal(t, append(ids, oldest), list(&ledgerv1.ListTransfersRequest{Limit: new(int32(2))}))
	require.Equal(t, ids, list(&ledgerv1.ListTransfersRequest{WalletId: new(p.bank.String()), Limit: new(int32(1))}))
	require.Equal(t, []string{oldest}, list(&ledgerv1.ListTransfersRequest{WalletId: new(p.yen.String())}))
	require.Equal(t, ids[:3], list(&ledgerv1.ListTransfersRequest{From: new("2026-03-02"), To: new("2026-03-03")}))
	require.Equal(t, ids[1:], list(&ledgerv1.ListTransfersRequest{From: new("2026-02-02"), To: new("2026-03-02")}))

	_, err := p.ListTransfers(p.Ctx, &ledgerv1.ListTransfersRequest{WalletId: new(stranger.bank.String()), From: new("x"), Limit: new(int32(0))})
	require.Equal(t, []string{"limit", "from", "walletId"}, fixture.FieldNames(fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")))
	for _, c := range []struct {
		req    *ledgerv1.ListTransfersRequest
		code   codes.Code
		reason string
	}{
		{&ledgerv1.ListTransfersRequest{WalletId: new("x")}, codes.InvalidArgument, "WALLET_NOT_FOUND"},
		{&ledgerv1.ListTransfersRequest{WalletId: new(stranger.bank.String())}, codes.NotFound, "WALLET_NOT_FOUND"},
		{&ledgerv1.ListTransfersRequest{From: new("x")}, codes.InvalidArgument, "INVALID_TRANSACTION_DATE"},
		{&ledgerv1.ListTransfersRequest{From: new("2026-03-02"), To: new("2026-03-01")}, codes.InvalidArgument, "VALIDATION_ERROR"},
		{&ledgerv1.ListTransfersRequest{Cursor: "x"}, codes.InvalidArgument, "INVALID_CURSOR"},
		{&ledgerv1.ListTransfersRequest{Limit: new(int32(0))}, codes.InvalidArgument, "VALIDATION_ERROR"},
	} {
		_, err := p.ListTransfers(p.Ctx, c.req)
		fixture.RequireReason(t, err, c.code, c.reason)
	}
}
