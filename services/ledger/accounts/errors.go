package accounts

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	errWalletInUse           = apierr.New(restv1.Reason_WALLET_IN_USE)
	errWalletLimitReached    = apierr.New(restv1.Reason_WALLET_LIMIT_REACHED)
	errCategoryLimitReached  = apierr.New(restv1.Reason_CATEGORY_LIMIT_REACHED)
	errCategoryInUse         = apierr.New(restv1.Reason_CATEGORY_IN_USE)
	errCategoryAlreadyExists = apierr.New(restv1.Reason_CATEGORY_ALREADY_EXISTS)
	// errBalanceOverflow has the maximum of the constraint wallet_balances_amount_range.
	errBalanceOverflow = apierr.Invalid("initialBalance", "must be smaller: "+
		"a wallet holds at most 100000000000000000 minor units per currency")
	errClearedOverflow = apierr.Invalid("include",
		"must be absent: the sums of the wallet's transactions exceed the maximum")
	// errCategoryOverflow has the maximum of the constraint monthly_totals_amount_range, 10^17
	// minor units. Only a merge can exceed it for two categories that are each within the maximum.
	errCategoryOverflow = apierr.Invalid("reassignTo", "must be a category with smaller totals: "+
		"a month has at most 100000000000000000 minor units per wallet and currency")
)
