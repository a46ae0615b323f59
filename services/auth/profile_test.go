package auth

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

func TestUpdateMe(t *testing.T) {
	t.Parallel()
	t.Run("requires the current password for a new e-mail", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		ctx, _ := env.member(t, "ada@example.com")
		move := func(password string) func() error {
			return pgtest.Call(ctx, env.UpdateMe,
				&authv1.UpdateMeRequest{Email: new("eve@example.com"), CurrentPassword: password})
		}
		for _, password := range []string{"", strings.Repeat("a", 129)} {
			e := env.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", move(password))
			require.Equal(t, []string{"currentPassword"}, fieldNames(e))
		}
		e := env.refuses(t, codes.Unauthenticated, "INVALID_CREDENTIALS", move("wrong password"))
		require.Equal(t, "The current password is wrong", e.Message)
		entries := env.audit(ctx, t)
		require.Equal(t, "email_change_failed", entries[0].GetType())
		require.NoError(t, move(goodPassword)())
	})
	t.Run("counts wrong passwords of any e-mail like a password change", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		ctx, _ := env.member(t, "ada@example.com")
		for range failuresPerPair - 1 {
			_, err := env.ChangePassword(ctx, &authv1.ChangePasswordRequest{
				CurrentPassword: "wrong password", NewPassword: "another password",
			})
			require.ErrorIs(t, err, errWrongPassword)
		}
		_, err := env.UpdateMe(ctx, &authv1.UpdateMeRequest{
			Email: new("eve@example.com"), CurrentPassword: "wrong password",
		})
		require.ErrorIs(t, err, errWrongPassword)
		env.refuses(t, codes.ResourceExhausted, "RATE_LIMITED", pgtest.Call(ctx, env.UpdateMe,
			&authv1.UpdateMeRequest{Email: new("eve@example.com"), CurrentPassword: goodPassword}))
		// As if the e-mail had been changed by the release before, which did not ask for the
		// password.
		pgtest.Exec(t, env.db, `UPDATE users SET email = 'eve@example.com'`)
		env.refuses(t, codes.ResourceExhausted, "RATE_LIMITED",
			pgtest.Call(ctx, env.ChangePassword, &authv1.ChangePasswordRequest{
				CurrentPassword: goodPassword, NewPassword: "another password",
			}))
	})
	t.Run("changes the name and the e-mail", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		ctx, l := env.member(t, "ada@example.com")
		me, err := env.GetMe(ctx, &authv1.GetMeRequest{})
		require.NoError(t, err)
		require.True(t, proto.Equal(l.GetUser(), me.GetUser()))

		renamed, err := env.UpdateMe(ctx, &authv1.UpdateMeRequest{Name: new(" Ada L. ")})
		require.NoError(t, err)
		require.Equal(t, "Ada L.", renamed.GetUser().GetName())
		require.Equal(t, "ada@example.com", renamed.GetUser().GetEmail())
		env.refuses(t, codes.FailedPrecondition, "VERSION_MISMATCH", pgtest.Call(ctx, env.UpdateMe,
			&authv1.UpdateMeRequest{Name: new("Eve"), IfMatch: me.GetEtag()}))

		moved, err := env.UpdateMe(ctx, &authv1.UpdateMeRequest{
			Email: new(" Lovelace@Example.com"), IfMatch: renamed.GetEtag(),
			CurrentPassword: goodPassword,
		})
		require.NoError(t, err)
		require.Equal(t, "Ada L.", moved.GetUser().GetName())
		require.Equal(t, "lovelace@example.com", moved.GetUser().GetEmail())
		me, err = env.GetMe(ctx, &authv1.GetMeRequest{})
		require.NoError(t, err)
		require.True(t, proto.Equal(moved.GetUser(), me.GetUser()))

		events := env.events(t)
		require.Len(t, events, 3)
		require.Equal(t, "auth.v1.user.updated", events[2].Subject)
		require.True(t, proto.Equal(&authv1.UserUpdated{User: me.GetUser()}, events[2].message(t)))

		env.login(t, "lovelace@example.com")
		_, err = env.Login(t.Context(),
			&authv1.LoginRequest{Email: "ada@example.com", Password: goodPassword})
		require.ErrorIs(t, err, errInvalidCredentials)
		env.register(t, "ada@example.com")
	})
	t.Run("rejects an empty or invalid change", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		ctx, _ := env.member(t, "ada@example.com")
		env.register(t, "bob@example.com")
		update := func(req *authv1.UpdateMeRequest) func() error {
			return pgtest.Call(ctx, env.UpdateMe, req)
		}
		env.refuses(t, codes.InvalidArgument, "EMPTY_UPDATE", update(&authv1.UpdateMeRequest{}))
		e := env.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR",
			update(&authv1.UpdateMeRequest{Name: new(""), Email: new("x")}))
		require.Equal(t, []string{"name", "email"}, fieldNames(e))
		env.refuses(t, codes.AlreadyExists, "EMAIL_ALREADY_EXISTS",
			update(&authv1.UpdateMeRequest{
				Name: new("Eve"), Email: new("BOB@example.com"), CurrentPassword: goodPassword,
			}))
		_, err := env.UpdateMe(ctx, &authv1.UpdateMeRequest{Email: new("ada@example.com")})
		require.NoError(t, err, "one's own e-mail is not taken")
	})
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	t.Run("ends every other session", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		ctx, mine := env.member(t, "ada@example.com")
		other := env.login(t, "ada@example.com")
		_, bobs := env.member(t, "bob@example.com")
		_, err := env.ChangePassword(ctx, &authv1.ChangePasswordRequest{
			CurrentPassword: goodPassword, NewPassword: "another password",
		})
		require.NoError(t, err)

		_, err = env.verify(t, other.GetAccessToken())
		require.ErrorIs(t, err, apierr.Unauthorized)
		_, err = env.refresh(t.Context(), other.GetRefreshToken())
		require.ErrorIs(t, err, errInvalidRefreshToken)
		for _, token := range []string{mine.GetAccessToken(), bobs.GetAccessToken()} {
			_, err = env.verify(t, token)
			require.NoError(t, err)
		}
		_, err = env.refresh(t.Context(), mine.GetRefreshToken())
		require.NoError(t, err)
		_, err = env.Login(t.Context(),
			&authv1.LoginRequest{Email: "ada@example.com", Password: goodPassword})
		require.ErrorIs(t, err, errInvalidCredentials)
		_, err = env.Login(t.Context(),
			&authv1.LoginRequest{Email: "ada@example.com", Password: "another password"})
		require.NoError(t, err)
	})
	t.Run("requires the current password and a good new one", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		ctx, _ := env.member(t, "ada.lovelace@example.com")
		change := func(current, wanted string) func() error {
			return pgtest.Call(ctx, env.ChangePassword,
				&authv1.ChangePasswordRequest{CurrentPassword: current, NewPassword: wanted})
		}
		for _, tc := range []struct {
			current, wanted string
			fields          []string
		}{
			{"", "", []string{"currentPassword", "newPassword"}},
			{goodPassword, "short", []string{"newPassword"}},
			{goodPassword, "password", []string{"newPassword"}},
			{goodPassword, "Ada.Lovelace", []string{"newPassword"}},
			{strings.Repeat("a", 129), "another password", []string{"currentPassword"}},
		} {
			e := env.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR",
				change(tc.current, tc.wanted))
			require.Equal(t, tc.fields, fieldNames(e))
		}
		for range failuresPerPair {
			env.refuses(t, codes.Unauthenticated, "INVALID_CREDENTIALS",
				change("wrong password", "another password"))
		}
		env.refuses(t, codes.ResourceExhausted, "RATE_LIMITED",
			change(goodPassword, "another password"))
	})
}

func TestGetMe(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ada, _ := env.member(t, "ada@example.com")
	bob, _ := env.member(t, "bob@example.com")
	a, _ := caller.From(ada)
	c, _ := caller.From(bob)
	mixed := caller.With(t.Context(), caller.Identity{UserID: a.UserID, SessionID: c.SessionID})
	env.refuses(t, codes.Unauthenticated, "UNAUTHORIZED",
		pgtest.Call(mixed, env.GetMe, &authv1.GetMeRequest{}))
	env.refuses(t, codes.Unauthenticated, "UNAUTHORIZED",
		pgtest.Call(t.Context(), env.GetMe, &authv1.GetMeRequest{}))
}

func TestDeviceKey(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ctx, first := env.member(t, "ada@example.com")
	key, err := base64.RawURLEncoding.DecodeString(first.GetDeviceKey())
	require.NoError(t, err)
	require.Len(t, key, 32)

	env.register(t, "eve@example.com")
	require.NotEqual(t, first.GetDeviceKey(), env.login(t, "eve@example.com").GetDeviceKey(),
		"another user has another key")
	config := env.config
	config.ServiceKey = strings.Repeat("x", 43)
	other := env.replica(t, config).deviceKey(uuid.MustParse(first.GetUser().GetId()))
	require.NotEqual(t, first.GetDeviceKey(), other, "it needs the service key")

	refreshed, err := env.refresh(t.Context(), first.GetRefreshToken())
	require.NoError(t, err)
	require.Equal(t, first.GetDeviceKey(), refreshed.GetDeviceKey())
	_, err = env.ChangePassword(ctx, &authv1.ChangePasswordRequest{
		CurrentPassword: goodPassword, NewPassword: "another good one",
	})
	require.NoError(t, err)
	again, err := env.Login(t.Context(),
		&authv1.LoginRequest{Email: "ada@example.com", Password: "another good one"})
	require.NoError(t, err)
	require.Equal(t, first.GetDeviceKey(), again.GetDeviceKey(),
		"a new password does not change it")
	require.NotContains(t, env.state(t), first.GetDeviceKey())
}
