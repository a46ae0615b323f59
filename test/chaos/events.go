package chaos

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/outbox"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

type history struct {
	// last is the state after the last event, or nil after the deletion.
	last             *ledgerv1.Transaction
	created, deleted bool
	updates          int
}

// checkEvents reads all events of the user, ignoring repeats. For each transaction, they must
// describe every change in order and end with its final state. The live stream must have received
// the events since its start.
func (u *user) checkEvents(ctx context.Context, bus *outbox.Bus, is transactions) {
	histories, live := u.histories(ctx, bus)
	for id, s := range histories {
		v, exists := is[id]
		switch {
		case !s.created:
			u.reportf("the events of %s begin without its creation", id)
		case exists == s.deleted:
			u.reportf("%s exists: %t, but its events say that it was deleted: %t",
				id, exists, s.deleted)
		case exists && !u.same(v, versionIn(s.last)):
			u.reportf("%s is %s, but its last event has %s", id, v, versionIn(s.last))
		}
	}
	// A missing history means that the outbox lost events.
	for id := range is {
		if histories[id] == nil {
			u.reportf("no event was published for %s", id)
		}
	}
	for _, t := range u.records {
		// Each acknowledged update has one event, and each update with an unknown outcome has one
		// or none.
		s := histories[t.id]
		if t.id == "" || s == nil {
			continue
		}
		if s.updates < t.changed || s.updates > t.changed+t.uncertain {
			u.reportf("%s %s was changed %d times, perhaps %d more, but has %d events of changes",
				t.id, t.mark, t.changed, t.uncertain, s.updates)
		}
	}
	// One missing event is enough; waiting for each of them would take too long.
	for _, id := range live {
		if !within(ctx, u.EventTimeout, func() bool { return u.stream.has(id) }) {
			u.reportf("event %s is missing in the live stream of %s", id, u.mark)
			return
		}
	}
}

// errEndOfEvents ends the reading of the stream at the last event of the user.
var errEndOfEvents = errors.New("the end")

// histories reads the user's events up to the category that check created. It returns the histories
// of the transactions, and the ids of the events after the live stream began.
func (u *user) histories(ctx context.Context, bus *outbox.Bus) (map[string]*history, []string) {
	ctx, cancel := context.WithTimeout(ctx, u.EventTimeout)
	defer cancel()
	// The relay publishes at least once, so an event may be in the stream twice.
	histories, known := map[string]*history{}, map[uuid.UUID]bool{}
	var live []string
	err := bus.Follow(ctx, uuid.MustParse(u.id), 0, func(e outbox.Received) error {
		if known[e.ID] {
			return nil
		}
		known[e.ID] = true
		u.events.Add(1)
		switch m := e.Data.(type) {
		case *ledgerv1.CategoryCreated:
			if m.GetCategory().GetName() == u.mark+" end" {
				return errEndOfEvents
			}
		case *ledgerv1.TransactionCreated:
			u.addEvent(histories, m.GetTransaction().GetId(), nil, m.GetTransaction())
		case *ledgerv1.TransactionUpdated:
			u.addEvent(histories, m.GetAfter().GetId(), m.GetBefore(), m.GetAfter())
		case *ledgerv1.TransactionDeleted:
			u.addEvent(histories, m.GetTransaction().GetId(), m.GetTransaction(), nil)
		}
		// The stream was opened after the contended transaction, which setUp creates.
		isTransaction := strings.HasPrefix(e.Subject, "ledger.v1.transaction.")
		if isTransaction && histories[u.contended.id] != nil && len(histories) > 1 {
			live = append(live, e.ID.String())
		}
		return nil
	})
	if !errors.Is(err, errEndOfEvents) {
		u.reportf("the events of %s do not arrive: %v", u.mark, err)
	}
	return histories, live
}

// addEvent adds an event to a history. Its state before the change must be the state after the
// previous event.
func (u *user) addEvent(
	histories map[string]*history, id string, before, after *ledgerv1.Transaction,
) {
	// The transactions of receipts have no record and are not in the list of the compared wallets.
	// Those of transfers have events only if they are matched or unlinked.
	if after.GetWalletId() == u.receipts.id ||
		u.transferOf(max(before.GetDescription(), after.GetDescription())) != nil {
		return
	}
	s := histories[id]
	if s == nil {
		s = &history{}
		histories[id] = s
	}
	switch {
	case before == nil && s.created:
		u.reportf("the creation of %s was published twice, by two events", id)
	case before == nil:
		s.created = true
	case s.last == nil || !u.same(versionIn(s.last), versionIn(before)):
		u.reportf("the events of %s are not in order: after %s comes a change of %s",
			id, s.last, before)
	case after == nil:
		s.deleted = true
	default:
		s.updates++
	}
	s.last = after
}
