package settings

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

type update = ledgerv1.UpdateSettingsRequest

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*accounts.Accounts
	*Server
}

func setup(t testing.TB) (*server, fixture.User) {
	t.Helper()
	f := fixture.New(t)
	s := &server{Service: f, Accounts: &accounts.Accounts{
		Ledger: f.Ledger, Cursors: f.Cursors,
	}, Server: &Server{Ledger: f.Ledger}}
	f.RPCs = s
	return s, s.NewUser(t.Context(), t)
}

// requireSettings requires that the user has these settings, and returns their ETag.
func (s *server) requireSettings(
	ctx context.Context, t *testing.T, want *ledgerv1.Settings,
) string {
	t.Helper()
	got, err := s.GetSettings(ctx, &ledgerv1.GetSettingsRequest{})
	require.NoError(t, err)
	require.True(t, proto.Equal(want, got.GetSettings()), got)
	return got.GetEtag()
}

func TestUpdateSettings(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	want := &ledgerv1.Settings{TimeZone: "UTC", WeekStart: "monday"}
	require.Equal(t, `"0"`, srv.requireSettings(user.Ctx, t, want))

	all := &update{
		TimeZone: new("Europe/Zurich"), WeekStart: new("sunday"), Locale: new("de-CH"),
		BaseCurrency: new("chf"), DefaultWalletId: new(user.Wallet.String()),
		DefaultCategoryId: new(user.Category.String()), IfMatch: `"0"`,
	}
	got, err := srv.UpdateSettings(user.Ctx, all)
	require.NoError(t, err)
	want = &ledgerv1.Settings{
		TimeZone: "Europe/Zurich", WeekStart: "sunday", Locale: "de-CH", BaseCurrency: "CHF",
		DefaultWalletId: user.Wallet.String(), DefaultCategoryId: user.Category.String(),
		UpdatedAt: calendar.FormatTime(fixture.Today),
	}
	require.True(t, proto.Equal(want, got.GetSettings()), got)
	require.Equal(t, `"1"`, srv.requireSettings(user.Ctx, t, want))
	srv.RequireEvent(t, &ledgerv1.SettingsUpdated{OwnerId: user.ID.String(), Settings: want})

	_, err = srv.UpdateSettings(user.Ctx, all)
	require.ErrorIs(t, err, apierr.VersionMismatch)
	_, err = srv.UpdateSettings(user.Ctx, &update{IfMatch: `"1"`})
	require.ErrorIs(t, err, apierr.EmptyUpdate)

	_, err = srv.UpdateSettings(user.Ctx, &update{
		Locale: new(""), BaseCurrency: new(""), DefaultWalletId: new(""),
		DefaultCategoryId: new(""), IfMatch: `"1"`,
	})
	require.NoError(t, err)
	want.Locale, want.BaseCurrency, want.DefaultWalletId, want.DefaultCategoryId = "", "", "", ""
	require.Equal(t, `"2"`, srv.requireSettings(user.Ctx, t, want))
}

// TestUpdateSettingsConcurrently requires that no change of settings is lost, the first one
// included: each increases the version.
func TestUpdateSettingsConcurrently(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	const writers, each = 8, 5
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range writers {
		wg.Go(func() {
			<-begin
			for n := range each {
				req := &update{Locale: new([]string{"de", "en"}[n%2])}
				if i%2 == 0 {
					req = &update{WeekStart: new([]string{"sunday", "saturday"}[n%2])}
				}
				_, err := srv.UpdateSettings(user.Ctx, req)
				assert.NoError(t, err)
			}
		})
	}
	close(begin)
	wg.Wait()
	resp, err := srv.GetSettings(user.Ctx, &ledgerv1.GetSettingsRequest{})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf(`"%d"`, writers*each), resp.GetEtag())
	require.Equal(t, []string{"sunday", "de"},
		[]string{resp.GetSettings().GetWeekStart(), resp.GetSettings().GetLocale()})
}

func TestUpdateSettingsRejects(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	other := srv.NewUser(t.Context(), t)
	invalid := &apierr.Error{Code: codes.InvalidArgument, Reason: "VALIDATION_ERROR"}
	for name, tc := range map[string]struct {
		req  *update
		want *apierr.Error
	}{
		"an unknown time zone":   {&update{TimeZone: new("Europe/Atlantis")}, errInvalidTimeZone},
		"an empty time zone":     {&update{TimeZone: new("")}, errInvalidTimeZone},
		"the server's time zone": {&update{TimeZone: new("Local")}, errInvalidTimeZone},
		"a path":                 {&update{TimeZone: new("../../etc/passwd")}, errInvalidTimeZone},
		"an unknown week":        {&update{WeekStart: new("friday")}, invalid},
		"an invalid locale":      {&update{Locale: new("de_CH")}, invalid},
		"an unknown currency": {
			&update{BaseCurrency: new("XXQ")}, request.ErrUnsupportedCurrency,
		},
		"a malformed wallet": {&update{DefaultWalletId: new("x")}, request.ErrInvalidWalletID},
		"another user's wallet": {
			&update{DefaultWalletId: new(other.Wallet.String())}, request.ErrWalletNotFound,
		},
		"another user's category": {
			&update{DefaultCategoryId: new(other.Category.String())}, request.ErrCategoryNotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := srv.UpdateSettings(user.Ctx, tc.req)
			require.ErrorIs(t, err, tc.want)
			require.Equal(t, `"0"`, srv.requireSettings(user.Ctx, t,
				&ledgerv1.Settings{TimeZone: "UTC", WeekStart: "monday"}))
		})
	}
}

// TestUpdateSettingsOfDeletedDefaults deletes and merges the defaults: the deletion succeeds, and
// the settings follow.
func TestUpdateSettingsOfDeletedDefaults(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	target := srv.MakeCategory(user.Ctx, t, "Target")
	_, err := srv.UpdateSettings(user.Ctx, &update{
		DefaultWalletId: new(user.Wallet.String()), DefaultCategoryId: new(user.Category.String()),
	})
	require.NoError(t, err)
	want := &ledgerv1.Settings{
		TimeZone: "UTC", WeekStart: "monday", UpdatedAt: calendar.FormatTime(fixture.Today),
		DefaultWalletId: user.Wallet.String(), DefaultCategoryId: target.String(),
	}
	_, err = srv.DeleteCategory(user.Ctx,
		&ledgerv1.DeleteCategoryRequest{
			Id: user.Category.String(), ReassignTo: new(target.String()),
		})
	require.NoError(t, err)
	require.Equal(t, `"2"`, srv.requireSettings(user.Ctx, t, want))

	_, err = srv.DeleteWallet(user.Ctx, &ledgerv1.DeleteWalletRequest{Id: user.Wallet.String()})
	require.NoError(t, err)
	want.DefaultWalletId = ""
	require.Equal(t, `"3"`, srv.requireSettings(user.Ctx, t, want))

	_, err = srv.DeleteCategory(user.Ctx, &ledgerv1.DeleteCategoryRequest{Id: target.String()})
	require.NoError(t, err)
	want.DefaultCategoryId = ""
	require.Equal(t, `"4"`, srv.requireSettings(user.Ctx, t, want))
}
