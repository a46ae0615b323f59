package ocr

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Versions of the recognizers under which results are stored, as a serialized RecognizeResponse
// without images. Increase one when it reads better: files are then read again. recognizerLocal is
// Tesseract alone. A larger version is a better recognizer. Results of versions up to 9, 503 and
// 1001 were stored in another form.
const (
	recognizerLocal  = 13
	recognizerNeural = 507
	recognizerVision = 1003
)

// selectResult returns the stored result of a user's file by the best of the recognizers, or
// pgx.ErrNoRows.
func selectResult(
	ctx context.Context, q pg.Querier, userID uuid.UUID, sha256 []byte, recognizers []int,
) ([]byte, error) {
	return pg.Value[[]byte](ctx, q, `
		SELECT receipt
		FROM results
		WHERE user_id = $1
			AND file_sha256 = $2
			AND recogniser = ANY($3)
		ORDER BY recogniser DESC
		LIMIT 1`, userID, sha256, recognizers)
}

// insertResult stores a result. If two requests read one file at the same time, the first result is
// kept.
func insertResult(
	ctx context.Context, q pg.Querier,
	userID uuid.UUID, sha256 []byte, recognizer int, receipt []byte,
) error {
	_, err := q.Exec(ctx, `
		INSERT INTO results (user_id, file_sha256, recogniser, receipt)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT ON CONSTRAINT results_pkey DO NOTHING`, userID, sha256, recognizer, receipt)
	return err
}

func deleteResults(ctx context.Context, q pg.Querier, before time.Time) error {
	if _, err := q.Exec(ctx, `DELETE FROM results WHERE created_at < $1`, before); err != nil {
		return fmt.Errorf("deleting results: %w", err)
	}
	return nil
}

func deleteResultsOf(ctx context.Context, q pg.Querier, userID uuid.UUID) error {
	return pg.Exec(ctx, q, `DELETE FROM results WHERE user_id = $1`, userID)
}
