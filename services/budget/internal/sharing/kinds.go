package sharing

import (
	"strings"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Kind is a kind of things that are shared.
type Kind struct {
	// names replaces {things}, {members} and {thing_id} in statements.
	names *strings.Replacer
	// invitations separates the cursors of the lists of invitations.
	invitations string
	// leave are the statements that delete the rows of a user $2 who is no longer a member of the
	// thing $1. The thing is locked.
	leave []string
	// label returns the id and the name of a thing for an event.
	label func(id, name string) label

	// hidden is the error for users who may not read a thing.
	hidden, notFound, invalidID                                  *apierr.Error
	invalidMemberID, memberNotFound, memberExists, shareExceeded *apierr.Error
}

// label has the id and the name of a budget or a goal, as events contain them. The other two fields
// are empty.
type label struct{ BudgetID, BudgetName, GoalID, GoalName string }

// Budgets is the kind of budgets.
var Budgets = Kind{
	names: strings.NewReplacer(
		"{things}", "budgets", "{members}", "members", "{thing_id}", "budget_id"),
	invitations: "invitations",
	label:       func(id, name string) label { return label{BudgetID: id, BudgetName: name} },

	// The contract requires 403 here, although it reveals that the budget exists.
	hidden:          errInsufficientPermissions,
	notFound:        apierr.New(restv1.Reason_BUDGET_NOT_FOUND),
	invalidID:       apierr.New(restv1.Reason_INVALID_BUDGET_ID),
	invalidMemberID: apierr.New(restv1.Reason_INVALID_BUDGET_MEMBER_ID),
	memberNotFound:  apierr.New(restv1.Reason_BUDGET_MEMBER_NOT_FOUND),
	memberExists:    apierr.New(restv1.Reason_BUDGET_MEMBER_ALREADY_EXISTS),
	shareExceeded: apierr.New(restv1.Reason_BUDGET_SHARE_EXCEEDED).
		With("sharePercent", shareProblem),
}

// Goals is the kind of goals.
var Goals = Kind{
	names: strings.NewReplacer(
		"{things}", "goals", "{members}", "goal_members", "{thing_id}", "goal_id"),
	invitations: "goal invitations",
	leave: []string{
		`DELETE FROM assignments WHERE goal_id = $1 AND user_id = $2`,
		`DELETE FROM goal_wallets WHERE goal_id = $1 AND user_id = $2`,
	},
	label: func(id, name string) label { return label{GoalID: id, GoalName: name} },

	hidden:          apierr.New(restv1.Reason_GOAL_NOT_FOUND),
	notFound:        apierr.New(restv1.Reason_GOAL_NOT_FOUND),
	invalidID:       apierr.New(restv1.Reason_INVALID_GOAL_ID),
	invalidMemberID: apierr.New(restv1.Reason_INVALID_GOAL_MEMBER_ID),
	memberNotFound:  apierr.New(restv1.Reason_GOAL_MEMBER_NOT_FOUND),
	memberExists:    apierr.New(restv1.Reason_GOAL_MEMBER_ALREADY_EXISTS),
	shareExceeded: apierr.New(restv1.Reason_GOAL_SHARE_EXCEEDED).
		With("sharePercent", shareProblem),
}

const shareProblem = "total share would exceed 100 percent"

// sql returns a statement with the names of the kind.
func (k Kind) sql(statement string) string { return k.names.Replace(statement) }

// Errors that are the same for budgets and goals. Their codes, messages and meanings are in
// proto/coffer/rest/v1/reason.proto.
var (
	errInsufficientPermissions = apierr.New(restv1.Reason_INSUFFICIENT_PERMISSIONS)
	errInvitationLimit         = apierr.New(restv1.Reason_INVITATION_LIMIT_REACHED)
	errInvitationNotFound      = apierr.New(restv1.Reason_INVITATION_NOT_FOUND)

	errCannotInviteSelf = apierr.New(restv1.Reason_CANNOT_INVITE_SELF).
				With("email", "is your own")
	errTooManyInvitations = apierr.New(restv1.Reason_RATE_LIMITED).
				WithMessage("Too many invitations, try again tomorrow").After(invitationWindow)
	errTooManyResends = apierr.New(restv1.Reason_RATE_LIMITED).
				WithMessage("The invitation was sent again too often, try again tomorrow")
	errInvalidInviteResponse = apierr.New(restv1.Reason_INVALID_INVITE_RESPONSE).
					With("status", "must be accepted or rejected")
)
