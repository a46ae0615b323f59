package reconciliations

import (
	"fmt"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	errBalanceDiffers          = apierr.New(restv1.Reason_BALANCE_DIFFERS)
	errInvalidReconciliationID = apierr.NewInvalid(restv1.Reason_RECONCILIATION_NOT_FOUND)
	errReconciliationNotFound  = apierr.New(restv1.Reason_RECONCILIATION_NOT_FOUND)
	errReconciliationNotLatest = apierr.New(restv1.Reason_RECONCILIATION_NOT_LATEST)
	errTooFar                  = apierr.Invalid("balance",
		"must differ from that of the wallet by at most 999999999999.99")
	errLimitReached = apierr.New(restv1.Reason_LIMIT_REACHED).With("walletId",
		fmt.Sprintf("must have at most %d reconciliations", maxReconciliations))
	errTooManyToLock = apierr.New(restv1.Reason_LIMIT_REACHED).With("date",
		fmt.Sprintf("must be earlier: a reconciliation locks at most %d transactions", maxLocked))
	errClearedOverflow = apierr.Invalid("date",
		"must be earlier: the cleared transactions exceed the maximum")
)
