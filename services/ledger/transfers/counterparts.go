package transfers

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// LockCounterparts returns for each of legs the transaction of the owner that is this leg already, and locks it until tx ends. A leg
// without such a transaction has none in the result, which is by the index of the leg. The nearest days win, and each transaction is used
// once. The caller shares the owner's lock, so no other write changes the transactions until tx ends.
func LockCounterparts(ctx context.Context, tx pgx.Tx, owner uuid.UUID, legs []posting.Transaction) (map[int]posting.Transaction, error) {
	if len(legs) == 0 {
		return nil, nil
	}
	found, err := selectCounterparts(ctx, tx, owner, legs)
	if err != nil {
		return nil, err
	}
	chosen, used := map[int]uuid.UUID{}, map[uuid.UUID]bool{}
	var ids []uuid.UUID
	for _, c := range found {
		i := int(c.Position - 1)
		if _, ok := chosen[i]; ok || used[c.ID] {
			continue
		}
		chosen[i], used[c.ID] = c.ID, true
		ids = append(ids, c.ID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	locked, err := lockTransactions(ctx, tx, owner, ids...)
	if err != nil {
		return nil, err
	}
	counterparts := map[int]posting.Transaction{}
	for i, id := range chosen {
		if t, ok := locked[id]; ok {
			counterparts[i] = t
		}
	}
	return counterparts, nil
}
