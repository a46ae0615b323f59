package pgserver

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	old, old13, recent := binaries{"/pg15", 15}, binaries{"/pg13", 13}, binaries{"/pg17", 17}
	tests := map[string]struct {
		found              []binaries
		version, want, err string
	}{
		"a new cluster uses the first installation": {[]binaries{old, recent}, "", "/pg15", ""},
		"a new cluster skips an old installation":   {[]binaries{old13, recent}, "", "/pg17", ""},
		"an existing cluster uses its version":      {[]binaries{recent, old}, "15", "/pg15", ""},
		"the version of an existing cluster is not installed": {
			[]binaries{recent},
			"15", "",
			"PostgreSQL 15 created the data, but this machine has only 17 (/pg17)",
		},
		"only an old installation": {
			[]binaries{old13},
			"", "",
			"PostgreSQL 14 or later is required, but this machine has only 13 (/pg13)",
		},
		"no installation": {nil, "", "", "apt-get install postgresql"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := choose(test.found, test.version)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

func TestNewestFirst(t *testing.T) {
	t.Parallel()
	dirs := []string{
		"/usr/lib/postgresql/9.6/bin", "/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/17/bin",
	}
	slices.SortFunc(dirs, newestFirst)
	require.Equal(t, []string{
		"/usr/lib/postgresql/17/bin", "/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/9.6/bin",
	}, dirs)
}

func TestFindRejectsFolderWithoutPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"initdb", "postgres"} {
		require.NoError(t,
			os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho a wrapper\n"), 0o700))
	}
	_, ok := inspect(t.Context(), dir)
	require.False(t, ok)
	_, err := find(t.Context(), dir, "")
	require.ErrorContains(t, err, "contains no working initdb and postgres")
}
