package imports

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// owned holds an owner's wallets and categories. The names are folded.
type owned struct {
	wallets       map[uuid.UUID]ownedWallet
	walletNames   map[string]uuid.UUID
	categories    map[uuid.UUID]bool
	categoryNames map[string]uuid.UUID
}

// ownedWallet is a wallet of an owner.
type ownedWallet struct {
	ID             uuid.UUID
	Name, Currency string
}

// selectOwned returns the owner's wallets and categories.
func selectOwned(ctx context.Context, q pg.Querier, owner uuid.UUID) (owned, error) {
	o := owned{
		wallets: map[uuid.UUID]ownedWallet{}, walletNames: map[string]uuid.UUID{},
		categories: map[uuid.UUID]bool{}, categoryNames: map[string]uuid.UUID{},
	}
	wallets, err := pg.All[ownedWallet](ctx, q, `SELECT id, name, currency FROM wallets WHERE owner_id = $1 ORDER BY id`, owner)
	if err != nil {
		return owned{}, fmt.Errorf("selecting the wallets of %s: %w", owner, err)
	}
	for _, w := range wallets {
		o.wallets[w.ID], o.walletNames[fold(w.Name)] = w, w.ID
	}
	type category struct {
		ID   uuid.UUID
		Name string
	}
	categories, err := pg.All[category](ctx, q, `SELECT id, name FROM categories WHERE owner_id = $1`, owner)
	if err != nil {
		return owned{}, fmt.Errorf("selecting the categories of %s: %w", owner, err)
	}
	for _, c := range categories {
		o.categories[c.ID], o.categoryNames[fold(c.Name)] = true, c.ID
	}
	return o, nil
}

// selectOtherAccounts returns the accounts at the other sides of the transfers that have an id in the file, by row.
func selectOtherAccounts(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (map[int32]string, error) {
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
		return nil, fmt.Errorf("selecting the transfers of import %s: %w", id, err)
	}
	accounts := map[int32]string{}
	for _, r := range rows {
		if r.Other != nil {
			accounts[r.N] = *r.Other
		}
	}
	return accounts, nil
}

// writePairs writes which rows are the two sides of a transfer. The rows alone lack their other side.
func writePairs(ctx context.Context, q pg.Querier, owner, id uuid.UUID, ns, others, alone []int32) error {
	if len(ns)+len(alone) == 0 {
		return nil
	}
	_, err := q.Exec(ctx, `
		WITH lonely AS (
			UPDATE import_rows
			SET status = 'invalid', problem = 'the file has no row for the other side of the transfer'
			WHERE owner_id = $1 AND import_id = $2 AND n = ANY($5) AND status = 'ready'
		)
		UPDATE import_rows r
		SET pair_n = p.other
		FROM unnest($3::integer[], $4::integer[]) AS p (n, other)
		WHERE r.owner_id = $1 AND r.import_id = $2 AND r.n = p.n`, owner, id, ns, others, alone)
	if err != nil {
		return fmt.Errorf("pairing the transfers of import %s: %w", id, err)
	}
	return nil
}

// selectAccountWallets returns the wallets that earlier imports assigned to accounts, by the HMAC of the account.
func selectAccountWallets(ctx context.Context, q pg.Querier, owner uuid.UUID, macs [][]byte) (map[string]uuid.UUID, error) {
	type assigned struct {
		MAC      []byte    `db:"account_mac"`
		WalletID uuid.UUID `db:"wallet_id"`
	}
	rows, err := pg.All[assigned](ctx, q, `
		SELECT account_mac, wallet_id FROM import_accounts WHERE owner_id = $1 AND account_mac = ANY($2)`, owner, macs)
	if err != nil {
		return nil, fmt.Errorf("selecting the wallets of accounts: %w", err)
	}
	wallets := map[string]uuid.UUID{}
	for _, r := range rows {
		wallets[string(r.MAC)] = r.WalletID
	}
	return wallets, nil
}

// saveAccountWallets stores the wallets of accounts for later imports.
func saveAccountWallets(ctx context.Context, q pg.Querier, owner uuid.UUID, macs [][]byte, wallets []uuid.UUID) error {
	_, err := q.Exec(ctx, `
		INSERT INTO import_accounts AS a (owner_id, account_mac, wallet_id)
		SELECT $1, v.mac, v.wallet_id
		FROM unnest($2::bytea[], $3::uuid[]) AS v (mac, wallet_id)
		ON CONFLICT (owner_id, account_mac) DO UPDATE
		SET wallet_id = EXCLUDED.wallet_id`, owner, macs, wallets)
	if err != nil {
		return fmt.Errorf("saving the wallets of accounts: %w", err)
	}
	return nil
}

// unready is a reason why an import cannot be committed, and the number of its rows.
type unready struct {
	Account string
	Wallet  bool
	Amount  bool
	Count   int32
}

// selectUnready returns the ready rows that lack a wallet, an amount or a category, counted by account.
func selectUnready(ctx context.Context, q pg.Querier, owner, id uuid.UUID, created []string) ([]unready, error) {
	rows, err := pg.All[unready](ctx, q, `
		SELECT account, lacks_wallet AS wallet, lacks_amount AS amount, count(*)::integer AS count
		FROM (
			SELECT account, wallet_id IS NULL AND account <> ALL($3) AS lacks_wallet, amount_minor IS NULL AS lacks_amount,
				category_id IS NULL AND transfer_wallet_id IS NULL AND category_from <> 'file' AND status = 'ready' AS lacks_category
			FROM import_rows
			WHERE owner_id = $1 AND import_id = $2 AND status IN ('ready', 'matched')
		) AS r
		WHERE lacks_wallet OR lacks_amount OR lacks_category
		GROUP BY account, lacks_wallet, lacks_amount
		ORDER BY account, lacks_wallet DESC, lacks_amount DESC
		LIMIT 20`, owner, id, list(created))
	if err != nil {
		return nil, fmt.Errorf("checking the rows of import %s: %w", id, err)
	}
	return rows, nil
}
