package transactions

import (
	"context"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

var (
	errInvalidTransactionID   = apierr.New(restv1.Reason_INVALID_TRANSACTION_ID)
	errInvalidTransactionType = apierr.New(restv1.Reason_INVALID_TRANSACTION_TYPE)
	errTransactionDuplicate   = apierr.New(restv1.Reason_TRANSACTION_DUPLICATE)
	errSplitSumMismatch       = apierr.New(restv1.Reason_SPLIT_SUM_MISMATCH)
	errTransactionIsTransfer  = apierr.New(restv1.Reason_TRANSACTION_IS_TRANSFER)
	errTotalsOverflow         = apierr.Invalid("include",
		"must be absent: the totals of these transactions exceed the maximum")
)

// notFound returns the error for an id that the owner does not have.
func notFound(ctx context.Context, q pg.Querier, owner, id uuid.UUID) error {
	public, err := posting.NotFound(ctx, q, owner, id)
	if err != nil {
		return err
	}
	return public
}
