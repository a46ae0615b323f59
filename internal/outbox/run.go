package outbox

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Config is where a service's events go.
type Config struct {
	// NATSURL is that of the NATS servers, with user and password.
	NATSURL string `env:"NATS_URL,required,notEmpty,unset"`
	// NATSReplicas is on how many servers each event is kept; 3 in production.
	NATSReplicas int `env:"NATS_REPLICAS" envDefault:"1"`
}

// Run publishes a service's events until ctx ends, whenever NATS and Postgres are both there.
func Run(ctx context.Context, config Config, pool *pgxpool.Pool, source string, log *slog.Logger) {
	conn, js, err := Connect(config.NATSURL, source)
	if err != nil {
		log.ErrorContext(ctx, "events stay in the outbox", "error", err)
		return
	}
	defer conn.Close()
	for ctx.Err() == nil {
		err := EnsureStream(ctx, js, config.NATSReplicas)
		if err == nil {
			break
		}
		log.WarnContext(ctx, "waiting for JetStream", "error", err)
		pause(ctx, relayRetry)
	}
	Relay(ctx, pool, js, source, log)
}
