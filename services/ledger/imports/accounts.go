package imports

import (
	"github.com/google/uuid"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
)

// maxNames is the maximum number of different accounts, and of different categories, in a file.
const maxNames = 1000

// account returns the account with a key. An account that is seen for the first time gets the wallet of its name. The commit creates
// wallets for the accounts of other finance applications, which name all of them.
func (c *resolver) account(key string) *ledgerv1.ImportAccount {
	if a, ok := c.accounts[key]; ok {
		return a
	}
	if len(c.accounts) >= maxNames {
		key = ""
	}
	a, ok := c.accounts[key]
	if !ok {
		a = &ledgerv1.ImportAccount{Key: key, Name: key, Last4: formats.Last4(key)}
		c.accounts[key] = a
		c.adopt(a)
	}
	return a
}

// adopt assigns the wallet of the same name to an account, or marks the account as one whose wallet the commit creates. Coffer's own
// export may have several accounts with the same name. The first one has it as its key.
func (c *resolver) adopt(a *ledgerv1.ImportAccount) {
	name := a.GetName()
	if c.details.GetFormat() == formats.Coffer {
		name = a.GetKey()
	}
	if id, ok := c.owned.walletNames[fold(name)]; ok {
		a.WalletId = id.String()
		return
	}
	a.Create = c.fromApplication() && a.GetName() != ""
}

// fromApplication reports whether the file is the export of a finance application, which names all accounts and categories.
func (c *resolver) fromApplication() bool {
	switch c.details.GetFormat() {
	case formats.Firefly, formats.YNAB, formats.Coffer:
		return true
	}
	return false
}

// walletOf returns the wallet of an account, or nil.
func (c *resolver) walletOf(a *ledgerv1.ImportAccount) *uuid.UUID {
	if id := parseID(a.GetWalletId()); id != nil {
		return id
	}
	if a.GetCreate() {
		return nil
	}
	return parseID(c.details.GetDefaults().GetWalletId())
}
