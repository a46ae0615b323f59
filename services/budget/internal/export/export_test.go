package export

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/clients/go/archive"
	"github.com/coffer-budget/coffer/internal/caller"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var errBroken = errors.New("the connection is broken")

// auth sends one file.
type auth struct {
	authv1.AuthServiceClient
	rejection error
	asked     *authv1.ExportUserRequest
}

func (a *auth) ExportUser(
	_ context.Context, req *authv1.ExportUserRequest, _ ...grpc.CallOption,
) (grpc.ServerStreamingClient[authv1.ExportUserResponse], error) {
	a.asked = req
	sent := &stream[authv1.ExportUserResponse]{end: cmp.Or(a.rejection, io.EOF)}
	if a.rejection == nil {
		sent.messages = []*authv1.ExportUserResponse{{Piece: &restv1.ArchivePiece{
			Path: "user.json", Rows: 1, Content: []byte("{}\n"),
		}}}
	}
	return sent, nil
}

// ledger sends files, and then end.
type ledger struct {
	ledgerv1.ExportServiceClient
	pieces []*restv1.ArchivePiece
	end    error
}

func (l *ledger) ExportOwner(
	context.Context, *ledgerv1.ExportOwnerRequest, ...grpc.CallOption,
) (grpc.ServerStreamingClient[ledgerv1.ExportOwnerResponse], error) {
	sent := &stream[ledgerv1.ExportOwnerResponse]{end: l.end}
	for _, p := range l.pieces {
		sent.messages = append(sent.messages, &ledgerv1.ExportOwnerResponse{Piece: p})
	}
	return sent, nil
}

// stream sends messages, and then end.
type stream[M any] struct {
	grpc.ClientStream
	messages []*M
	end      error
}

// Recv returns the next message.
func (s *stream[M]) Recv() (*M, error) {
	if len(s.messages) == 0 {
		return nil, s.end
	}
	m := s.messages[0]
	s.messages = s.messages[1:]
	return m, nil
}

// nothing is this service for a user without data.
type nothing struct {
	budgetv1.BudgetServiceServer
	budgetv1.NotificationServiceServer
	budgetv1.WebhookServiceServer
	budgetv1.GoalServiceServer
}

func (nothing) ListBudgets(
	context.Context, *budgetv1.ListBudgetsRequest,
) (*budgetv1.ListBudgetsResponse, error) {
	return &budgetv1.ListBudgetsResponse{}, nil
}

func (nothing) ListInvitations(
	context.Context, *budgetv1.ListInvitationsRequest,
) (*budgetv1.ListInvitationsResponse, error) {
	return &budgetv1.ListInvitationsResponse{}, nil
}

func (nothing) ListGoals(
	context.Context, *budgetv1.ListGoalsRequest,
) (*budgetv1.ListGoalsResponse, error) {
	return &budgetv1.ListGoalsResponse{}, nil
}

func (nothing) ListNotifications(
	context.Context, *budgetv1.ListNotificationsRequest,
) (*budgetv1.ListNotificationsResponse, error) {
	return &budgetv1.ListNotificationsResponse{}, nil
}

func (nothing) ListWebhooks(
	context.Context, *budgetv1.ListWebhooksRequest,
) (*budgetv1.ListWebhooksResponse, error) {
	return &budgetv1.ListWebhooksResponse{}, nil
}

// download receives an archive.
type download struct {
	grpc.ServerStream
	ctx    context.Context //nolint:containedctx // A stream has a context.
	header *restv1.FileHeader
	file   bytes.Buffer
}

// Context implements grpc.ServerStream.
func (d *download) Context() context.Context { return d.ctx }

// Send receives a message.
func (d *download) Send(m *budgetv1.ExportAccountResponse) error {
	if m.GetHeader() != nil {
		d.header = m.GetHeader()
	}
	d.file.Write(m.GetContent())
	return nil
}

// service is the part of this service that the export reads.
type service interface {
	budgetv1.BudgetServiceServer
	budgetv1.GoalServiceServer
	budgetv1.NotificationServiceServer
	budgetv1.WebhookServiceServer
}

// export exports an account of these services.
func export(t *testing.T, own service, a *auth, l *ledger) (*download, error) {
	t.Helper()
	s := &Server{Dependencies: Dependencies{
		Auth: a, Ledger: l, Budgets: own, Goals: own, Notifications: own,
		Webhooks: own,
		ClientAddress: func(context.Context) netip.Addr {
			return netip.MustParseAddr("203.0.113.7")
		},
		Now: func() time.Time { return time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC) },
	}}
	user := caller.Identity{UserID: uuid.New(), SessionID: uuid.New()}
	d := &download{ctx: caller.With(t.Context(), user)}
	err := s.ExportAccount(
		&budgetv1.ExportAccountRequest{UserAgent: "Firefox"}, d)
	return d, err
}

// contents returns the rows and bytes of each file of an archive.
func contents(t *testing.T, d *download) (rows, sizes map[string]int64) {
	t.Helper()
	opened, err := archive.Open(bytes.NewReader(d.file.Bytes()), int64(d.file.Len()))
	require.NoError(t, err)
	rows, sizes = map[string]int64{}, map[string]int64{}
	for _, f := range opened.Files {
		rows[f.Path], sizes[f.Path] = f.Rows, f.Bytes
	}
	return rows, sizes
}

func files() []*restv1.ArchivePiece {
	large := []byte(strings.Repeat("x", 60_000))
	return []*restv1.ArchivePiece{
		{Path: "wallets.jsonl", Rows: 1, Content: []byte("{}\n{")},
		{Rows: 1, Content: []byte("}\n")},
		{Path: "empty.jsonl"},
		{Path: "attachments/1-a", Content: large},
		{Content: large},
	}
}

func TestExportAccount(t *testing.T) {
	t.Parallel()
	a := &auth{}
	got, err := export(t, nothing{}, a, &ledger{pieces: files(), end: io.EOF})
	require.NoError(t, err)
	require.Equal(t, "coffer-account-2026-03-15.zip", got.header.GetFileName())
	require.Equal(t, "203.0.113.7", a.asked.GetAddress())
	require.Equal(t, "Firefox", a.asked.GetUserAgent())
	rows, sizes := contents(t, got)
	require.Equal(t, int64(120_000), sizes["attachments/1-a"])
	require.Equal(t, map[string]int64{
		"user.json": 1, "wallets.jsonl": 2, "empty.jsonl": 0, "attachments/1-a": 0,
		"goals.jsonl": 0, "assignments.jsonl": 0,
		"goal-memberships.jsonl": 0, "goal-invitations.jsonl": 0,
		"budgets.jsonl": 0, "memberships.jsonl": 0, "limits.jsonl": 0, "invitations.jsonl": 0,
		"notifications.jsonl": 0, "webhooks.jsonl": 0, "deliveries.jsonl": 0,
	}, rows)
}

// TestExportAccountRejected requires that a rejection of auth or the ledger comes before the file,
// and that auth does not record an export that the ledger rejects.
func TestExportAccountRejected(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func() (*download, error){
		"auth": func() (*download, error) {
			return export(t, nothing{}, &auth{rejection: errBroken}, &ledger{pieces: files()})
		},
		"ledger": func() (*download, error) {
			a := &auth{}
			got, err := export(t, nothing{}, a, &ledger{end: errBroken})
			require.Nil(t, a.asked)
			return got, err
		},
	} {
		got, err := run()
		require.ErrorIs(t, err, errBroken, name)
		require.Nil(t, got.header, name)
	}
}

// TestExportAccountBroken requires an error if the ledger fails in the middle. The archive then has
// no end, and its reader rejects it.
func TestExportAccountBroken(t *testing.T) {
	t.Parallel()
	for n := 1; n < len(files()); n++ {
		got, err := export(t, nothing{}, &auth{}, &ledger{pieces: files()[:n], end: errBroken})
		require.ErrorIs(t, err, errBroken)
		_, err = archive.Open(bytes.NewReader(got.file.Bytes()), int64(got.file.Len()))
		require.ErrorIs(t, err, archive.ErrIncomplete)
	}
}

// deleted is this service while another request deletes the listed budget and webhook.
type deleted struct{ nothing }

func (deleted) ListBudgets(
	context.Context, *budgetv1.ListBudgetsRequest,
) (*budgetv1.ListBudgetsResponse, error) {
	return &budgetv1.ListBudgetsResponse{Budgets: []*budgetv1.ListedBudget{{Id: "b"}}}, nil
}

func (deleted) ListMembers(
	context.Context, *budgetv1.ListMembersRequest,
) (*budgetv1.ListMembersResponse, error) {
	return nil, errBudgetNotFound
}

func (deleted) ListLimits(
	context.Context, *budgetv1.ListLimitsRequest,
) (*budgetv1.ListLimitsResponse, error) {
	return nil, errBudgetNotFound
}

func (deleted) ListGoals(
	context.Context, *budgetv1.ListGoalsRequest,
) (*budgetv1.ListGoalsResponse, error) {
	return &budgetv1.ListGoalsResponse{Goals: []*budgetv1.Goal{{Id: "g"}}}, nil
}

func (deleted) ListAssignments(
	context.Context, *budgetv1.ListAssignmentsRequest,
) (*budgetv1.ListAssignmentsResponse, error) {
	return nil, errGoalNotFound
}

func (deleted) ListWebhooks(
	context.Context, *budgetv1.ListWebhooksRequest,
) (*budgetv1.ListWebhooksResponse, error) {
	return &budgetv1.ListWebhooksResponse{Webhooks: []*budgetv1.Webhook{{Id: "w"}}}, nil
}

func (deleted) ListWebhookDeliveries(
	context.Context, *budgetv1.ListWebhookDeliveriesRequest,
) (*budgetv1.ListWebhookDeliveriesResponse, error) {
	return nil, errWebhookNotFound
}

func TestExportContinuesAfterDeletions(t *testing.T) {
	t.Parallel()
	d, err := export(t, deleted{}, &auth{}, &ledger{pieces: files(), end: io.EOF})
	require.NoError(t, err)
	rows, _ := contents(t, d)
	require.Equal(t, int64(1), rows["budgets.jsonl"])
	require.Equal(t, int64(1), rows["webhooks.jsonl"])
	for _, file := range []string{
		"memberships.jsonl", "limits.jsonl", "assignments.jsonl", "deliveries.jsonl",
	} {
		require.Contains(t, rows, file)
		require.Zero(t, rows[file], file)
	}
}
