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
	errLimitReached            = apierr.New(restv1.Reason_LIMIT_REACHED).With("walletId",
		fmt.Sprintf("must have at most %d reconciliations", maxReconciliations))
)
