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
	s := setup(t)
	ctx := fixture.ActAs(t.Context(), s.NewID())
	for name, c := range map[string]struct {
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
			created, err := s.CreateWallet(ctx,
				&walletCreate{Name: "  Cash ", Currency: c.currency, Balance: c.balance})
			require.NoError(t, err)
			w := created.GetWallet()
			code := strings.ToUpper(strings.TrimSpace(c.currency))
			want := &ledgerv1.Wallet{
				Id: w.GetId(), Name: "Cash", Currency: code, Balance: c.want,
				InitialBalance: c.want,
				Balances:       []*ledgerv1.Balance{{Currency: code, Amount: c.want}},
				CreatedAt:      "2026-03-15T12:00:00.000Z", UpdatedAt: "2026-03-15T12:00:00.000Z",
				OpeningDate: "2026-03-15",
			}
			require.True(t, proto.Equal(want, w), w)
			require.Equal(t, `"1"`, created.GetEtag())
			got, err := s.GetWallet(ctx, &ledgerv1.GetWalletRequest{Id: strings.ToUpper(w.GetId())})
			require.NoError(t, err)
			require.True(t, proto.Equal(w, got.GetWallet()), got)
		})
	}
}

func TestCreateWalletErrors(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := fixture.ActAs(t.Context(), s.NewID())
	for name, c := range map[string]struct {
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
			e := s.RequireRejected(t, codes.InvalidArgument, c.reason, func() error {
				_, err := s.CreateWallet(ctx, c.req)
				return err
			})
			require.Equal(t, c.fields, fixture.FieldNames(e))
		})
	}
}

func TestCreateWalletReplaysKey(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := fixture.ActAs(t.Context(), s.NewID())
	req := &walletCreate{Name: "Cash", Currency: "EUR", IdempotencyKey: "k"}
	first, err := s.CreateWallet(ctx, req)
	require.NoError(t, err)
	again, err := s.CreateWallet(ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(first.GetWallet(), again.GetWallet()))
	s.RequireRejected(t, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT", func() error {
		_, err := s.CreateWallet(ctx,
			&walletCreate{Name: "Bank", Currency: "EUR", IdempotencyKey: "k"})
		return err
	})
	other, err := s.CreateWallet(fixture.ActAs(t.Context(), s.NewID()), req)
	require.NoError(t, err)
	require.NotEqual(t, first.GetWallet().GetId(), other.GetWallet().GetId())
}

func TestUpdateWalletRenamesAndArchives(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	resp, err := p.UpdateWallet(p.Ctx, &walletUpdate{Id: p.Wallet.String(), Name: new(" Purse ")})
	require.NoError(t, err)
	require.Equal(t, "Purse", resp.GetWallet().GetName())
	require.False(t, resp.GetWallet().GetArchived())
	require.Equal(t, `"2"`, resp.GetEtag())
	resp, err = p.UpdateWallet(p.Ctx,
		&walletUpdate{Id: p.Wallet.String(), Archived: new(true), IfMatch: `"2"`})
	require.NoError(t, err)
	require.Equal(t, "Purse", resp.GetWallet().GetName())
	require.True(t, resp.GetWallet().GetArchived())
	p.RequireEvent(t, &ledgerv1.WalletUpdated{OwnerId: p.ID.String(), Wallet: resp.GetWallet()})

	// Money that comes or goes does not make the tag stale.
	p.Create(t, p.Spends("5"))
	resp, err = p.UpdateWallet(p.Ctx,
		&walletUpdate{Id: p.Wallet.String(), Archived: new(false), IfMatch: `"3"`})
	require.NoError(t, err)
	require.Equal(t, "-5.00", resp.GetWallet().GetBalance())
}

func TestDeleteWalletInUse(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	tr := p.Create(t, p.Spends("5"))
	del := func() error {
		_, err := p.DeleteWallet(p.Ctx, &ledgerv1.DeleteWalletRequest{Id: p.Wallet.String()})
		return err
	}
	p.RequireRejected(t, codes.FailedPrecondition, "WALLET_IN_USE", del)
	_, err := p.DeleteTransaction(p.Ctx, &ledgerv1.DeleteTransactionRequest{Id: tr.GetId()})
	require.NoError(t, err)
	require.NoError(t, del())
	p.RequireEvent(t, &ledgerv1.WalletDeleted{OwnerId: p.ID.String(), WalletId: p.Wallet.String()})
	p.RequireRejected(t, codes.NotFound, "WALLET_NOT_FOUND", del)
	left := pgtest.Value[int](t, p.DB,
		`SELECT (SELECT count(*) FROM wallet_balances) + (SELECT count(*) FROM monthly_totals)`)
	require.Zero(t, left)
}

func TestWalletIDErrors(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	for id, code := range map[string]codes.Code{
		"":                                codes.InvalidArgument,
		"1":                               codes.InvalidArgument,
		"{" + p.Wallet.String()[1:]:       codes.InvalidArgument,
		uuid.Nil.String():                 codes.NotFound,
		s.NewID().String():                codes.NotFound,
		stranger.Wallet.String():          codes.NotFound,
		p.Category.String():               codes.NotFound,
		p.Wallet.String() + "'; SELECT 1": codes.InvalidArgument,
	} {
		for name, do := range map[string]func() error{
			"get": func() error {
				_, err := s.GetWallet(p.Ctx, &ledgerv1.GetWalletRequest{Id: id})
				return err
			},
			"update": func() error {
				_, err := s.UpdateWallet(p.Ctx, &walletUpdate{Id: id, Name: new("Mine")})
				return err
			},
			"delete": func() error {
				_, err := s.DeleteWallet(p.Ctx, &ledgerv1.DeleteWalletRequest{Id: id})
				return err
			},
		} {
			t.Run(name+" "+id, func(t *testing.T) {
				s.RequireRejected(t, code, "WALLET_NOT_FOUND", do)
			})
		}
	}
}

func TestUpdateWalletErrors(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	p.RequireRejected(t, codes.FailedPrecondition, "VERSION_MISMATCH", func() error {
		_, err := p.UpdateWallet(p.Ctx,
			&walletUpdate{Id: p.Wallet.String(), Name: new("A"), IfMatch: `"2"`})
		return err
	})
	p.RequireRejected(t, codes.FailedPrecondition, "VERSION_MISMATCH", func() error {
		_, err := p.DeleteWallet(p.Ctx,
			&ledgerv1.DeleteWalletRequest{Id: p.Wallet.String(), IfMatch: `W/"1"`})
		return err
	})
	p.RequireRejected(t, codes.InvalidArgument, "EMPTY_UPDATE", func() error {
		_, err := p.UpdateWallet(p.Ctx, &walletUpdate{Id: p.Wallet.String()})
		return err
	})
	p.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
		_, err := p.UpdateWallet(p.Ctx, &walletUpdate{Id: p.Wallet.String(), Name: new("")})
		return err
	})
}
