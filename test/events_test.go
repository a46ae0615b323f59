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
	p     *person
	lines *bufio.Scanner
	// last is the id to go on from.
	last  string
	close func()
}

type liveEvent struct {
	id, kind string
	data     object
}

func (p *person) listen(ctx context.Context, after string) *listener {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, cmp.Or(p.base, baseURL)+"/api/v1/events", nil)
	require.NoError(p.t, err)
	req.Header.Set("Authorization", "Bearer "+p.token)
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(req) //nolint:bodyclose // The listener's close does.
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusOK, resp.StatusCode)
	require.Equal(p.t, "text/event-stream", resp.Header.Get("Content-Type"))
	l := &listener{p: p, lines: bufio.NewScanner(resp.Body), close: func() { cancel(); _ = resp.Body.Close() }}
	l.block()
	return l
}

// block reads up to an empty line.
func (l *listener) block() (e liveEvent) {
	for {
		require.True(l.p.t, l.lines.Scan(), "the stream ended: %v", l.lines.Err())
		name, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch {
		case l.lines.Text() == "":
			return e
		case name == "id":
			e.id, l.last = value, value
		case name == "event":
			e.kind = value
		case name == "data":
			decoder := json.NewDecoder(bytes.NewReader([]byte(value)))
			decoder.UseNumber()
			require.NoError(l.p.t, decoder.Decode(&e.data), value)
		}
	}
}

// next skips heartbeats, and the user's registration, which may be told only now.
func (l *listener) next() liveEvent {
	for {
		e := l.block()
		if e.data == nil {
			continue
		}
		require.Equal(l.p.t, l.p.id, e.data["subject"])
		require.Equal(l.p.t, e.kind, e.data["type"])
		if !strings.HasPrefix(e.kind, "auth.") {
			return e
		}
	}
}

func TestAUserSeesLiveWhatIsHisAndNothingElse(t *testing.T) {
	t.Parallel()
	p, friend := newPerson(t), newPerson(t)
	mine, theirs := p.listen(t.Context(), ""), friend.listen(t.Context(), "")
	defer mine.close()
	defer theirs.close()
	wallet := p.wallet("EUR", "10")
	e := mine.next()
	require.Equal(t, "ledger.v1.wallet.created", e.kind)
	require.Equal(t, "1.0", e.data["specversion"])
	require.Equal(t, "/coffer/ledger", e.data["source"])
	require.Equal(t, "application/json", e.data["datacontenttype"])
	require.Equal(t, json.Number("10.00"), e.data["data"].(object)["wallet"].(object)["balance"])
	category := p.category("Food")
	require.Equal(t, "ledger.v1.category.created", mine.next().kind)
	p.spend(wallet, category, "2")
	require.Equal(t, "ledger.v1.transaction.created", mine.next().kind)

	budget := p.budget(wallet, category)
	require.Equal(t, "budget.v1.budget.created", mine.next().kind)
	p.invite(budget, friend, "viewer", "")
	require.Equal(t, "budget.v1.invitation.sent", mine.next().kind)
	invited := theirs.next()
	require.Equal(t, "budget.v1.invitation.sent", invited.kind, "the first that concerns the friend")
	require.Equal(t, invited.data["id"], friend.notified("budget.v1.invitation.sent", 1)[0]["id"])
}

func TestAStreamGoesOnWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	first := p.listen(t.Context(), "")
	wallet := p.wallet("EUR", "10")
	seen := first.next()
	first.close()
	category := p.category("Food")
	p.spend(wallet, category, "2")
	p.spend(wallet, category, "3")

	again := p.listen(t.Context(), seen.id)
	defer again.close()
	require.Equal(t, "ledger.v1.category.created", again.next().kind)
	for _, amount := range []string{"-2.00", "-3.00"} {
		require.Equal(t, json.Number(amount), again.next().data["data"].(object)["transaction"].(object)["amount"])
	}

	for _, bad := range []string{"x", "1", seen.id + "A"} {
		p.get("/api/v1/events", "Last-Event-ID", bad).fails(http.StatusBadRequest, "INVALID_CURSOR")
	}
	newPerson(t).get("/api/v1/events", "Last-Event-ID", seen.id).fails(http.StatusBadRequest, "INVALID_CURSOR")
}

func TestAUserCannotOpenStreamsWithoutEnd(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("each replica of BASE_URL counts for itself")
	}
	p := newPerson(t)
	for range 10 {
		l := p.listen(t.Context(), "")
		defer l.close()
	}
	a := p.get("/api/v1/events").fails(http.StatusTooManyRequests, "RATE_LIMITED")
	require.NotEmpty(t, a.header.Get("Retry-After"))
	other := newPerson(t).listen(t.Context(), "")
	other.close()
}

func TestAStreamEndsWithItsSession(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	l := p.listen(t.Context(), "")
	defer l.close()
	p.post("/api/v1/auth/logout", object{"refreshToken": p.refreshToken})
	ended := make(chan bool)
	go func() {
		for l.lines.Scan() {
		}
		ended <- l.lines.Err() == nil
	}()
	select {
	case properly := <-ended:
		require.True(t, properly)
	case <-time.After(55 * time.Second):
		require.Fail(t, "the stream of an ended session goes on")
	}
}

// TestAStreamSurvivesTheRestartOfEveryPart is on a stack of its own.
func TestAStreamSurvivesTheRestartOfEveryPart(t *testing.T) {
	t.Parallel()
	own := ownStack(t, "", nil)
	p := newPersonAt(t, own.URL, "Ada")
	wallet, category := p.wallet("EUR", "0"), p.category("Food")
	l := p.listen(t.Context(), "")
	defer func() { l.close() }()
	booked := map[string]bool{}
	told := func() {
		id := p.spend(wallet, category, "1")
		booked[id] = true
		for {
			e := l.next()
			if e.kind != "ledger.v1.transaction.created" {
				continue
			}
			transaction := e.data["data"].(object)["transaction"].(object)["id"].(string)
			require.Contains(t, booked, transaction)
			if transaction == id {
				return
			}
		}
	}
	told()
	for _, part := range []string{"budget", "nats", "auth", "ledger", "postgres"} {
		require.NoError(t, own.Halt(part))
		if part == "budget" || part == "nats" {
			// Told of later, on the same connection.
			booked[p.spend(wallet, category, "2")] = true
		}
		require.NoError(t, own.Resume(t.Context(), part))
		require.Eventually(t, func() bool {
			a := p.post("/api/v1/transaction", expense(wallet, category, "1"))
			if a.status == http.StatusCreated {
				booked[a.text("transaction.id")] = true
			}
			return a.status == http.StatusCreated
		}, 20*time.Second, 50*time.Millisecond, part)
		told()
	}
	last := l.last
	l.close()
	require.NoError(t, own.Halt("gateway"))
	require.NoError(t, own.Resume(t.Context(), "gateway"))
	l = p.listen(t.Context(), last)
	told()
}

// A relay that has nothing to do looks every ten seconds. Whoever adds an event must wake it, in whichever way it was added.
func TestTheFirstEventAfterSilenceDoesNotWait(t *testing.T) {
	t.Parallel()
	// Others would keep the relays awake.
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"), map[string]string{"RATE_LIMIT": "0"})
	p := newPersonAt(t, own.URL, "Ada")
	wallet, category := p.wallet("EUR", "100"), p.category("Food")
	for _, changes := range []map[string]func(){
		{
			"ledger.v1.transaction.created": func() { p.spend(wallet, category, "1") },
			"budget.v1.budget.created":      func() { p.budget(wallet, category) },
			"auth.v1.user.updated":          func() { p.patch("/api/v1/auth/me", object{"name": "Ada L."}).is(http.StatusOK, "USER_UPDATED") },
		},
		{"ledger.v1.wallet.created": func() { p.wallet("EUR", "1") }},
		{"ledger.v1.transaction.created": func() {
			p.post("/api/v1/transaction/batch", batch(expense(wallet, category, "1"))).created("TRANSACTIONS_CREATED")
		}},
	} {
		// The last pauses are 3.2 seconds, 6.4 and 10.
		time.Sleep(7 * time.Second)
		l := p.listen(t.Context(), "")
		began := time.Now()
		for _, change := range changes {
			change()
		}
		for len(changes) > 0 {
			delete(changes, l.block().kind)
		}
		require.Less(t, time.Since(began), 3*time.Second)
		l.close()
	}
}
