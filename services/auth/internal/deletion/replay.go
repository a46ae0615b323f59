package deletion

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/internal/pg"
)

// Command returns the command `auth replay-deletions`, for use after the restore of a backup into
// which the table deletions was carried over.
func Command(migrations fs.FS) app.Command {
	return app.Command{Name: "replay-deletions", Run: func(
		ctx context.Context, databaseURL string, args []string, out io.Writer,
	) error {
		if len(args) > 0 {
			return fmt.Errorf("unexpected argument %q", args[0])
		}
		config, err := app.ParseEnv[struct {
			ServiceKey string `env:"SERVICE_KEY,required,notEmpty,unset"`
		}](nil)
		if err != nil {
			return err
		}
		db, err := pg.Open(ctx, databaseURL)
		if err != nil {
			return err
		}
		defer db.Close()
		if err := pg.AwaitSchema(ctx, db, migrations, slog.Default()); err != nil {
			return err
		}
		s := New(Config{DB: db, ServiceKey: config.ServiceKey, Now: time.Now, Log: slog.Default()})
		replayed, err := s.Replay(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "accounts that will be deleted again: %d\n", replayed)
		return err
	}}
}

// Replay starts the deletion again of each user with a certificate, and returns their number.
// Deletions in progress begin again, too. It ends the sessions and personal access tokens of all
// these users, and of those in their grace period. It can be repeated.
func (s *Server) Replay(ctx context.Context) (replayed int, err error) {
	// The restored rows of these users are older than the reports.
	unfinished, err := restartUnfinished(ctx, s.DB)
	if err != nil {
		return 0, err
	}
	now := s.Now().UTC()
	for _, user := range unfinished {
		end := func(tx pgx.Tx) error { return endAccess(ctx, tx, user, now) }
		if err := pg.InTx(ctx, s.DB, end); err != nil {
			return 0, err
		}
	}
	known, err := selectCertificates(ctx, s.DB)
	if err != nil {
		return 0, err
	}
	certificates := map[string]uuid.UUID{}
	for _, c := range known {
		certificates[string(c.MAC)] = c.ID
	}
	for last := uuid.Nil; ; {
		users, err := selectUsersAfter(ctx, s.DB, last)
		if err != nil || len(users) == 0 {
			return replayed, err
		}
		for _, user := range users {
			id, deleted := certificates[string(s.mac(user))]
			if !deleted {
				continue
			}
			err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
				if err := restart(ctx, tx, id, user, now); err != nil {
					return err
				}
				return endAccess(ctx, tx, user, now)
			})
			if err != nil {
				return replayed, err
			}
			replayed++
		}
		last = users[len(users)-1]
	}
}
