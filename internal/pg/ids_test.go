package pg_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

func TestUUIDCodecRoundTrip(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, migrations)
	first, second := uuid.New(), uuid.New()
	var one, other uuid.UUID
	var some, none *uuid.UUID
	var many, empty []uuid.UUID
	var text string
	err := db.QueryRow(t.Context(), `
		SELECT $1::uuid, ($2::uuid[])[1], $3::uuid, $4::uuid, $2::uuid[], $5::uuid[],
			$1::uuid::text`,
		first, []uuid.UUID{second, first}, &first, none, []uuid.UUID{},
	).Scan(&one, &other, &some, &none, &many, &empty, &text)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{first, second, first, second, first},
		append([]uuid.UUID{one, other, *some}, many...))
	require.Nil(t, none)
	require.Empty(t, empty)
	require.Equal(t, first.String(), text)
	require.Error(t, db.QueryRow(t.Context(), `SELECT NULL::uuid`).Scan(&one))

	holes := pgtest.Value[[]*uuid.UUID](t, db, `SELECT $1::uuid[]`, []*uuid.UUID{&first, nil})
	require.Equal(t, []*uuid.UUID{&first, nil}, holes)
}
