package transfers

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	errAmountMismatch       = apierr.New(restv1.Reason_TRANSFER_AMOUNT_MISMATCH)
	errSameWallet           = apierr.New(restv1.Reason_TRANSFER_SAME_WALLET)
	errLegsUnfit            = apierr.New(restv1.Reason_TRANSFER_LEGS_UNFIT)
	errInvalidTransferID    = apierr.New(restv1.Reason_INVALID_TRANSFER_ID)
	errTransferNotFound     = apierr.New(restv1.Reason_TRANSFER_NOT_FOUND)
	errInvalidTransactionID = apierr.New(restv1.Reason_INVALID_TRANSACTION_ID)
)
