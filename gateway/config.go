package gateway

import (
	"github.com/coffer-budget/coffer/internal/connlimit"
	"github.com/coffer-budget/coffer/internal/mtls"
)

// Config is the gateway's configuration, read from the environment.
type Config struct {
	// AuthAddr, LedgerAddr and BudgetAddr are the host:port of the services. The gateway never
	// calls ocr.
	AuthAddr   string `env:"AUTH_ADDR,required,notEmpty"`
	LedgerAddr string `env:"LEDGER_ADDR,required,notEmpty"`
	BudgetAddr string `env:"BUDGET_ADDR,required,notEmpty"`
	// ServiceKey lets the gateway ask auth which sessions were revoked. It is never sent along with
	// a user's request.
	ServiceKey string `env:"SERVICE_KEY,required,notEmpty,unset"`
	// TLS holds the certificate that the gateway presents to the services. REST itself is not
	// encrypted: the proxy in front of the gateway does that.
	TLS mtls.Config
	// AllowedOrigins are the web origins that browsers may call from, or "*". If empty, only the
	// gateway's own origin may.
	AllowedOrigins []string `env:"CORS_ALLOWED_ORIGINS"`
	// TrustProxyHops is the number of proxies in front of the gateway that append to
	// X-Forwarded-For. If 0, the header is ignored.
	TrustProxyHops int `env:"TRUST_PROXY_HOPS" envDefault:"0"`
	// RateLimit is the number of requests per second that a user, or an address without a user, may
	// make, with bursts of 5 times as many. 0 means no limit. Each instance counts separately.
	RateLimit float64 `env:"RATE_LIMIT" envDefault:"50"`
	// MaxConnections limits the open connections in total, MaxConnectionsPerAddress per client
	// address; 0: no limit. Behind proxies every connection comes from one of few addresses, so the
	// second does not apply if TrustProxyHops is set.
	MaxConnections           int `env:"MAX_CONNECTIONS" envDefault:"10000"`
	MaxConnectionsPerAddress int `env:"MAX_CONNECTIONS_PER_ADDRESS" envDefault:"1000"`
	// Web switches the console on. If false, "/" redirects to the documentation.
	Web bool `env:"WEB" envDefault:"true"`
	// HealthAddr serves /livez and /readyz, too, so that clients cannot take the connections of
	// probes; empty: nowhere.
	HealthAddr string `env:"HEALTH_ADDR"`
}

func (c Config) connectionLimits() connlimit.Limits {
	limits := connlimit.Limits{Total: c.MaxConnections, PerAddress: c.MaxConnectionsPerAddress}
	if c.TrustProxyHops > 0 {
		limits.PerAddress = 0
	}
	return limits
}
