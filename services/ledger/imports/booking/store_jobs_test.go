package booking

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestJobPause(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]string{1: "1s", 2: "2s", 6: "32s", 7: "1m0s", 100: "1m0s"} {
		require.Equal(t, want, job{ID: uuid.Nil, Attempts: attempts}.pause().String())
	}
}
