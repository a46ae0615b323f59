// Package sharing shares budgets and goals: invitations, members, their roles and shares, and the
// events of all of them.
//
// Budgets and goals are the two kinds of shared things. A kind names its tables and its errors.
// Everything else is the same for both. The services of budgets and of goals parse the ids of their
// requests and convert the responses; Members does the rest.
//
// Guarantees: rights.go alone decides what a user may do with a thing. A user without an accepted
// invitation learns nothing newer than the invitation (ADR 45). A change and its events commit
// together. Each writer locks the row of the thing before it reads the role of its user, so
// concurrent writers see each other's results.
//
//   - sharing.go: Members; kinds.go: budgets and goals; rights.go: the permitted actions of each
//     role, and the permitted changes of a membership
//   - members.go, membership.go: reads and changes of members; names.go: their names
//   - invitations.go, mailed.go, attach.go: invitations to users, and those by mail
//   - store_members.go, store_invitations.go: the statements
package sharing

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
)

// Dependencies are the parts of the process that the package uses.
type Dependencies struct {
	DB            *pgxpool.Pool
	Auth          authv1.AuthServiceClient
	Notifications *notification.Server
	Cursors       page.Cursors
	Log           *slog.Logger
	Now           func() time.Time
	NewID         func() uuid.UUID
}

// Members shares the things of one kind.
type Members struct {
	Kind

	Dependencies
}

// Thing is a budget or a goal as a user sees it.
type Thing struct {
	ID      uuid.UUID
	OwnerID uuid.UUID `db:"owner_id"`
	Name    string

	Reader
}

// Reader is the user who reads a thing, with the membership of the user. Except for the user, its
// fields are nil without a membership.
type Reader struct {
	UserID     uuid.UUID `db:"user_id"`
	MemberRole *string   `db:"role"`
	Status     *Status
	// KnownName is member.KnownName.
	KnownName *string `db:"known_name"`
}

// Answer is a response that contains a member. It is stored under an idempotency key.
type Answer struct {
	call     idem.Call
	response proto.Message
	set      func(member *budgetv1.Member, etag string)
}

// NewAnswer returns the response to a request of the acting user, which set completes.
func NewAnswer(
	ctx context.Context, req interface {
		proto.Message
		GetIdempotencyKey() string
	}, response proto.Message, set func(member *budgetv1.Member, etag string),
) Answer {
	call := idem.Call{Scope: caller.ID(ctx).String(), Key: req.GetIdempotencyKey(), Request: req}
	return Answer{call, response, set}
}

// store runs write in a transaction, unless the call is a repetition. It reports whether it is one.
func (s *Members) store(
	ctx context.Context, a Answer, write func(tx pgx.Tx) (Member, *authv1.User, error),
) (replayed bool, err error) {
	return idem.InTx(ctx, s.DB, a.call, a.response, func(tx pgx.Tx) error {
		m, user, err := write(tx)
		if err != nil {
			return err
		}
		a.set(m.proto(user), m.etag())
		return nil
	})
}

// See returns a thing if the role of the acting user permits an action.
func (s *Members) See(
	ctx context.Context, q pg.Querier, id uuid.UUID, do Action,
) (Thing, error) {
	t, err := s.selectThing(ctx, q, id, caller.ID(ctx))
	if err != nil {
		return Thing{}, pg.IfNoRows(err, s.notFound)
	}
	return t, s.Check(t.Role(), do)
}

// Check returns the error for a user whose role does not permit an action.
func (s *Members) Check(role Role, do Action) error {
	switch {
	case role.May(do):
		return nil
	case role.May(Read):
		return errInsufficientPermissions
	}
	return s.hidden
}

// Lock serializes the changes of a thing and its members until tx ends. It locks nothing if the
// thing does not exist. The rows that decide about a change must be read by a later statement: only
// that sees the changes of the transaction that held the lock before. The lock does not block
// inserts of rows that reference the thing.
func (s *Members) Lock(ctx context.Context, tx pgx.Tx, id uuid.UUID) error {
	return pg.Exec(ctx, tx, s.sql(`SELECT id FROM {things} WHERE id = $1 FOR NO KEY UPDATE`), id)
}

// lockedThing returns a thing like See, and locks it, so that the result stays true until tx ends.
func (s *Members) lockedThing(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, do Action,
) (Thing, error) {
	if err := s.Lock(ctx, tx, id); err != nil {
		return Thing{}, err
	}
	return s.See(ctx, tx, id, do)
}

// Delete deletes a locked thing with its members, by calling remove. It returns the events: deleted
// for the owner and the accepted members. Users with a pending invitation must not receive the
// contents of the thing, so they are notified that the invitation ended. auth ends the links of
// invitations by mail.
func (s *Members) Delete(
	ctx context.Context, tx pgx.Tx, t Thing, deleted proto.Message, remove func() error,
) ([]notification.Addressed, error) {
	accepted, err := s.Accepted(ctx, tx, t.ID)
	if err != nil {
		return nil, err
	}
	unanswered, err := s.selectPending(ctx, tx, t.ID)
	if err != nil {
		return nil, err
	}
	// The members were read above, because the deletion removes them.
	if err := remove(); err != nil {
		return nil, err
	}
	events := []notification.Addressed{{User: t.OwnerID, Data: deleted}}
	for _, id := range accepted {
		events = append(events, notification.Addressed{User: id, Data: deleted})
	}
	for _, m := range unanswered {
		events = append(events, s.ended(t, m, deletedWithThing)...)
	}
	return events, nil
}

// parsePath returns the ids of a thing and of one of its members.
func (s *Members) parsePath(thing, member string) (thingID, memberID uuid.UUID, err error) {
	thingID, err = s.ParseID(thing)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	memberID, ok := text.ID(member)
	if !ok {
		return uuid.Nil, uuid.Nil, s.invalidMemberID
	}
	return thingID, memberID, nil
}

// ParseID returns the id of a thing, or the error of its kind.
func (s *Members) ParseID(id string) (uuid.UUID, error) {
	parsed, ok := text.ID(id)
	if !ok {
		return uuid.Nil, s.invalidID
	}
	return parsed, nil
}
