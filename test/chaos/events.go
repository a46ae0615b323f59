package chaos

import (
	"context"
	"errors"
	"math/big"
	"strings"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/outbox"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// history is what the events contain about one transaction.
type history struct {
	last             *ledgerv1.Transaction
	created, deleted bool
	updates          int
}

// checkEvents reads all events of the user, ignoring repeats. For each transaction, they must describe every change in order
// and end with its final state.
func (p *user) checkEvents(ctx context.Context, bus *outbox.Bus, is transactions) {
	histories, live := p.histories(ctx, bus)
	for id, s := range histories {
		v, exists := is[id]
		switch {
		case !s.created:
			p.find("the events of %s begin without its creation", id)
		case exists == s.deleted:
			p.find("%s exists: %t, but its events say that it was deleted: %t", id, exists, s.deleted)
		case exists && !p.same(v, versionIn(s.last)):
			p.find("%s is %s, but its last event has %s", id, v, versionIn(s.last))
		}
	}
	for id := range is {
		if histories[id] == nil {
			p.find("no event was published for %s", id)
		}
	}
	for _, t := range p.records {
		if s := histories[t.id]; t.id != "" && s != nil && (s.updates < t.changed || s.updates > t.changed+t.uncertain) {
			p.find("%s %s was changed %d times, perhaps %d more, but has %d events of changes", t.id, t.mark, t.changed, t.uncertain, s.updates)
		}
	}
	for _, id := range live {
		if !within(ctx, p.EventTimeout, func() bool { return p.stream.has(id) }) {
			p.find("event %s is missing in the live stream of %s", id, p.mark)
			return
		}
	}
}

var errEndOfEvents = errors.New("the end")

// histories reads the user's events up to the category that check created. It returns the histories of the transactions, and
// the ids of the events after the live stream began.
func (p *user) histories(ctx context.Context, bus *outbox.Bus) (map[string]*history, []string) {
	ctx, cancel := context.WithTimeout(ctx, p.EventTimeout)
	defer cancel()
	histories, known := map[string]*history{}, map[uuid.UUID]bool{}
	var live []string
	err := bus.Follow(ctx, uuid.MustParse(p.id), 0, func(e outbox.Received) error {
		if known[e.ID] {
			return nil
		}
		known[e.ID] = true
		p.events.Add(1)
		switch m := e.Data.(type) {
		case *ledgerv1.CategoryCreated:
			if m.GetCategory().GetName() == p.mark+" end" {
				return errEndOfEvents
			}
		case *ledgerv1.TransactionCreated:
			p.addEvent(histories, m.GetTransaction().GetId(), nil, m.GetTransaction())
		case *ledgerv1.TransactionUpdated:
			p.addEvent(histories, m.GetAfter().GetId(), m.GetBefore(), m.GetAfter())
		case *ledgerv1.TransactionDeleted:
			p.addEvent(histories, m.GetTransaction().GetId(), m.GetTransaction(), nil)
		}
		if s := e.Subject; strings.HasPrefix(s, "ledger.v1.transaction.") && histories[p.contended.id] != nil && len(histories) > 1 {
			live = append(live, e.ID.String())
		}
		return nil
	})
	if !errors.Is(err, errEndOfEvents) {
		p.find("the events of %s do not arrive: %v", p.mark, err)
	}
	return histories, live
}

// addEvent adds an event to a history. Its state before the change must be the state after the previous event.
func (p *user) addEvent(histories map[string]*history, id string, before, after *ledgerv1.Transaction) {
	if after.GetWalletId() == p.receipts.id {
		return
	}
	s := histories[id]
	if s == nil {
		s = &history{}
		histories[id] = s
	}
	switch {
	case before == nil && s.created:
		p.find("the creation of %s was published twice, by two events", id)
	case before == nil:
		s.created = true
	case s.last == nil || !p.same(versionIn(s.last), versionIn(before)):
		p.find("the events of %s are not in order: after %s comes a change of %s", id, s.last, before)
	case after == nil:
		s.deleted = true
	default:
		s.updates++
	}
	s.last = after
}

func versionIn(t *ledgerv1.Transaction) version {
	if t == nil {
		return version{amount: new(big.Rat)}
	}
	return version{amount: rat(t.GetAmount()), wallet: t.GetWalletId(), category: t.GetCategoryId(), text: t.GetDescription()}
}
