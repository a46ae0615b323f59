package budget

import "slices"

// standing is what a user is to a budget.
type standing string

const (
	owner  standing = "owner"
	editor standing = "editor"
	viewer standing = "viewer"
	// invited has not answered yet. The invitation tells what there is to know; the budget itself opens with acceptance.
	invited standing = "invited"
	// stranger is everybody else, those who rejected or left among them.
	stranger standing = "stranger"
)

// action is what somebody may want to do with a budget.
type action string

const (
	readBudget    action = "read the budget, its progress and members"
	changeBudget  action = "PATCH the budget"
	deleteBudget  action = "delete the budget"
	shareBudget   action = "invite members"
	removeMembers action = "remove another member"
	changeMembers action = "change another member's role and share"
	readRefusals  action = "see who rejected or left"
)

// rights is the contract's table. Answering an invitation and leaving need no entry: they are the member's own, for
// nobody else and in any standing.
var rights = map[standing][]action{
	owner:    {readBudget, changeBudget, deleteBudget, shareBudget, changeMembers, removeMembers, readRefusals},
	editor:   {readBudget, changeBudget},
	viewer:   {readBudget},
	invited:  {},
	stranger: {},
}

func (s standing) may(a action) bool { return slices.Contains(rights[s], a) }

// standing tells what the user that the budget was selected for is to it.
func (b seenBudget) standing() standing {
	switch {
	case b.Role == nil && b.OwnerID == b.UserID:
		return owner
	case b.Role == nil || b.Status == nil:
		return stranger
	case *b.Status == pending:
		return invited
	case *b.Status == accepted:
		return standing(*b.Role)
	}
	return stranger
}

// visible is which members somebody sees who may read the budget.
func (s standing) visible() []status {
	if s.may(readRefusals) {
		return []status{pending, accepted, rejected}
	}
	return []status{pending, accepted}
}
