package sharing

import (
	"slices"

	"github.com/google/uuid"
)

// Role is what a user is to a budget or a goal. The values of owners and accepted members are those
// of responses.
type Role string

// The roles.
const (
	Owner  Role = "owner"
	Editor Role = "editor"
	Viewer Role = "viewer"
	// invited users have a pending invitation. They may read the contents of the invitation, but
	// not the thing.
	invited Role = "invited"
	// stranger is the role of all other users, also of those who rejected an invitation or left.
	stranger Role = "stranger"
)

// Action is something that a role may permit.
type Action string

// The actions. AssignMoney exists for goals only.
const (
	Read          Action = "read the thing, its progress and members"
	Change        Action = "PATCH the thing"
	Delete        Action = "delete the thing"
	AssignMoney   Action = "assign own money to the goal"
	share         Action = "invite members"
	removeMembers Action = "remove another member"
	changeMembers Action = "change another member's role and share"
	// readAllMembers includes the members who rejected or left, and invitations by mail.
	readAllMembers Action = "read all members"
)

// rights lists the permitted actions of each role. Answering an invitation and leaving are not in
// the table: each member may do them for the own membership, in any role, and no other user may.
var rights = map[Role][]Action{
	Owner: {
		Read, Change, Delete, AssignMoney, share, changeMembers, removeMembers, readAllMembers,
	},
	Editor:   {Read, Change, AssignMoney},
	Viewer:   {Read},
	invited:  {},
	stranger: {},
}

// May reports whether the role permits an action.
func (r Role) May(a Action) bool { return slices.Contains(rights[r], a) }

// Role returns the role of the reader.
func (t Thing) Role() Role { return t.RoleIn(t.OwnerID) }

// RoleIn returns the role of the reader in a thing of an owner.
func (r Reader) RoleIn(owner uuid.UUID) Role {
	switch {
	// The owner has no membership row.
	case r.MemberRole == nil && owner == r.UserID:
		return Owner
	case r.MemberRole == nil || r.Status == nil:
		return stranger
	case *r.Status == Pending:
		return invited
	// Only an accepted membership has the role that is stored.
	case *r.Status == Accepted:
		return Role(*r.MemberRole)
	}
	return stranger
}

// visible returns the statuses of the members that a reader of the thing may see. Rejected members
// and invitations by mail are visible to the owner only.
func (r Role) visible() []Status {
	if r.May(readAllMembers) {
		return []Status{Pending, Accepted, rejected}
	}
	return []Status{Pending, Accepted}
}

// sees reports whether a reader of the thing may see a member by the user's id. The owner sees an
// invitation by mail without that id, so it is not found by it.
func (r Role) sees(m Member) bool {
	return !m.byMail() && slices.Contains(r.visible(), m.Status)
}

// Status is the status of a membership.
type Status string

// The statuses.
const (
	// absent is the status before the first invitation and after a removal. It is never stored.
	absent   Status = ""
	Pending  Status = "pending"
	Accepted Status = "accepted"
	rejected Status = "rejected"
)

// mailed is the status in which the owner sees a pending invitation by mail. It is never stored.
const mailed = "invited"

type actor bool

const (
	byOwner  actor = false
	byMember actor = true
)

type transition struct {
	from Status
	by   actor
	to   Status
}

// transitions lists all permitted changes of a status. Removal is not among them, because it is
// possible in any status.
var transitions = map[transition]bool{
	{absent, byOwner, Pending}:     true,
	{rejected, byOwner, Pending}:   true,
	{Pending, byMember, Accepted}:  true,
	{Pending, byMember, rejected}:  true,
	{Accepted, byMember, rejected}: true,
}

// to reports whether the actor may change the status to next, and whether that is a change. A
// repeated answer of a member is permitted and changes nothing.
func (s Status) to(next Status, by actor) (changes, permitted bool) {
	// A repeated answer happens when a client retries.
	if by == byMember && s == next && s != Pending && s != absent {
		return false, true
	}
	permitted = transitions[transition{from: s, by: by, to: next}]
	return permitted, permitted
}
