package devstack

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox"
)

// user calls the stack's REST API with a token.
type user struct {
	stack *Stack
	token string
	// wallet and category are ids.
	wallet, category string
}

func register(t *testing.T, s *Stack) user {
	t.Helper()
	user := user{stack: s}
	status, _ := user.post(t, "/api/v1/auth/register", map[string]any{
		"name": "Alma", "email": "alma@example.com", "password": "a long enough secret",
	})
	require.Equal(t, http.StatusCreated, status)
	status, body := user.post(t, "/api/v1/auth/login",
		map[string]any{"email": "alma@example.com", "password": "a long enough secret"})
	require.Equal(t, http.StatusOK, status)
	user.token = body["accessToken"].(string)
	status, body = user.post(t, "/api/v1/wallet", map[string]any{"name": "Cash", "currency": "EUR"})
	require.Equal(t, http.StatusCreated, status)
	user.wallet = body["wallet"].(map[string]any)["id"].(string)
	status, body = user.post(t, "/api/v1/categories", map[string]any{"name": "Food"})
	require.Equal(t, http.StatusCreated, status)
	user.category = body["category"].(map[string]any)["id"].(string)
	return user
}

// post sends a request and returns the status and the decoded body. The status is 0 if the gateway
// did not respond.
func (u user) post(t *testing.T, path string, body map[string]any) (int, map[string]any) {
	t.Helper()
	encoded, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, u.stack.URL+path,
		bytes.NewReader(encoded))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+u.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var decoded map[string]any
	require.NoError(t, json.Unmarshal(text, &decoded), "%s", text)
	if resp.StatusCode == http.StatusServiceUnavailable {
		require.NotEmpty(t, resp.Header.Get("Retry-After"), "%s", text)
	}
	return resp.StatusCode, decoded
}

// transactions creates transactions until done reports true, and returns the descriptions of the
// acknowledged ones. Any other status than 201, 503 and 504 fails the test.
func (u user) transactions(t *testing.T, done func(acknowledged, unavailable int) bool) []string {
	t.Helper()
	var acknowledged []string
	unavailable := 0
	deadline := time.Now().Add(2 * time.Minute)
	for !done(len(acknowledged), unavailable) {
		require.True(t, time.Now().Before(deadline), "%d acknowledged, %d unavailable",
			len(acknowledged), unavailable)
		description := rand.Text()
		switch status, body := u.post(t, "/api/v1/transaction", map[string]any{
			"amount": 1, "currency": "EUR", "date": "2026-11-22", "walletId": u.wallet,
			"categoryId": u.category, "description": description,
		}); status {
		case http.StatusCreated:
			acknowledged = append(acknowledged, description)
		case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			unavailable++
		default:
			require.Fail(t, "unexpected answer", "%d %v", status, body)
		}
	}
	return acknowledged
}

// requireStored checks that all acknowledged transactions are in the database.
func requireStored(t *testing.T, s *Stack, acknowledged []string) {
	t.Helper()
	var missing []string
	rows, err := connect(t, s.Databases[""]).Query(t.Context(), `
		SELECT d FROM unnest($1::text[]) AS a (d)
		WHERE NOT EXISTS (SELECT FROM ledger.transactions AS t WHERE t.description = a.d)`,
		acknowledged)
	require.NoError(t, err)
	missing, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Empty(t, missing)
}

func outboxLength(t *testing.T, s *Stack) int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.Databases[""])
	if err != nil {
		return -1 // PostgreSQL may be starting.
	}
	defer conn.Close(t.Context())
	var n int
	if conn.QueryRow(t.Context(), `SELECT count(*) FROM ledger.outbox`).Scan(&n) != nil {
		return -1
	}
	return n
}

func TestStackRestartsPostgres(t *testing.T) {
	t.Parallel()
	testServer(t)
	config := kept(t)
	config.Environment = map[string]string{"RATE_LIMIT": "0"}
	running, err := Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, running.Stop()) })
	user := register(t, running)
	pidFile, err := os.ReadFile(filepath.Join(running.PostgresDir, "data", "postmaster.pid"))
	require.NoError(t, err)
	line, _, _ := strings.Cut(string(pidFile), "\n")
	postmaster, err := strconv.Atoi(line)
	require.NoError(t, err)

	enough := func(acknowledged, _ int) bool { return acknowledged == 20 }
	stored := user.transactions(t, enough)
	require.NoError(t, syscall.Kill(postmaster, syscall.SIGKILL))
	// Backends without a postmaster may still answer for a moment.
	stored = append(stored, user.transactions(t, func(_, unavailable int) bool {
		return unavailable > 0
	})...)
	stored = append(stored, user.transactions(t, enough)...)
	require.Eventually(t, func() bool {
		return outboxLength(t, running) == 0
	}, time.Minute, 100*time.Millisecond)
	requireStored(t, running, stored)
	require.ErrorContains(t, <-running.Failed, "PostgreSQL ended")
}

func TestStackRecoversFromFullDisk(t *testing.T) {
	t.Parallel()
	testServer(t)
	for name, test := range map[string]struct{ folder, size, failure string }{
		"of NATS":      {"nats", "16m", "NATS stores no events"},
		"of all parts": {"", "180m", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := kept(t)
			config.Environment = map[string]string{"RATE_LIMIT": "0"}
			folder := filepath.Join(config.DataDir, test.folder)
			require.NoError(t, os.MkdirAll(folder, 0o711))
			if err := syscall.Mount("tmpfs", folder, "tmpfs", 0,
				"mode=0711,size="+test.size); err != nil {
				require.ErrorIs(t, err, syscall.EPERM)
				t.Skip("mounting a small file system needs root")
			}
			t.Cleanup(func() { require.NoError(t, syscall.Unmount(folder, syscall.MNT_DETACH)) })
			running, err := Start(t.Context(), config)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, running.Stop()) })
			user := register(t, running)
			acknowledged := user.transactions(t, func(acknowledged, _ int) bool {
				return acknowledged == 20
			})

			filler := filepath.Join(folder, "filler")
			size := fill(t, filler)
			if test.folder == "" {
				require.Eventually(t, func() bool {
					return storage(t, running) == "low"
				}, time.Minute, 100*time.Millisecond)
			}
			acknowledged = append(acknowledged, user.transactions(t, func(_, unavailable int) bool {
				select {
				case err := <-running.Failed:
					require.ErrorContains(t, err, test.failure)
					return true
				default:
				}
				// Sometimes a page becomes free, so that some statements succeed.
				if unavailable > 0 && unavailable%50 == 0 {
					size -= 4096
					require.NoError(t, os.Truncate(filler, size))
				}
				return false
			})...)
			require.NoError(t, os.Remove(filler))
			require.Eventually(t, func() bool {
				return storage(t, running) == "ok"
			}, time.Minute, 100*time.Millisecond)

			acknowledged = append(acknowledged,
				user.transactions(t,
					func(acknowledged, _ int) bool { return acknowledged == 20 })...)
			requireStored(t, running, acknowledged)
			require.Eventually(t, func() bool {
				return outboxLength(t, running) == 0
			}, 2*time.Minute, 100*time.Millisecond)
			require.GreaterOrEqual(t, streamLength(t, running, "ledger.v1.transaction.created.>"),
				len(acknowledged))
			requireConsumed(t, running)
		})
	}
}

// storage returns the free space of the database's volume as /readyz states it.
func storage(t *testing.T, s *Stack) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/readyz",
		http.NoBody)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	var ready struct{ Storage string }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&ready))
	return ready.Storage
}

// requireConsumed requires that the consumers, which store notifications, webhook deliveries and
// the audit trail, process all events.
func requireConsumed(t *testing.T, s *Stack) {
	t.Helper()
	bus, err := outbox.Connect(outbox.Config{NATSURL: s.NATS, NATSReplicas: 1}, "test",
		slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer bus.Close()
	for _, consumer := range []string{"budget-events", "auth-audit"} {
		require.Eventually(t, func() bool {
			lag, err := bus.Lag(t.Context(), consumer)
			return err == nil && lag == 0
		}, 2*time.Minute, 100*time.Millisecond, consumer)
	}
}

// streamLength returns the number of events with a subject in the stream.
func streamLength(t *testing.T, s *Stack, subject string) int {
	t.Helper()
	conn, err := nats.Connect(s.NATS)
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	stream, err := js.Stream(t.Context(), "COFFER")
	require.NoError(t, err)
	info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter(subject))
	require.NoError(t, err)
	n := 0
	for _, count := range info.State.Subjects {
		n += int(count) //nolint:gosec // A test stores few events.
	}
	return n
}

// fill writes a file until its file system is full, and returns the file's size in bytes.
func fill(t *testing.T, name string) int64 {
	t.Helper()
	file, err := os.Create(name)
	require.NoError(t, err)
	defer file.Close()
	for size := 1 << 20; size > 0; {
		if _, err := file.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else {
			require.NoError(t, err)
		}
	}
	info, err := file.Stat()
	require.NoError(t, err)
	return info.Size()
}
