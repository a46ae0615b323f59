package budget

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Public errors of budgets. Their codes, messages and meanings are in
// proto/coffer/rest/v1/reason.proto. Errors of single fields name the field.
var (
	errBudgetNotFound      = apierr.New(restv1.Reason_BUDGET_NOT_FOUND)
	errBudgetAlreadyExists = apierr.New(restv1.Reason_BUDGET_ALREADY_EXISTS)
	errBudgetLimitReached  = apierr.New(restv1.Reason_BUDGET_LIMIT_REACHED)

	errInvalidPeriod       = apierr.New(restv1.Reason_INVALID_BUDGET_PERIOD)
	errInvalidTimeframe    = apierr.New(restv1.Reason_INVALID_BUDGET_TIMEFRAME)
	errUnsupportedCurrency = apierr.New(restv1.Reason_UNSUPPORTED_CURRENCY)
	// The ledger returns the same reasons with NOT_FOUND for ids that are well-formed, but unknown
	// or another user's.
	errInvalidWalletID    = apierr.NewInvalid(restv1.Reason_WALLET_NOT_FOUND)
	errInvalidCategoryIDs = apierr.NewInvalid(restv1.Reason_INVALID_CATEGORY_EXIST_PARAMS)
)
