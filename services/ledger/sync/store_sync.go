package sync

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/settings"
)

// state is the owner's row of table owners. Its numbers are 0 for an owner who has written nothing.
type state struct {
	Seq      int64
	SweptSeq int64 `db:"swept_seq"`
	// Unnumbered is set if the owner has a row that was written without a number.
	Unnumbered bool
}

// numbered are the tables whose rows have a number. Their order is that in which writes lock rows.
var numbered = []string{"settings", "categories", "transactions", "wallets", "tags", "tombstones"}

// stateStatement reads the state of an owner.
var stateStatement = func() string {
	var unnumbered []string
	for _, table := range numbered {
		unnumbered = append(unnumbered, `EXISTS (SELECT FROM `+table+` WHERE owner_id = $1 AND seq < 0)`)
	}
	return `
		SELECT coalesce(o.seq, 0) AS seq, coalesce(o.swept_seq, 0) AS swept_seq, ` + strings.Join(unnumbered, " OR ") + ` AS unnumbered
		FROM (SELECT $1::uuid AS owner_id) AS reader
		LEFT JOIN owners o USING (owner_id)`
}()

// selectState returns the state of an owner.
func selectState(ctx context.Context, q pg.Querier, owner uuid.UUID) (state, error) {
	s, err := pg.One[state](ctx, q, stateStatement, owner)
	if err != nil {
		return state{}, fmt.Errorf("selecting the number of owner %s: %w", owner, err)
	}
	return s, nil
}

// numberRows gives the owner's rows without a number the one that tx has taken.
func numberRows(ctx context.Context, tx pgx.Tx, owner uuid.UUID) error {
	for _, table := range numbered {
		_, err := tx.Exec(ctx, `UPDATE `+table+` SET seq = (SELECT taken_seq($1)) WHERE owner_id = $1 AND seq < 0`, owner)
		if err != nil {
			return fmt.Errorf("numbering %s of owner %s: %w", table, owner, err)
		}
	}
	return nil
}

// selectSettings returns the settings if they changed after a position.
func selectSettings(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, _ int) ([]entry, error) {
	type row struct{ Seq int64 }
	rows, err := pg.All[row](ctx, tx, `SELECT seq FROM settings WHERE owner_id = $1 AND seq >= $2`, owner, after.Seq)
	if err != nil {
		return nil, fmt.Errorf("selecting changed settings: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	at := position{Seq: rows[0].Seq, List: settingsList}
	if at.compare(after) <= 0 {
		return nil, nil
	}
	s, err := settings.Select(ctx, tx, owner)
	return []entry{{position: at, message: s.Proto()}}, err
}

// selectWallets returns the wallets that changed after a position.
func selectWallets(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, limit int) ([]entry, error) {
	changed, err := accounts.ChangedWallets(ctx, tx, owner, after.in(walletList), limit)
	entries := make([]entry, len(changed))
	for i, c := range changed {
		entries[i] = entry{position: position{Seq: c.Seq, List: walletList, ID: c.ID.String()}, message: c.Message}
	}
	return entries, err
}

// selectCategories returns the categories that changed after a position.
func selectCategories(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, limit int) ([]entry, error) {
	changed, err := accounts.ChangedCategories(ctx, tx, owner, after.in(categoryList), limit)
	entries := make([]entry, len(changed))
	for i, c := range changed {
		entries[i] = entry{position: position{Seq: c.Seq, List: categoryList, ID: c.ID.String()}, message: c.Message}
	}
	return entries, err
}

// selectTags returns the tags that changed after a position.
func selectTags(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, limit int) ([]entry, error) {
	type row struct {
		Key, Name, Color string
		Seq              int64
	}
	seq, key := after.Seq, ""
	switch {
	case after.List > tagList:
		seq++
	case after.List == tagList:
		key = after.ID
	}
	rows, err := pg.All[row](ctx, tx, `
		SELECT key, name, color, seq
		FROM tags
		WHERE owner_id = $1 AND seq >= $2 AND (seq > $2 OR key > ($3 COLLATE "C"))
		ORDER BY seq, key COLLATE "C"
		LIMIT $4`, owner, seq, key, limit)
	if err != nil {
		return nil, fmt.Errorf("selecting changed tags: %w", err)
	}
	entries := make([]entry, len(rows))
	for i, r := range rows {
		entries[i] = entry{
			position: position{Seq: r.Seq, List: tagList, ID: r.Key},
			message:  &ledgerv1.FollowedTag{Key: r.Key, Name: r.Name, Color: r.Color},
		}
	}
	return entries, nil
}

// selectTransactions returns the transactions that changed after a position, with their splits and tags.
func selectTransactions(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, limit int) ([]entry, error) {
	ts, places, err := posting.ChangedTransactions(ctx, tx, owner, after.in(transactionList), limit)
	if err != nil {
		return nil, err
	}
	if err := posting.AddDetails(ctx, tx, owner, ts); err != nil {
		return nil, err
	}
	entries := make([]entry, len(ts))
	for i, t := range ts {
		entries[i] = entry{
			position: position{Seq: places[i].Seq, List: transactionList, ID: t.ID.String()}, message: t.Proto(), wallet: t.WalletID,
		}
	}
	return entries, nil
}

// selectTombstones returns the objects that were deleted after a position, and after the start of the copy.
func selectTombstones(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, limit int) ([]entry, error) {
	type row struct {
		Kind, ID  string
		WalletID  *uuid.UUID `db:"wallet_id"`
		Seq       int64
		DeletedAt time.Time `db:"deleted_at"`
	}
	var kind, id string
	seq := after.Seq
	switch {
	case after.Seq < after.Start || after.List == complete:
		seq = max(after.Seq, after.Start) + 1
	case after.List == tombstoneList:
		kind, id, _ = strings.Cut(after.ID, " ")
	}
	rows, err := pg.All[row](ctx, tx, `
		SELECT kind, id, wallet_id, seq, deleted_at
		FROM tombstones
		WHERE owner_id = $1 AND seq >= $2 AND (seq > $2 OR (kind, id) > ($3 COLLATE "C", $4 COLLATE "C"))
		ORDER BY seq, kind COLLATE "C", id COLLATE "C"
		LIMIT $5`, owner, seq, kind, id, limit)
	if err != nil {
		return nil, fmt.Errorf("selecting deleted objects: %w", err)
	}
	entries := make([]entry, len(rows))
	for i, r := range rows {
		entries[i] = entry{
			position: position{Seq: r.Seq, List: tombstoneList, ID: r.Kind + " " + r.ID},
			message:  &ledgerv1.Tombstone{Kind: r.Kind, Id: r.ID, DeletedAt: calendar.FormatTime(r.DeletedAt)},
		}
		if r.WalletID != nil {
			entries[i].wallet = *r.WalletID
		}
	}
	return entries, nil
}

// maxSwept is the number of tombstones whose owners a sweep locks together.
const maxSwept = 1000

// Sweep deletes the tombstones that are older than 180 days, and records for each owner that older cursors have expired. It locks the
// owners first, in the order of their ids, like a write. A tombstone without a number stays until a reader has numbered it, because
// no device has received it.
func Sweep(ctx context.Context, db *pgxpool.Pool, now time.Time) error {
	for {
		swept, err := db.Exec(ctx, `
			WITH due AS MATERIALIZED (
				SELECT owner_id, kind, id FROM tombstones WHERE deleted_at < $1 AND seq >= 0 ORDER BY deleted_at LIMIT $2
			), locked AS MATERIALIZED (
				SELECT owner_id FROM owners WHERE owner_id IN (SELECT owner_id FROM due) ORDER BY owner_id FOR UPDATE
			), swept AS (
				DELETE FROM tombstones t
				USING due, (SELECT count(*) FROM locked) AS l
				WHERE t.owner_id = due.owner_id AND t.kind = due.kind AND t.id = due.id AND t.deleted_at < $1
				RETURNING t.owner_id, t.seq
			)
			UPDATE owners o
			SET swept_seq = greatest(o.swept_seq, s.seq)
			FROM (SELECT owner_id, max(seq) AS seq FROM swept GROUP BY owner_id) AS s
			WHERE o.owner_id = s.owner_id`, now.Add(-retention), maxSwept)
		if err != nil {
			return fmt.Errorf("deleting old tombstones: %w", err)
		}
		if swept.RowsAffected() == 0 {
			return nil
		}
	}
}
