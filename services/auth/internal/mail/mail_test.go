package mail

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/auth/mailbox"
)

// env is an outbox that sends to a mailbox.
type env struct {
	*Outbox
	box *mailbox.Mailbox
	// logged is the log of the outbox.
	logged bytes.Buffer
	now    time.Time
	// resolve is called by the outbox.
	resolve func(due *Due) bool
}

func setup(t *testing.T) *env {
	t.Helper()
	return setupOn(t, pgtest.New(t, os.DirFS("../..")))
}

func setupOn(t *testing.T, db *pgxpool.Pool) *env {
	t.Helper()
	e := &env{
		box: &mailbox.Mailbox{}, now: time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC),
		resolve: func(*Due) bool { return true },
	}
	var err error
	e.Outbox, err = New(Options{
		Config: Config{
			URL:       "smtp://" + serve(t, e.box) + "?starttls=off",
			From:      "Coffer <no-reply@coffer.test>",
			PublicURL: "https://coffer.test",
		},
		DB: db, ServiceKey: "test", Now: func() time.Time { return e.now },
		Log: slog.New(slog.NewTextHandler(&e.logged, nil)),
		Resolve: func(_ context.Context, _ pgx.Tx, due *Due) (bool, error) {
			return e.resolve(due), nil
		},
	})
	require.NoError(t, err)
	return e
}

// serve starts a mailbox and returns its address.
func serve(t *testing.T, box *mailbox.Mailbox) string {
	t.Helper()
	var listen net.ListenConfig
	mails, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = box.Serve(t.Context(), mails) }()
	return mails.Addr().String()
}

func (e *env) queue(t *testing.T, m Mail) bool {
	t.Helper()
	if m.ID == uuid.Nil {
		m.ID = uuid.Must(uuid.NewV7())
	}
	if m.Template == "" {
		m.Template = PasswordReset
	}
	if m.TTL == 0 {
		m.TTL = 30 * time.Hour
	}
	m.Language = "en"
	var queued bool
	require.NoError(t, pg.InTx(t.Context(), e.DB, func(tx pgx.Tx) error {
		var err error
		queued, err = e.Queue(t.Context(), tx, m)
		return err
	}))
	return queued
}

func (e *env) row(t *testing.T, sql string) string {
	t.Helper()
	return pgtest.Value[string](t, e.DB, `SELECT `+sql+` FROM mails`)
}

func TestQueue(t *testing.T) {
	t.Parallel()
	t.Run("stores nothing readable, and nothing of a sent mail", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		id := uuid.Must(uuid.NewV7())
		require.True(t, e.queue(t, Mail{
			ID: id, To: "ada@example.com", Params: map[string]string{"Name": "Ada"},
		}))
		stored := e.row(t, "mails::text")
		for _, text := range []string{"ada@example.com", "Ada"} {
			require.NotContains(t, stored, text)
			require.NotContains(t, stored, hex.EncodeToString([]byte(text)), "in a bytea")
		}
		e.RunQueued(t.Context())
		require.Equal(t, "sent true true", e.row(t,
			"status || ' ' || (to_sealed IS NULL)::text || ' ' || (params_sealed IS NULL)::text"))
		got := e.box.Mails()
		require.Len(t, got, 1)
		require.Equal(t, "ada@example.com", got[0].To)
		require.Equal(t, "no-reply@coffer.test", got[0].From)
		require.Equal(t, id.String()+"@coffer.test", got[0].MessageID)
		require.Equal(t, []string{"https://coffer.test/reset#" + e.Token(id)}, got[0].Links)
		require.Contains(t, got[0].HTML, e.Token(id))
		require.Empty(t, e.logged.String())
	})
	t.Run("limits the mails to an address, also simultaneous ones", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		queue := func(to string, templates ...string) (queued int) {
			var running sync.WaitGroup
			var mu sync.Mutex
			for range 2 * perTemplate {
				for _, template := range templates {
					running.Go(func() {
						if e.queue(t, Mail{To: to, Template: template}) {
							mu.Lock()
							defer mu.Unlock()
							queued++
						}
					})
				}
			}
			running.Wait()
			return queued
		}
		require.Equal(t, perTemplate, queue("ben@example.com", PasswordReset))
		require.Equal(t, perAddress, queue("ada@example.com", PasswordReset, PasswordChanged,
			EmailVerification, EmailChange, EmailChanged))
		require.True(t, e.queue(t, Mail{To: "eve@example.com"}))
		e.now = e.now.Add(LimitWindow)
		require.True(t, e.queue(t, Mail{To: "ada@example.com"}))
	})
	t.Run("queues one mail for an event", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		require.True(t, e.queue(t, Mail{To: "ada@example.com", DedupeKey: "event"}))
		require.False(t, e.queue(t, Mail{To: "ada@example.com", DedupeKey: "event"}))
	})
	t.Run("does nothing without SMTP_URL", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		e.Config.URL = ""
		require.False(t, e.queue(t, Mail{To: "ada@example.com"}))
		require.Equal(t, "0", e.row(t, "count(*)::text"))
	})
}

func TestSend(t *testing.T) {
	t.Parallel()
	t.Run("repeats a mail once after a crash, with the same Message-ID and link",
		func(t *testing.T) {
			t.Parallel()
			e := setup(t)
			e.queue(t, Mail{To: "ada@example.com"})
			// The first replica dies after the server has accepted the mail.
			row, err := leaseMail(t.Context(), e.DB, e.now, e.now.Add(leaseTime))
			require.NoError(t, err)
			status, err := e.attempt(t.Context(), row)
			require.NoError(t, err)
			require.Equal(t, sent, status)
			other := setupOn(t, e.DB)
			other.Config, other.server = e.Config, e.server
			other.RunQueued(t.Context())
			require.Len(t, e.box.Mails(), 1, "the lease has not ended")
			other.now = e.now.Add(leaseTime)
			other.RunQueued(t.Context())
			other.now = e.now.Add(LimitWindow)
			other.RunQueued(t.Context())
			got := e.box.Mails()
			require.Len(t, got, 2)
			require.Equal(t, got[0].MessageID, got[1].MessageID)
			require.Equal(t, got[0].Links, got[1].Links)
			// The first replica was only slow. It must not change the mail any more.
			require.NoError(t, endMail(t.Context(), e.DB, row, failed))
			require.Equal(t, sent, e.row(t, "status"))
		})
	t.Run("sends each mail once from many replicas", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		for range perTemplate {
			e.queue(t, Mail{To: "ada@example.com"})
		}
		var running sync.WaitGroup
		for range 4 {
			running.Go(func() { e.RunQueued(t.Context()) })
		}
		running.Wait()
		require.Len(t, e.box.Mails(), perTemplate)
	})
	t.Run("makes 8 attempts within 24 hours", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		e.server.options = nil // Nothing listens on port 25 of this host.
		e.server.host = "127.0.0.1"
		start := e.now
		e.queue(t, Mail{To: "ada@example.com"})
		attempts := 0
		for e.row(t, "status") == "queued" {
			e.RunQueued(t.Context())
			attempts++
			e.now = pgtest.Value[time.Time](t, e.DB, `SELECT next_attempt_at FROM mails`)
		}
		require.Equal(t, 8, attempts)
		require.Equal(t, failed, e.row(t, "status"))
		require.Less(t, e.now.Sub(start), maxAge)
		require.NotContains(t, e.logged.String(), "ada@example.com")
	})
	t.Run("gives up on a rejected recipient, and logs no address", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		e.box.Reject = func(to string) error { return errors.New("no mailbox for " + to) }
		e.queue(t, Mail{To: "ada@example.com"})
		e.RunQueued(t.Context())
		require.Equal(t, "failed 1", e.row(t, "status || ' ' || attempts"))
		require.Contains(t, e.logged.String(), "gave up")
		require.NotContains(t, e.logged.String(), "ada@example.com")
	})
	t.Run("drops a mail whose link has expired, or without a recipient", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		e.queue(t, Mail{To: "ada@example.com", TTL: time.Minute})
		e.now = e.now.Add(time.Minute)
		e.RunQueued(t.Context())
		require.Equal(t, dropped, e.row(t, "status"))
		e.resolve = func(*Due) bool { return false }
		e.queue(t, Mail{To: "ada@example.com"})
		e.RunQueued(t.Context())
		require.Empty(t, e.box.Mails())
		require.Equal(t, dropped, e.row(t, "max(status)"))
		require.NoError(t, e.Expire(t.Context()))
		require.Equal(t, "2", e.row(t, "count(*)::text"), "the limits need them")
		e.now = e.now.Add(LimitWindow + time.Minute)
		require.NoError(t, e.Expire(t.Context()))
		require.Equal(t, "0", e.row(t, "count(*)::text"))
	})
}
