package oidc

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/internal/app"
)

// Config is the configuration of sign-in with identity providers, read from the environment.
type Config struct {
	// Providers are the identity providers by name.
	Providers app.Named[Provider] `env:"OIDC_PROVIDERS"`
	// SignUp permits that the first sign-in of an identity creates an account.
	SignUp bool `env:"OIDC_SIGNUP" envDefault:"false"`
}

// Provider is the configuration of an identity provider.
type Provider struct {
	// Issuer is the URL of the provider, exactly as its tokens have it.
	Issuer string `env:"OIDC_<NAME>_ISSUER"`
	// ClientID is the id of this installation at the provider.
	ClientID string `env:"OIDC_<NAME>_CLIENT_ID"`
	// ClientSecret is empty for a public client.
	ClientSecret string `env:"OIDC_<NAME>_CLIENT_SECRET,unset"`
	// Label is the name that users see.
	Label string `env:"OIDC_<NAME>_LABEL"`
	// AllowedDomains are the domains of e-mails, separated by commas. Without one, all identities
	// may sign in.
	AllowedDomains string `env:"OIDC_<NAME>_ALLOWED_DOMAINS"`
}

// maxLabel is the maximum length of a label in characters, which is that of names in the audit
// trail.
const maxLabel = 100

// validName is the form of the name of a provider, which is part of paths and of variables.
var validName = regexp.MustCompile(`^[a-z][a-z0-9]{0,30}$`)

// Check returns an error that names each invalid variable. publicURL is the URL of the console.
func (c Config) Check(publicURL string) error {
	if len(c.Providers.Names) == 0 {
		return nil
	}
	var problems []error
	if publicURL == "" {
		problems = append(problems,
			errors.New("PUBLIC_URL is required, because OIDC_PROVIDERS is set"))
	}
	issuers := map[string]bool{}
	for _, name := range c.Providers.Names {
		p := c.Providers.Of[name]
		if !validName.MatchString(name) {
			problems = append(problems, errors.New("OIDC_PROVIDERS must be names of lower-case "+
				"letters and digits, separated by commas"))
			continue
		}
		prefix := "OIDC_" + strings.ToUpper(name)
		if !isIssuer(p.Issuer) {
			problems = append(problems, fmt.Errorf(
				"%s_ISSUER must be a URL like https://login.example.com", prefix))
		}
		if issuers[p.Issuer] {
			problems = append(problems, fmt.Errorf(
				"%s_ISSUER must differ from those of the other providers", prefix))
		}
		issuers[p.Issuer] = true
		if p.ClientID == "" {
			problems = append(problems, fmt.Errorf("%s_CLIENT_ID is required", prefix))
		}
		if utf8.RuneCountInString(p.Label) > maxLabel {
			problems = append(problems, fmt.Errorf(
				"%s_LABEL must have at most %d characters", prefix, maxLabel))
		}
	}
	return errors.Join(problems...)
}

// Issuers returns the issuers of the providers.
func (c Config) Issuers() []string {
	issuers := make([]string, 0, len(c.Providers.Of))
	for _, p := range c.Providers.Of {
		issuers = append(issuers, p.Issuer)
	}
	return issuers
}

// isIssuer reports whether a URL may be that of a provider. Without TLS it must be on this machine,
// for development.
func isIssuer(issuer string) bool {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && local
}

// allows reports whether an identity with this e-mail may use the provider.
func (p Provider) allows(email string, verified bool) bool {
	if p.AllowedDomains == "" {
		return true
	}
	_, domain, _ := strings.Cut(email, "@")
	for allowed := range strings.SplitSeq(p.AllowedDomains, ",") {
		if verified && strings.EqualFold(strings.TrimSpace(allowed), domain) {
			return true
		}
	}
	return false
}
