package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// selectLimitEnd returns when the last of the limits that are reached ends; nil when none is.
func selectLimitEnd(ctx context.Context, q pg.Querier, subjects [][]byte, most []int32, now time.Time) (*time.Time, error) {
	rows, err := q.Query(ctx, `
		SELECT max(f.ends_at)
		FROM login_failures f
		JOIN unnest($1::bytea[], $2::integer[]) AS l (subject, most) ON l.subject = f.subject
		WHERE f.failures >= l.most AND f.ends_at > $3`, subjects, most, now)
	if err != nil {
		return nil, fmt.Errorf("selecting failed sign-ins: %w", err)
	}
	end, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[*time.Time])
	if err != nil {
		return nil, fmt.Errorf("selecting failed sign-ins: %w", err)
	}
	return end, nil
}

// countFailures adds one to each subject, in a new window where the last one has ended. The order spares two callers
// with the same subjects a deadlock.
func countFailures(ctx context.Context, q pg.Querier, subjects [][]byte, now, ends time.Time) error {
	_, err := q.Exec(ctx, `
		INSERT INTO login_failures AS f (subject, failures, ends_at)
		SELECT s.subject, 1, $3
		FROM unnest($1::bytea[]) AS s (subject)
		ORDER BY s.subject
		ON CONFLICT (subject) DO UPDATE
		SET failures = CASE WHEN f.ends_at > $2 THEN f.failures + 1 ELSE 1 END,
			ends_at = CASE WHEN f.ends_at > $2 THEN f.ends_at ELSE EXCLUDED.ends_at END`, subjects, now, ends)
	if err != nil {
		return fmt.Errorf("counting failed sign-ins: %w", err)
	}
	return nil
}

func deleteFailuresOf(ctx context.Context, q pg.Querier, subject []byte) error {
	_, err := q.Exec(ctx, `DELETE FROM login_failures WHERE subject = $1`, subject)
	if err != nil {
		return fmt.Errorf("forgetting failed sign-ins: %w", err)
	}
	return nil
}

func deleteFailures(ctx context.Context, q pg.Querier, ended time.Time) error {
	_, err := q.Exec(ctx, `DELETE FROM login_failures WHERE ends_at < $1`, ended)
	if err != nil {
		return fmt.Errorf("deleting failed sign-ins: %w", err)
	}
	return nil
}
