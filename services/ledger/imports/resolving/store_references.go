package resolving

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// Owned holds all wallets and categories of an owner, so that thousands of rows need no further
// query. The number of both is limited.
type Owned struct {
	wallets    map[uuid.UUID]ownedWallet
	categories map[uuid.UUID]bool
	// walletNames and categoryNames hold the ids by folded names. Of several wallets with one name,
	// the newest one counts.
	walletNames   map[string]uuid.UUID
	categoryNames map[string]uuid.UUID
}

// HasWallet reports whether a wallet is the owner's.
func (o Owned) HasWallet(id uuid.UUID) bool {
	_, ok := o.wallets[id]
	return ok
}

// WalletName returns the name of a wallet of the owner.
func (o Owned) WalletName(id string) string {
	if w := staging.ParseID(id); w != nil {
		return o.wallets[*w].Name
	}
	return ""
}

// HasCategory reports whether a category is the owner's.
func (o Owned) HasCategory(id uuid.UUID) bool { return o.categories[id] }

type ownedWallet struct {
	ID             uuid.UUID
	Name, Currency string
}

// SelectOwned returns the owner's wallets and categories.
func SelectOwned(ctx context.Context, q pg.Querier, owner uuid.UUID) (Owned, error) {
	owned := Owned{
		wallets: map[uuid.UUID]ownedWallet{}, walletNames: map[string]uuid.UUID{},
		categories: map[uuid.UUID]bool{}, categoryNames: map[string]uuid.UUID{},
	}
	wallets, err := pg.All[ownedWallet](ctx, q,
		`SELECT id, name, currency FROM wallets WHERE owner_id = $1 ORDER BY id`, owner)
	if err != nil {
		return Owned{}, err
	}
	for _, w := range wallets {
		owned.wallets[w.ID], owned.walletNames[fold(w.Name)] = w, w.ID
	}
	type category struct {
		ID   uuid.UUID
		Name string
	}
	categories, err := pg.All[category](ctx, q,
		`SELECT id, name FROM categories WHERE owner_id = $1`, owner)
	if err != nil {
		return Owned{}, err
	}
	for _, c := range categories {
		owned.categories[c.ID], owned.categoryNames[fold(c.Name)] = true, c.ID
	}
	return owned, nil
}

// selectUploaded returns the time of the upload of an import.
func selectUploaded(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID,
) (time.Time, error) {
	return pg.Value[time.Time](ctx, q,
		`SELECT created_at FROM imports WHERE owner_id = $1 AND id = $2`, owner, id)
}

// selectOtherAccounts returns the accounts at the other sides of the transfers that have an id in
// the file, by row. The two rows with one id are neighbors in the window, so lead finds the other
// side of the first row, and lag finds the other side of the second.
func selectOtherAccounts(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID,
) (map[int32]string, error) {
	type side struct {
		N     int32
		Other *string
	}
	rows, err := pg.All[side](ctx, q, `
		SELECT n, coalesce(lead(account) OVER w, lag(account) OVER w) AS other
		FROM import_rows
		WHERE owner_id = $1 AND import_id = $2 AND transfer ->> 'ID' <> ''
		WINDOW w AS (PARTITION BY transfer ->> 'ID' ORDER BY n)`, owner, id)
	if err != nil {
		return nil, err
	}
	accounts := map[int32]string{}
	for _, r := range rows {
		if r.Other != nil {
			accounts[r.N] = *r.Other
		}
	}
	return accounts, nil
}

// selectSides returns the rows of an import that may be one side of a transfer, in the order of the
// file. These are the transfers of formats that write a row for each side, and the rows whose
// category or payee is the name of another account of the file. A row with both names is two sides.
// Rows that cannot be booked are no sides, and neither are void ones: the side of a failed attempt
// would take the other side of its repetition. Settled is what the user or a commit has decided;
// the resolver adds what the derivation of the row has decided (see trace).
func selectSides(ctx context.Context, q pg.Querier, owner, id uuid.UUID) ([]side, error) {
	return pg.All[side](ctx, q, `
		WITH named AS (
			SELECT DISTINCT account
			FROM import_rows
			WHERE owner_id = $1 AND import_id = $2 AND account <> '' AND status <> 'hidden'
		)
		SELECT n, account, s.other, s.origin, coalesce(transfer ->> 'ID', '') AS transfer_id,
			date, amount, booked_currency AS currency, chosen_wallet_id,
			action = 'match' OR transaction_id IS NOT NULL
				OR chosen_category_id IS NOT NULL AND chosen_wallet_id IS NULL AS settled,
			file_status = 'pending' AS pending
		FROM import_rows r
		CROSS JOIN LATERAL (
			SELECT transfer ->> 'Account' AS other, '' AS origin
			WHERE (transfer ->> 'Paired')::boolean AND transfer ->> 'Account' <> account
			UNION ALL
			SELECT category, 'category'
			WHERE transfer ->> 'Account' IS NULL
				AND category <> account AND category IN (SELECT account FROM named)
			UNION ALL
			SELECT payee, 'payee'
			WHERE transfer ->> 'Account' IS NULL AND payee <> category
				AND payee <> account AND payee IN (SELECT account FROM named)
		) AS s
		WHERE owner_id = $1 AND import_id = $2 AND status NOT IN ('hidden', 'invalid')
			AND file_status <> 'void' AND NOT opening AND date IS NOT NULL
			AND amount_minor IS DISTINCT FROM 0
		ORDER BY n`, owner, id)
}

// writePairs stores the rows at the other sides of transfers. The pairs are in the order of rows.
func writePairs(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, pairs []pairing,
) error {
	if len(pairs) == 0 {
		return nil
	}
	ns, others := make([]int32, len(pairs)), make([]int32, len(pairs))
	for i, p := range pairs {
		ns[i], others[i] = p.n, p.other
	}
	return pg.Exec(ctx, q, `
		UPDATE import_rows r
		SET pair_n = p.other
		FROM unnest($3::integer[], $4::integer[]) AS p (n, other)
		WHERE r.owner_id = $1 AND r.import_id = $2 AND r.n = p.n AND r.n BETWEEN $5 AND $6`,
		owner, id, ns, others, ns[0], ns[len(ns)-1])
}
