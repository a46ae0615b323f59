package personaltoken

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNew(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		token := New()
		require.Regexp(t, `^cof_[0-9A-Za-z]{49}$`, token)
		require.True(t, Valid(token))
		require.True(t, Is(token))
		seen[token] = true
	}
	require.Len(t, seen, 1000)
}

func TestEncode(t *testing.T) {
	t.Parallel()
	maximum := func() *big.Int {
		return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	}
	require.Equal(t, "0"+encode(maximum(), secretLength), encode(maximum(), secretLength+1),
		"no digit is lost")
	require.Equal(t, "000010", encode(big.NewInt(62), checkLength))
	require.Equal(t, "4gfFC3", encode(big.NewInt(1<<32-1), checkLength))
}

// TestValid changes each character of a token: the checksum notices it.
func TestValid(t *testing.T) {
	t.Parallel()
	token := New()
	for i := range token {
		for _, c := range []string{"0", "z", "-", "é"} {
			if changed := token[:i] + c + token[i+1:]; changed != token {
				require.False(t, Valid(changed), "%d %s", i, c)
			}
		}
	}
	for name, bad := range map[string]string{
		"empty": "", "the prefix": Prefix, "no prefix": token[4:], "cut": token[:len(token)-1],
		"longer": token + "0", "a space": token + " ", "upper case": strings.ToUpper(token),
	} {
		require.False(t, Valid(bad), name)
	}
	require.False(t, Is("cof-"))
}
