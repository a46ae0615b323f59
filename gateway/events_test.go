package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/apierr"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const eventsPath = "/api/v1/events"

type (
	eventsRequest = budgetv1.StreamEventsRequest
	eventsServer  = grpc.ServerStreamingServer[budgetv1.StreamEventsResponse]
)

// StreamEvents runs the function that the test declares as its answer.
func (b *backend) StreamEvents(req *eventsRequest, stream eventsServer) error {
	b.mu.Lock()
	b.requests = append(b.requests, req)
	script, _ := b.answers["StreamEvents"].(func(*eventsRequest, eventsServer) error)
	b.mu.Unlock()
	return script(req, stream)
}

func anEvent(t *testing.T, position string) *budgetv1.StreamEventsResponse {
	t.Helper()
	data, err := anypb.New(&budgetv1.MemberRemoved{BudgetName: "two\nlines"})
	require.NoError(t, err)
	return &budgetv1.StreamEventsResponse{
		Position: position,
		Event:    &budgetv1.Event{Id: anID, Type: "budget.v1.member.removed", Data: data},
	}
}

// streaming returns the answers of a backend that only streams events.
func streaming(stream func(*eventsRequest, eventsServer) error) map[string]any {
	return map[string]any{"StreamEvents": stream}
}

// listen opens the event stream and returns its header and a scanner of its lines.
func (a *api) listen(ctx context.Context, headers ...string) (http.Header, *bufio.Scanner) {
	a.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+eventsPath, nil)
	require.NoError(a, err)
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Accept-Encoding", "gzip")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(a, err)
	a.Cleanup(func() { _ = resp.Body.Close() })
	require.Equal(a, http.StatusOK, resp.StatusCode)
	return resp.Header, bufio.NewScanner(resp.Body)
}

func readLines(t *testing.T, lines *bufio.Scanner, n int) []string {
	t.Helper()
	var read []string
	for range n {
		require.True(t, lines.Scan(), "%v after %q", lines.Err(), read)
		read = append(read, lines.Text())
	}
	return read
}

func TestEventsAreSentSinglyAndUncompressed(t *testing.T) {
	t.Parallel()
	next := make(chan *budgetv1.StreamEventsResponse)
	gate := newAPI(t, streaming(func(_ *eventsRequest, stream eventsServer) error {
		for resp := range next {
			if err := stream.Send(resp); err != nil {
				return err
			}
		}
		return nil
	}))
	go func() { next <- &budgetv1.StreamEventsResponse{Position: "p0"} }()
	header, lines := gate.listen(t.Context(), "Last-Event-ID", "before")
	require.Equal(t, "text/event-stream", header.Get("Content-Type"))
	require.Empty(t, header.Get("Content-Encoding"))
	require.Equal(t, []string{"retry: 1000", "id: p0", ""}, readLines(t, lines, 3))
	require.Equal(t, "before", received[*budgetv1.StreamEventsRequest](gate).GetLastEventId())

	next <- &budgetv1.StreamEventsResponse{Position: "p0"}
	require.Equal(t, []string{":", ""}, readLines(t, lines, 2))

	next <- anEvent(t, "p1")
	event := readLines(t, lines, 4)
	require.Equal(t, []string{"id: p1", "event: budget.v1.member.removed"}, event[:2])
	data, ok := strings.CutPrefix(event[2], "data: ")
	require.True(t, ok, event[2])
	var body struct {
		ID   string
		Data struct{ BudgetName string }
	}
	require.NoError(t, json.Unmarshal([]byte(data), &body))
	require.Equal(t, anID, body.ID)
	require.Equal(t, "two\nlines", body.Data.BudgetName)

	close(next)
	require.False(t, lines.Scan(), "the response ends with the stream of the service")
	require.NoError(t, lines.Err())
}

func TestEventsResumeAfterServiceRestart(t *testing.T) {
	t.Parallel()
	var lives int
	gate := newAPI(t, streaming(func(req *eventsRequest, stream eventsServer) error {
		lives++
		switch lives {
		case 1:
			require.NoError(t, stream.Send(&budgetv1.StreamEventsResponse{Position: "p0"}))
			require.NoError(t, stream.Send(anEvent(t, "p1")))
			return apierr.Unavailable.GRPCStatus().Err()
		case 2:
			return apierr.Unavailable.GRPCStatus().Err()
		}
		require.NoError(t,
			stream.Send(&budgetv1.StreamEventsResponse{Position: req.GetLastEventId()}))
		require.NoError(t, stream.Send(anEvent(t, "after "+req.GetLastEventId())))
		return apierr.TokenExpired.GRPCStatus().Err()
	}))
	_, lines := gate.listen(t.Context())
	readLines(t, lines, 3+4+2)
	require.Equal(t, "id: after p1", readLines(t, lines, 1)[0])
	readLines(t, lines, 3)
	require.False(t, lines.Scan(), "an expired token ends the response")
}

func TestEventsRejectedStreamIsErrorResponse(t *testing.T) {
	t.Parallel()
	refuse := func(*eventsRequest, eventsServer) error {
		tooMany := apierr.New(restv1.Reason_RATE_LIMITED).WithMessage("Too many")
		return tooMany.After(time.Minute).GRPCStatus().Err()
	}
	a := newAPI(t, streaming(refuse))
	r := a.send(http.MethodGet, eventsPath, "")
	a.requireFailure(r, http.StatusTooManyRequests, "RATE_LIMITED")
	require.Equal(t, "60", r.Header.Get("Retry-After"))
	a.requireFailure(a.send(http.MethodGet, eventsPath, "", "Authorization", "Bearer x"),
		http.StatusUnauthorized, "UNAUTHORIZED")
	a.requireFailure(a.send(http.MethodGet, eventsPath+"?x=%zz", ""),
		http.StatusBadRequest, "VALIDATION_ERROR")
}

func TestEventsHeadEnds(t *testing.T) {
	t.Parallel()
	a := newAPI(t, streaming(func(_ *eventsRequest, stream eventsServer) error {
		_ = stream.Send(&budgetv1.StreamEventsResponse{Position: "p0"})
		<-stream.Context().Done()
		return stream.Context().Err()
	}))
	r := a.send(http.MethodHead, eventsPath, "")
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.Equal(t, "text/event-stream", r.Header.Get("Content-Type"))
}

func TestEventsAfterABreak(t *testing.T) {
	t.Parallel()
	t.Run("end when the token has expired", func(t *testing.T) {
		t.Parallel()
		var gate *api
		var streams atomic.Int32
		gate = newAPI(t, streaming(func(_ *eventsRequest, stream eventsServer) error {
			if streams.Add(1) == 1 {
				_ = stream.Send(&budgetv1.StreamEventsResponse{Position: "p0"})
				gate.ahead.Store(int64(2 * time.Hour))
				return apierr.Unavailable.GRPCStatus().Err()
			}
			return stream.Send(anEvent(t, "p1"))
		}))
		_, lines := gate.listen(t.Context())
		readLines(t, lines, 3)
		require.False(t, lines.Scan(), "%s after the token expired", lines.Text())
		require.NoError(t, lines.Err())
		require.EqualValues(t, 1, streams.Load())
	})
}
