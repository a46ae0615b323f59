package ocr

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// The recognisers that results are remembered of: raise one when it reads better, and files are read anew.
const (
	recogniserLocal  = 7
	recogniserVision = 1001
)

// result is what a file was read as, serialized.
type result struct {
	Receipt []byte
}

// selectResult returns pgx.ErrNoRows for a file that this user has not shown before.
func selectResult(ctx context.Context, q pg.Querier, userID uuid.UUID, sha256 []byte, recogniser int) (result, error) {
	return pg.One[result](ctx, q, `
		SELECT receipt
		FROM results
		WHERE user_id = $1
			AND file_sha256 = $2
			AND recogniser = $3`, userID, sha256, recogniser)
}

// insertResult keeps the first of two that were recognised at the same time.
func insertResult(ctx context.Context, q pg.Querier, userID uuid.UUID, sha256 []byte, recogniser int, receipt []byte) error {
	_, err := q.Exec(ctx, `
		INSERT INTO results (user_id, file_sha256, recogniser, receipt)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT ON CONSTRAINT results_pkey DO NOTHING`, userID, sha256, recogniser, receipt)
	return err
}

func deleteResults(ctx context.Context, q pg.Querier, before time.Time) error {
	if _, err := q.Exec(ctx, `DELETE FROM results WHERE created_at < $1`, before); err != nil {
		return fmt.Errorf("deleting results: %w", err)
	}
	return nil
}
