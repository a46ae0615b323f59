package accounts

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestCreateWalletOpeningDate(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	// It is already the next month in Auckland, and still the previous one in Los Angeles.
	created := func(now, zone string, date *string) string {
		at, err := time.Parse(time.RFC3339, now)
		require.NoError(t, err)
		ledger := *srv.Service.Ledger
		ledger.Now = func() time.Time { return at }
		user := srv.NewID()
		srv.setZone(t, user, zone)
		accounts := &Accounts{Ledger: &ledger, Cursors: srv.Service.Cursors}
		resp, err := accounts.CreateWallet(fixture.ActAs(t.Context(), user), &walletCreate{
			Name: "Cash", Currency: "EUR", Balance: new("5"), OpeningDate: date,
		})
		require.NoError(t, err)
		return resp.GetWallet().GetOpeningDate()
	}
	require.Equal(t, "2026-01-31", created("2026-01-31T12:00:00Z", "UTC", nil))
	require.Equal(t, "2026-02-01", created("2026-01-31T12:00:00Z", "Pacific/Auckland", nil))
	require.Equal(t, "2026-01-31", created("2026-02-01T07:00:00Z", "America/Los_Angeles", nil))
	require.Equal(t, "2020-02-29", created("2026-02-01T07:00:00Z", "UTC", new("2020-02-29")))
	require.Empty(t, created("2026-02-01T07:00:00Z", "UTC", new("")))
}

// setZone stores the time zone of a user.
func (s *server) setZone(t require.TestingT, user uuid.UUID, zone string) {
	_, err := s.DB.Exec(context.Background(), `
		INSERT INTO settings (owner_id, time_zone, week_start, locale, base_currency, version,
			updated_at)
		VALUES ($1, $2, 'monday', '', '', 1, now())`, user, zone)
	require.NoError(t, err)
}

// TestCreateWalletReplaysOpeningDate requires that a repetition on another day returns the first
// answer.
func TestCreateWalletReplaysOpeningDate(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	req := &walletCreate{Name: "Cash", Currency: "EUR", IdempotencyKey: "key"}
	first, err := srv.CreateWallet(ctx, req)
	require.NoError(t, err)
	later := *srv.Service.Ledger
	later.Now = func() time.Time { return fixture.Today.AddDate(0, 0, 1).Add(-13 * time.Hour) }
	again, err := (&Accounts{Ledger: &later, Cursors: srv.Service.Cursors}).CreateWallet(ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(first.GetWallet(), again.GetWallet()), again)
}

func TestUpdateWalletOpeningBalance(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	me.Create(t, me.Spends("3"))
	update := func(req *walletUpdate) *ledgerv1.Wallet {
		req.Id = me.Wallet.String()
		resp, err := srv.UpdateWallet(me.Ctx, req)
		require.NoError(t, err)
		got, err := srv.GetWallet(me.Ctx, &ledgerv1.GetWalletRequest{Id: req.GetId()})
		require.NoError(t, err)
		require.True(t, proto.Equal(resp.GetWallet(), got.GetWallet()), "answered %v, stored %v",
			resp.GetWallet(), got.GetWallet())
		require.Equal(t, resp.GetEtag(), got.GetEtag())
		event, ok := srv.LastEvent(t).(*ledgerv1.WalletUpdated)
		require.True(t, ok)
		require.True(t, proto.Equal(resp.GetWallet(), event.GetWallet()), event)
		srv.RequireConsistent(t)
		return resp.GetWallet()
	}
	wallet := update(&walletUpdate{
		InitialBalance: new("100.5"), OpeningDate: new("2025-12-31"), IfMatch: `"1"`,
	})
	require.Equal(t, []string{"100.50", "97.50", "2025-12-31"},
		[]string{wallet.GetInitialBalance(), wallet.GetBalance(), wallet.GetOpeningDate()})
	wallet = update(&walletUpdate{InitialBalance: new("-1")})
	require.Equal(t, []string{"-1.00", "-4.00", "2025-12-31"},
		[]string{wallet.GetInitialBalance(), wallet.GetBalance(), wallet.GetOpeningDate()})
	wallet = update(&walletUpdate{OpeningDate: new("")})
	require.Equal(t, []string{"-1.00", "-4.00", ""},
		[]string{wallet.GetInitialBalance(), wallet.GetBalance(), wallet.GetOpeningDate()})
	wallet = update(&walletUpdate{Name: new("Purse"), IfMatch: `"4"`})
	require.Equal(t, []string{"-1.00", "-4.00", ""},
		[]string{wallet.GetInitialBalance(), wallet.GetBalance(), wallet.GetOpeningDate()})
}

func TestUpdateWalletOpeningErrors(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	yen := srv.MakeWallet(me.Ctx, t, "Yen", "JPY")
	full := srv.MakeWallet(me.Ctx, t, "Full", "EUR")
	pgtest.Exec(t, srv.DB,
		`UPDATE wallet_balances SET amount_minor = 100000000000000000 WHERE wallet_id = $1`, full)
	for name, tc := range map[string]struct {
		req   *walletUpdate
		field string
	}{
		"no number": {
			&walletUpdate{Id: yen.String(), InitialBalance: new("much")}, "initialBalance",
		},
		"an empty number": {
			&walletUpdate{Id: yen.String(), InitialBalance: new("")}, "initialBalance",
		},
		"decimals of no yen": {
			&walletUpdate{Id: yen.String(), InitialBalance: new("1.5")}, "initialBalance",
		},
		"more than a maximum": {
			&walletUpdate{Id: yen.String(), InitialBalance: new("1000000000000")}, "initialBalance",
		},
		"a balance too large": {
			&walletUpdate{Id: full.String(), InitialBalance: new("0.01")}, "initialBalance",
		},
		"no day": {&walletUpdate{Id: yen.String(), OpeningDate: new("2026-02-29")}, "openingDate"},
		"a time": {
			&walletUpdate{Id: yen.String(), OpeningDate: new("2026-02-01T10:00:00Z")},
			"openingDate",
		},
		"a day before 1900": {
			&walletUpdate{Id: yen.String(), OpeningDate: new("1899-12-31")}, "openingDate",
		},
		"a day after the 2200": {
			&walletUpdate{Id: yen.String(), OpeningDate: new("2201-01-01")}, "openingDate",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := srv.UpdateWallet(me.Ctx, tc.req)
			e := apierr.From(err)
			require.NotNil(t, e, err)
			require.Equal(t, "VALIDATION_ERROR", e.Reason)
			require.Len(t, e.Fields, 1)
			require.Equal(t, tc.field, e.Fields[0].Name)
		})
	}
}
