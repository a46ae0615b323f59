// Package accounts serves wallets and categories, the two accounts between which each transaction
// moves an amount.
//
// A wallet has an opening balance, and a balance per currency that package posting updates. Past
// balances contain the opening balance from its day on, or always if it has none: the wallets of
// the releases before migration 0037 have none. A category has a name that is unique per user.
// Neither can be deleted while a transaction uses it. A category can be merged into another one
// instead.
//
// Budgets belong to another service, but they prevent the deletion of their categories too. So this
// package also stores which budget uses which category: CheckReferences reserves categories before
// a budget is written, and SyncReferences records the categories of the written budget
// (budget_references.go). A foreign key then decides, not a call to the other service.
//
// Accounts implements these RPCs of LedgerService. Call ExpireReferences regularly. The files:
//
//   - wallets.go, wallet_changes.go, wallet_place.go, store_wallets.go: wallets, their changes, and
//     the order of their list. cleared.go: their balances compared with the bank. balances.go:
//     their balances for goals of the budget service
//   - categories.go, store_categories.go: categories and their merges. appearance.go: names,
//     colors, icons, kinds and positions
//   - budget_references.go, store_budget_references.go: the categories that budgets use
//   - changes.go, store_changes.go, export.go: wallets and categories for the packages sync and
//     export
package accounts

import (
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/reads"
)

// Accounts implements the RPCs of wallets, categories and the references of budgets.
type Accounts struct {
	// Ledger provides the database, the clock, the ids and the outbox for events.
	*posting.Ledger
	// Cursors seals the positions of lists, so that a cursor is valid only for the list and the
	// user that got it.
	Cursors page.Cursors
	// Gates limits the simultaneous comparisons with banks of a user, together with the other
	// expensive reads.
	Gates *reads.Gates
}
