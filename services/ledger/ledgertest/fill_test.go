package ledgertest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestVersionChangesWithArguments(t *testing.T) {
	t.Parallel()
	until, owner := time.Unix(0, 0), Owner{ID: uuid.UUID{1}, Transactions: 10, Years: 1}
	version := Version(until, owner)
	require.Equal(t, version, Version(until, owner))
	more := owner
	more.Transactions++
	for _, other := range []string{
		Version(until.Add(1), owner), Version(until, owner, Owner{ID: uuid.UUID{2}}),
		Version(until, more), Version(until, Owner{ID: uuid.UUID{2}, Transactions: 10, Years: 1}),
	} {
		require.NotEqual(t, version, other)
	}
}
