package ledger

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

var today = time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)

func setup(t testing.TB) *server {
	t.Helper()
	db := pgtest.New(t, Migrations)
	batcher := newBatcher(db, func() {})
	batcher.run(t.Context())
	return &server{
		db: db, batcher: batcher, wake: func() {}, bulks: rpc.NewGate(1, 0, apierr.Unavailable), reads: newReadGates(maxReads, maxWaitingReads),
		cursors: page.NewCursors("a key of the tests"), log: slog.New(slog.DiscardHandler),
		now: func() time.Time { return today }, newID: func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
	}
}

func actAs(ctx context.Context, id uuid.UUID) context.Context {
	return caller.With(ctx, caller.Identity{UserID: id, SessionID: uuid.Must(uuid.NewV7())})
}

// person is a user with a wallet in euros and a category.
type person struct {
	*server
	ctx              context.Context
	id               uuid.UUID
	wallet, category uuid.UUID
}

func newPerson(ctx context.Context, t require.TestingT, s *server) person {
	id := s.newID()
	p := person{server: s, ctx: actAs(ctx, id), id: id}
	p.wallet, p.category = s.makeWallet(p.ctx, t, "Cash", "EUR"), s.makeCategory(p.ctx, t, "Food")
	return p
}

func (s *server) makeWallet(ctx context.Context, t require.TestingT, name, currency string) uuid.UUID {
	resp, err := s.CreateWallet(ctx, &ledgerv1.CreateWalletRequest{Name: name, Currency: currency})
	require.NoError(t, err)
	return uuid.MustParse(resp.GetWallet().GetId())
}

func (s *server) makeCategory(ctx context.Context, t require.TestingT, name string) uuid.UUID {
	resp, err := s.CreateCategory(ctx, &ledgerv1.CreateCategoryRequest{Name: name})
	require.NoError(t, err)
	return uuid.MustParse(resp.GetCategory().GetId())
}

// spends returns a request for an expense in the person's wallet and category.
func (p person) spends(amount string) *ledgerv1.CreateTransactionRequest {
	return &ledgerv1.CreateTransactionRequest{
		Amount: amount, Date: "2026-03-14", Currency: "EUR", WalletId: p.wallet.String(), CategoryId: p.category.String(),
		Type: new(expense),
	}
}

func (p person) create(t require.TestingT, req *ledgerv1.CreateTransactionRequest) *ledgerv1.Transaction {
	resp, err := p.CreateTransaction(p.ctx, req)
	require.NoError(t, err)
	return resp.GetTransaction()
}

func (p person) balances(t require.TestingT, wallet uuid.UUID) map[string]string {
	resp, err := p.GetWallet(p.ctx, &ledgerv1.GetWalletRequest{Id: wallet.String()})
	require.NoError(t, err)
	balances := map[string]string{}
	for _, b := range resp.GetWallet().GetBalances() {
		balances[b.GetCurrency()] = b.GetAmount()
	}
	require.Equal(t, resp.GetWallet().GetBalance(), balances[resp.GetWallet().GetCurrency()])
	return balances
}

// stored returns all rows of the service as text.
func (s *server) stored(t require.TestingT) string {
	type row struct{ All string }
	r, err := pg.One[row](context.Background(), s.db, `
		SELECT concat_ws(E'\n',
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM wallets x),
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM wallet_balances x),
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM categories x),
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM transactions x),
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM receipts x),
			(SELECT string_agg(x::text, ';' ORDER BY x::text) FROM monthly_totals x),
			(SELECT count(*) FROM outbox), (SELECT count(*) FROM idempotency_keys)) AS all`)
	require.NoError(t, err)
	return r.All
}

// events returns the events in the outbox, oldest first.
func (s *server) events(t require.TestingT) []proto.Message {
	type row struct {
		Subject string
		Data    []byte
	}
	rows, err := pg.All[row](context.Background(), s.db, `SELECT subject, data FROM outbox ORDER BY seq`)
	require.NoError(t, err)
	events := make([]proto.Message, len(rows))
	for i, r := range rows {
		var any anypb.Any
		require.NoError(t, proto.Unmarshal(r.Data, &any))
		events[i], err = any.UnmarshalNew()
		require.NoError(t, err)
		require.Equal(t, outbox.Type(events[i].ProtoReflect().Descriptor().FullName()), r.Subject)
	}
	return events
}

func (s *server) lastEvent(t require.TestingT) proto.Message {
	events := s.events(t)
	return events[len(events)-1]
}

func requireReason(t require.TestingT, err error, code codes.Code, reason string) apierr.Error {
	e := apierr.From(err)
	require.NotNil(t, e, "%v", err)
	require.Equal(t, reason, e.Reason)
	require.Equal(t, code, e.Code)
	return *e
}

// refuses requires that a call fails with a reason and stores nothing.
func (s *server) refuses(t require.TestingT, code codes.Code, reason string, do func() error) apierr.Error {
	before := s.stored(t)
	err := do()
	require.Equal(t, before, s.stored(t))
	return requireReason(t, err, code, reason)
}

func fieldNames(e apierr.Error) []string {
	var names []string
	for _, f := range e.Fields {
		names = append(names, f.Name)
	}
	return names
}
