package test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// listener reads server-sent events.
type listener struct {
	u     *user
	lines *bufio.Scanner
	// last is the id of the last event, from which a new stream resumes.
	last  string
	close func()
}

type liveEvent struct {
	id, kind string
	data     object
}

func (u *user) listen(ctx context.Context, after string) *listener {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		cmp.Or(u.base, baseURL)+"/api/v1/events", nil)
	require.NoError(u.t, err)
	req.Header.Set("Authorization", "Bearer "+u.token)
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(req) //nolint:bodyclose // The listener's close does.
	require.NoError(u.t, err)
	require.Equal(u.t, http.StatusOK, resp.StatusCode)
	require.Equal(u.t, "text/event-stream", resp.Header.Get("Content-Type"))
	l := &listener{
		u: u, lines: bufio.NewScanner(resp.Body), close: func() { cancel(); _ = resp.Body.Close() },
	}
	l.block()
	return l
}

// block reads an event or a heartbeat, which ends with an empty line.
func (l *listener) block() (event liveEvent) {
	for {
		require.True(l.u.t, l.lines.Scan(), "the stream ended: %v", l.lines.Err())
		name, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch {
		case l.lines.Text() == "":
			return event
		case name == "id":
			event.id, l.last = value, value
		case name == "event":
			event.kind = value
		case name == "data":
			decoder := json.NewDecoder(bytes.NewReader([]byte(value)))
			decoder.UseNumber()
			require.NoError(l.u.t, decoder.Decode(&event.data), value)
		}
	}
}

// next returns the next event. It skips heartbeats and events of auth, because the registration may
// be published late.
func (l *listener) next() liveEvent {
	for {
		e := l.block()
		if e.data == nil {
			continue
		}
		require.Equal(l.u.t, l.u.id, e.data["subject"])
		require.Equal(l.u.t, e.kind, e.data["type"])
		if !strings.HasPrefix(e.kind, "auth.") {
			return e
		}
	}
}

func TestStreamEvents(t *testing.T) {
	t.Parallel()
	t.Run("sends the events of its user only", func(t *testing.T) {
		t.Parallel()
		me, friend := newUser(t), newUser(t)
		mine, theirs := me.listen(t.Context(), ""), friend.listen(t.Context(), "")
		defer mine.close()
		defer theirs.close()
		wallet := me.wallet("EUR", "10")
		event := mine.next()
		require.Equal(t, "ledger.v1.wallet.created", event.kind)
		require.Equal(t, "1.0", event.data["specversion"])
		require.Equal(t, "/coffer/ledger", event.data["source"])
		require.Equal(t, "application/json", event.data["datacontenttype"])
		require.Equal(t, json.Number("10.00"),
			event.data["data"].(object)["wallet"].(object)["balance"])
		category := me.category("Food")
		require.Equal(t, "ledger.v1.category.created", mine.next().kind)
		me.spend(wallet, category, "2")
		require.Equal(t, "ledger.v1.transaction.created", mine.next().kind)

		budget := me.budget(wallet, category)
		require.Equal(t, "budget.v1.budget.created", mine.next().kind)
		me.invite(budget, friend, "viewer", "")
		require.Equal(t, "budget.v1.invitation.sent", mine.next().kind)
		invited := theirs.next()
		require.Equal(t, "budget.v1.invitation.sent", invited.kind, "the friend's first event")
		require.Equal(t, invited.data["id"],
			friend.notified("budget.v1.invitation.sent", 1)[0]["id"])
	})
	t.Run("hides the account from a personal access token", func(t *testing.T) {
		t.Parallel()
		me := newUser(t)
		script := *me
		script.token = me.newPersonalToken("read").text("token")
		mine, shown := me.listen(t.Context(), ""), script.listen(t.Context(), "")
		defer mine.close()
		defer shown.close()
		me.patch("/api/v1/auth/me", object{"name": "Grace"}).ok("USER_UPDATED")
		for mine.block().kind != "auth.v1.user.updated" {
		}
		me.wallet("EUR", "10")
		for event := (liveEvent{}); event.kind != "ledger.v1.wallet.created"; {
			event = shown.block()
			require.NotContains(t, event.kind, "auth.")
		}
	})
	t.Run("resumes after the last event", func(t *testing.T) {
		t.Parallel()
		me := newUser(t)
		first := me.listen(t.Context(), "")
		wallet := me.wallet("EUR", "10")
		seen := first.next()
		first.close()
		category := me.category("Food")
		me.spend(wallet, category, "2")
		me.spend(wallet, category, "3")

		again := me.listen(t.Context(), seen.id)
		defer again.close()
		require.Equal(t, "ledger.v1.category.created", again.next().kind)
		for _, amount := range []string{"-2.00", "-3.00"} {
			require.Equal(t, json.Number(amount),
				again.next().data["data"].(object)["transaction"].(object)["amount"])
		}

		for _, bad := range []string{"x", "1", seen.id + "A"} {
			me.get("/api/v1/events", "Last-Event-ID", bad).fails(400, "INVALID_CURSOR")
		}
		newUser(t).get("/api/v1/events", "Last-Event-ID", seen.id).fails(400, "INVALID_CURSOR")
	})
	t.Run("limits the open streams of a user", func(t *testing.T) {
		t.Parallel()
		if stack == nil {
			t.Skip("each replica at BASE_URL counts separately")
		}
		u := newUser(t)
		for range 10 {
			l := u.listen(t.Context(), "")
			defer l.close()
		}
		a := u.get("/api/v1/events").fails(429, "RATE_LIMITED")
		require.NotEmpty(t, a.header.Get("Retry-After"))
		other := newUser(t).listen(t.Context(), "")
		other.close()
	})
	t.Run("ends with its session", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		listener := u.listen(t.Context(), "")
		defer listener.close()
		u.post("/api/v1/auth/logout", object{"refreshToken": u.refreshToken})
		ended := make(chan bool)
		go func() {
			for listener.lines.Scan() {
			}
			ended <- listener.lines.Err() == nil
		}()
		select {
		case properly := <-ended:
			require.True(t, properly)
		case <-time.After(55 * time.Second):
			require.Fail(t, "the stream of an ended session is still open")
		}
	})
}

// TestStreamEventsDuringRestarts restarts each process of a separate stack while a stream is open.
func TestStreamEventsDuringRestarts(t *testing.T) {
	t.Parallel()
	own := ownStack(t, "", nil)
	me := newUserAt(t, own.URL, "Ada")
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	listener := me.listen(t.Context(), "")
	defer func() { listener.close() }()
	created := map[string]bool{}
	requireNextEvent := func() {
		id := me.spend(wallet, category, "1")
		created[id] = true
		for {
			e := listener.next()
			if e.kind != "ledger.v1.transaction.created" {
				continue
			}
			transaction := e.data["data"].(object)["transaction"].(object)["id"].(string)
			require.Contains(t, created, transaction)
			if transaction == id {
				return
			}
		}
	}
	requireNextEvent()
	for _, part := range []string{"budget", "nats", "auth", "ledger", "postgres"} {
		require.NoError(t, own.Halt(part))
		if part == "budget" || part == "nats" {
			// Published after the restart, on the same connection.
			created[me.spend(wallet, category, "2")] = true
		}
		require.NoError(t, own.Resume(t.Context(), part))
		require.Eventually(t, func() bool {
			a := me.post("/api/v1/transaction", expense(wallet, category, "1"))
			if a.status == http.StatusCreated {
				created[a.text("transaction.id")] = true
			}
			return a.status == http.StatusCreated
		}, time.Minute, 50*time.Millisecond, part)
		requireNextEvent()
	}
	last := listener.last
	listener.close()
	require.NoError(t, own.Halt("gateway"))
	require.NoError(t, own.Resume(t.Context(), "gateway"))
	listener = me.listen(t.Context(), last)
	requireNextEvent()
}

// TestStreamEventsAfterSilence requires that every way to add an event wakes the relay. An idle
// relay polls only every ten seconds.
func TestStreamEventsAfterSilence(t *testing.T) {
	t.Parallel()
	// Other tests' events would wake the relays.
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"), map[string]string{"RATE_LIMIT": "0"})
	me := newUserAt(t, own.URL, "Ada")
	wallet, category := me.wallet("EUR", "100"), me.category("Food")
	for _, changes := range []map[string]func(){
		{
			"ledger.v1.transaction.created": func() { me.spend(wallet, category, "1") },
			"budget.v1.budget.created":      func() { me.budget(wallet, category) },
			"auth.v1.user.updated": func() {
				me.patch("/api/v1/auth/me", object{"name": "Ada L."}).
					is(http.StatusOK, "USER_UPDATED")
			},
		},
		{"ledger.v1.wallet.created": func() { me.wallet("EUR", "1") }},
		{"ledger.v1.transaction.created": func() {
			me.post("/api/v1/transaction/batch", batch(expense(wallet, category, "1"))).
				created("TRANSACTIONS_CREATED")
		}},
	} {
		// The relay's intervals have then grown to 6.4 or 10 seconds.
		time.Sleep(7 * time.Second)
		listener := me.listen(t.Context(), "")
		began := time.Now()
		for _, change := range changes {
			change()
		}
		for len(changes) > 0 {
			delete(changes, listener.block().kind)
		}
		require.Less(t, time.Since(began), 5*time.Second)
		listener.close()
	}
}
