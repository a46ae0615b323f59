package ledger

import (
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/ledger/erasure"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// queueErasure applies the event that starts the erasure of the user, as often as NATS may deliver
// it.
func (s *isolated) queueErasure(t *testing.T, eraser *erasure.Eraser, deletion uuid.UUID) {
	t.Helper()
	received := func(user uuid.UUID, service string) outbox.Received {
		return outbox.Received{UserID: user, Data: &authv1.UserErasing{
			DeletionId: deletion.String(), Service: service,
		}}
	}
	event := received(s.user.ID, "ledger")
	require.NoError(t, pg.InTx(t.Context(), s.db, func(tx pgx.Tx) error {
		return eraser.Consumer().Apply(t.Context(), tx,
			[]outbox.Received{event, received(s.watch.user, "budget"), event})
	}))
}

// eraseUser erases all rows of the user. The erasure ends after the objects of the user have been
// removed, and the events of the user published. No table mentions the user afterwards.
func (s *isolated) eraseUser(t *testing.T) {
	t.Helper()
	eraser := erasure.New(s.env.Ledger, nil, &fixture.OCR{}, slog.New(slog.DiscardHandler))
	deletion, db := uuid.New(), pgtest.Untraced(t, s.db)
	s.queueErasure(t, eraser, deletion)
	left := []string{
		"test.unreferenced_objects", "test.outbox", "test.erasures", "test.owners",
	}
	for _, table := range left[:2] {
		pgtest.Exec(t, db, `UPDATE erasures SET leased_until = '-infinity'`)
		eraser.Jobs.RunQueued(t.Context())
		require.ElementsMatch(t, left, pgtest.Mentions(t, s.db, s.user.ID.String()))
		column := map[bool]string{true: "user_id", false: "owner_id"}[table == "test.outbox"]
		pgtest.Exec(t, db, `DELETE FROM `+table+` WHERE `+column+` = $1`, s.user.ID)
		left = left[1:]
	}
	eraser.Jobs.RunQueued(t.Context())
	require.Empty(t, pgtest.Mentions(t, s.db, s.user.ID.String()))
	require.Equal(t, int64(1), pgtest.Value[int64](t, db,
		`SELECT count(*) FROM outbox WHERE user_id = $1 AND subject = 'ledger.v1.user.erased'`,
		deletion), "reports of the erasure")
}
