package budget

// status is where a membership stands.
type status string

const (
	// absent is before the first invitation and after a removal; it is never stored.
	absent   status = ""
	pending  status = "pending"
	accepted status = "accepted"
	rejected status = "rejected"
)

// side is who moves a membership.
type side bool

const (
	byOwner  side = false
	byMember side = true
)

type move struct {
	from status
	by   side
	to   status
}

// moves are all that a membership can do, but for its removal, which is possible in any status.
var moves = map[move]bool{
	{absent, byOwner, pending}:     true,
	{rejected, byOwner, pending}:   true,
	{pending, byMember, accepted}:  true,
	{pending, byMember, rejected}:  true,
	{accepted, byMember, rejected}: true,
}

// to reports whether one side may move a membership to another status, and whether that changes anything: a member's
// same answer again does not.
func (s status) to(next status, by side) (changes, permitted bool) {
	if by == byMember && s == next && s != pending && s != absent {
		return false, true
	}
	permitted = moves[move{from: s, by: by, to: next}]
	return permitted, permitted
}
