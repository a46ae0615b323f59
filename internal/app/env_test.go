package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Nested is embedded like the configuration of package rpc.
type Nested struct {
	Wait time.Duration `env:"WAIT" envDefault:"1s"`
}

type sample struct {
	Nested
	Inner struct {
		Hops int `env:"HOPS"`
	}
	LogLevel slog.Level `env:"LOG_LEVEL" envDefault:"INFO"`
	On       bool       `env:"ON"`
	Rate     float64    `env:"RATE"`
	Key      string     `env:"KEY,required,notEmpty"`
}

type secretive struct {
	Inner struct {
		Secret string `env:"INNER_SECRET,required,notEmpty,unset"`
	}
	Token string `env:"TOKEN,unset"`
}

// file writes a temporary file, and returns its path.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestParseEnv(t *testing.T) {
	t.Parallel()
	t.Run("reads values and defaults", func(t *testing.T) {
		t.Parallel()
		got, err := ParseEnv[sample](map[string]string{
			"LOG_LEVEL": "warn", "KEY": "k", "HOPS": "2",
		})
		require.NoError(t, err)
		require.Equal(t, slog.LevelWarn, got.LogLevel)
		require.Equal(t, 2, got.Inner.Hops)
		require.Equal(t, time.Second, got.Wait)
	})
	t.Run("names every bad variable and its allowed values, and no value", func(t *testing.T) {
		t.Parallel()
		_, err := ParseEnv[sample](map[string]string{
			"LOG_LEVEL": "loud", "WAIT": "loud", "HOPS": "loud", "ON": "loud", "RATE": "loud",
		})
		for _, want := range []string{
			"LOG_LEVEL must be DEBUG, INFO, WARN or ERROR", "WAIT must be a duration",
			"HOPS must be a whole number",
			"ON must be true or false", "RATE must be a number", `"KEY"`,
		} {
			require.ErrorContains(t, err, want)
		}
		require.NotContains(t, err.Error(), "loud")
	})
	t.Run("reads a secret from a file, without its final newline", func(t *testing.T) {
		t.Parallel()
		got, err := ParseEnv[secretive](map[string]string{"INNER_SECRET_FILE": file(t, "s\n")})
		require.NoError(t, err)
		require.Equal(t, "s", got.Inner.Secret)
	})
	t.Run("rejects a secret in two places and a file that does not exist", func(t *testing.T) {
		t.Parallel()
		_, err := ParseEnv[secretive](map[string]string{
			"INNER_SECRET": "s", "INNER_SECRET_FILE": file(t, "s"), "TOKEN_FILE": "/missing",
		})
		require.ErrorContains(t, err, "set INNER_SECRET or INNER_SECRET_FILE, not both")
		require.ErrorContains(t, err, "reading TOKEN_FILE: open /missing")
	})
	t.Run("reads no file for a variable that is not a secret", func(t *testing.T) {
		t.Parallel()
		_, err := ParseEnv[sample](map[string]string{"KEY_FILE": file(t, "k")})
		require.ErrorContains(t, err, `"KEY"`)
	})
	t.Run("every process names LOG_LEVEL", func(t *testing.T) {
		t.Parallel()
		_, err := ParseEnv[process](map[string]string{"LOG_LEVEL": "loud"})
		require.EqualError(t, err, "LOG_LEVEL must be DEBUG, INFO, WARN or ERROR")
	})
}
