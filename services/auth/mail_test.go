package auth

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
	"github.com/coffer-budget/coffer/services/auth/mailbox"
)

// post is a service that sends its mails to a mailbox.
type post struct {
	*bundle
	box *mailbox.Mailbox
}

func setupMail(t *testing.T) post {
	t.Helper()
	p := post{bundle: setup(t), box: &mailbox.Mailbox{}}
	var listen net.ListenConfig
	mails, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = p.box.Serve(t.Context(), mails) }()
	p.bundle = p.replica(t, mailConfig(mails.Addr().String()))
	require.NoError(t, p.keys.Refresh(t.Context()))
	return p
}

func mailConfig(server string) Config {
	config := testConfig
	config.Mail = mail.Config{
		URL: "smtp://" + server + "?starttls=off", From: "no-reply@coffer.test",
		PublicURL: "https://coffer.test",
	}
	return config
}

// mailed sends the queued mails, and returns the newest one to an address.
func (p post) mailed(t *testing.T, to string) mailbox.Mail {
	t.Helper()
	p.mails.RunQueued(t.Context())
	for _, m := range p.box.Mails() {
		if m.To == to {
			return m
		}
	}
	require.Fail(t, "no mail to "+to)
	return mailbox.Mail{}
}

// sent returns the sent mails whose text contains a substring.
func (p post) sent(substring string) []mailbox.Mail {
	var sent []mailbox.Mail
	for _, m := range p.box.Mails() {
		if strings.Contains(m.Text, substring) {
			sent = append(sent, m)
		}
	}
	return sent
}

// token returns the token of the link in the newest mail to an address.
func (p post) token(t *testing.T, to string) string {
	t.Helper()
	m := p.mailed(t, to)
	require.Len(t, m.Links, 1, m.Text)
	_, token, found := strings.Cut(m.Links[0], "#")
	require.True(t, found, m.Text)
	return token
}

// succeeded calls a function n times at once, and returns the number of calls without an error.
func succeeded(n int, call func(n int) error) int {
	var running sync.WaitGroup
	var mu sync.Mutex
	count := 0
	for i := range n {
		running.Go(func() {
			if call(i) == nil {
				mu.Lock()
				defer mu.Unlock()
				count++
			}
		})
	}
	running.Wait()
	return count
}

func (b *bundle) loginWith(t *testing.T, email, password string) *authv1.LoginResponse {
	t.Helper()
	resp, err := b.Login(t.Context(), &authv1.LoginRequest{Email: email, Password: password})
	require.NoError(t, err)
	return resp
}

// statements records the statements of a pool.
type statements struct {
	mu  sync.Mutex
	sql []string
}

func (s *statements) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData,
) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sql = append(s.sql, data.SQL)
	return ctx
}

func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *statements) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sql = nil
}

func (s *statements) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sql
}

// record replaces the pool of the service by one whose statements are recorded.
func (p post) record(t *testing.T, s *statements) {
	t.Helper()
	config := p.db.Config()
	config.ConnConfig.Tracer = s
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	p.db = pool
}

func TestInvitationToGoal(t *testing.T) {
	t.Parallel()
	p := setupMail(t)
	event := p.invited(p.register(t, adaMail), mumMail)
	invitation := event.Data.(*budgetv1.InvitationMailed)
	invitation.BudgetId, invitation.BudgetName = "", ""
	invitation.GoalId, invitation.GoalName = uuid.NewString(), "Trip"
	p.consume(t, event)
	sent := p.mailed(t, mumMail)
	require.Equal(t, "Ada shares a goal with you", sent.Subject)
	require.Contains(t, sent.Text, `the goal "Trip"`)
}

// TestResolveMail requires that a mail is sent later, and not dropped, if its user cannot be read.
func TestResolveMail(t *testing.T) {
	t.Parallel()
	p := setupMail(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := pgx.BeginFunc(t.Context(), p.db, func(tx pgx.Tx) error {
		cancel()
		_, err := p.resolveMail(ctx, tx,
			&mail.Due{Template: mail.PasswordReset, To: "ada@example.com"})
		return err
	})
	require.ErrorIs(t, err, context.Canceled)
}
