package posting

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Place is the place of a row among the changes of its owner. Rows of one write have the same Seq.
type Place struct {
	Seq int64
	ID  uuid.UUID
}

// Changed is an object at its place among the changes of its owner.
type Changed[Message any] struct {
	Place
	Message Message
}

// ChangedTransactions returns up to limit of an owner's transactions after a place, in the order of
// their changes, without their splits.
func ChangedTransactions(
	ctx context.Context, q pg.Querier, owner uuid.UUID, after Place, limit int,
) ([]Transaction, []Place, error) {
	type row struct {
		Transaction
		Seq int64
	}
	// The limit is a literal because PostgreSQL assumes that a parameterized LIMIT returns 10 % of
	// the table.
	rows, err := pg.All[row](ctx, q, `
		SELECT `+TransactionColumns+`, t.seq
		FROM transactions t
		WHERE t.owner_id = $1 AND (t.seq, t.id) > ($2, $3)
		ORDER BY t.seq, t.id
		LIMIT `+strconv.Itoa(limit), owner, after.Seq, after.ID)
	if err != nil {
		return nil, nil, err
	}
	ts, places := make([]Transaction, len(rows)), make([]Place, len(rows))
	for i, r := range rows {
		ts[i], places[i] = r.Transaction, Place{Seq: r.Seq, ID: r.ID}
	}
	return ts, places, nil
}
