package files

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// moveInterval is the time between two searches for files to move, and moveBackoff that after a
	// failure.
	moveInterval = 5 * time.Second
	moveBackoff  = 30 * time.Second
	// damagedBackoff is the time if a file in PostgreSQL has a wrong content, which each search
	// reads and logs again.
	damagedBackoff = 10 * time.Minute
)

// Run moves new files into the store until ctx ends. Every replica may run it. It does nothing
// without a store, or if the store is read-only.
func (s *Store) Run(ctx context.Context, db *pgxpool.Pool) {
	if s == nil || s.readOnly {
		return
	}
	m := &mover{db: db, store: s, log: s.log}
	for {
		wait := moveInterval
		switch done, err := m.toStore(ctx, newID()); {
		case err != nil && ctx.Err() == nil:
			s.log.WarnContext(ctx, "failed to move files into the store", "error", err)
			wait = moveBackoff
		case done.failed > 0:
			wait = damagedBackoff
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}
