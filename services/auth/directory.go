package auth

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/signing"
)

// maxUsers is the maximum number of ids in a call of GetUsers. The budget service asks for at most
// as many names per page.
const maxUsers = 1000

// FindUserByEmail serves other services only, which the option access of the RPC enforces. Users
// must not learn which e-mails have an account. The budget service calls it for an invitation, and
// limits the number of unknown e-mails per owner and day. Errors: USER_NOT_FOUND.
func (s *server) FindUserByEmail(
	ctx context.Context, req *authv1.FindUserByEmailRequest,
) (*authv1.FindUserByEmailResponse, error) {
	email, problem := parseEmail(req.GetEmail())
	if problem != nil {
		return nil, apierr.Validation([]apierr.Field{*problem})
	}
	u, err := selectUserByEmail(ctx, s.db, email)
	if err != nil {
		return nil, pg.IfNoRows(err, errUserNotFound)
	}
	return &authv1.FindUserByEmailResponse{User: u.proto()}, nil
}

// GetUsers serves other services only. It omits unknown ids, and returns a user once even if an id
// is repeated.
func (s *server) GetUsers(
	ctx context.Context, req *authv1.GetUsersRequest,
) (*authv1.GetUsersResponse, error) {
	ids, err := parseUserIDs(req.GetIds())
	if err != nil {
		return nil, err
	}
	users, err := selectUsers(ctx, s.db, ids)
	if err != nil {
		return nil, err
	}
	resp := &authv1.GetUsersResponse{}
	for _, u := range users {
		resp.Users = append(resp.Users, u.proto())
	}
	return resp, nil
}

// GetKeySet reads the keys from the database and not from memory, because another replica may have
// added one a moment ago. It needs no key or token, because public keys are no secret.
func (s *server) GetKeySet(
	ctx context.Context, _ *authv1.GetKeySetRequest,
) (*authv1.GetKeySetResponse, error) {
	// Keys that are not active yet are included, so that verifiers know them before they sign.
	keys, err := signing.Select(ctx, s.db)
	if err != nil {
		return nil, err
	}
	resp := &authv1.GetKeySetResponse{}
	for _, k := range keys {
		resp.Keys = append(resp.Keys, webKey(k))
	}
	return resp, nil
}

// parseUserIDs returns a validation error for more than maxUsers ids, or for one that is no UUID.
func parseUserIDs(given []string) ([]uuid.UUID, error) {
	if len(given) > maxUsers {
		return nil, apierr.Invalid("ids", fmt.Sprintf("must be at most %d", maxUsers))
	}
	ids := make([]uuid.UUID, len(given))
	for i, s := range given {
		id, ok := text.ID(s)
		if !ok {
			return nil, apierr.Invalid("ids", "must be UUIDs")
		}
		ids[i] = id
	}
	return ids, nil
}

// webKey returns the public key as a JSON Web Key. The private key never leaves this service.
func webKey(k signing.Key) *authv1.Key {
	return &authv1.Key{
		Kty: "OKP",
		Crv: "Ed25519",
		X:   base64.RawURLEncoding.EncodeToString(k.PublicKey),
		Kid: k.KID,
		Use: "sig",
		Alg: "EdDSA",
	}
}
