package transfers

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// LockCounterparts returns the transactions of the owner that are the given legs already, by the
// index of the leg, and locks them until tx ends. It omits legs without such a transaction. Each
// transaction is used once, for the leg with the nearest day. The caller shares the owner's lock,
// so no other write changes the transactions between the selection and the lock.
func LockCounterparts(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, legs []posting.Transaction,
) (map[int]posting.Transaction, error) {
	wanted := make([]Leg, len(legs))
	for i, t := range legs {
		wanted[i] = Leg{
			WalletID: t.WalletID, Currency: t.Currency, AmountMinor: t.AmountMinor, Date: t.Date,
		}
	}
	nearby := newNearby(wanted, nil)
	if err := selectCounterparts(ctx, tx, owner, nearby); err != nil {
		return nil, err
	}
	chosen := nearby.assign()
	if len(chosen) == 0 {
		return nil, nil
	}
	var ids []uuid.UUID
	for _, id := range chosen {
		ids = append(ids, id)
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

// FindLegs returns the existing legs of transfers that are the given legs, by the index of the
// given one: they have no external id, and the import id has created neither leg of their transfer.
// Each one is used once, for the leg with the nearest day. It leaves those in used.
func FindLegs(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, legs []Leg, used map[uuid.UUID]bool,
) (map[int]uuid.UUID, error) {
	nearby := newNearby(legs, used)
	if err := selectLegs(ctx, q, owner, id, nearby); err != nil {
		return nil, err
	}
	return nearby.assign(), nil
}

// Leg describes a leg of a transfer that may exist.
type Leg struct {
	WalletID    uuid.UUID
	Currency    string
	AmountMinor int64
	Date        time.Time
	// OtherWalletID is the wallet at the other side. It is the nil UUID if the other leg does not
	// exist yet.
	OtherWalletID uuid.UUID
}
