package posting

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// ownerLock is the SQL expression for the key of an owner's advisory lock. Each transaction that
// writes balances or totals holds the lock of each of its owners before it locks or writes their
// rows: shared if it creates, changes or deletes transactions, exclusive if it deletes or merges
// wallets or categories. So a merge never meets a half-written transaction, and the two never
// deadlock, although they need the same rows in a different order. The chunks of jobs take it
// exclusively, too: PostgreSQL grants the lock in the order of the requests for it, so writes that
// wait for a chunk precede the next chunk.
//
// The order of all locks is: idempotency keys and receipt files, owners by key, rows of owners by
// id, categories by id, transactions, receipts, totals, balances (ADR 40). A new write must keep
// it; TestConcurrentWrites runs every pair of writes.
const ownerLock = `hashtextextended('ledger owner ' || owner_id::text, 0)`

// takeSeq is the SQL of a statement that takes the next number of owner $1 after a CTE named
// locked. The number becomes the seq of each row that the database transaction inserts or changes,
// and of the tombstone of each row that it deletes: triggers set it, unless the statement does (ADR
// 83). The row of owners stays locked until the commit, so readers see the numbers in order.
const takeSeq = `
	INSERT INTO owners AS o (owner_id, seq)
	SELECT $1, 1
	FROM locked
	ON CONFLICT (owner_id) DO UPDATE
	SET seq = o.seq + 1`

// ShareOwner makes tx wait for merges and deletions of the owner's wallets and categories, and
// keeps new ones from starting until tx ends. It takes the owner's next number, so other writes of
// the owner wait until tx ends. Each write of wallets, categories, transactions, tags, rules or
// settings calls it or LockOwner before its first statement on them.
func ShareOwner(ctx context.Context, tx pgx.Tx, owner uuid.UUID) error {
	return pg.Exec(ctx, tx, `
		WITH locked AS MATERIALIZED (
			SELECT pg_advisory_xact_lock_shared(`+ownerLock+`)
			FROM (SELECT $1::uuid) AS o (owner_id)
		)`+takeSeq, owner)
}

// LockOwner makes tx wait for all writes of the owner's balances and totals, and keeps new ones
// from starting until tx ends. It takes the owner's next number, like ShareOwner. The statements
// after it see everything that was committed before, because the isolation level is READ COMMITTED:
// each statement has a new snapshot.
func LockOwner(ctx context.Context, tx pgx.Tx, owner uuid.UUID) error {
	return pg.Exec(ctx, tx, `
		WITH locked AS MATERIALIZED (
			SELECT pg_advisory_xact_lock(`+ownerLock+`)
			FROM (SELECT $1::uuid) AS o (owner_id)
		)`+takeSeq, owner)
}
