package test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/coffer-budget/coffer/devstack"
	"github.com/coffer-budget/coffer/internal/app"
)

// secret matches the passwords of the tests, tokens, webhook secrets and URLs with passwords, which
// must not be in logs, traces or events. mail matches e-mail addresses. E-mails and ids of users
// must not be in logs and traces, but may be in events, which only their users receive.
var (
	secret = regexp.MustCompile(`a long enough secret|eyJ[\w-]{10,}\.[\w-]{10,}\.|` +
		`whsec_|cof_[0-9A-Za-z]{8}|Bearer [\w.-]{8,}|(postgres|postgresql|nats)://[^ "@]*:[^ "@]*@`)
	mail = regexp.MustCompile(`[\w.+-]+@example\.(com|org)`)
)

// registered has the ids of the users that newUserAt has created. A test may have deleted a user,
// so that the database does not have the id.
var registered sync.Map

// record is a file with all log lines at level DEBUG and all spans of a test run.
type record struct {
	file *os.File
	mu   sync.Mutex
}

// newRecord sets the default logger and tracer. It must be called before the stack starts, which
// then uses them.
func newRecord() (*record, error) {
	file, err := os.CreateTemp("", "coffer-record-")
	if err != nil {
		return nil, err
	}
	r := &record{file: file}
	slog.SetDefault(slog.New(slog.NewMultiHandler(app.NewLogger(r, slog.LevelDebug).Handler(),
		slog.NewTextHandler(os.Stderr, nil))))
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(r)))
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return r, nil
}

// Write implements io.Writer.
func (r *record) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Write(line)
}

// ExportSpans implements trace.SpanExporter.
func (r *record) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, s := range spans {
		_, err := fmt.Fprintf(r, "span %s %v %v %v %v\n",
			s.Name(), s.Attributes(), s.Events(), s.Links(), s.Status())
		if err != nil {
			return err
		}
	}
	return nil
}

// Shutdown implements trace.SpanExporter.
func (r *record) Shutdown(context.Context) error { return nil }

// events adds the messages of the stream to the record, unparsed.
func (r *record) events(ctx context.Context, s *devstack.Stack) error {
	conn, err := nats.Connect(s.NATS)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	consumer, err := js.OrderedConsumer(ctx, "COFFER", jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return err
	}
	for left := info.NumPending; left > 0; left-- {
		m, err := consumer.Next()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(r, "event %s %v %q\n", m.Subject(), m.Headers(), m.Data())
		if err != nil {
			return err
		}
	}
	return nil
}

// linkTokens returns the tokens of the links in all mails.
func linkTokens(running *devstack.Stack) []string {
	var tokens []string
	for _, m := range running.Mailbox.Mails() {
		for _, link := range m.Links {
			if _, token, found := strings.Cut(link, "#"); found {
				tokens = append(tokens, token)
			}
		}
	}
	return tokens
}

// userIDs returns the ids of all users in the database.
func userIDs(ctx context.Context, running *devstack.Stack) (map[string]bool, error) {
	conn, err := pgx.Connect(ctx, running.Databases[""])
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	rows, err := conn.Query(ctx, `SELECT id::text FROM auth.users`)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	known := map[string]bool{}
	for _, id := range ids {
		known[id] = true
	}
	return known, err
}

// leaks returns excerpts of the lines with secrets, tokens of links and of sign-ins, recovery
// codes, e-mail addresses or the service key, and of the log lines and spans with ids of users. In
// a run of all tests, a record without spans, events or links is an error, because it would prove
// nothing.
func (r *record) leaks(running *devstack.Stack, whole bool) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.events(ctx, running); err != nil {
		return nil, fmt.Errorf("reading the events: %w", err)
	}
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	var found []string
	tokens := linkTokens(running)
	if whole && len(tokens) == 0 {
		return nil, errors.New("the record is incomplete: no mail with a link was sent")
	}
	disclosed.Lock()
	keys := append(tokens, disclosed.secrets...)
	disclosed.Unlock()
	if whole && len(keys) == len(tokens) {
		return nil, errors.New("the record is incomplete: no second factor was enabled")
	}
	keys = append(keys, running.ServiceKey)
	users, err := userIDs(ctx, running)
	if err != nil {
		return nil, fmt.Errorf("reading the ids of users: %w", err)
	}
	registered.Range(func(id, _ any) bool {
		users[id.(string)] = true
		return true
	})
	search := newLeakSearch(keys, users)
	spans, events := 0, 0
	lines := bufio.NewScanner(r.file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "span "):
			spans++
		case strings.HasPrefix(line, "event "):
			events++
		}
		if at := search.in(line); at != nil {
			found = append(found, line[max(0, at[0]-200):min(len(line), at[1]+50)])
		}
	}
	if whole && (spans == 0 || events == 0) {
		return nil, fmt.Errorf("the record is incomplete: it has %d spans and %d events",
			spans, events)
	}
	return found, lines.Err()
}

// leakSearch searches a line for the texts that leaks reports. A record has some hundred megabytes,
// and a regular expression for each line would take a minute, so it looks for the clues first.
type leakSearch struct {
	// clues are by their first two bytes.
	clues [1 << 16][]clue
	// users has the ids of all users.
	users map[string]bool
}

// clue is a text that each leak of a kind contains.
type clue struct {
	text string
	// whole matches the leak in its line. It is nil if the text is the leak.
	whole *regexp.Regexp
	// inEvents is set if events must not contain the leak either.
	inEvents bool
}

// newLeakSearch returns a search for secrets, keys, e-mail addresses and the ids of users.
func newLeakSearch(keys []string, users map[string]bool) *leakSearch {
	s := &leakSearch{users: users}
	s.add(clue{text: "@example.", whole: mail})
	for _, text := range []string{
		"a long enough secret", "eyJ", "whsec_", "cof_", "Bearer ", "postgres://", "postgresql://",
		"nats://",
	} {
		s.add(clue{text: text, whole: secret, inEvents: true})
	}
	for _, key := range keys {
		s.add(clue{text: key, inEvents: true})
	}
	return s
}

func (s *leakSearch) add(c clue) {
	at := int(c.text[0])<<8 | int(c.text[1])
	s.clues[at] = append(s.clues[at], c)
}

// in returns the begin and the end of the first leak in a line, or nil.
func (s *leakSearch) in(line string) []int {
	event := strings.HasPrefix(line, "event ")
	for i := range len(line) - 1 {
		for _, c := range s.clues[int(line[i])<<8|int(line[i+1])] {
			if event && !c.inEvents || !strings.HasPrefix(line[i:], c.text) {
				continue
			}
			if c.whole == nil {
				return []int{i, i + len(c.text)}
			}
			if at := c.whole.FindStringIndex(line); at != nil {
				return at
			}
		}
		// The ids of rows have the version 7 behind their second dash.
		if id := i - len("01234567-0123"); line[i] == '-' && line[i+1] == '7' && !event &&
			id >= 0 && id+36 <= len(line) && s.users[line[id:id+36]] {
			return []int{id, id + 36}
		}
	}
	return nil
}
