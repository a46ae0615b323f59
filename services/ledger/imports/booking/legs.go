package booking

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/duplicates"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// maxLegDays is the maximum number of days between a row and the leg that another file has created.
// It is that of a search of duplicates.
const maxLegDays = 4

// recognize marks rows that are transfers as matched if the file of the other account has created
// their leg since the preview: another transfer would change both wallets twice. A search of
// duplicates does the same for the preview. A leg is one payment, so a leg that another row of the
// import matches stays with it.
func (c *chunk) recognize(ctx context.Context, tx pgx.Tx) error {
	var rows []*staging.Row
	for i := range c.rows {
		r := &c.rows[i]
		if r.Status == staging.Ready && r.Action == "" && r.TransferWalletID != nil &&
			r.WalletID != nil && r.AmountMinor != nil && r.Date != nil {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	// The nearest legs may be those of other rows of the chunk.
	found, err := selectLegs(ctx, tx, c.OwnerID, c.ID, rows, len(c.rows))
	if err != nil || len(found) == 0 {
		return err
	}
	used, err := duplicates.SelectTaken(ctx, tx, c.OwnerID, c.ID)
	if err != nil {
		return err
	}
	for _, l := range found {
		r := rows[l.Position-1]
		if r.Status == staging.Ready && !used[l.ID] {
			r.Status, r.DuplicateOf, used[l.ID] = staging.Matched, &l.ID, true
		}
	}
	return nil
}

// linkPairs links ready rows whose other side exists as a leg of a transfer with their wallet to
// the other leg of it. A search of duplicates does the same for the preview.
func (c *chunk) linkPairs(ctx context.Context, tx pgx.Tx) error {
	var rows []*staging.Row
	var transactions, wallets []uuid.UUID
	for i := range c.rows {
		r := &c.rows[i]
		if r.Status != staging.Ready || r.Action != "" || r.WalletID == nil {
			continue
		}
		if partner := c.partner(r); exists(partner) {
			rows = append(rows, r)
			transactions = append(transactions, deref(partner.DuplicateOf))
			wallets = append(wallets, *r.WalletID)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	found, err := duplicates.SelectOtherLegs(ctx, tx, c.OwnerID, c.ID, transactions, wallets)
	if err != nil || len(found) == 0 {
		return err
	}
	used, err := duplicates.SelectTaken(ctx, tx, c.OwnerID, c.ID)
	if err != nil {
		return err
	}
	for _, leg := range found {
		if r := rows[leg.Position-1]; !used[leg.ID] {
			r.Status, r.DuplicateOf, used[leg.ID] = staging.Matched, &leg.ID, true
		}
	}
	return c.link(ctx, tx)
}

// foundLeg is a leg that the row at a position, from 1, may be.
type foundLeg struct {
	Position int64
	ID       uuid.UUID
}

// selectLegs returns the legs without an external id that may be rows, the nearest days first: with
// the wallets, the amount and the currency of the row. It leaves those of transfers of the import
// itself. It returns up to limit legs for each row.
func selectLegs(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, rows []*staging.Row, limit int,
) ([]foundLeg, error) {
	wallets, others := make([]uuid.UUID, len(rows)), make([]uuid.UUID, len(rows))
	currencies, amounts := make([]string, len(rows)), make([]int64, len(rows))
	days := make([]time.Time, len(rows))
	for i, r := range rows {
		wallets[i], others[i] = *r.WalletID, *r.TransferWalletID
		currencies[i], amounts[i] = r.BookedCurrency, *r.AmountMinor
		days[i] = r.Date.UTC().Truncate(24 * time.Hour)
	}
	return pg.All[foundLeg](ctx, q, `
		SELECT r.position, leg.id
		FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::timestamptz[])
			WITH ORDINALITY AS r (wallet_id, other_id, currency, amount_minor, day, position)
		CROSS JOIN LATERAL (
			SELECT t.id, abs(extract(epoch FROM t.date - r.day)) AS apart
			FROM transactions t
			JOIN transactions o ON o.owner_id = $1 AND o.transfer_id = t.transfer_id
				AND o.wallet_id = r.other_id AND o.import_id IS DISTINCT FROM $2
			WHERE t.owner_id = $1 AND t.wallet_id = r.wallet_id
				AND t.date >= r.day - $8 * interval '1 day'
				AND t.date < r.day + ($8 + 1) * interval '1 day'
				AND t.currency = r.currency AND t.amount_minor = r.amount_minor
				AND t.transfer_id IS NOT NULL AND t.external_id IS NULL
				AND t.import_id IS DISTINCT FROM $2
			ORDER BY apart, t.id
			LIMIT $9
		) AS leg
		ORDER BY leg.apart, r.position, leg.id`,
		owner, id, wallets, others, currencies, amounts, days, maxLegDays, limit)
}
