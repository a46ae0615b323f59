package accounts

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestCreateWalletOpeningBalance(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	for name, tc := range map[string]struct {
		currency string
		balance  *string
		want     string
	}{
		"nothing":             {"eur", nil, "0.00"},
		"an amount":           {"EUR", new("12.5"), "12.50"},
		"a debt":              {" usd ", new("-0.01"), "-0.01"},
		"no decimals":         {"JPY", new("1e3"), "1000"},
		"three decimals":      {"BHD", new("1.234"), "1.234"},
		"as much as there is": {"EUR", new("999999999999.99"), "999999999999.99"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			created, err := srv.CreateWallet(ctx,
				&walletCreate{Name: "  Cash ", Currency: tc.currency, Balance: tc.balance})
			require.NoError(t, err)
			wallet := created.GetWallet()
			code := strings.ToUpper(strings.TrimSpace(tc.currency))
			want := &ledgerv1.Wallet{
				Id: wallet.GetId(), Name: "Cash", Currency: code, Balance: tc.want,
				InitialBalance: tc.want,
				Balances:       []*ledgerv1.Balance{{Currency: code, Amount: tc.want}},
				CreatedAt:      "2026-03-15T12:00:00.000Z", UpdatedAt: "2026-03-15T12:00:00.000Z",
				OpeningDate: "2026-03-15", Kind: "other",
			}
			require.True(t, proto.Equal(want, wallet), wallet)
			require.Equal(t, `"1"`, created.GetEtag())
			got, err := srv.GetWallet(ctx,
				&ledgerv1.GetWalletRequest{Id: strings.ToUpper(wallet.GetId())})
			require.NoError(t, err)
			require.True(t, proto.Equal(wallet, got.GetWallet()), got)
		})
	}
}

func TestCreateWalletErrors(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	for name, tc := range map[string]struct {
		req    *walletCreate
		reason string
		fields []string
	}{
		"nothing at all": {&walletCreate{}, "VALIDATION_ERROR", []string{"name", "currency"}},
		"a name of spaces": {
			&walletCreate{Name: "  ", Currency: "EUR"}, "VALIDATION_ERROR", []string{"name"},
		},
		"a name too long": {
			&walletCreate{Name: strings.Repeat("é", 101), Currency: "EUR"}, "VALIDATION_ERROR",
			[]string{"name"},
		},
		"a name with NUL": {
			&walletCreate{Name: "a\x00b", Currency: "EUR"}, "VALIDATION_ERROR", []string{"name"},
		},
		"a currency that is none": {
			&walletCreate{Name: "A", Currency: "XXQ"}, "UNSUPPORTED_CURRENCY", []string{"currency"},
		},
		"a balance that is none": {
			&walletCreate{Name: "A", Currency: "EUR", Balance: new("much")}, "VALIDATION_ERROR",
			[]string{"balance"},
		},
		"a balance too fine": {
			&walletCreate{Name: "A", Currency: "JPY", Balance: new("0.5")}, "VALIDATION_ERROR",
			[]string{"balance"},
		},
		"a balance too large": {
			&walletCreate{Name: "A", Currency: "EUR", Balance: new("1000000000000")},
			"VALIDATION_ERROR",
			[]string{"balance"},
		},
		"everything wrong at once": {
			&walletCreate{Currency: "XXQ", Balance: new("0.00001")}, "VALIDATION_ERROR",
			[]string{"name", "balance", "currency"},
		},
		"a key that is too long": {
			&walletCreate{Name: "A", Currency: "EUR", IdempotencyKey: strings.Repeat("k", 256)},
			"VALIDATION_ERROR",
			[]string{"Idempotency-Key"},
		},
		"a key that is not printed": {
			&walletCreate{Name: "A", Currency: "EUR", IdempotencyKey: "k\n"}, "VALIDATION_ERROR",
			[]string{"Idempotency-Key"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := srv.RequireRejected(t, codes.InvalidArgument, tc.reason, func() error {
				_, err := srv.CreateWallet(ctx, tc.req)
				return err
			})
			require.Equal(t, tc.fields, fixture.FieldNames(e))
		})
	}
}

func TestCreateWalletReplaysKey(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	req := &walletCreate{Name: "Cash", Currency: "EUR", IdempotencyKey: "k"}
	first, err := srv.CreateWallet(ctx, req)
	require.NoError(t, err)
	again, err := srv.CreateWallet(ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(first.GetWallet(), again.GetWallet()))
	srv.RequireRejected(t, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT", func() error {
		_, err := srv.CreateWallet(ctx,
			&walletCreate{Name: "Bank", Currency: "EUR", IdempotencyKey: "k"})
		return err
	})
	other, err := srv.CreateWallet(fixture.ActAs(t.Context(), srv.NewID()), req)
	require.NoError(t, err)
	require.NotEqual(t, first.GetWallet().GetId(), other.GetWallet().GetId())
}

func TestUpdateWalletRenamesAndArchives(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	resp, err := me.UpdateWallet(me.Ctx,
		&walletUpdate{Id: me.Wallet.String(), Name: new(" Purse ")})
	require.NoError(t, err)
	require.Equal(t, "Purse", resp.GetWallet().GetName())
	require.False(t, resp.GetWallet().GetArchived())
	require.Equal(t, `"2"`, resp.GetEtag())
	resp, err = me.UpdateWallet(me.Ctx,
		&walletUpdate{Id: me.Wallet.String(), Archived: new(true), IfMatch: `"2"`})
	require.NoError(t, err)
	require.Equal(t, "Purse", resp.GetWallet().GetName())
	require.True(t, resp.GetWallet().GetArchived())
	me.RequireEvent(t, &ledgerv1.WalletUpdated{OwnerId: me.ID.String(), Wallet: resp.GetWallet()})

	// Money that comes or goes does not make the tag stale.
	me.Create(t, me.Spends("5"))
	resp, err = me.UpdateWallet(me.Ctx,
		&walletUpdate{Id: me.Wallet.String(), Archived: new(false), IfMatch: `"3"`})
	require.NoError(t, err)
	require.Equal(t, "-5.00", resp.GetWallet().GetBalance())
}

func TestDeleteWalletInUse(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	tr := me.Create(t, me.Spends("5"))
	del := func() error {
		_, err := me.DeleteWallet(me.Ctx, &ledgerv1.DeleteWalletRequest{Id: me.Wallet.String()})
		return err
	}
	me.RequireRejected(t, codes.FailedPrecondition, "WALLET_IN_USE", del)
	_, err := me.DeleteTransaction(me.Ctx, &ledgerv1.DeleteTransactionRequest{Id: tr.GetId()})
	require.NoError(t, err)
	require.NoError(t, del())
	me.RequireEvent(t,
		&ledgerv1.WalletDeleted{OwnerId: me.ID.String(), WalletId: me.Wallet.String()})
	me.RequireRejected(t, codes.NotFound, "WALLET_NOT_FOUND", del)
	left := pgtest.Value[int](t, me.DB,
		`SELECT (SELECT count(*) FROM wallet_balances) + (SELECT count(*) FROM monthly_totals)`)
	require.Zero(t, left)
}

func TestWalletIDErrors(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	for id, code := range map[string]codes.Code{
		"":                                 codes.InvalidArgument,
		"1":                                codes.InvalidArgument,
		"{" + me.Wallet.String()[1:]:       codes.InvalidArgument,
		uuid.Nil.String():                  codes.NotFound,
		srv.NewID().String():               codes.NotFound,
		stranger.Wallet.String():           codes.NotFound,
		me.Category.String():               codes.NotFound,
		me.Wallet.String() + "'; SELECT 1": codes.InvalidArgument,
	} {
		for name, do := range map[string]func() error{
			"get": func() error {
				_, err := srv.GetWallet(me.Ctx, &ledgerv1.GetWalletRequest{Id: id})
				return err
			},
			"update": func() error {
				_, err := srv.UpdateWallet(me.Ctx, &walletUpdate{Id: id, Name: new("Mine")})
				return err
			},
			"delete": func() error {
				_, err := srv.DeleteWallet(me.Ctx, &ledgerv1.DeleteWalletRequest{Id: id})
				return err
			},
		} {
			t.Run(name+" "+id, func(t *testing.T) {
				srv.RequireRejected(t, code, "WALLET_NOT_FOUND", do)
			})
		}
	}
}

func TestUpdateWalletErrors(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	me.RequireRejected(t, codes.FailedPrecondition, "VERSION_MISMATCH", func() error {
		_, err := me.UpdateWallet(me.Ctx,
			&walletUpdate{Id: me.Wallet.String(), Name: new("A"), IfMatch: `"2"`})
		return err
	})
	me.RequireRejected(t, codes.FailedPrecondition, "VERSION_MISMATCH", func() error {
		_, err := me.DeleteWallet(me.Ctx,
			&ledgerv1.DeleteWalletRequest{Id: me.Wallet.String(), IfMatch: `W/"1"`})
		return err
	})
	me.RequireRejected(t, codes.InvalidArgument, "EMPTY_UPDATE", func() error {
		_, err := me.UpdateWallet(me.Ctx, &walletUpdate{Id: me.Wallet.String()})
		return err
	})
	me.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
		_, err := me.UpdateWallet(me.Ctx, &walletUpdate{Id: me.Wallet.String(), Name: new("")})
		return err
	})
}
