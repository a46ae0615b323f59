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
	for id, seen := range histories {
		target, exists := is[id]
		switch {
		case !seen.created:
			u.reportf("the events of %s begin without its creation", id)
		case exists == seen.deleted:
			u.reportf("%s exists: %t, but its events say that it was deleted: %t",
				id, exists, seen.deleted)
		case exists && !u.same(target, versionIn(seen.last)):
			u.reportf("%s is %s, but its last event has %s", id, target, versionIn(seen.last))
		}
	}
	// A missing history means that the outbox lost events.
	for id := range is {
		if histories[id] == nil {
			u.reportf("no event was published for %s", id)
		}
	}
	for _, record := range u.records {
		// Each acknowledged update has one event, and each update with an unknown outcome has one
		// or none.
		s := histories[record.id]
		if record.id == "" || s == nil {
			continue
		}
		if s.updates < record.changed || s.updates > record.changed+record.uncertain {
			u.reportf("%s %s was changed %d times, perhaps %d more, but has %d events of changes",
				record.id, record.mark, record.changed, record.uncertain, s.updates)
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
	err := bus.Follow(ctx, uuid.MustParse(u.id), 0, func(received outbox.Received) error {
		if known[received.ID] {
			return nil
		}
		known[received.ID] = true
		u.events.Add(1)
		switch m := received.Data.(type) {
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
		isTransaction := strings.HasPrefix(received.Subject, "ledger.v1.transaction.")
		if isTransaction && histories[u.contended.id] != nil && len(histories) > 1 {
			live = append(live, received.ID.String())
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
	seen := histories[id]
	if seen == nil {
		seen = &history{}
		histories[id] = seen
	}
	switch {
	case before == nil && seen.created:
		u.reportf("the creation of %s was published twice, by two events", id)
	case before == nil:
		seen.created = true
	case seen.last == nil || !u.same(versionIn(seen.last), versionIn(before)):
		u.reportf("the events of %s are not in order: after %s comes a change of %s",
			id, seen.last, before)
	case after == nil:
		seen.deleted = true
	default:
		seen.updates++
	}
	seen.last = after
}
