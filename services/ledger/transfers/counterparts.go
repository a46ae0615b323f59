package transfers

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// LockCounterparts returns the transactions of the owner that are the given legs already, by the
// index of the leg, and locks them until tx ends. It omits legs without such a transaction. Each
// transaction is used once, for the leg with the nearest day. The caller shares the owner's lock,
// so no other write changes the transactions between the selection and the lock.
func LockCounterparts(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, legs []posting.Transaction,
) (map[int]posting.Transaction, error) {
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
