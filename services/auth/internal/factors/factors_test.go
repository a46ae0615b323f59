package factors

import (
	"encoding/base32"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestMatchingStep has the values of RFC 6238, appendix B, with 6 digits.
func TestMatchingStep(t *testing.T) {
	t.Parallel()
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924",
		2000000000: "279037", 20000000000: "353130",
	} {
		for _, offset := range []int64{-30, 0, 30} {
			step, right := matchingStep(secret, code, time.Unix(at+offset, 0))
			require.True(t, right, "%d %d", at, offset)
			require.Equal(t, at/period, step)
		}
		for _, offset := range []int64{61, 90} {
			_, right := matchingStep(secret, code, time.Unix(at+offset, 0))
			require.False(t, right, "%d %d", at, offset)
		}
	}
	_, right := matchingStep(secret, "287 082", time.Unix(59, 0))
	require.True(t, right, "a code with a space")
	_, right = matchingStep("", "287082", time.Unix(59, 0))
	require.False(t, right, "a secret that cannot be opened")
}

func TestNewSecret(t *testing.T) {
	t.Parallel()
	made, err := newSecret("ada@example.com")
	require.NoError(t, err)
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(made.secret)
	require.NoError(t, err)
	require.Len(t, raw, 20)
	require.Contains(t, made.uri, "otpauth://totp/Coffer:ada@example.com?")
	require.Contains(t, made.uri, "secret="+made.secret)
	decoder := xml.NewDecoder(strings.NewReader(made.svg))
	for {
		if _, err := decoder.Token(); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
	}
	require.Less(t, len(made.svg), 20_000)
	other, err := newSecret("ada@example.com")
	require.NoError(t, err)
	require.NotEqual(t, made.secret, other.secret)
}

func TestProofCheck(t *testing.T) {
	t.Parallel()
	for _, good := range []Proof{
		{Code: "123456"},
		{Code: "123 456"},
		{RecoveryCode: "3F9K7-0zq2m"},
		{RecoveryCode: " 3f9k7 ozqim"},
	} {
		require.Nil(t, good.Check(), good)
	}
	for _, bad := range []Proof{
		{},
		{Code: "12345"},
		{Code: "1234567"},
		{Code: "12345a"},
		{Code: "１２３４５６"},
		{RecoveryCode: "3f9k7"},
		{RecoveryCode: "3f9k7-0zq2m-x"},
	} {
		require.NotNil(t, bad.Check(), bad)
	}
}

func TestRecoveryCodes(t *testing.T) {
	t.Parallel()
	codes := newRecoveryCodes()
	require.Len(t, codes, 10)
	seen := map[string]bool{}
	user, other := uuid.New(), uuid.New()
	for _, code := range codes {
		require.Regexp(t, `^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$`, code)
		require.Nil(t, CheckRecoveryCode("recoveryCode", code))
		seen[code] = true
		require.Equal(t, hashRecoveryCode(user, code),
			hashRecoveryCode(user, strings.ToUpper(strings.ReplaceAll(code, "-", " "))))
		require.NotEqual(t, hashRecoveryCode(user, code), hashRecoveryCode(other, code))
	}
	require.Len(t, seen, 10)
}
