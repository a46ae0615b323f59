package posting

import (
	"fmt"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	errCurrencyLimitReached = apierr.New(restv1.Reason_WALLET_CURRENCY_LIMIT_REACHED)
	errTagLimitReached      = apierr.New(restv1.Reason_LIMIT_REACHED).With("tags",
		fmt.Sprintf("must not exceed %d different tags in all", maxTags))
	errWalletOverflow = apierr.Invalid("amount", "must be smaller: "+
		"a wallet holds at most 100000000000000000 minor units per currency and month")
)
