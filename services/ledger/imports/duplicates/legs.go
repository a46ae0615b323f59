package duplicates

import (
	"context"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// pairedRow is a ready row that is a side of a transfer, and the row of the other side.
type pairedRow struct{ n, pair int32 }

// matchLegs matches the next rows whose other side is an existing leg of a transfer with their
// wallet: they are the other leg of it, whatever their texts are. An earlier file with the rows of
// one account has created both legs. A row of its own would change the wallet twice.
func (s *Search) matchLegs(
	ctx context.Context, q pg.Querier, limit int,
) (finished bool, err error) {
	n := min(len(s.paired), limit, pageRows)
	sides, err := selectExistingSides(ctx, q, s.owner, s.id, s.paired[:n])
	s.paired = s.paired[n:]
	if err != nil || len(sides) == 0 {
		return len(s.paired) == 0, err
	}
	transactions, wallets := make([]uuid.UUID, len(sides)), make([]uuid.UUID, len(sides))
	for i, side := range sides {
		transactions[i], wallets[i] = side.Transaction, side.WalletID
	}
	found, err := SelectOtherLegs(ctx, q, s.owner, s.id, transactions, wallets)
	if err != nil || len(found) == 0 {
		return len(s.paired) == 0, err
	}
	if err := s.loadTaken(ctx, q); err != nil {
		return false, err
	}
	var results []result
	for _, leg := range found {
		if !s.taken[leg.ID] {
			s.taken[leg.ID] = true
			results = append(results, result{sides[leg.Position-1].N, leg.ID, matched})
		}
	}
	return len(s.paired) == 0, setResults(ctx, q, s.owner, s.id, results)
}

// existingSide is a ready row of a wallet whose other side is a transaction that exists.
type existingSide struct {
	N           int32
	WalletID    uuid.UUID `db:"wallet_id"`
	Transaction uuid.UUID
}

// selectExistingSides returns those of the rows that are still ready and whose other side exists.
// The limits make PostgreSQL read each row by its number, also without statistics.
func selectExistingSides(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, rows []pairedRow,
) ([]existingSide, error) {
	ns, pairs := make([]int32, len(rows)), make([]int32, len(rows))
	for i, r := range rows {
		ns[i], pairs[i] = r.n, r.pair
	}
	return pg.All[existingSide](ctx, q, `
		SELECT r.n, r.wallet_id, o.duplicate_of AS transaction
		FROM unnest($3::integer[], $4::integer[]) AS p (n, pair_n)
		CROSS JOIN LATERAL (
			SELECT status, duplicate_of
			FROM import_rows
			WHERE owner_id = $1 AND import_id = $2 AND n = p.pair_n
			LIMIT 1
		) AS o
		CROSS JOIN LATERAL (
			SELECT n, status, action, wallet_id
			FROM import_rows
			WHERE owner_id = $1 AND import_id = $2 AND n = p.n
			LIMIT 1
		) AS r
		WHERE o.status IN ('duplicate', 'matched') AND o.duplicate_of IS NOT NULL
			AND r.status = 'ready' AND r.action = '' AND r.wallet_id IS NOT NULL
		ORDER BY r.n`, owner, id, ns, pairs)
}

// OtherLeg is the other leg of the transfer of the transaction at a position, from 1.
type OtherLeg struct {
	Position int64
	ID       uuid.UUID
}

// SelectOtherLegs returns the other legs of the transfers of transactions, if they are in the
// wallet at the same position. It leaves legs that the import id has created.
func SelectOtherLegs(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, transactions, wallets []uuid.UUID,
) ([]OtherLeg, error) {
	return pg.All[OtherLeg](ctx, q, `
		SELECT l.position, o.id
		FROM unnest($3::uuid[], $4::uuid[]) WITH ORDINALITY
			AS l (transaction_id, wallet_id, position)
		CROSS JOIN LATERAL (
			SELECT transfer_id
			FROM transactions
			WHERE owner_id = $1 AND id = l.transaction_id AND transfer_id IS NOT NULL
			LIMIT 1
		) AS t
		CROSS JOIN LATERAL (
			SELECT id
			FROM transactions
			WHERE owner_id = $1 AND transfer_id = t.transfer_id AND id <> l.transaction_id
				AND wallet_id = l.wallet_id AND import_id IS DISTINCT FROM $2
			LIMIT 1
		) AS o
		ORDER BY l.position`, owner, id, transactions, wallets)
}
