package auth

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

const mumMail = "mum@example.com"

// invited returns the event of a new invitation.
func (p post) invited(owner *authv1.User, email string) outbox.Received {
	return outbox.Received{
		ID: uuid.New(), UserID: uuid.MustParse(owner.GetId()), Time: p.clock.now(),
		Data: &budgetv1.InvitationMailed{
			BudgetId: uuid.NewString(), BudgetName: "Household", OwnerId: owner.GetId(),
			InvitationId: uuid.NewString(), Email: email, Role: "editor",
		},
	}
}

// ended returns the event of the withdrawal of an invitation.
func ended(sent outbox.Received) outbox.Received {
	invitation := sent.Data.(*budgetv1.InvitationMailed)
	return outbox.Received{
		ID: uuid.New(), UserID: sent.UserID, Time: sent.Time,
		Data: &budgetv1.InvitationEnded{
			BudgetId: invitation.GetBudgetId(), OwnerId: invitation.GetOwnerId(),
			InvitationId: invitation.GetInvitationId(), Email: invitation.GetEmail(),
			Reason: "withdrawn",
		},
	}
}

func (p post) consume(t *testing.T, events ...outbox.Received) {
	t.Helper()
	require.NoError(t, pg.InTx(t.Context(), p.db,
		func(tx pgx.Tx) error { return p.noteSharing(t.Context(), tx, events) }))
}

// accept registers a user with a link.
func (p post) accept(t *testing.T, token, email string) error {
	t.Helper()
	_, err := p.Register(t.Context(), &authv1.RegisterRequest{
		Name: "Mum", Email: email, Password: goodPassword, InvitationToken: token,
	})
	return err
}

// verification returns the token of the link that confirms an e-mail.
func (p post) verification(t *testing.T, email string) string {
	t.Helper()
	p.mails.RunQueued(t.Context())
	for _, m := range p.sent("/verify#") {
		if m.To == email {
			_, token, _ := strings.Cut(m.Links[0], "#")
			return token
		}
	}
	require.Fail(t, "no mail to "+email)
	return ""
}

// reported returns the users in events UserInvited.
func (p post) reported(t *testing.T) []string {
	t.Helper()
	var users []string
	for _, e := range p.events(t) {
		if e.Subject == "auth.v1.user.invited" {
			users = append(users, e.UserID.String())
		}
	}
	return users
}

func (p post) open(t *testing.T, token string) (*authv1.OpenInvitationResponse, error) {
	t.Helper()
	return p.OpenInvitation(t.Context(), &authv1.OpenInvitationRequest{Token: token})
}

func (p post) requireEnded(t *testing.T, token, email string) {
	t.Helper()
	p.refuses(t, codes.FailedPrecondition, "INVITATION_EXPIRED", func() error {
		return p.accept(t, token, email)
	})
	p.refuses(t, codes.FailedPrecondition, "INVITATION_EXPIRED", func() error {
		_, err := p.open(t, token)
		return err
	})
}

func TestInvitation(t *testing.T) {
	t.Parallel()
	// invite returns the token of a new invitation.
	invite := func(t *testing.T, p post) string {
		t.Helper()
		p.consume(t, p.invited(p.register(t, adaMail), mumMail))
		return p.token(t, mumMail)
	}
	t.Run("registers a user with a verified e-mail, once", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		token := invite(t, p)
		opened, err := p.open(t, token)
		require.NoError(t, err)
		require.Equal(t, mumMail, opened.GetEmail())
		require.False(t, opened.GetRegistered())
		require.NoError(t, p.accept(t, token, mumMail))
		events := p.events(t)
		require.Equal(t, "auth.v1.user.registered", events[len(events)-1].Subject)
		mum := p.loginWith(t, mumMail, goodPassword)
		require.True(t, mum.GetUser().GetEmailVerified())
		p.mails.RunQueued(t.Context())
		require.Empty(t, p.sent("/verify#")[1:], "only ada's")
		p.requireEnded(t, token, mumMail)
		p.requireEnded(t, token, "other@example.com")
	})
	t.Run("of 20 simultaneous registrations, one succeeds", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		token := invite(t, p)
		require.Equal(t, 1, succeeded(20, func(int) error { return p.accept(t, token, mumMail) }))
	})
	t.Run("is for its e-mail only", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		token := invite(t, p)
		p.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR",
			func() error { return p.accept(t, token, "eve@example.com") })
		p.refuses(t, codes.AlreadyExists, "EMAIL_ALREADY_EXISTS", func() error {
			return p.accept(t, "", adaMail)
		})
		require.NoError(t, p.accept(t, token, " MUM@example.com"))
	})
	t.Run("ends after 14 days, and when it is withdrawn", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		ada := p.register(t, adaMail)
		sent := p.invited(ada, mumMail)
		p.consume(t, sent)
		token := p.token(t, mumMail)
		p.clock.advance(14*24*time.Hour - time.Second)
		_, err := p.open(t, token)
		require.NoError(t, err)
		// The mail is sent again.
		again := sent
		again.ID = uuid.New()
		p.consume(t, again)
		second := p.token(t, mumMail)
		require.NotEqual(t, token, second)
		p.clock.advance(time.Second)
		p.requireEnded(t, token, mumMail)
		p.consume(t, ended(sent))
		p.requireEnded(t, second, mumMail)
		p.requireEnded(t, "unknown", mumMail)
		require.NoError(t, p.accept(t, "", mumMail))
	})
	t.Run("is mailed once for a repeated event, and not after its end", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		ada := p.register(t, adaMail)
		sent := p.invited(ada, mumMail)
		p.consume(t, sent)
		p.consume(t, sent)
		require.Equal(t, 1, pgtest.Value[int](t, p.db,
			`SELECT count(*)::int FROM mail_links WHERE kind = 'invitation'`))
		p.consume(t, ended(sent))
		p.mails.RunQueued(t.Context())
		require.Empty(t, p.sent("/join#"))
	})
	t.Run("names inviter and budget, in the language of the inviter or the user",
		func(t *testing.T) {
			t.Parallel()
			p := setupMail(t)
			ada := p.register(t, adaMail)
			pgtest.Exec(t, p.db, `UPDATE users SET language = 'de'`)
			p.register(t, mumMail)
			p.consume(t, p.invited(ada, "new@example.com"), p.invited(ada, mumMail))
			require.Equal(t, "Ada teilt ein Budget mit dir",
				p.mailed(t, "new@example.com").Subject)
			got := p.mailed(t, mumMail)
			require.Equal(t, "Ada shares a budget with you", got.Subject)
			require.Contains(t, got.Text, `"Household"`)
			_, token, _ := strings.Cut(got.Links[0], "#")
			opened, err := p.open(t, token)
			require.NoError(t, err)
			require.True(t, opened.GetRegistered())
			p.refuses(t, codes.AlreadyExists, "EMAIL_ALREADY_EXISTS",
				func() error { return p.accept(t, token, mumMail) })
		})
	t.Run("reports a user with a verified e-mail to the budget service", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		ada, mum := p.register(t, adaMail), p.register(t, mumMail)
		p.consume(t, p.invited(ada, mumMail))
		require.Empty(t, p.reported(t), "anyone can register a stranger's e-mail")
		require.NoError(t, p.confirm(t, p.verification(t, mumMail)))
		p.consume(t, p.invited(ada, mumMail))
		require.Equal(t, []string{mum.GetId()}, p.reported(t))

		// Without verification, every user may receive invitations.
		config := p.config
		config.Mail.Verification = verificationOff
		off := post{bundle: p.replica(t, config), box: p.box}
		eve := off.register(t, "eve@example.com")
		off.consume(t, off.invited(ada, eve.GetEmail()))
		require.Equal(t, []string{mum.GetId(), eve.GetId(), eve.GetId()}, off.reported(t))
	})
	t.Run("without verification, reports new e-mails that may have been invited before",
		func(t *testing.T) {
			t.Parallel()
			p := setupMail(t)
			p.config.Mail.Verification = verificationOff
			ctx, _ := p.member(t, mumMail)
			mum := p.me(t, ctx).GetId()
			require.Equal(t, []string{mum}, p.reported(t))
			p.moves(t, ctx, newMail)
			require.Equal(t, []string{mum, mum}, p.reported(t))
			require.NoError(t, p.revert(t, p.token(t, mumMail)))
			events := p.events(t)
			require.Equal(t, "auth.v1.user.email_verified", events[len(events)-1].Subject)
			ctx, _ = p.member(t, "ben@example.com")
			ben := p.me(t, ctx).GetId()
			p.consume(t, p.invited(p.me(t, ctx), adaMail))
			require.NoError(t, p.accept(t, p.token(t, adaMail), adaMail))
			require.Equal(t, []string{mum, mum, ben}, p.reported(t), "the link has verified it")
		})
	t.Run("is in the audit trail of the owner", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		ctx, _ := p.member(t, adaMail)
		ada := p.me(t, ctx)
		sent := p.invited(ada, mumMail)
		p.consume(t, sent, ended(sent))
		byType := map[string]*authv1.AuditSharing{}
		for _, e := range p.audit(ctx, t) {
			byType[e.GetType()] = e.GetSharing()
		}
		require.Equal(t, mumMail, byType["invitation_sent"].GetEmail())
		require.Empty(t, byType["invitation_sent"].GetMemberId())
		require.Equal(t, "withdrawn", byType["invitation_ended"].GetReason())
	})
}

func TestCheckInvitation(t *testing.T) {
	t.Parallel()
	p := setupMail(t)
	ada, ben := p.register(t, adaMail), p.register(t, "ben@example.com")
	check := func(email string) (*authv1.CheckInvitationResponse, error) {
		return p.CheckInvitation(t.Context(), &authv1.CheckInvitationRequest{
			Email: email, InviterId: ada.GetId(), UserIds: []string{ada.GetId(), ben.GetId()},
		})
	}
	_, err := check(mumMail)
	requireReason(t, codes.PermissionDenied, "EMAIL_NOT_VERIFIED", err)
	require.NoError(t, p.confirm(t, p.verification(t, adaMail)))
	p.register(t, mumMail)
	for email, want := range map[string]string{
		" BEN@example.com": ben.GetId(), adaMail: ada.GetId(), mumMail: "", "no@example.com": "",
	} {
		got, err := check(email)
		require.NoError(t, err)
		require.Equal(t, want, got.GetUserId())
		require.Equal(t, strings.ToLower(strings.TrimSpace(email)), got.GetEmail())
	}
	_, err = check("ben")
	requireReason(t, codes.InvalidArgument, "VALIDATION_ERROR", err)
	recorder := &statements{}
	p.record(t, recorder)
	for _, email := range []string{"first@example.com", mumMail, "no@example.com"} {
		recorder.reset()
		_, err := check(email)
		require.NoError(t, err)
		require.NotContains(t, strings.Join(recorder.all(), "\n"), "u.email = ")
	}
	without := p.replica(t, testConfig)
	_, err = without.CheckInvitation(t.Context(), &authv1.CheckInvitationRequest{
		Email: mumMail, InviterId: ada.GetId(),
	})
	requireReason(t, codes.Unavailable, "MAIL_UNAVAILABLE", err)
}
