package budget

// status is the status of a membership.
type status string

const (
	// absent is the status before the first invitation and after a removal. It is never stored.
	absent   status = ""
	pending  status = "pending"
	accepted status = "accepted"
	rejected status = "rejected"
)

// actor is the user who changes the status of a membership.
type actor bool

const (
	byOwner  actor = false
	byMember actor = true
)

// transition is a change of a membership's status by one side.
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
