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
	s, u := setup(t)
	want := &ledgerv1.Settings{TimeZone: "UTC", WeekStart: "monday"}
	require.Equal(t, `"0"`, s.requireSettings(u.Ctx, t, want))

	all := &update{
		TimeZone: new("Europe/Zurich"), WeekStart: new("sunday"), Locale: new("de-CH"),
		BaseCurrency: new("chf"), DefaultWalletId: new(u.Wallet.String()),
		DefaultCategoryId: new(u.Category.String()), IfMatch: `"0"`,
	}
	got, err := s.UpdateSettings(u.Ctx, all)
	require.NoError(t, err)
	want = &ledgerv1.Settings{
		TimeZone: "Europe/Zurich", WeekStart: "sunday", Locale: "de-CH", BaseCurrency: "CHF",
		DefaultWalletId: u.Wallet.String(), DefaultCategoryId: u.Category.String(),
		UpdatedAt: calendar.FormatTime(fixture.Today),
	}
	require.True(t, proto.Equal(want, got.GetSettings()), got)
	require.Equal(t, `"1"`, s.requireSettings(u.Ctx, t, want))
	s.RequireEvent(t, &ledgerv1.SettingsUpdated{OwnerId: u.ID.String(), Settings: want})

	_, err = s.UpdateSettings(u.Ctx, all)
	require.ErrorIs(t, err, apierr.VersionMismatch)
	_, err = s.UpdateSettings(u.Ctx, &update{IfMatch: `"1"`})
	require.ErrorIs(t, err, apierr.EmptyUpdate)

	_, err = s.UpdateSettings(u.Ctx, &update{
		Locale: new(""), BaseCurrency: new(""), DefaultWalletId: new(""),
		DefaultCategoryId: new(""), IfMatch: `"1"`,
	})
	require.NoError(t, err)
	want.Locale, want.BaseCurrency, want.DefaultWalletId, want.DefaultCategoryId = "", "", "", ""
	require.Equal(t, `"2"`, s.requireSettings(u.Ctx, t, want))
}

// TestUpdateSettingsConcurrently requires that no change of settings is lost, the first one
// included: each increases the version.
func TestUpdateSettingsConcurrently(t *testing.T) {
	t.Parallel()
	s, u := setup(t)
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
				_, err := s.UpdateSettings(u.Ctx, req)
				assert.NoError(t, err)
			}
		})
	}
	close(begin)
	wg.Wait()
	resp, err := s.GetSettings(u.Ctx, &ledgerv1.GetSettingsRequest{})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf(`"%d"`, writers*each), resp.GetEtag())
	require.Equal(t, []string{"sunday", "de"},
		[]string{resp.GetSettings().GetWeekStart(), resp.GetSettings().GetLocale()})
}

func TestUpdateSettingsRejects(t *testing.T) {
	t.Parallel()
	s, u := setup(t)
	other := s.NewUser(t.Context(), t)
	invalid := &apierr.Error{Code: codes.InvalidArgument, Reason: "VALIDATION_ERROR"}
	for name, c := range map[string]struct {
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
			_, err := s.UpdateSettings(u.Ctx, c.req)
			require.ErrorIs(t, err, c.want)
			require.Equal(t, `"0"`, s.requireSettings(u.Ctx, t,
				&ledgerv1.Settings{TimeZone: "UTC", WeekStart: "monday"}))
		})
	}
}

// TestUpdateSettingsOfDeletedDefaults deletes and merges the defaults: the deletion succeeds, and
// the settings follow.
func TestUpdateSettingsOfDeletedDefaults(t *testing.T) {
	t.Parallel()
	s, u := setup(t)
	target := s.MakeCategory(u.Ctx, t, "Target")
	_, err := s.UpdateSettings(u.Ctx, &update{
		DefaultWalletId: new(u.Wallet.String()), DefaultCategoryId: new(u.Category.String()),
	})
	require.NoError(t, err)
	want := &ledgerv1.Settings{
		TimeZone: "UTC", WeekStart: "monday", UpdatedAt: calendar.FormatTime(fixture.Today),
		DefaultWalletId: u.Wallet.String(), DefaultCategoryId: target.String(),
	}
	_, err = s.DeleteCategory(u.Ctx,
		&ledgerv1.DeleteCategoryRequest{Id: u.Category.String(), ReassignTo: new(target.String())})
	require.NoError(t, err)
	require.Equal(t, `"2"`, s.requireSettings(u.Ctx, t, want))

	_, err = s.DeleteWallet(u.Ctx, &ledgerv1.DeleteWalletRequest{Id: u.Wallet.String()})
	require.NoError(t, err)
	want.DefaultWalletId = ""
	require.Equal(t, `"3"`, s.requireSettings(u.Ctx, t, want))

	_, err = s.DeleteCategory(u.Ctx, &ledgerv1.DeleteCategoryRequest{Id: target.String()})
	require.NoError(t, err)
	want.DefaultCategoryId = ""
	require.Equal(t, `"4"`, s.requireSettings(u.Ctx, t, want))
}
