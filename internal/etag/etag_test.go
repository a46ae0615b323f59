package etag

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMatches(t *testing.T) {
	t.Parallel()
	require.Equal(t, `"7"`, Format(7))
	for ifMatch, want := range map[string]bool{
		"":             true,
		"*":            true,
		`"7"`:          true,
		`"6", "7"`:     true,
		` "7" `:        true,
		`W/"7"`:        false,
		`"6"`:          false,
		"7":            false,
		`"77"`:         false,
		`"6","8",`:     false,
		"\"7\x00\"":    false,
		`W/"7", "7"`:   true,
		`"*"`:          false,
		`"7" "8"`:      false,
		"nonsense, , ": false,
	} {
		require.Equal(t, want, Matches(ifMatch, 7), "%q", ifMatch)
	}
}
