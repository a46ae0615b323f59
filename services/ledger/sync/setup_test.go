package sync

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/settings"
	"github.com/coffer-budget/coffer/services/ledger/tags"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*accounts.Accounts
	*transactions.Transactions
	settings  *settings.Server
	transfers *transfers.Transfers
	tags      *tags.Server
	rules     *rules.Rules
	sync      *Server
}

// setup returns a server on a fresh database.
func setup(t testing.TB) *server {
	t.Helper()
	return serve(t.Context(), fixture.New(t))
}

// serve returns a server in an environment. Its writers end with ctx.
func serve(ctx context.Context, base *fixture.Service) *server {
	srv := &server{
		Service: base, Accounts: &accounts.Accounts{Ledger: base.Ledger, Cursors: base.Cursors},
		Transactions: transactions.New(base.Ledger, base.Cursors, base.Reads),
		settings:     &settings.Server{Ledger: base.Ledger},
		sync:         &Server{Ledger: base.Ledger, Cursors: base.Cursors},
		transfers: &transfers.Transfers{
			Ledger: base.Ledger, Cursors: base.Cursors, Reads: base.Reads,
		},
		tags:  &tags.Server{Ledger: base.Ledger, Reads: base.Reads},
		rules: rules.New(base.Ledger, base.Reads, slog.New(slog.DiscardHandler)),
	}
	base.RPCs = srv
	srv.Run(ctx)
	return srv
}

// mirror is the copy of an account on a device.
type mirror struct {
	server  *server
	cursor  string
	objects map[string]proto.Message
	// received counts the entries without the wallets of transactions.
	received int
}

func newMirror(s *server) *mirror { return &mirror{server: s, objects: map[string]proto.Message{}} }

// page applies one page, and reports whether more follows.
func (m *mirror) page(ctx context.Context, limit int32) (bool, error) {
	resp, err := m.server.sync.ListChanges(ctx,
		&ledgerv1.ListChangesRequest{Cursor: m.cursor, Limit: &limit})
	if err != nil {
		return false, err
	}
	for _, d := range resp.GetDeleted() {
		delete(m.objects, d.GetKind()+" "+d.GetId())
	}
	changes := resp.GetChanges()
	for _, x := range changes.GetWallets() {
		m.objects["wallet "+x.GetId()] = x
	}
	for _, x := range changes.GetCategories() {
		m.objects["category "+x.GetId()] = x
	}
	for _, x := range changes.GetTransactions() {
		m.objects["transaction "+x.GetId()] = x
	}
	for _, x := range changes.GetTransfers() {
		m.objects["transfer "+x.GetId()] = x
	}
	for _, x := range changes.GetTags() {
		m.objects["tag "+x.GetKey()] = x
	}
	for _, x := range changes.GetRules() {
		m.objects["rule "+x.GetId()] = x
	}
	if changes.Settings != nil {
		m.objects["settings"] = changes.GetSettings()
	}
	m.received += len(resp.GetDeleted()) + len(changes.GetCategories()) +
		len(changes.GetTransactions())
	m.cursor = resp.GetPagination().GetNextCursor()
	return resp.GetPagination().GetHasMore(), nil
}

// follow applies all pages.
func (m *mirror) follow(ctx context.Context, t require.TestingT, limit int32) {
	for more := true; more; {
		var err error
		more, err = m.page(ctx, limit)
		require.NoError(t, err)
	}
}

// requireEqual requires that the mirror has exactly what the lists return.
func (m *mirror) requireEqual(ctx context.Context, t require.TestingT) {
	want := map[string]proto.Message{}
	srv := m.server
	for cursor, more := "", true; more; {
		list, err := srv.ListTransactions(ctx,
			&ledgerv1.ListTransactionsRequest{Cursor: cursor, Limit: new(int32(200))})
		require.NoError(t, err)
		for _, x := range list.GetTransactions() {
			want["transaction "+x.GetId()] = x
		}
		cursor, more = list.GetPagination().GetNextCursor(), list.GetPagination().GetHasMore()
	}
	moved, err := srv.transfers.ListTransfers(ctx,
		&ledgerv1.ListTransfersRequest{Limit: new(int32(200))})
	require.NoError(t, err)
	for _, x := range moved.GetTransfers() {
		want["transfer "+x.GetId()] = x
	}
	tagged, err := srv.tags.ListTags(ctx, &ledgerv1.ListTagsRequest{})
	require.NoError(t, err)
	for _, x := range tagged.GetTags() {
		key := strings.ToLower(x.GetName())
		want["tag "+key] = &ledgerv1.FollowedTag{Key: key, Name: x.GetName(), Color: x.GetColor()}
	}
	wallets, err := srv.ListWallets(ctx, &ledgerv1.ListWalletsRequest{Limit: new(int32(200))})
	require.NoError(t, err)
	for _, x := range wallets.GetWallets() {
		want["wallet "+x.GetId()] = x
	}
	categories, err := srv.ListCategories(ctx,
		&ledgerv1.ListCategoriesRequest{Limit: new(int32(200))})
	require.NoError(t, err)
	for _, x := range categories.GetCategories() {
		want["category "+x.GetId()] = x
	}
	ruled, err := srv.rules.ListRules(ctx, &ledgerv1.ListRulesRequest{})
	require.NoError(t, err)
	for _, x := range ruled.GetRules() {
		want["rule "+x.GetId()] = x
	}
	stored, err := srv.settings.GetSettings(ctx, &ledgerv1.GetSettingsRequest{})
	require.NoError(t, err)
	if stored.GetSettings().GetUpdatedAt() != "" {
		want["settings"] = stored.GetSettings()
	}
	require.Equal(t, texts(want), texts(m.objects))
}

// texts returns messages in a form that compares and prints well.
func texts(messages map[string]proto.Message) map[string]string {
	out := map[string]string{}
	for key, m := range messages {
		b, _ := prototext.MarshalOptions{Multiline: true}.Marshal(m)
		out[key] = string(b)
	}
	return out
}
