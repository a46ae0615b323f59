package transactions

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	errTransactionIsAdjustment = apierr.New(restv1.Reason_TRANSACTION_IS_ADJUSTMENT)
	errInvalidTransactionID    = apierr.New(restv1.Reason_INVALID_TRANSACTION_ID)
	errInvalidTransactionType  = apierr.New(restv1.Reason_INVALID_TRANSACTION_TYPE)
	errTransactionDuplicate    = apierr.New(restv1.Reason_TRANSACTION_DUPLICATE)
	errSplitSumMismatch        = apierr.New(restv1.Reason_SPLIT_SUM_MISMATCH)
	errTransactionIsTransfer   = apierr.New(restv1.Reason_TRANSACTION_IS_TRANSFER)
	errTotalsOverflow          = apierr.Invalid("include",
		"must be absent: the totals of these transactions exceed the maximum")
)
