package resolving

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// maxNames is the maximum number of different accounts, and of different categories, in a file. A
// wrongly assigned column could otherwise make an account of each row.
const maxNames = 1000

// account returns the account with a key. A new account gets the wallet that an earlier import
// assigned to it, or otherwise the wallet of its name. Without one, the commit creates a wallet if
// the file is from a finance application, because such a file names all accounts.
func (c *resolver) account(key string) *ledgerv1.ImportAccount {
	if a, ok := c.accounts[key]; ok {
		return a
	}
	if len(c.accounts) >= maxNames {
		key = ""
	}
	a, ok := c.accounts[key]
	if !ok {
		a = &ledgerv1.ImportAccount{Key: key, Name: key, Last4: statement.Last4(key)}
		c.accounts[key] = a
		if a.WalletId = c.recall(key); a.WalletId == "" {
			c.adopt(a)
		}
	}
	return a
}

// recall returns the wallet that an earlier import assigned to an account, or an empty text. It
// returns none if the user has chosen a wallet for the file, because that is the later choice.
func (c *resolver) recall(key string) string {
	wallet, ok := c.remembered[key]
	if !ok || c.details.GetDefaults().GetWalletId() != "" {
		return ""
	}
	return wallet.String()
}

// remember selects the wallets that earlier imports assigned to the accounts that rows name first,
// in one statement.
func (d *Derivation) remember(ctx context.Context, tx pgx.Tx, rows []staging.Row) error {
	macs := map[string][]byte{}
	for _, r := range rows {
		keys := []string{r.Account, d.c.otherAccounts[r.N]}
		if r.Transfer != nil {
			keys = append(keys, r.Transfer.Account)
		}
		for _, key := range keys {
			if d.c.accounts[key] == nil && key != "" && macs[key] == nil {
				macs[key] = d.key.MAC(key)
			}
		}
	}
	d.c.remembered = map[string]uuid.UUID{}
	if len(macs) == 0 || len(d.c.accounts) >= maxNames {
		return nil
	}
	wallets, err := staging.SelectAccountWallets(ctx, tx, d.owner,
		slices.Collect(maps.Values(macs)))
	for key, mac := range macs {
		if wallet, ok := wallets[string(mac)]; ok {
			d.c.remembered[key] = wallet
		}
	}
	return err
}

// adopt assigns the wallet of the same name to an account, or marks the account as one whose wallet
// the commit creates. Coffer's own export may have several accounts with the same name. The first
// one has it as its key.
func (c *resolver) adopt(a *ledgerv1.ImportAccount) {
	name := a.GetName()
	if c.details.GetFormat() == statement.Coffer {
		name = a.GetKey()
	}
	if id, ok := c.owned.walletNames[fold(name)]; ok {
		a.WalletId = id.String()
		return
	}
	a.Create = c.fromApplication() && a.GetName() != ""
}

// fromApplication reports whether the file is the export of a finance application, which names all
// accounts and categories.
func (c *resolver) fromApplication() bool {
	switch c.details.GetFormat() {
	case statement.Firefly, statement.YNAB, statement.Coffer:
		return true
	}
	return false
}

func (c *resolver) walletOf(a *ledgerv1.ImportAccount) *uuid.UUID {
	if id := staging.ParseID(a.GetWalletId()); id != nil {
		return id
	}
	if a.GetCreate() {
		return nil
	}
	return staging.ParseID(c.details.GetDefaults().GetWalletId())
}

const maxPosition = 1_000_000

// Accounts returns the accounts of a file with their wallets. assigned holds the wallets that the
// user or an earlier import has chosen, by the key of the account. The other accounts get the
// wallets of the same name.
func Accounts(
	format string, o Owned, found []statement.Account, assigned map[string]uuid.UUID,
) []*ledgerv1.ImportAccount {
	c := newResolver(&ledgerv1.Import{Format: format}, o)
	var all []*ledgerv1.ImportAccount
	for _, a := range found {
		account := &ledgerv1.ImportAccount{
			Key: a.Key, Name: a.Name, Last4: a.Last4, Currency: a.Currency,
		}
		if account.Name == "" {
			account.Name = a.Key
		}
		account.Color, account.Icon, _ = accounts.Appearance(a.Color, a.Icon, "")
		account.Archived = a.Archived
		if a.Position != nil && *a.Position >= 0 && *a.Position <= maxPosition {
			account.Position = a.Position
		}
		account.OpeningBalance, account.ClosingBalance = balance(a.Opening), balance(a.Closing)
		if !a.OpeningDate.IsZero() && a.OpeningDate.Year() >= calendar.MinYear &&
			a.OpeningDate.Year() <= calendar.MaxYear {
			account.OpeningDate = staging.Day(&a.OpeningDate)
		}
		if !a.ClosingDate.IsZero() {
			account.ClosingDate = staging.Day(&a.ClosingDate)
		}
		if wallet, ok := assigned[a.Key]; ok {
			account.WalletId = wallet.String()
		} else {
			c.adopt(account)
		}
		all = append(all, account)
	}
	return all
}

// balance returns a balance in a file, or nil if it states none.
func balance(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// count counts the account and the categories that a finished row names.
func (c *resolver) count(r *staging.Row) {
	c.account(r.Account).Count++
	if r.Category != "" {
		c.category(r.Category).Count++
	}
	for _, s := range r.Splits {
		if s.Category != "" {
			c.category(s.Category).Count++
		}
	}
}
