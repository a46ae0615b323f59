package budget

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Public errors of budgets and sharing. Their codes, messages and meanings are in
// proto/coffer/rest/v1/reason.proto. Errors of single fields name the field.
var (
	errInvalidBudgetID         = apierr.New(restv1.Reason_INVALID_BUDGET_ID)
	errBudgetNotFound          = apierr.New(restv1.Reason_BUDGET_NOT_FOUND)
	errBudgetAlreadyExists     = apierr.New(restv1.Reason_BUDGET_ALREADY_EXISTS)
	errBudgetLimitReached      = apierr.New(restv1.Reason_BUDGET_LIMIT_REACHED)
	errInsufficientPermissions = apierr.New(restv1.Reason_INSUFFICIENT_PERMISSIONS)

	errInvalidPeriod       = apierr.New(restv1.Reason_INVALID_BUDGET_PERIOD)
	errInvalidTimeframe    = apierr.New(restv1.Reason_INVALID_BUDGET_TIMEFRAME)
	errUnsupportedCurrency = apierr.New(restv1.Reason_UNSUPPORTED_CURRENCY)
	// The ledger returns the same reasons with NOT_FOUND for ids that are well-formed, but unknown
	// or another user's.
	errInvalidWalletID    = apierr.NewInvalid(restv1.Reason_WALLET_NOT_FOUND)
	errInvalidCategoryIDs = apierr.NewInvalid(restv1.Reason_INVALID_CATEGORY_EXIST_PARAMS)

	errInvalidMemberID     = apierr.New(restv1.Reason_INVALID_BUDGET_MEMBER_ID)
	errMemberNotFound      = apierr.New(restv1.Reason_BUDGET_MEMBER_NOT_FOUND)
	errMemberAlreadyExists = apierr.New(restv1.Reason_BUDGET_MEMBER_ALREADY_EXISTS)
	errInvitationLimit     = apierr.New(restv1.Reason_INVITATION_LIMIT_REACHED)
	errInvitationNotFound  = apierr.New(restv1.Reason_INVITATION_NOT_FOUND)

	errCannotInviteSelf = apierr.New(restv1.Reason_CANNOT_INVITE_SELF).With("email", "is your own")
	errShareExceeded    = apierr.New(restv1.Reason_BUDGET_SHARE_EXCEEDED).
				With("sharePercent", "total share would exceed 100 percent")
	errTooManyInvitations = apierr.New(restv1.Reason_RATE_LIMITED).
				WithMessage("Too many invitations, try again tomorrow").After(invitationWindow)
	errTooManyResends = apierr.New(restv1.Reason_RATE_LIMITED).
				WithMessage("The invitation was sent again too often, try again tomorrow")
	errInvalidInviteResponse = apierr.New(restv1.Reason_INVALID_INVITE_RESPONSE).
					With("status", "must be accepted or rejected")
)
