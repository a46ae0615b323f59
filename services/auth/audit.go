package auth

import (
	"context"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// Types of security events.
const (
	auditRegistered           = "registered"
	auditLoginSucceeded       = "login_succeeded"
	auditLoginFailed          = "login_failed"
	auditRefreshReused        = "refresh_token_reused"
	auditSessionEnded         = "session_ended"
	auditLoggedOut            = "logged_out"
	auditPasswordChanged      = "password_changed"
	auditPasswordChangeFailed = "password_change_failed"
	auditProfileChanged       = "profile_changed"
	auditEmailChanged         = "email_changed"
	auditEmailChangeFailed    = "email_change_failed"
	auditInvitationSent       = "invitation_sent"
	auditInvitationAnswered   = "invitation_answered"
	auditMemberRemoved        = "member_removed"
)

const (
	success = "success"
	failure = "failure"

	auditKept = 365 * 24 * time.Hour
	// auditHour is the time whose failures of one kind and address share an entry, auditAddresses how many addresses have an
	// entry of their own in it: whoever guesses cannot fill the table.
	auditHour      = time.Hour
	auditAddresses = 20
)

// sharingSubject is that of the events of the budget service, some of which stand in the trail of those whom they concern.
const sharingSubject = "budget.v1.*.*"

// client is where a request came from, as it is shown to the user.
type client struct {
	address string
	agent   string
}

func clientOf(address netip.Addr, agent string) client {
	c := client{agent: cleanUserAgent(agent)}
	if address.IsValid() {
		c.address = address.String()
	}
	return c
}

// newClient returns the client of a call.
func (s *server) newClient(ctx context.Context, agent string) client {
	return clientOf(s.config.ClientAddress(ctx), agent)
}

// entry is of something that has succeeded, in a session unless that is uuid.Nil.
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

// ListAudit lists the newest first. A failure that repeats stays where it was first.
func (s *server) ListAudit(ctx context.Context, req *authv1.ListAuditRequest) (*authv1.ListAuditResponse, error) {
	u, err := s.acting(ctx)
	if err != nil {
		return nil, err
	}
	scope, before := "audit "+u.ID.String(), uuid.Max
	limit, err := s.cursors.Page(scope, req.Limit, req.GetCursor(), &before)
	if err != nil {
		return nil, err
	}
	entries, err := selectAudit(ctx, s.db, u.ID, before, limit+1)
	if err != nil {
		return nil, err
	}
	entries, pagination, err := page.Cut(s.cursors, scope, entries, limit, func(e auditEntry) any { return e.ID })
	if err != nil {
		return nil, err
	}
	resp := &authv1.ListAuditResponse{Pagination: pagination}
	for _, e := range entries {
		resp.Entries = append(resp.Entries, e.proto())
	}
	return resp, nil
}

// noteSharing writes events of the budget service into the trails of those whom they concern.
func (s *server) noteSharing(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	var entries []auditEntry
	for _, e := range events {
		kind, what := sharingOf(e)
		if what == nil {
			continue
		}
		entries = append(entries, auditEntry{
			ID: e.ID, UserID: e.UserID, Type: kind, Outcome: success, At: e.Time, LastAt: e.Time, Times: 1, Sharing: what,
		})
	}
	if len(entries) == 0 {
		return nil
	}
	return insertAudit(ctx, tx, entries...)
}

// sharingOf returns nil for other events.
func sharingOf(e outbox.Received) (kind string, what *sharing) {
	switch m := e.Data.(type) {
	case *budgetv1.InvitationSent:
		return auditInvitationSent, &sharing{BudgetID: m.GetBudgetId(), OwnerID: m.GetOwnerId(), MemberID: m.GetMemberId(), Role: new(m.GetRole())}
	case *budgetv1.InvitationAnswered:
		return auditInvitationAnswered, &sharing{BudgetID: m.GetBudgetId(), OwnerID: m.GetOwnerId(), MemberID: m.GetMemberId(), Status: new(m.GetStatus())}
	case *budgetv1.MemberRemoved:
		return auditMemberRemoved, &sharing{BudgetID: m.GetBudgetId(), OwnerID: m.GetOwnerId(), MemberID: m.GetMemberId(), RemovedBy: new(m.GetRemovedBy())}
	}
	return "", nil
}

func (e auditEntry) proto() *authv1.AuditEntry {
	p := &authv1.AuditEntry{Id: e.ID.String(), Type: e.Type, Outcome: e.Outcome, At: e.At.UTC().Format(timestamp), Count: e.Times}
	if e.Times > 1 {
		p.LastAt = new(e.LastAt.UTC().Format(timestamp))
	}
	if e.SessionID != nil {
		p.SessionId = new(e.SessionID.String())
	}
	if e.Address != "" {
		p.Address = &e.Address
	}
	if e.UserAgent != "" {
		p.UserAgent = &e.UserAgent
	}
	if w := e.Sharing; w != nil {
		p.Sharing = &authv1.AuditSharing{
			BudgetId: w.BudgetID, OwnerId: w.OwnerID, MemberId: w.MemberID, Role: w.Role, Status: w.Status, RemovedBy: w.RemovedBy,
		}
	}
	return p
}
