package budget

import (
	"time"

	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
)

var (
	errInvalidBudgetID         = apierr.New(codes.InvalidArgument, "INVALID_BUDGET_ID", "Invalid budget id: must be a UUID")
	errBudgetNotFound          = apierr.New(codes.NotFound, "BUDGET_NOT_FOUND", "Budget not found")
	errBudgetAlreadyExists     = apierr.New(codes.AlreadyExists, "BUDGET_ALREADY_EXISTS", "Budget already exists")
	errInsufficientPermissions = apierr.New(codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS", "You do not have permission to perform this action")

	errInvalidPeriod       = apierr.New(codes.InvalidArgument, "INVALID_BUDGET_PERIOD", "Invalid budget period")
	errInvalidTimeframe    = apierr.New(codes.InvalidArgument, "INVALID_BUDGET_TIMEFRAME", "Invalid budget timeframe")
	errUnsupportedCurrency = apierr.New(codes.InvalidArgument, "UNSUPPORTED_CURRENCY", "Unsupported currency")
	// The ledger answers with the same reasons, as not found, for ids that are well-formed but not the owner's.
	errInvalidWalletID    = apierr.New(codes.InvalidArgument, "WALLET_NOT_FOUND", "Wallet not found")
	errInvalidCategoryIDs = apierr.New(codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS", "Invalid or unknown category")

	errInvalidMemberID       = apierr.New(codes.InvalidArgument, "INVALID_BUDGET_MEMBER_ID", "Invalid budget member id")
	errMemberNotFound        = apierr.New(codes.NotFound, "BUDGET_MEMBER_NOT_FOUND", "Budget member not found")
	errMemberAlreadyExists   = apierr.New(codes.AlreadyExists, "BUDGET_MEMBER_ALREADY_EXISTS", "The user is already a member of this budget")
	errCannotInviteSelf      = apierr.New(codes.InvalidArgument, "CANNOT_INVITE_SELF", "You cannot invite yourself").With("email", "is your own")
	errShareExceeded         = apierr.New(codes.InvalidArgument, "BUDGET_SHARE_EXCEEDED", "The shares of a budget cannot exceed 100 percent").With("sharePercent", "total share would exceed 100 percent")
	errTooManyInvitations    = apierr.New(codes.ResourceExhausted, "RATE_LIMITED", "Too many invitations, try again tomorrow").After(invitationWindow)
	errInvalidInviteResponse = apierr.New(codes.InvalidArgument, "INVALID_INVITE_RESPONSE", "The response must be accepted or rejected").With("status", "must be accepted or rejected")

	errInvalidNotificationID = apierr.New(codes.InvalidArgument, "INVALID_NOTIFICATION_ID", "Invalid notification id: must be a UUID")
	errNotificationNotFound  = apierr.New(codes.NotFound, "NOTIFICATION_NOT_FOUND", "Notification not found")
	errTooManyStreams        = apierr.New(codes.ResourceExhausted, "RATE_LIMITED", "Too many event streams are open: at most 10 are allowed").After(time.Minute)

	errInvalidWebhookID    = apierr.New(codes.InvalidArgument, "INVALID_WEBHOOK_ID", "Invalid webhook id: must be a UUID")
	errInvalidWebhookURL   = apierr.New(codes.InvalidArgument, "INVALID_WEBHOOK_URL", "Invalid webhook URL")
	errWebhookNotFound     = apierr.New(codes.NotFound, "WEBHOOK_NOT_FOUND", "Webhook not found")
	errWebhookLimitReached = apierr.New(codes.AlreadyExists, "WEBHOOK_LIMIT_REACHED", "A user may have at most 20 webhooks")
	errInvalidDeliveryID   = apierr.New(codes.InvalidArgument, "INVALID_WEBHOOK_DELIVERY_ID", "Invalid webhook delivery id: must be a UUID")
	errDeliveryNotFound    = apierr.New(codes.NotFound, "WEBHOOK_DELIVERY_NOT_FOUND", "Webhook delivery not found")
)
