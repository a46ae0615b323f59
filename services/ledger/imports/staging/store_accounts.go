package staging

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/seal"
)

// AccountKey is the key of the HMACs of account numbers. Only the HMACs are stored for later
// imports: with a plain hash, a copy of the database would suffice to try all account numbers of a
// bank.
type AccountKey seal.Key

// MAC returns the HMAC of an account number.
func (k AccountKey) MAC(account string) []byte {
	h := hmac.New(sha256.New, k[:])
	h.Write([]byte(account))
	return h.Sum(nil)
}

// SelectAccountWallets returns the wallets that earlier imports assigned to accounts, by the HMAC
// of the account.
func SelectAccountWallets(
	ctx context.Context, q pg.Querier, owner uuid.UUID, macs [][]byte,
) (map[string]uuid.UUID, error) {
	type assigned struct {
		MAC      []byte    `db:"account_mac"`
		WalletID uuid.UUID `db:"wallet_id"`
	}
	rows, err := pg.All[assigned](ctx, q, `
		SELECT account_mac, wallet_id FROM import_accounts
		WHERE owner_id = $1 AND account_mac = ANY($2)`,
		owner, macs)
	if err != nil {
		return nil, err
	}
	wallets := map[string]uuid.UUID{}
	for _, r := range rows {
		wallets[string(r.MAC)] = r.WalletID
	}
	return wallets, nil
}

// SelectAccountWallet returns the wallet that an earlier import assigned to an account, or an empty
// text.
func SelectAccountWallet(
	ctx context.Context, q pg.Querier, owner uuid.UUID, key AccountKey, account string,
) (string, error) {
	mac := key.MAC(account)
	wallets, err := SelectAccountWallets(ctx, q, owner, [][]byte{mac})
	if wallet, ok := wallets[string(mac)]; ok {
		return wallet.String(), nil
	}
	return "", err
}

// SaveAccountWallets stores the wallets of accounts for later imports.
func SaveAccountWallets(
	ctx context.Context, q pg.Querier, owner uuid.UUID, macs [][]byte, wallets []uuid.UUID,
) error {
	return pg.Exec(ctx, q, `
		INSERT INTO import_accounts AS a (owner_id, account_mac, wallet_id)
		SELECT $1, v.mac, v.wallet_id
		FROM unnest($2::bytea[], $3::uuid[]) AS v (mac, wallet_id)
		ON CONFLICT (owner_id, account_mac) DO UPDATE
		SET wallet_id = EXCLUDED.wallet_id`, owner, macs, wallets)
}
