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
func (c *resolver) adopt(account *ledgerv1.ImportAccount) {
	name := account.GetName()
	if c.details.GetFormat() == statement.Coffer {
		name = account.GetKey()
	}
	if id, ok := c.owned.walletNames[fold(name)]; ok {
		account.WalletId = id.String()
		return
	}
	account.Create = c.fromApplication() && account.GetName() != ""
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
	resolver := newResolver(&ledgerv1.Import{Format: format}, o)
	var all []*ledgerv1.ImportAccount
	for _, stated := range found {
		account := &ledgerv1.ImportAccount{
			Key: stated.Key, Name: stated.Name, Last4: stated.Last4, Currency: stated.Currency,
		}
		if account.Name == "" {
			account.Name = stated.Key
		}
		account.Color, account.Icon, _ = accounts.Appearance(stated.Color, stated.Icon, "")
		account.Archived = stated.Archived
		if stated.Kind != "" {
			account.Kind = accounts.WalletKind(stated.Kind)
		}
		if stated.Position != nil && *stated.Position >= 0 && *stated.Position <= maxPosition {
			account.Position = stated.Position
		}
		account.OpeningBalance = balance(stated.Opening)
		account.ClosingBalance = balance(stated.Closing)
		if !stated.OpeningDate.IsZero() && stated.OpeningDate.Year() >= calendar.MinYear &&
			stated.OpeningDate.Year() <= calendar.MaxYear {
			account.OpeningDate = staging.Day(&stated.OpeningDate)
		}
		if !stated.ClosingDate.IsZero() {
			account.ClosingDate = staging.Day(&stated.ClosingDate)
		}
		if wallet, ok := assigned[stated.Key]; ok {
			account.WalletId = wallet.String()
		} else {
			resolver.adopt(account)
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
func (c *resolver) count(row *staging.Row) {
	c.account(row.Account).Count++
	if row.Category != "" {
		c.category(row.Category).Count++
	}
	for _, s := range row.Splits {
		if s.Category != "" {
			c.category(s.Category).Count++
		}
	}
}
