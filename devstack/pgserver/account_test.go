package pgserver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClosedToReturnsTopmostFolder(t *testing.T) {
	t.Parallel()
	stranger := account{name: "stranger", uid: 4_000_000_001, gid: 4_000_000_001}
	closed := filepath.Join(folder(t), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	require.NoError(t, os.Chmod(filepath.Dir(closed), 0o711))
	require.Empty(t, closedTo(stranger, filepath.Dir(closed)))
	require.Equal(t, closed, closedTo(stranger, filepath.Join(closed, "to", "be", "made")))
	require.Empty(t, closedTo(account{own: true}, closed))
}

func TestElsewhereIsStable(t *testing.T) {
	t.Parallel()
	require.Regexp(t, `^/var/tmp/coffer-[0-9a-f]{12}$`, elsewhere("/root/coffer/.data"))
	require.NotEqual(t, elsewhere("/root/a"), elsewhere("/root/b"))
}

func TestClaimRejectsFolderOfAnotherUser(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(t.TempDir(), link))
	require.ErrorContains(t, claim(link), "belongs to another user")
}

func TestStartAsRootAvoidsClosedFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := filepath.Join(folder(t), "closed")
	require.NoError(t, os.Mkdir(dir, 0o700))
	s := run(t, filepath.Join(dir, "postgres"))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(s.Dir)) })
	require.Equal(t, elsewhere(filepath.Join(dir, "postgres")), s.Dir)
	require.Equal(t, "1", ask(t, s.URL, `SELECT '1'`))
}

func TestStartAsRootUsesOwnerOfCluster(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	stranger := accountOf(4_000_001)
	dir := folder(t)
	made := run(t, dir)
	require.NoError(t, made.Stop())
	require.NoError(t, filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		require.NoError(t, err)
		return stranger.give(name)
	}))
	require.NoError(t, os.Chmod(dir, 0o700))

	s := run(t, dir)
	require.Equal(t, dir, s.Dir)
	require.Equal(t, "1", ask(t, s.URL, `SELECT '1'`))
}
