package storage

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVolumeCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	share, known := Volume{Folder: dir}.Free()
	require.True(t, known)
	require.Greater(t, share, 0.0)
	require.LessOrEqual(t, share, 1.0)
	require.NoError(t, Volume{Folder: dir, Minimum: share / 2}.Check())
	require.ErrorIs(t, Volume{Folder: dir, Minimum: 1.01}.Check(), ErrFull)
	for _, unknown := range []string{"", filepath.Join(dir, "missing")} {
		v := Volume{Folder: unknown, Minimum: 1.01}
		_, known = v.Free()
		require.False(t, known)
		require.NoError(t, v.Check())
	}
}
