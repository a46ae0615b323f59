package auth

import (
	"context"
	"net/netip"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// Types of audit entries. They are stored and public: never rename one. Package tokens has those of
// personal access tokens, package factors those of second factors, and package oidc those of
// identities.
const (
	auditRegistered           = "registered"
	auditLoginSucceeded       = "login_succeeded"
	auditLoginFailed          = "login_failed"
	auditRefreshReused        = "refresh_token_reused"
	auditSessionEnded         = "session_ended"
	auditLoggedOut            = "logged_out"
	auditReauthenticated      = "reauthenticated"
	auditReauthenticateFailed = "reauthentication_failed"
	auditSecondFactorFailed   = "second_factor_failed"
	auditPasswordChanged      = "password_changed"
	auditPasswordChangeFailed = "password_change_failed"
	auditPasswordReset        = "password_reset"
	auditProfileChanged       = "profile_changed"
	auditEmailChanged         = "email_changed"
	auditEmailChangeFailed    = "email_change_failed"
	auditEmailChangeRequested = "email_change_requested"
	auditEmailConfirmed       = "email_confirmed"
	auditEmailReverted        = "email_reverted"
	auditInvitationSent       = "invitation_sent"
	auditInvitationAnswered   = "invitation_answered"
	auditInvitationEnded      = "invitation_ended"
	auditMemberUpdated        = "member_updated"
	auditMemberRemoved        = "member_removed"
	auditAccountExported      = "account_exported"
)

const (
	success = "success"
	failure = "failure"

	// auditKept is the retention of an entry.
	auditKept = 365 * 24 * time.Hour
	// auditHour is the period in which failures of one type and address share an entry. Together
	// with auditAddresses it bounds the table: a guesser adds at most auditAddresses+1 entries per
	// user, type and hour.
	auditHour = time.Hour
	// auditAddresses is the number of addresses with a separate entry within an auditHour. The
	// others share one entry.
	auditAddresses = 20
	// maxUserAgent is the maximum length of a stored User-Agent, in characters.
	maxUserAgent = 255
)

const (
	// auditConsumer is the name of the consumer that writes the audit trail.
	auditConsumer = "auth-audit"
	// sharingSubject selects the events of the budget service. sharingOf picks those that belong in
	// an audit trail. The consumer acknowledges the others without an effect.
	sharingSubject = "budget.v1.*.*"
)

// client is the origin of a request, as the user sees it in the audit trail and the list of
// sessions.
type client struct {
	// address is in the canonical text form of netip, and empty if it is unknown.
	address string
	// agent is cleaned by cleanUserAgent.
	agent string
}

func clientOf(address netip.Addr, agent string) client {
	c := client{agent: cleanUserAgent(agent)}
	if address.IsValid() {
		c.address = address.String()
	}
	return c
}

// cleanUserAgent returns the printable characters of a header, at most maxUserAgent. The client
// chooses the header, and it is shown to the user.
func cleanUserAgent(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > maxUserAgent {
		return string(runes[:maxUserAgent])
	}
	return s
}

// newClient returns the client that a call was made for. Package rpc decides whether the forwarded
// address of the request may be trusted (ADR 49).
func (s *server) newClient(ctx context.Context, agent string) client {
	return clientOf(s.config.ClientAddress(ctx), agent)
}

// entry returns an audit entry of a success at the present time. It belongs to a session unless
// that is uuid.Nil.
func (s *server) entry(kind string, user, session uuid.UUID, from client) auditEntry {
	now := s.now().UTC()
	e := auditEntry{
		ID: s.newID(), UserID: user, Type: kind, Outcome: success, At: now, LastAt: now, Times: 1,
		Address: from.address, UserAgent: from.agent,
	}
	if session != uuid.Nil {
		e.SessionID = &session
	}
	return e
}

// noteToken writes an audit entry of the acting session about a personal access token, and reports
// the change by mail.
func (s *server) noteToken(ctx context.Context, tx pgx.Tx, kind, name, agent string) error {
	id, _ := caller.From(ctx)
	e := s.entry(kind, id.UserID, id.SessionID, s.newClient(ctx, agent))
	e.TokenName = &name
	if err := insertAudit(ctx, tx, e); err != nil {
		return err
	}
	return s.report(ctx, tx, id.UserID, kind, map[string]string{"Name": name})
}

// ListAudit returns the entries of the acting user, newest first. A repeated failure keeps the
// position of its first occurrence, so that pages are stable. Errors: UNAUTHORIZED if the session
// has ended.
func (s *server) ListAudit(
	ctx context.Context, req *authv1.ListAuditRequest,
) (*authv1.ListAuditResponse, error) {
	user, err := s.currentUser(ctx)
	if err != nil {
		return nil, err
	}
	entries, pagination, err := page.List(s.cursors, page.Query[auditEntry, uuid.UUID]{
		Scope: "audit " + user.ID.String(), Limit: req.Limit, Cursor: req.GetCursor(),
		First: uuid.Max, Position: func(e auditEntry) uuid.UUID { return e.ID },
		Select: func(before uuid.UUID, limit int) ([]auditEntry, error) {
			return selectAudit(ctx, s.db, user.ID, before, limit)
		},
	})
	if err != nil {
		return nil, err
	}
	resp := &authv1.ListAuditResponse{Pagination: pagination}
	for _, e := range entries {
		resp.Entries = append(resp.Entries, e.proto())
	}
	return resp, nil
}

// noteSharing adds events of the budget service to the audit trails of the users that they are
// addressed to. An event may be delivered more than once; its id makes the entry unique. The
// entries contain the present names of both users, because an entry must not show a name that a
// user chose after the end of the membership. It also sends invitations by mail.
func (s *server) noteSharing(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	if err := s.invitations.Apply(ctx, tx, events); err != nil {
		return err
	}
	var entries []auditEntry
	var ids []uuid.UUID
	for _, event := range events {
		kind, what := sharingOf(event)
		if what == nil {
			continue
		}
		entries = append(entries, auditEntry{
			ID: event.ID, UserID: event.UserID, Type: kind, Outcome: success, At: event.Time,
			LastAt: event.Time, Times: 1, Sharing: what,
		})
		for _, s := range []string{what.OwnerID, what.MemberID} {
			if id, err := uuid.Parse(s); err == nil {
				ids = append(ids, id)
			}
		}
	}
	if len(entries) == 0 {
		return nil
	}
	users, err := selectUsers(ctx, tx, ids)
	if err != nil {
		return err
	}
	names := map[string]*string{}
	for _, u := range users {
		names[u.ID.String()] = &u.Name
	}
	for _, entry := range entries {
		entry.Sharing.OwnerName = names[entry.Sharing.OwnerID]
		entry.Sharing.MemberName = names[entry.Sharing.MemberID]
	}
	return insertAudit(ctx, tx, entries...)
}

// sharingOf returns the type and the details of an audit entry, or nil for an event that has no
// entry. Each event of a membership is addressed to the owner and to the member separately, so both
// get an entry. Events of invitations by mail have no member.
func sharingOf(event outbox.Received) (kind string, what *sharing) {
	shared, ok := event.Data.(interface {
		GetBudgetId() string
		GetGoalId() string
		GetOwnerId() string
	})
	if !ok {
		return "", nil
	}
	what = &sharing{
		BudgetID: shared.GetBudgetId(), GoalID: shared.GetGoalId(), OwnerID: shared.GetOwnerId(),
	}
	if membership, ok := event.Data.(interface{ GetMemberId() string }); ok {
		what.MemberID = membership.GetMemberId()
	}
	switch m := event.Data.(type) {
	case *budgetv1.InvitationSent:
		kind, what.Role = auditInvitationSent, new(m.GetRole())
	case *budgetv1.InvitationMailed:
		kind, what.Role, what.Email = auditInvitationSent, new(m.GetRole()), new(m.GetEmail())
	case *budgetv1.InvitationEnded:
		kind, what.Reason, what.Email = auditInvitationEnded, new(m.GetReason()), new(m.GetEmail())
	case *budgetv1.InvitationAnswered:
		kind, what.Status = auditInvitationAnswered, new(m.GetStatus())
	case *budgetv1.MemberUpdated:
		kind, what.Role = auditMemberUpdated, new(m.GetRole())
	case *budgetv1.MemberRemoved:
		kind, what.RemovedBy = auditMemberRemoved, new(m.GetRemovedBy())
	default:
		return "", nil
	}
	return kind, what
}

func (e auditEntry) proto() *authv1.AuditEntry {
	entry := &authv1.AuditEntry{
		Id: e.ID.String(), Type: e.Type, Outcome: e.Outcome, At: calendar.FormatTime(e.At),
		Count: e.Times, TokenName: e.TokenName,
	}
	if e.Times > 1 {
		entry.LastAt = new(calendar.FormatTime(e.LastAt))
	}
	if e.SessionID != nil {
		entry.SessionId = new(e.SessionID.String())
	}
	if e.Address != "" {
		entry.Address = &e.Address
	}
	if e.UserAgent != "" {
		entry.UserAgent = &e.UserAgent
	}
	if w := e.Sharing; w != nil {
		entry.Sharing = &authv1.AuditSharing{
			BudgetId: w.BudgetID, GoalId: w.GoalID, OwnerId: w.OwnerID, MemberId: w.MemberID,
			Role:   w.Role,
			Status: w.Status, RemovedBy: w.RemovedBy, OwnerName: w.OwnerName,
			MemberName: w.MemberName, Email: w.Email, Reason: w.Reason,
		}
	}
	return entry
}
