package accounts

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

type wallet struct {
	ID       uuid.UUID
	OwnerID  uuid.UUID `db:"owner_id"`
	Name     string
	Currency string
	// InitialMinor is the opening balance in minor units of Currency. It is not a transaction.
	InitialMinor int64 `db:"initial_minor"`
	// OpeningDate is the day from which the opening balance counts. It is nil if it counts for all
	// days.
	OpeningDate *time.Time `db:"opening_date"`
	Archived    bool
	// Kind is one of walletKinds.
	Kind string
	// Color and Icon are empty if the owner set none.
	Color, Icon string
	// Position is nil if the owner set none.
	Position *int32
	// Version starts at 1 and increases with each change of the row, but not with the balance.
	Version   int64
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
	// Currencies holds the wallet's own currency first, and then those with a balance other than
	// zero. Amounts holds their balances in minor units.
	Currencies []string
	Amounts    []int64
}

// insertWallet inserts a wallet and its opening balance. The row of the balance must exist from the
// start, also for a balance of zero: walletsAndBalances expects one in the wallet's own currency.
func insertWallet(ctx context.Context, q pg.Querier, wallet wallet) error {
	return pg.Exec(ctx, q, `
		WITH opened AS (
			INSERT INTO wallets (owner_id, id, name, currency, initial_minor, opening_date,
				archived, version, created_at, updated_at, color, icon, position, kind)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		)
		INSERT INTO wallet_balances (owner_id, wallet_id, currency, amount_minor)
		VALUES ($1, $2, $4, $5)`,
		wallet.OwnerID, wallet.ID, wallet.Name, wallet.Currency, wallet.InitialMinor,
		wallet.OpeningDate, wallet.Archived, wallet.Version, wallet.CreatedAt, wallet.UpdatedAt,
		wallet.Color, wallet.Icon, wallet.Position, wallet.Kind)
}

const walletsWith = `SELECT ` + walletColumns + walletsAndBalances

const walletColumns = `w.id, w.owner_id, w.name, w.currency, w.initial_minor, w.opening_date,
	w.archived, w.version, w.created_at, w.updated_at, w.color, w.icon, w.position,
	w.kind, held.currencies, held.amounts`

// walletsAndBalances joins wallets w of the owner $1 with their balances. It omits balances of zero
// except in the wallet's own currency. That currency is first, because false sorts before true. It
// always has a row (see insertWallet), so the arrays are never NULL.
const walletsAndBalances = `
	FROM wallets w
	CROSS JOIN LATERAL (
		SELECT array_agg(b.currency ORDER BY b.currency <> w.currency, b.currency) AS currencies,
			array_agg(b.amount_minor ORDER BY b.currency <> w.currency, b.currency) AS amounts
		FROM wallet_balances b
		WHERE b.owner_id = $1 AND b.wallet_id = w.id
			AND (b.currency = w.currency OR b.amount_minor <> 0)
	) AS held`

// selectWallet returns a wallet, or pgx.ErrNoRows if the id is unknown or the wallet belongs to
// another owner.
func selectWallet(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (wallet, error) {
	return pg.One[wallet](ctx, q, walletsWith+` WHERE w.owner_id = $1 AND w.id = $2`, owner, id)
}

// selectWallets returns up to limit of an owner's wallets after a place, in the order of
// walletPlace. archived selects archived or other wallets; nil selects all. The index wallets_list
// has the same order.
func selectWallets(
	ctx context.Context, q pg.Querier, owner uuid.UUID, archived *bool, after walletPlace,
	limit int,
) ([]wallet, error) {
	return pg.All[wallet](ctx, q, walletsWith+`
		WHERE w.owner_id = $1 AND coalesce(w.position, 2147483647) >= $2
			AND (coalesce(w.position, 2147483647) > $2 OR w.id < $3)
			AND ($4::boolean IS NULL OR w.archived = $4)
		ORDER BY coalesce(w.position, 2147483647), w.id DESC
		LIMIT $5`, owner, after.Rank, after.ID, archived, limit)
}

// lockWalletRow prevents changes and the deletion of a wallet until the transaction ends.
// Transactions in it can still be created, because NO KEY UPDATE does not conflict with the lock
// that their foreign key takes. Only the wallet's first transaction in a currency waits, because
// the trigger that limits the currencies locks the row. It returns pgx.ErrNoRows if the owner has
// no such wallet.
func lockWalletRow(ctx context.Context, q pg.Querier, owner, id uuid.UUID) error {
	_, err := pg.Value[uuid.UUID](ctx, q,
		`SELECT id FROM wallets WHERE owner_id = $1 AND id = $2 FOR NO KEY UPDATE`, owner, id)
	return err
}

// updateWallet writes the fields of a wallet that its owner can change, and the version. It adds
// opened, the change of the opening balance, to the balance in the wallet's own currency. It
// violates wallet_balances_amount_range if that is out of range. Reconciliations whose balance
// contains another opening balance than before record that they differ: table wallets still has
// the former values, because all parts of the statement have one snapshot. The caller has called
// posting.ShareOwner, so no other write of the owner changes the balance, or reconciles the wallet,
// before the transaction ends.
func updateWallet(ctx context.Context, q pg.Querier, wallet wallet, opened int64) error {
	return pg.Exec(ctx, q, `
		WITH opened AS (
			UPDATE wallet_balances
			SET amount_minor = amount_minor + $3
			WHERE owner_id = $1 AND wallet_id = $2 AND currency = $4 AND $3::bigint <> 0
		), differing AS (
			UPDATE reconciliations r
			SET differs = true
			FROM wallets w
			WHERE w.owner_id = $1 AND w.id = $2
				AND r.owner_id = $1 AND r.wallet_id = $2 AND r.currency = $4 AND NOT r.differs
				AND CASE WHEN coalesce(w.opening_date <= r.date, true)
						THEN w.initial_minor ELSE 0 END
					<> CASE WHEN coalesce($7::date <= r.date, true) THEN $6::bigint ELSE 0 END
		)
		UPDATE wallets
		SET name = $5, initial_minor = $6, opening_date = $7,
			archived = $8, version = $9, updated_at = $10, color = $11, icon = $12, position = $13,
			kind = $14
		WHERE owner_id = $1 AND id = $2`,
		wallet.OwnerID, wallet.ID, opened, wallet.Currency, wallet.Name, wallet.InitialMinor,
		wallet.OpeningDate, wallet.Archived, wallet.Version, wallet.UpdatedAt, wallet.Color,
		wallet.Icon, wallet.Position, wallet.Kind)
}

// deleteWallet deletes a wallet, its balances and its totals, and removes it from the owner's
// settings. It violates transactions_wallet_fkey if a transaction or a rule uses the wallet.
// Otherwise the totals are zero. The balances are deleted by ON DELETE CASCADE. The caller holds
// the owner's lock.
func deleteWallet(ctx context.Context, q pg.Querier, owner, id uuid.UUID, at time.Time) error {
	return pg.Exec(ctx, q, `
		WITH emptied AS (DELETE FROM monthly_totals WHERE owner_id = $1 AND wallet_id = $2),
			transfers AS (DELETE FROM monthly_transfers WHERE owner_id = $1 AND wallet_id = $2),
			preferred AS (
				UPDATE settings
				SET default_wallet_id = NULL, version = version + 1, updated_at = $3
				WHERE owner_id = $1 AND default_wallet_id = $2
			)
		DELETE FROM wallets WHERE owner_id = $1 AND id = $2`, owner, id, at)
}

// walletBalance is the balance of a wallet in one currency.
type walletBalance struct {
	WalletID    uuid.UUID `db:"wallet_id"`
	Currency    string
	AmountMinor int64 `db:"amount_minor"`
}

func selectBalances(
	ctx context.Context, q pg.Querier, owner uuid.UUID, wallets []uuid.UUID,
) ([]walletBalance, error) {
	return pg.All[walletBalance](ctx, q, `
		SELECT wallet_id, currency, amount_minor
		FROM wallet_balances
		WHERE owner_id = $1 AND wallet_id = ANY($2)
		ORDER BY wallet_id, currency`, owner, wallets)
}
