package budget

import "slices"

type role string

const (
	owner  role = "owner"
	editor role = "editor"
	viewer role = "viewer"
	// invited users have a pending invitation. They may read the contents of the invitation, but
	// not the budget.
	invited role = "invited"
	// stranger is the role of all other users, also of those who rejected an invitation or left.
	stranger role = "stranger"
)

type action string

const (
	readBudget    action = "read the budget, its progress and members"
	changeBudget  action = "PATCH the budget"
	deleteBudget  action = "delete the budget"
	shareBudget   action = "invite members"
	removeMembers action = "remove another member"
	changeMembers action = "change another member's role and share"
	// readAllMembers includes the members who rejected or left, and invitations by mail.
	readAllMembers action = "read all members"
)

// rights lists the permitted actions of each role. Answering an invitation and leaving are not in
// the table: each member may do them for the own membership, in any role, and no other user may.
var rights = map[role][]action{
	owner: {
		readBudget, changeBudget, deleteBudget, shareBudget, changeMembers, removeMembers,
		readAllMembers,
	},
	editor:   {readBudget, changeBudget},
	viewer:   {readBudget},
	invited:  {},
	stranger: {},
}

func (r role) may(a action) bool { return slices.Contains(rights[r], a) }

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
// and invitations by mail are visible to the owner only.
func (r role) visible() []status {
	if r.may(readAllMembers) {
		return []status{pending, accepted, rejected}
	}
	return []status{pending, accepted}
}

// sees reports whether a reader of the budget may see a member by the user's id. The owner sees an
// invitation by mail without that id, so it is not found by it.
func (r role) sees(m member) bool {
	return !m.byMail() && slices.Contains(r.visible(), m.Status)
}

type status string

const (
	// absent is the status before the first invitation and after a removal. It is never stored.
	absent   status = ""
	pending  status = "pending"
	accepted status = "accepted"
	rejected status = "rejected"
)

// mailed is the status in which the owner sees a pending invitation by mail. It is never stored.
const mailed = "invited"

type actor bool

const (
	byOwner  actor = false
	byMember actor = true
)

type transition struct {
	from status
	by   actor
	to   status
}

// transitions lists all permitted changes of a status. Removal is not among them, because it is
// possible in any status.
var transitions = map[transition]bool{
	{absent, byOwner, pending}:     true,
	{rejected, byOwner, pending}:   true,
	{pending, byMember, accepted}:  true,
	{pending, byMember, rejected}:  true,
	{accepted, byMember, rejected}: true,
}

// to reports whether the actor may change the status to next, and whether that is a change. A
// repeated answer of a member is permitted and changes nothing.
func (s status) to(next status, by actor) (changes, permitted bool) {
	// A repeated answer happens when a client retries.
	if by == byMember && s == next && s != pending && s != absent {
		return false, true
	}
	permitted = transitions[transition{from: s, by: by, to: next}]
	return permitted, permitted
}
