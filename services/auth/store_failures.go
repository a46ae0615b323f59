package auth

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// selectLimitEnd returns the time at which the last of the limits that the attempt has reached
// ends, or nil if it has reached none. In a session, and from an address that was known after
// since, only the limit of the pair applies. The column strangers marks the other two limits. Each
// of the three limits is a row of VALUES, so one statement reads the three counts by the primary
// key.
func selectLimitEnd(
	ctx context.Context, q pg.Querier, attempt attempt, now, since time.Time,
) (*time.Time, error) {
	rows, err := q.Query(ctx, `
		SELECT max(f.ends_at)
		FROM login_failures f
		JOIN (VALUES
			(@pair::bytea, @perPair::integer, false),
			(@account, @perAccount, true),
			(@address, @perAddress, true))
			AS l (subject, most, strangers) ON l.subject = f.subject
		WHERE f.failures >= l.most AND f.ends_at > @now
			AND NOT (l.strangers AND (@session OR EXISTS (
				SELECT FROM known_addresses k
				WHERE k.user_id = @user AND k.network = @network AND k.last_used_at > @since)))`,
		pgx.NamedArgs{
			"pair": attempt.pair, "account": attempt.account, "address": attempt.address,
			"session": attempt.session, "user": attempt.user, "network": nullable(attempt.network),
			"perPair": failuresPerPair, "perAccount": failuresPerAccount,
			"perAddress": failuresPerAddress, "now": now, "since": since,
		})
	if err != nil {
		return nil, fmt.Errorf("selecting failed attempts: %w", err)
	}
	end, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[*time.Time])
	if err != nil {
		return nil, fmt.Errorf("selecting failed attempts: %w", err)
	}
	return end, nil
}

// nullable returns nil for an invalid network. It becomes NULL, so it matches no known address.
func nullable(network netip.Prefix) *netip.Prefix {
	if !network.IsValid() {
		return nil
	}
	return &network
}

// upsertKnownAddress records that a user signed in from a network. It does nothing for an invalid
// network.
func upsertKnownAddress(
	ctx context.Context, q pg.Querier, user uuid.UUID, network netip.Prefix, now time.Time,
) error {
	if !network.IsValid() {
		return nil
	}
	return pg.Exec(ctx, q, `
		INSERT INTO known_addresses AS k (user_id, network, last_used_at)
		VALUES ($1, $2, $3)
		ON CONFLICT (user_id, network) DO UPDATE
			SET last_used_at = GREATEST(k.last_used_at, EXCLUDED.last_used_at)`, user, network, now)
}

func deleteKnownAddresses(ctx context.Context, q pg.Querier, before time.Time) error {
	return pg.Exec(ctx, q, `DELETE FROM known_addresses WHERE last_used_at < $1`, before)
}

// addOne is the part of an insert into login_failures f that adds one to the count of a subject, or
// starts a new window if the last one has ended at $2. The row lock of ON CONFLICT makes
// simultaneous counts exact.
const addOne = `
		ON CONFLICT (subject) DO UPDATE
		SET failures = CASE WHEN f.ends_at > $2 THEN f.failures + 1 ELSE 1 END,
			ends_at = CASE WHEN f.ends_at > $2 THEN f.ends_at ELSE EXCLUDED.ends_at END`

// countFailures adds one to the count of each subject. It starts a new window until ends if the
// last one has ended. The subjects are sorted so that two calls with the same subjects cannot
// deadlock. A failure does not extend a window. Without the maximum of a limit in the table, a new
// release can change the limits without a migration.
func countFailures(
	ctx context.Context, q pg.Querier, subjects [][]byte, now, ends time.Time,
) error {
	return pg.Exec(ctx, q, `
		INSERT INTO login_failures AS f (subject, failures, ends_at)
		SELECT s.subject, 1, $3
		FROM unnest($1::bytea[]) AS s (subject)
		ORDER BY s.subject`+addOne, subjects, now, ends)
}

// requests are the counted requests of a subject in its window.
type requests struct {
	Failures int
	EndsAt   time.Time `db:"ends_at"`
}

// countRequest adds one to the count of a subject like countFailures, and returns the count.
func countRequest(
	ctx context.Context, q pg.Querier, subject []byte, now, ends time.Time,
) (requests, error) {
	return pg.One[requests](ctx, q, `
		INSERT INTO login_failures AS f (subject, failures, ends_at)
		VALUES ($1, 1, $3)`+addOne+`
		RETURNING failures, ends_at`, subject, now, ends)
}

// limited is a subject with the largest count that is allowed.
type limited struct {
	subject []byte
	limit   int32
}

// countLimited adds one to the count of each subject like countFailures, and returns the time at
// which the last of the exceeded limits ends, or nil.
func countLimited(
	ctx context.Context, q pg.Querier, subjects []limited, now, ends time.Time,
) (*time.Time, error) {
	names, limits := make([][]byte, len(subjects)), make([]int32, len(subjects))
	for i, s := range subjects {
		names[i], limits[i] = s.subject, s.limit
	}
	return pg.Value[*time.Time](ctx, q, `
		WITH counted AS (
			INSERT INTO login_failures AS f (subject, failures, ends_at)
			SELECT s.subject, 1, $3
			FROM unnest($1::bytea[]) AS s (subject)
			ORDER BY s.subject`+addOne+`
			RETURNING subject, failures, ends_at)
		SELECT max(c.ends_at)
		FROM counted c
		JOIN unnest($1::bytea[], $4::integer[]) AS l (subject, most) ON l.subject = c.subject
		WHERE c.failures > l.most`, names, now, ends, limits)
}

// uncount subtracts one from the count of each subject. The rows are locked in the order of
// countLimited.
func uncount(ctx context.Context, q pg.Querier, subjects []limited) error {
	names := make([][]byte, len(subjects))
	for i, s := range subjects {
		names[i] = s.subject
	}
	return pg.Exec(ctx, q, `
		WITH locked AS (
			SELECT subject, failures
			FROM login_failures
			WHERE subject = ANY($1)
			ORDER BY subject
			FOR UPDATE),
		changed AS (
			UPDATE login_failures f
			SET failures = f.failures - 1
			FROM locked l
			WHERE f.subject = l.subject AND l.failures > 1)
		DELETE FROM login_failures f
		USING locked l
		WHERE f.subject = l.subject AND l.failures = 1`, names)
}

// deleteFailuresOf resets the count of a subject. After the right password, prove calls it with the
// pair.
func deleteFailuresOf(ctx context.Context, q pg.Querier, subject []byte) error {
	return pg.Exec(ctx, q, `DELETE FROM login_failures WHERE subject = $1`, subject)
}

func deleteFailures(ctx context.Context, q pg.Querier, ended time.Time) error {
	return pg.Exec(ctx, q, `DELETE FROM login_failures WHERE ends_at < $1`, ended)
}
