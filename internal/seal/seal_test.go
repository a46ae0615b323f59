package seal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenRequiresSameKeyAndUse(t *testing.T) {
	t.Parallel()
	key := NewKey("secret", "purpose")
	sealed, err := key.Seal([]byte("text"), "use")
	require.NoError(t, err)
	require.NotContains(t, string(sealed), "text")
	again, err := key.Seal([]byte("text"), "use")
	require.NoError(t, err)
	require.NotEqual(t, sealed, again, "the nonce is random")
	text, err := key.Open(sealed, "use")
	require.NoError(t, err)
	require.Equal(t, "text", string(text))

	refused := func(k Key, sealed []byte, use string) {
		_, err := k.Open(sealed, use)
		require.ErrorIs(t, err, ErrBroken)
	}
	refused(key, sealed, "another use")
	refused(NewKey("another secret", "purpose"), sealed, "use")
	refused(NewKey("secret", "another purpose"), sealed, "use")
	refused(key, nil, "use")
	for i := range sealed {
		bent := append([]byte(nil), sealed...)
		bent[i] ^= 1
		refused(key, bent, "use")
		refused(key, sealed[:i], "use")
	}
}
