package sharing

import (
	"context"
	"time"

	"github.com/google/uuid"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

const (
	// maxNames is the number of users that auth returns in one call. Only a page of budgets can
	// have more members; the others are then without a name.
	maxNames = 1000
	// namesTimeout limits the wait for names, which a response may omit.
	namesTimeout = 1500 * time.Millisecond
)

// named converts members, with names and e-mails from one call to auth, or without if it fails.
func (s *Members) named(ctx context.Context, members []Member) []*budgetv1.Member {
	return s.UsersOf(ctx, members, nil).Members(members)
}

// Users are users that auth knows, by id.
type Users map[string]*authv1.User

// UsersOf returns the members, and the owners of the things that their reader does not own, with
// one call to auth. The owner of a thing knows the own name, so that reading a thing without
// members costs no call.
func (s *Members) UsersOf(ctx context.Context, members []Member, things []Thing) Users {
	var ids []uuid.UUID
	seen := map[uuid.UUID]bool{}
	add := func(id uuid.UUID) {
		if !seen[id] && len(ids) < maxNames {
			seen[id], ids = true, append(ids, id)
		}
	}
	for _, t := range things {
		if t.Role() != Owner {
			add(t.OwnerID)
		}
	}
	for _, m := range members {
		if !m.byMail() {
			add(m.UserID)
		}
	}
	return s.users(ctx, ids)
}

// OwnerName returns the name of the owner for other readers of the thing, or nil if auth is
// unavailable.
func (u Users) OwnerName(t Thing) *string {
	if user := u[t.OwnerID.String()]; user != nil && t.Role() != Owner {
		return new(user.GetName())
	}
	return nil
}

// Members converts members.
func (u Users) Members(members []Member) []*budgetv1.Member {
	named := make([]*budgetv1.Member, len(members))
	for i, m := range members {
		named[i] = m.proto(u[m.UserID.String()])
	}
	return named
}

// users returns the users that auth knows. It returns none if auth is unavailable. A call costs at
// most namesTimeout.
func (s *Members) users(ctx context.Context, ids []uuid.UUID) Users {
	users := Users{}
	if len(ids) == 0 {
		return users
	}
	ctx, cancel := context.WithTimeout(ctx, namesTimeout)
	defer cancel()
	resp, err := s.Auth.GetUsers(ctx, &authv1.GetUsersRequest{Ids: idStrings(ids)})
	if err != nil {
		s.Log.WarnContext(ctx, "failed to read names, so they are omitted",
			"users", len(ids), "error", err)
		return users
	}
	for _, u := range resp.GetUsers() {
		users[u.GetId()] = u
	}
	return users
}

func idStrings(ids []uuid.UUID) []string {
	s := make([]string, len(ids))
	for i, id := range ids {
		s[i] = id.String()
	}
	return s
}
