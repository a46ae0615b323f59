// Package resolving derives what the staged rows of an import become: the wallet, the amount, the
// category, the other side of a transfer and the changes of rules. It runs after the upload, after
// each change of the user, and when a commit has created wallets or categories. A row keeps the
// contents of the file and the user's choices in other columns, so each run derives the rest again.
// Nothing else writes these columns.
//
//   - resolve.go: what a row becomes. derivation.go: Derivation derives all rows of an import in
//     steps, and All in one database transaction. rows.go: Rows derives a few rows after a change
//   - accounts.go, categorize.go and transfers.go: the wallet, the category and the other side of a
//     transfer. pairs.go: which rows are the two sides of one transfer. settle.go: rows that the
//     bank has not booked
//   - rules.go: what the rules and the earlier transactions of the owner suggest
package resolving

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/rules/learning"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

// resolver derives what the rows of an import become. It collects the accounts and categories that
// they name.
type resolver struct {
	details *ledgerv1.Import
	// reader converts the cells of a row. It is nil if the cells are not read again.
	reader *formats.Reader
	// uploaded is the time of the upload. It is zero if the cells are not read again.
	uploaded time.Time
	// incomplete is the problem of a proposed mapping that lacks a column, or nil. It becomes the
	// problem of each row.
	incomplete *apierr.Field
	// check compares the balances of rows that are read again with their amounts.
	check mapping.Check
	ids   statement.IDs
	owned Owned
	// rules are the rules of the owner.
	rules *matching.Set
	// memory suggests categories from the owner's history. The first row that needs it loads it,
	// because the history is expensive to read. failed is the error of that or of the rules.
	memory     *learning.Memory
	loadMemory func() (*learning.Memory, error)
	failed     error
	// remembered holds the wallets that earlier imports assigned to the new accounts of a step.
	remembered map[string]uuid.UUID
	// kept holds the earlier suggestions that still apply, by row. The nil UUID is none.
	kept map[int32]uuid.UUID

	// accounts and categories hold the accounts by key and the categories by their names in the
	// file, with the numbers of their rows.
	accounts   map[string]*ledgerv1.ImportAccount
	categories map[string]*ledgerv1.ImportCategory
	// otherAccounts holds the accounts at the other sides of transfers, by row: of transfers with
	// an id, and of pairs of rows that name each other's account as their category or payee.
	otherAccounts map[int32]string
	// others holds the keys of the accounts at the other sides of transfers. Such an account may
	// have no rows itself.
	others map[string]bool
	// outcomes holds the outcomes of the rows by their numbers.
	outcomes []outcome
	// sides is set if rows are transfers whose other side may be a row, too.
	sides bool
	// ordinary holds the rows that the file calls transfers, and that are booked as ordinary
	// transactions.
	ordinary map[int32]bool
}

// newResolver returns a resolver that counts the accounts and categories of details again.
func newResolver(details *ledgerv1.Import, o Owned) *resolver {
	resolver := &resolver{
		details: details, owned: o, accounts: map[string]*ledgerv1.ImportAccount{},
		categories: map[string]*ledgerv1.ImportCategory{}, others: map[string]bool{},
		ordinary: map[int32]bool{},
	}
	for _, a := range details.GetAccounts() {
		a.Count = 0
		resolver.accounts[a.GetKey()] = a
	}
	for _, n := range details.GetCategories() {
		n.Count = 0
		resolver.categories[n.GetName()] = n
	}
	return resolver
}

// compare replaces the warning about balances that the amounts contradict.
func (c *resolver) compare() {
	if c.reader == nil {
		return
	}
	staging.Withdraw(c.details, statement.BalanceMismatch)
	mayOwe := staging.ToMapping(c.details.GetMapping()).MayOwe()
	if a, ok := c.check.Mismatch(mayOwe); ok {
		staging.Assume(c.details, a)
	}
}

// loadResolver returns a resolver with the owner's rules, which loads the history when a row needs
// it.
func loadResolver(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, details *ledgerv1.Import, o Owned,
) (*resolver, error) {
	c := newResolver(details, o)
	c.loadMemory = func() (*learning.Memory, error) { return rules.Remember(ctx, tx, owner) }
	var err error
	c.rules, err = rules.Load(ctx, tx, owner, rules.OnImport)
	return c, err
}

// store replaces the accounts and categories of the details with those that rows name, in the order
// of their names. Those of Coffer's own export stay without a row.
func (c *resolver) store() {
	for key, a := range c.accounts {
		if a.GetCount() == 0 && a.ClosingBalance == nil && !c.others[key] {
			delete(c.accounts, key)
		}
	}
	if _, ok := c.accounts[""]; !ok {
		staging.Withdraw(c.details, statement.WalletAssumed)
	}
	for name, n := range c.categories {
		if n.GetCount() == 0 && c.details.GetFormat() != statement.Coffer {
			delete(c.categories, name)
		}
	}
	c.name()
}

// name replaces the accounts and categories of the details with all that are known.
func (c *resolver) name() {
	c.details.Accounts = slices.SortedFunc(maps.Values(c.accounts),
		func(a, b *ledgerv1.ImportAccount) int { return strings.Compare(a.GetKey(), b.GetKey()) })
	c.details.Categories = slices.SortedFunc(maps.Values(c.categories),
		func(a, b *ledgerv1.ImportCategory) int {
			return strings.Compare(a.GetName(), b.GetName())
		})
}

// read reads the cells of a row again.
func (c *resolver) read(r *staging.Row) {
	if c.reader == nil {
		return
	}
	record := c.reader.Record(statement.Record{N: int(r.N), Line: int(r.Line), Cells: r.Cells})
	c.check.Add(&record)
	c.ids.Assign(&record)
	r.Set(record, c.uploaded)
}

// resolve derives what a row becomes.
func (c *resolver) resolve(ctx context.Context, row *staging.Row) {
	if c.incomplete != nil {
		row.FileProblem = c.incomplete.Name + " " + c.incomplete.Message
	}
	if row.Status == staging.Hidden {
		return
	}
	if row.TransactionID != nil {
		// A commit that failed later has booked or linked the row.
		c.count(row)
		return
	}
	row.Ruled = nil
	row.Problem = ""
	row.CategoryID = nil
	row.CategoryFrom = ""
	row.WalletID = nil
	row.TransferWalletID = nil
	row.PairN = nil
	row.AmountMinor = nil
	if row.Action != staging.ActionMatch {
		row.DuplicateOf, row.Replaced = nil, nil
	}
	account := c.account(row.Account)
	account.Count++
	row.WalletID = c.walletOf(account)
	row.Status, row.Problem = c.amountOf(row, account)
	if row.Status != staging.Ready {
		settle(row)
		return
	}
	c.classify(ctx, row)
	switch row.Action {
	case staging.ActionSkip:
		row.Status = staging.Skipped
	case staging.ActionMatch:
		row.Status = staging.Matched
	case "":
		if row.Status == staging.Ready {
			settle(row)
		}
	}
}

// classify sets the other wallet of a transfer, or otherwise the category. An adjustment has
// neither, and no rule changes it.
func (c *resolver) classify(ctx context.Context, row *staging.Row) {
	if row.Adjusts() {
		row.CategoryFrom = staging.FromFile
		return
	}
	c.transferOf(row)
	var category, by uuid.UUID
	if row.TransferWalletID == nil {
		category, by = c.rule(ctx, row)
	}
	if row.TransferWalletID == nil {
		c.categorize(row, category, by)
	}
}

// amountOf sets the amount in minor units and its currency. It returns the row's status and
// problem.
func (c *resolver) amountOf(
	row *staging.Row, account *ledgerv1.ImportAccount,
) (status, problem string) {
	switch {
	case row.FileProblem != "":
		return staging.Invalid, row.FileProblem
	case row.Date == nil:
		return staging.Invalid, "the row has no date"
	case row.Date.Year() < 1900 || row.Date.Year() > 2200:
		return staging.Invalid, "the date is not of the years 1900 to 2200"
	case row.Opening:
		if c.details.GetMapping() != nil {
			// Only the mapping says how to read the amount.
			account.OpeningBalance, account.OpeningDate = &row.Amount, staging.Day(row.Date)
		}
		return staging.Skipped, "this is the opening balance"
	}
	code := cmp.Or(row.Currency, c.details.GetMapping().GetCurrency(),
		c.details.GetDefaults().GetCurrency(), account.GetCurrency())
	if code == "" && row.WalletID != nil {
		code = c.owned.wallets[*row.WalletID].Currency
	}
	row.BookedCurrency = code
	if code == "" {
		// The wallet decides the currency. The commit requires it.
		return staging.Ready, ""
	}
	record := statement.Record{Amount: row.Amount, Currency: code}
	minor, currency, err := record.Minor(money.Currency{})
	if err != nil {
		return staging.Invalid, err.Error()
	}
	row.BookedCurrency = currency.Code()
	row.AmountMinor = &minor
	if minor == 0 {
		return staging.Skipped, "the amount is 0"
	}
	return staging.Ready, ""
}

func negative(amount string) bool { return strings.HasPrefix(amount, "-") }
