package apierr

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var errTaken = New(restv1.Reason_CATEGORY_ALREADY_EXISTS)

func TestFromReturnsTheErrorThatWasSent(t *testing.T) {
	t.Parallel()
	sent := errTaken.With("name", "is taken").With("id", "too").After(1500 * time.Millisecond)
	// A client of another service gets this status.
	got := From(fmt.Errorf("asking: %w", status.ErrorProto(sent.GRPCStatus().Proto())))
	require.Equal(t, sent, got)
	require.ErrorIs(t, got, errTaken)
	require.Equal(t, sent, From(fmt.Errorf("creating: %w", sent)))
	require.Empty(t, errTaken.Fields, "the declared value stays as it is")
}

func TestFromReturnsNilForOtherErrors(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		nil, errors.New("disk full"), status.Error(codes.NotFound, "row 7 of shard 3"),
	} {
		require.Nil(t, From(err))
	}
}

func TestErrorIsComparesReasonAndCode(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, errTaken.With("a", "b"), errTaken)
	other := &Error{Code: codes.NotFound, Reason: errTaken.Reason, Message: errTaken.Message}
	require.NotErrorIs(t, other, errTaken)
	require.NotErrorIs(t, Internal, errTaken)
	require.NotErrorIs(t, errTaken, errors.New(errTaken.Reason))
}

func TestProblemsErrNamesEveryField(t *testing.T) {
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

func TestProblemsIncludeNamesThePart(t *testing.T) {
	t.Parallel()
	var p Problems
	p.Include(errTaken.With("name", "is taken").Under("people[1]"))
	require.Equal(t, errTaken.With("people[1].name", "is taken"), p.Err())

	p.Include(Validation([]Field{{"limit", "is required"}}).Under("people[2]"))
	e := From(p.Err())
	require.Equal(t, "VALIDATION_ERROR", e.Reason)
	require.Equal(t, []Field{{"people[2].limit", "is required"}, {"people[1].name", "is taken"}},
		e.Fields)
}

func TestNewReadsTheOptionsOfTheReason(t *testing.T) {
	t.Parallel()
	require.Equal(t, &Error{
		Code: codes.AlreadyExists, Reason: "EMAIL_ALREADY_EXISTS",
		Message: "A user with this e-mail already exists",
	}, New(restv1.Reason_EMAIL_ALREADY_EXISTS))
	require.Equal(t, &Error{
		Code: codes.InvalidArgument, Reason: "WALLET_NOT_FOUND", Message: "Wallet not found",
	}, NewInvalid(restv1.Reason_WALLET_NOT_FOUND))
}

func TestReasonDeclaresCodeStatusAndMessage(t *testing.T) {
	t.Parallel()
	values := restv1.Reason_REASON_UNSPECIFIED.Descriptor().Values()
	for i := 1; i < values.Len(); i++ {
		options := values.Get(i).Options()
		e := New(restv1.Reason(values.Get(i).Number()))
		require.NotEqual(t, codes.OK, e.Code, e.Reason)
		require.Regexp(t, `^[A-Z].*[^.]$`, e.Message, e.Reason)
		status := proto.GetExtension(options, restv1.E_HttpStatus).(int32)
		require.True(t, status >= 400 && status < 600, e.Reason)
	}
}

func TestCheckChange(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, CheckChange(&authv1.UpdateMeRequest{}), EmptyUpdate)
	require.ErrorIs(t, CheckChange(&authv1.UpdateMeRequest{IfMatch: `"1"`, UserAgent: "a"}),
		EmptyUpdate, "fields without presence belong to no change")
	require.NoError(t, CheckChange(&authv1.UpdateMeRequest{Name: new("")}))
	require.NoError(t, CheckChange(&budgetv1.UpdateBudgetRequest{
		CategoryIds: &budgetv1.CategoryIds{},
	}), "an empty list is a change")
}
