package posting

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Errors for the id of a transaction, see NotFound.
var (
	ErrTransactionNotFound      = apierr.New(restv1.Reason_TRANSACTION_NOT_FOUND)
	ErrTransactionOwnerMismatch = apierr.New(restv1.Reason_TRANSACTION_OWNER_MISMATCH)
)

var (
	errCurrencyLimitReached = apierr.New(restv1.Reason_WALLET_CURRENCY_LIMIT_REACHED)
	errTagLimitReached      = apierr.New(restv1.Reason_LIMIT_REACHED).With("tags",
		fmt.Sprintf("must not exceed %d different tags in all", maxTags))
	errWalletOverflow = apierr.Invalid("amount", "must be smaller: "+
		"a wallet holds at most 100000000000000000 minor units per currency and month")
)

// NotFound returns the public error of each of ids, which the owner does not have. The contract
// requires 403 for another user's transaction and 404 for an unknown id (ADR 14). Wallets,
// categories, receipts and transfers return 404 in both cases. Without ids it runs no query.
func NotFound(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ids ...uuid.UUID,
) (map[uuid.UUID]*apierr.Error, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	others, err := selectOfOthers(ctx, q, owner, ids)
	if err != nil {
		return nil, err
	}
	missing := make(map[uuid.UUID]*apierr.Error, len(ids))
	for _, id := range ids {
		missing[id] = ErrTransactionNotFound
	}
	for _, id := range others {
		missing[id] = ErrTransactionOwnerMismatch
	}
	return missing, nil
}
