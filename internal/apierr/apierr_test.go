package apierr

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var errTaken = New(codes.AlreadyExists, "NAME_TAKEN", "The name is taken")

func TestAnErrorArrivesAsItWasSent(t *testing.T) {
	t.Parallel()
	sent := errTaken.With("name", "is taken").With("id", "too").After(1500 * time.Millisecond)
	// This is what a client of another service gets.
	got := From(fmt.Errorf("asking: %w", status.ErrorProto(sent.GRPCStatus().Proto())))
	require.Equal(t, sent, got)
	require.ErrorIs(t, got, errTaken)
	require.Equal(t, sent, From(fmt.Errorf("creating: %w", sent)))
	require.Empty(t, errTaken.Fields, "the declared value stays as it is")
}

func TestWhatIsNotOursIsNotShown(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errors.New("disk full"), status.Error(codes.NotFound, "row 7 of shard 3")} {
		require.Nil(t, From(err))
	}
}

func TestErrorsAreToldByReasonAndCode(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, errTaken.With("a", "b"), errTaken)
	require.NotErrorIs(t, New(codes.NotFound, "NAME_TAKEN", "The name is taken"), errTaken)
	require.NotErrorIs(t, Internal, errTaken)
	require.NotErrorIs(t, errTaken, errors.New("NAME_TAKEN"))
}

func TestProblemsAreToldTogether(t *testing.T) {
	t.Parallel()
	var none Problems
	none.Field(nil)
	require.NoError(t, none.Err())

	var specific Problems
	specific.Add(errTaken.With("name", "is taken"))
	specific.Add(Internal.With("x", "y"))
	require.True(t, specific.Has(errTaken))
	require.False(t, specific.Has(Unauthorized))
	require.Equal(t, errTaken.With("name", "is taken").With("x", "y"), specific.Err())

	var mixed Problems
	mixed.Add(errTaken.With("name", "is taken"))
	mixed.Field(&Field{Name: "limit", Message: "is required"})
	e := From(mixed.Err())
	require.Equal(t, "VALIDATION_ERROR", e.Reason)
	require.Equal(t, []Field{{"limit", "is required"}, {"name", "is taken"}}, e.Fields)
}

func TestProblemsFieldKeepsTheFirstProblemOfAField(t *testing.T) {
	t.Parallel()
	var p Problems
	p.Field(&Field{Name: "limit", Message: "is required"})
	p.Field(&Field{Name: "limit", Message: "must be a number"})
	require.Equal(t, Validation([]Field{{"limit", "is required"}}), p.Err())
}

func TestProblemsOfAPartNameThePart(t *testing.T) {
	t.Parallel()
	var p Problems
	p.Include(errTaken.With("name", "is taken").Under("people[1]"))
	require.Equal(t, errTaken.With("people[1].name", "is taken"), p.Err())

	p.Include(Validation([]Field{{"limit", "is required"}}).Under("people[2]"))
	e := From(p.Err())
	require.Equal(t, "VALIDATION_ERROR", e.Reason)
	require.Equal(t, []Field{{"people[2].limit", "is required"}, {"people[1].name", "is taken"}}, e.Fields)
}
