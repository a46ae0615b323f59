package imports

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/resolving"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// assigned returns the wallets of accounts, by their keys: the one of the form, or those of earlier
// imports of the accounts.
func (s *Imports) assigned(
	ctx context.Context, tx pgx.Tx, imp *staging.Import, form form, found []statement.Account,
) (map[string]uuid.UUID, error) {
	macs := make([][]byte, len(found))
	for i, a := range found {
		macs[i] = s.key.MAC(a.Key)
	}
	known, err := staging.SelectAccountWallets(ctx, tx, imp.OwnerID, macs)
	if err != nil {
		return nil, err
	}
	assigned := map[string]uuid.UUID{}
	for i, a := range found {
		if wallet, ok := known[string(macs[i])]; ok {
			assigned[a.Key] = wallet
		}
		if form.wallet != nil {
			assigned[a.Key] = *form.wallet
		}
	}
	return assigned, nil
}

// assumeWallet assigns rows without an account to the wallet of the last file with the same
// heading, and adds a warning. Both disappear if no row lacks an account.
func (s *Imports) assumeWallet(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, details *ledgerv1.Import,
	owned resolving.Owned,
) error {
	account := staging.HeadingAccount(details)
	if account == "" {
		return nil
	}
	wallet, err := staging.SelectAccountWallet(ctx, tx, owner, s.key, account)
	if err != nil || wallet == "" {
		return err
	}
	details.Accounts = append(details.Accounts, &ledgerv1.ImportAccount{WalletId: wallet})
	staging.Assume(details, statement.Assumption{
		Code: statement.WalletAssumed,
		Evidence: statement.Shows("EARLIER_WALLET",
			"wallet", strconv.Quote(owned.WalletName(wallet))),
	})
	return nil
}

// chooseWallet withdraws the assumed wallet of rows without an account if a request chooses
// another one for them.
func chooseWallet(details *ledgerv1.Import, req *ledgerv1.UpdateImportRequest) {
	unnamed := func(a *ledgerv1.ImportAccount) bool { return a.GetKey() == "" }
	chosen := req.Defaults != nil && req.Defaults.WalletId != nil ||
		slices.ContainsFunc(req.GetAccounts(), unnamed)
	if !chosen || !slices.Contains(details.GetWarnings(), statement.WalletAssumed) {
		return
	}
	staging.Withdraw(details, statement.WalletAssumed)
	for _, a := range details.GetAccounts() {
		if unnamed(a) {
			a.WalletId = ""
		}
	}
}
