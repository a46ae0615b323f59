package webhook

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Public errors of webhooks and deliveries. Their codes, messages and meanings are in
// proto/coffer/rest/v1/reason.proto.
var (
	errInvalidWebhookID    = apierr.New(restv1.Reason_INVALID_WEBHOOK_ID)
	errInvalidWebhookURL   = apierr.New(restv1.Reason_INVALID_WEBHOOK_URL)
	errWebhookNotFound     = apierr.New(restv1.Reason_WEBHOOK_NOT_FOUND)
	errWebhookLimitReached = apierr.New(restv1.Reason_WEBHOOK_LIMIT_REACHED)
	errInvalidDeliveryID   = apierr.New(restv1.Reason_INVALID_WEBHOOK_DELIVERY_ID)
	errAccountEvents       = apierr.New(restv1.Reason_INSUFFICIENT_SCOPE).
				With("events", "must be a list without events of auth, such as ledger.v1.*.*")
	errDeliveryNotFound = apierr.New(restv1.Reason_WEBHOOK_DELIVERY_NOT_FOUND)
)
