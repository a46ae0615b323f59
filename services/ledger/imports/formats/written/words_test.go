package written

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "Food": "Food", "=1+1": "'=1+1", "+1": "'+1", "-1.50": "-1.50", "-1+2": "'-1+2",
		"@x": "'@x", "\t=1": "\t'=1", "a=b": "a=b", "'=1": "''=1", "it's": "it's", "'": "'",
		"x;=1+12;y": "x;'=1+12;y", "x\t@a|-b": "x\t'@a|'-b", "x;'=1": "x;''=1", "a; b": "a; b",
		"-1;-2": "'-1;'-2",
	} {
		require.Equal(t, want, Guard(text), text)
		require.Equal(t, text, UnguardParts(Guard(text)), text)
	}
}
