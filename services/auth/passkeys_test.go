package auth

import (
	"context"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/factors"
)

// device is a user's device with a passkey.
type device struct {
	post
	party virtualwebauthn.RelyingParty
	auth  virtualwebauthn.Authenticator
	key   virtualwebauthn.Credential
}

// newKey returns a new credential. The library writes the coordinates of one key in 128 without
// leading zeros, which WebAuthn rejects.
func newKey() virtualwebauthn.Credential {
	for {
		key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		const encoded = 77
		if len(key.Key.AttestationData()) == encoded {
			return key
		}
	}
}

// newDevice returns a device of the user of a session, with a passkey that is not registered.
func (p post) newDevice(ctx context.Context) *device {
	user := caller.ID(ctx)
	d := &device{
		post: p,
		party: virtualwebauthn.RelyingParty{
			Name: "Coffer", ID: "coffer.test", Origin: "https://coffer.test",
		},
		auth: virtualwebauthn.NewAuthenticatorWithOptions(
			virtualwebauthn.AuthenticatorOptions{UserHandle: user[:]}),
		key: newKey(),
	}
	d.key.Counter = 1
	return d
}

// registration returns the request that registers the passkey.
func (d *device) registration(ctx context.Context, t *testing.T) *authv1.CreatePasskeyRequest {
	t.Helper()
	begun, err := d.factors.CreatePasskeyOptions(ctx, &authv1.CreatePasskeyOptionsRequest{})
	require.NoError(t, err)
	options, err := virtualwebauthn.ParseAttestationOptions(begun.GetOptions())
	require.NoError(t, err)
	return &authv1.CreatePasskeyRequest{
		CeremonyId: begun.GetCeremonyId(), Name: "Phone",
		Credential: virtualwebauthn.CreateAttestationResponse(d.party, d.auth, d.key, *options),
	}
}

// registered returns a device whose passkey the user of a session has registered.
func (p post) registered(ctx context.Context, t *testing.T) *device {
	t.Helper()
	d := p.newDevice(ctx)
	_, err := d.factors.CreatePasskey(ctx, d.registration(ctx, t))
	require.NoError(t, err)
	return d
}

// assertion returns the request that signs in with the passkey.
func (d *device) assertion(t *testing.T) *authv1.LoginPasskeyRequest {
	t.Helper()
	begun, err := d.factors.LoginPasskeyOptions(t.Context(), &authv1.LoginPasskeyOptionsRequest{})
	require.NoError(t, err)
	options, err := virtualwebauthn.ParseAssertionOptions(begun.GetOptions())
	require.NoError(t, err)
	d.key.Counter++
	return &authv1.LoginPasskeyRequest{
		CeremonyId: begun.GetCeremonyId(),
		Assertion:  virtualwebauthn.CreateAssertionResponse(d.party, d.auth, d.key, *options),
	}
}

func (d *device) signIn(req *authv1.LoginPasskeyRequest) error {
	_, err := d.LoginPasskey(context.Background(), req)
	return err
}

func TestCreatePasskey(t *testing.T) {
	t.Parallel()
	p := setupMail(t)
	ctx, _ := p.member(t, "ada@example.com")
	carol, _ := p.member(t, "carol@example.com")
	create := func(req *authv1.CreatePasskeyRequest) error {
		_, err := p.factors.CreatePasskey(ctx, req)
		return err
	}
	rejects := func(t *testing.T, req *authv1.CreatePasskeyRequest) {
		t.Helper()
		p.refuses(t, codes.InvalidArgument, "INVALID_PASSKEY_RESPONSE",
			func() error { return create(req) })
	}
	t.Run("ends other sessions and returns recovery codes once", func(t *testing.T) {
		other := p.login(t, "ada@example.com")
		d := p.newDevice(ctx)
		req := d.registration(ctx, t)
		req.IdempotencyKey = "k"
		created, err := p.factors.CreatePasskey(ctx, req)
		require.NoError(t, err)
		require.Len(t, created.GetRecoveryCodes(), 10)
		again, err := p.factors.CreatePasskey(ctx, req)
		require.NoError(t, err)
		require.True(t, again.GetReplayed())
		_, err = p.refresh(t.Context(), other.GetRefreshToken())
		require.ErrorIs(t, err, errInvalidRefreshToken)
		require.Equal(t, "A passkey was added", p.mailed(t, "ada@example.com").Subject)
		second := p.newDevice(ctx)
		created, err = p.factors.CreatePasskey(ctx, second.registration(ctx, t))
		require.NoError(t, err)
		require.Empty(t, created.GetRecoveryCodes())
	})
	t.Run("rejects responses of other sites, users and ceremonies", func(t *testing.T) {
		good := p.newDevice(ctx)
		for _, change := range []func(d *device){
			func(d *device) { d.party.Origin = "https://evil.example" },
			func(d *device) { d.party.ID = "evil.example" },
			func(d *device) { d.auth.Options.UserNotVerified = true },
		} {
			d := p.newDevice(ctx)
			change(d)
			rejects(t, d.registration(ctx, t))
		}
		bob, _ := p.member(t, "bob@example.com")
		rejects(t, good.registration(bob, t))
		req := good.registration(ctx, t)
		req.CeremonyId = good.registration(ctx, t).GetCeremonyId()
		rejects(t, req)
		req = good.registration(ctx, t)
		req.Credential = "{}"
		rejects(t, req)
		late := good.registration(ctx, t)
		p.clock.advance(factors.ChallengeTTL)
		rejects(t, late)
		used := good.registration(ctx, t)
		require.Equal(t, 1, succeeded(20, func(int) error { return create(used) }))
		rejects(t, used)
		rejects(t, good.registration(ctx, t)) // the same credential again
	})
	t.Run("accepts none of a session that a new password ended", func(t *testing.T) {
		other := p.as(t, p.login(t, "carol@example.com").GetAccessToken())
		begun := p.newDevice(other).registration(other, t)
		_, err := p.ChangePassword(carol, &authv1.ChangePasswordRequest{
			CurrentPassword: goodPassword, NewPassword: newPassword,
		})
		require.NoError(t, err)
		p.refuses(t, codes.Unauthenticated, "UNAUTHORIZED", func() error {
			_, err := p.factors.CreatePasskey(other, begun)
			return err
		})
	})
	t.Run("allows 10 passkeys", func(t *testing.T) {
		for pgtest.Value[int](t, p.db, `SELECT count(*) FROM passkeys`) < 10 {
			p.registered(ctx, t)
		}
		req := p.newDevice(ctx).registration(ctx, t)
		p.refuses(t, codes.AlreadyExists, "LIMIT_REACHED", func() error { return create(req) })
	})
}

func TestDeletePasskey(t *testing.T) {
	t.Parallel()
	p := setupMail(t)
	ctx, _ := p.member(t, "ada@example.com")
	d := p.registered(ctx, t)
	bob, _ := p.member(t, "bob@example.com")
	list, err := p.factors.ListPasskeys(ctx, &authv1.ListPasskeysRequest{})
	require.NoError(t, err)
	id := list.GetPasskeys()[0].GetId()
	for _, unknown := range []struct {
		ctx context.Context
		id  string
	}{{bob, id}, {ctx, uuid.NewString()}, {ctx, "x"}} {
		for _, call := range []func() error{
			pgtest.Call(unknown.ctx, p.factors.DeletePasskey,
				&authv1.DeletePasskeyRequest{Id: unknown.id}),
			pgtest.Call(unknown.ctx, p.factors.UpdatePasskey,
				&authv1.UpdatePasskeyRequest{Id: unknown.id, Name: new("x")}),
		} {
			p.refuses(t, codes.NotFound, "PASSKEY_NOT_FOUND", call)
		}
	}
	renamed, err := p.factors.UpdatePasskey(ctx,
		&authv1.UpdatePasskeyRequest{Id: id, Name: new(" Laptop ")})
	require.NoError(t, err)
	require.Equal(t, "Laptop", renamed.GetPasskey().GetName())
	_, err = p.factors.UpdatePasskey(ctx, &authv1.UpdatePasskeyRequest{Id: id})
	require.ErrorIs(t, err, apierr.EmptyUpdate)
	_, err = p.factors.DeletePasskey(ctx, &authv1.DeletePasskeyRequest{Id: id})
	require.NoError(t, err)
	require.Equal(t, "A passkey was deleted", p.mailed(t, "ada@example.com").Subject)
	require.NotEmpty(t, p.login(t, "ada@example.com").GetAccessToken(), "no second step")
	require.Zero(t, pgtest.Value[int](t, p.db, `SELECT count(*) FROM recovery_codes`))
	requireReason(t, codes.Unauthenticated, "INVALID_PASSKEY_RESPONSE", d.signIn(d.assertion(t)))
	ceremonies := func() int {
		require.NoError(t, p.expire(t.Context()))
		return pgtest.Value[int](t, p.db, `SELECT count(*) FROM ceremonies WHERE kind <> 'login'`)
	}
	require.Equal(t, 2, ceremonies())
	p.clock.advance(time.Hour)
	require.Equal(t, 1, ceremonies(), "used, so repeated requests get its response")
	p.clock.advance(24 * time.Hour)
	require.Zero(t, ceremonies())
}

// TestPasskeysUnavailable requires a public URL whose host is a domain.
func TestPasskeysUnavailable(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ctx, _ := env.member(t, "ada@example.com")
	for _, address := range []string{"", "http://127.0.0.1:8080", "https://[::1]"} {
		config := testConfig
		config.Mail.PublicURL = address
		replica := env.replica(t, config)
		for _, call := range []func() error{
			pgtest.Call(ctx, replica.factors.CreatePasskeyOptions,
				&authv1.CreatePasskeyOptionsRequest{}),
			pgtest.Call(ctx, replica.factors.LoginPasskeyOptions,
				&authv1.LoginPasskeyOptionsRequest{}),
		} {
			requireReason(t, codes.Unavailable, "PASSKEYS_UNAVAILABLE", call())
		}
	}
}
