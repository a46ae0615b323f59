//go:build ledgercore

package ledger

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

var today = time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)

func setup(t *testing.T) *server {
	return &server{db: pgtest.New(t, Migrations), log: slog.New(slog.DiscardHandler), now: func() time.Time { return today }, newID: func() uuid.UUID { return uuid.Must(uuid.NewV7()) }}
}

func actAs(ctx context.Context, id uuid.UUID) context.Context {
	return caller.With(ctx, caller.Identity{UserID: id, SessionID: uuid.Must(uuid.NewV7())})
}

func (s *server) makeWallet(ctx context.Context, t require.TestingT, name, currency string) uuid.UUID {
	id := s.newID()
	_, err := s.db.Exec(ctx, `INSERT INTO wallets VALUES ($1,$2,$3,$4)`, id, caller.ID(ctx), name, currency)
	require.NoError(t, err)
	_, err = s.db.Exec(ctx, `INSERT INTO wallet_balances VALUES ($1,$2,0)`, id, currency)
	require.NoError(t, err)
	return id
}

func (s *server) makeCategory(ctx context.Context, t require.TestingT, name string) uuid.UUID {
	id := s.newID()
	_, err := s.db.Exec(ctx, `INSERT INTO categories VALUES ($1,$2,$3)`, id, caller.ID(ctx), name)
	require.NoError(t, err)
	return id
}

func requireReason(t *testing.T, err error, code codes.Code, reason string) apierr.Error {
	t.Helper()
	e := apierr.From(err)
	require.NotNil(t, e, "%v", err)
	require.Equal(t, reason, e.Reason)
	require.Equal(t, code, e.Code)
	return *e
}
