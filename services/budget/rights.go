package budget

import "slices"

// role is the role of a user in a budget.
type role string

const (
	owner  role = "owner"
	editor role = "editor"
	viewer role = "viewer"
	// invited users have a pending invitation. They may read the contents of the invitation, but not
	// the budget.
	invited role = "invited"
	// stranger is the role of all other users, also of those who rejected an invitation or left.
	stranger role = "stranger"
)

// action is an operation on a budget that needs a right.
type action string

const (
	readBudget    action = "read the budget, its progress and members"
	changeBudget  action = "PATCH the budget"
	deleteBudget  action = "delete the budget"
	shareBudget   action = "invite members"
	removeMembers action = "remove another member"
	changeMembers action = "change another member's role and share"
	readRejected  action = "read the members who rejected or left"
)

// rights lists the permitted actions of each role. Answering an invitation and leaving are not in
// the table: each member may do them for the own membership, in any role, and no other user may.
var rights = map[role][]action{
	owner:    {readBudget, changeBudget, deleteBudget, shareBudget, changeMembers, removeMembers, readRejected},
	editor:   {readBudget, changeBudget},
	viewer:   {readBudget},
	invited:  {},
	stranger: {},
}

// may reports whether the role permits an action.
func (r role) may(a action) bool { return slices.Contains(rights[r], a) }

// role returns the role of the reader.
func (b seenBudget) role() role {
	switch {
	// The owner has no membership row.
	case b.Role == nil && b.OwnerID == b.UserID:
		return owner
	case b.Role == nil || b.Status == nil:
		return stranger
	case *b.Status == pending:
		return invited
	// Only an accepted membership has the role that is stored.
	case *b.Status == accepted:
		return role(*b.Role)
	}
	return stranger
}

// visible returns the statuses of the members that a reader of the budget may see. Rejected members
// are visible to the owner only.
func (r role) visible() []status {
	if r.may(readRejected) {
		return []status{pending, accepted, rejected}
	}
	return []status{pending, accepted}
}
