package auth

import (
	"context"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/archive"
	"github.com/coffer-budget/coffer/internal/pg"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/email"
	"github.com/coffer-budget/coffer/services/auth/internal/signing"
)

// FindUserByEmail serves other services only, which the option access of the RPC enforces. Users
// must not learn which e-mails have an account. The budget service calls it for an invitation, and
// limits the number of unknown e-mails per owner and day. Errors: USER_NOT_FOUND, also for a user
// whose account is being deleted after the grace period, and EMAIL_NOT_VERIFIED for an inviter.
func (s *server) FindUserByEmail(
	ctx context.Context, req *authv1.FindUserByEmailRequest,
) (*authv1.FindUserByEmailResponse, error) {
	address, problem := email.Parse(req.GetEmail())
	if problem != nil {
		return nil, apierr.Validation([]apierr.Field{*problem})
	}
	if err := s.checkInviter(ctx, req.GetInviterId()); err != nil {
		return nil, err
	}
	u, err := selectInvitable(ctx, s.db, address)
	if err != nil {
		return nil, pg.IfNoRows(err, errUserNotFound)
	}
	return &authv1.FindUserByEmailResponse{User: u.proto()}, nil
}

// CheckInvitation serves other services only. It reads the given users, and no user by the e-mail
// (accounts of strangers stay unknown). Errors: EMAIL_NOT_VERIFIED, and MAIL_UNAVAILABLE.
func (s *server) CheckInvitation(
	ctx context.Context, req *authv1.CheckInvitationRequest,
) (*authv1.CheckInvitationResponse, error) {
	address, problem := email.Parse(req.GetEmail())
	if problem != nil {
		return nil, apierr.Validation([]apierr.Field{*problem})
	}
	ids, err := parseUserIDs(req.GetUserIds())
	if err != nil {
		return nil, err
	}
	if !s.mails.Configured() {
		return nil, errMailUnavailable
	}
	if err := s.checkInviter(ctx, req.GetInviterId()); err != nil {
		return nil, err
	}
	users, err := selectUsers(ctx, s.db, ids)
	if err != nil {
		return nil, err
	}
	resp := &authv1.CheckInvitationResponse{Email: address}
	for _, u := range users {
		if u.Email == address {
			resp.UserId = u.ID.String()
		}
	}
	return resp, nil
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

// ExportUser serves the budget service, which writes the archive of an account. It sends the rows
// as the API shows them, so no hash, key or token is part of it. Errors: UNAUTHORIZED if the
// session has ended, and EMAIL_NOT_VERIFIED.
func (s *server) ExportUser(
	req *authv1.ExportUserRequest,
	stream grpc.ServerStreamingServer[authv1.ExportUserResponse],
) error {
	ctx := stream.Context()
	id, err := uuid.Parse(req.GetUserId())
	if err != nil {
		return apierr.Invalid("userId", "must be a UUID")
	}
	session, err := uuid.Parse(req.GetSessionId())
	if err != nil {
		return apierr.Invalid("sessionId", "must be a UUID")
	}
	u, err := selectUserInSession(ctx, s.db, id, session, s.now())
	if err != nil {
		return pg.IfNoRows(err, apierr.Unauthorized)
	}
	if err := s.checkVerified(ctx, id); err != nil {
		return err
	}
	address, _ := netip.ParseAddr(req.GetAddress())
	from := clientOf(address, req.GetUserAgent())
	exported := s.entry(auditAccountExported, id, session, from)
	if err := insertAudit(ctx, s.db, exported); err != nil {
		return err
	}
	files := archive.NewFiles(func(p *restv1.ArchivePiece) error {
		return stream.Send(&authv1.ExportUserResponse{Piece: p})
	})
	if err := s.exportTo(ctx, files, u, session); err != nil {
		return err
	}
	return files.Flush()
}

// exportPage is the number of rows of a user that one statement of an export reads.
const exportPage = 1000

// exportTo writes the files of a user.
func (s *server) exportTo(
	ctx context.Context, files *archive.Files, u user, current uuid.UUID,
) error {
	if err := archive.Rows(files, "user.json", []*authv1.User{u.proto()}); err != nil {
		return err
	}
	owned, err := s.factors.Of(ctx, u.ID)
	if err != nil {
		return err
	}
	if err := archive.Rows(files, "factors.json", []*authv1.Factors{owned}); err != nil {
		return err
	}
	passkeys, err := s.factors.Passkeys(ctx, u.ID)
	if err != nil {
		return err
	}
	if err := archive.Rows(files, "passkeys.jsonl", passkeys); err != nil {
		return err
	}
	identities, err := s.oidc.Of(ctx, u.ID)
	if err != nil {
		return err
	}
	if err := archive.Rows(files, "identities.jsonl", identities); err != nil {
		return err
	}
	shown, err := s.tokens.All(ctx, u.ID)
	if err != nil {
		return err
	}
	if err := archive.Rows(files, "tokens.jsonl", shown); err != nil {
		return err
	}
	err = archive.Pages(files, "sessions.jsonl",
		func(before uuid.UUID) ([]session, error) {
			return selectSessions(ctx, s.db, u.ID, before, s.now(), exportPage)
		},
		func(row session) (uuid.UUID, proto.Message, error) {
			return row.ID, row.proto(current), nil
		})
	if err != nil {
		return err
	}
	return archive.Pages(files, "audit.jsonl",
		func(before uuid.UUID) ([]auditEntry, error) {
			return selectAudit(ctx, s.db, u.ID, before, exportPage)
		},
		func(row auditEntry) (uuid.UUID, proto.Message, error) { return row.ID, row.proto(), nil })
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
		resp.Keys = append(resp.Keys, k.Proto())
	}
	return resp, nil
}

const (
	// revokedMargin is added to the lifetime of an access token: the verifiers accept it for a
	// minute longer, and clocks differ by up to a minute.
	revokedMargin = 2 * time.Minute
	// revokedPage is the number of sessions in a page. A full page is a message of 400 KB.
	revokedPage = 20_000
	// revokedOverlap is repeated when a caller continues after the last page. A session that was
	// ended before the last page was read may be committed after it: a call takes up to 90 s, and
	// clocks differ by up to a minute. Verifiers merge pages, so repeated sessions are harmless.
	revokedOverlap = 3 * time.Minute

	revokedScope = "revoked sessions"
)

type revokedPosition struct {
	At time.Time
	ID uuid.UUID
	// Started is the time at which the first page of this pass was read; zero before the first
	// page.
	Started time.Time
}

// ListRevokedSessions serves the verifiers of all services, which call it every 4 to 5 seconds. It
// returns the ended sessions whose last access token may still be valid. The cursor of the last
// page continues with sessions that were ended since, and repeats those that were ended within
// revokedOverlap before.
func (s *server) ListRevokedSessions(
	ctx context.Context, req *authv1.ListRevokedSessionsRequest,
) (*authv1.ListRevokedSessionsResponse, error) {
	now := s.now()
	// Sessions that were last used before live have no valid token.
	live := now.Add(-s.config.AccessTTL - revokedMargin)
	if !req.GetPaged() {
		return s.listAllRevoked(ctx, live)
	}
	after := revokedPosition{At: live}
	if req.GetCursor() != "" {
		if err := s.cursors.Open(revokedScope, req.GetCursor(), &after); err != nil {
			return nil, err
		}
	}
	if after.Started.IsZero() {
		after.Started = now
	}
	ended, err := selectRevokedSessions(ctx, s.db, after.At, after.ID, live, revokedPage+1)
	if err != nil {
		return nil, err
	}
	resp := &authv1.ListRevokedSessionsResponse{HasMore: len(ended) > revokedPage}
	next := revokedPosition{At: after.Started.Add(-revokedOverlap)}
	if resp.GetHasMore() {
		ended = ended[:revokedPage]
		last := ended[revokedPage-1]
		next = revokedPosition{At: last.RevokedAt, ID: last.ID, Started: after.Started}
	}
	// A session takes 20 bytes: 16 of its id, and 4 of the Unix time at which its last access token
	// expires (ADR 47).
	for _, e := range ended {
		resp.Sessions = append(resp.Sessions, e.ID[:]...)
		expired := e.LastUsedAt.Add(s.config.AccessTTL + revokedMargin)
		resp.ExpireAt = append(resp.ExpireAt, uint32(expired.Unix())) //nolint:gosec // Until 2106.
	}
	resp.NextCursor, err = s.cursors.Seal(revokedScope, next)
	return resp, err
}

// listAllRevoked serves verifiers of the release before paging, with one message.
func (s *server) listAllRevoked(
	ctx context.Context, live time.Time,
) (*authv1.ListRevokedSessionsResponse, error) {
	const unlimited = 1 << 31
	ended, err := selectRevokedSessions(ctx, s.db, live, uuid.Nil, live, unlimited)
	if err != nil {
		return nil, err
	}
	resp := &authv1.ListRevokedSessionsResponse{}
	for _, e := range ended {
		resp.SessionIds = append(resp.SessionIds, e.ID.String())
	}
	return resp, nil
}
