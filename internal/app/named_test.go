package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

type provider struct {
	Issuer string `env:"OIDC_<NAME>_ISSUER"`
	Secret string `env:"OIDC_<NAME>_SECRET,unset"`
}

type providers struct {
	OIDC struct {
		Providers Named[provider] `env:"OIDC_PROVIDERS"`
	}
}

func TestParseEnvNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("from a file\n"), 0o600))
	config, err := ParseEnv[providers](map[string]string{
		"OIDC_PROVIDERS": "google, home", "OIDC_GOOGLE_ISSUER": "https://google.example",
		"OIDC_GOOGLE_SECRET": "s", "OIDC_HOME_SECRET_FILE": file, "OIDC_OTHER_ISSUER": "x",
	})
	require.NoError(t, err)
	require.Equal(t, []string{"google", "home"}, config.OIDC.Providers.Names)
	require.Equal(t, map[string]provider{
		"google": {Issuer: "https://google.example", Secret: "s"}, "home": {Secret: "from a file"},
	}, config.OIDC.Providers.Of)

	_, err = ParseEnv[providers](map[string]string{
		"OIDC_PROVIDERS": "home", "OIDC_HOME_SECRET": "s", "OIDC_HOME_SECRET_FILE": file,
	})
	require.EqualError(t, err, "set OIDC_HOME_SECRET or OIDC_HOME_SECRET_FILE, not both")
	none, err := ParseEnv[providers](map[string]string{})
	require.NoError(t, err)
	require.Empty(t, none.OIDC.Providers.Names)
}

// TestParseEnvNamedOfProcess unsets the secrets, so that programs that the process starts do not
// have them.
func TestParseEnvNamedOfProcess(t *testing.T) {
	t.Setenv("OIDC_PROVIDERS", "home")
	t.Setenv("OIDC_HOME_ISSUER", "https://home.example")
	t.Setenv("OIDC_HOME_SECRET", "s")
	config, err := ParseEnv[providers](nil)
	require.NoError(t, err)
	require.Equal(t, provider{Issuer: "https://home.example", Secret: "s"},
		config.OIDC.Providers.Of["home"])
	require.Empty(t, os.Getenv("OIDC_HOME_SECRET"))
}
