package auth

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

func TestFindUserByEmail(t *testing.T) {
	t.Parallel()
	env := setup(t)
	u := env.register(t, "ada@example.com")
	resp, err := env.FindUserByEmail(t.Context(),
		&authv1.FindUserByEmailRequest{Email: " ADA@example.com "})
	require.NoError(t, err)
	require.True(t, proto.Equal(u, resp.GetUser()))
	for email, want := range map[string]struct {
		code   codes.Code
		reason string
	}{
		"bob@example.com": {codes.NotFound, "USER_NOT_FOUND"},
		"bob":             {codes.InvalidArgument, "VALIDATION_ERROR"},
		"":                {codes.InvalidArgument, "VALIDATION_ERROR"},
	} {
		env.refuses(t, want.code, want.reason, pgtest.Call(t.Context(), env.FindUserByEmail,
			&authv1.FindUserByEmailRequest{Email: email}))
	}
}

func TestGetUsers(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ada, bob := env.register(t, "ada@example.com"), env.register(t, "bob@example.com")
	resp, err := env.GetUsers(t.Context(), &authv1.GetUsersRequest{
		Ids: []string{bob.GetId(), uuid.NewString(), ada.GetId(), bob.GetId()},
	})
	require.NoError(t, err)
	require.Len(t, resp.GetUsers(), 2)
	require.True(t, proto.Equal(ada, resp.GetUsers()[0]))
	require.True(t, proto.Equal(bob, resp.GetUsers()[1]))
	none, err := env.GetUsers(t.Context(), &authv1.GetUsersRequest{})
	require.NoError(t, err)
	require.Empty(t, none.GetUsers())
	tooMany := slices.Repeat([]string{ada.GetId()}, maxUsers+1)
	for _, ids := range [][]string{{"x"}, {ada.GetId(), ""}, tooMany} {
		env.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR",
			pgtest.Call(t.Context(), env.GetUsers, &authv1.GetUsersRequest{Ids: ids}))
	}
}
