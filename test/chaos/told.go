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

// told is what the events say of a transaction.
type told struct {
	last             *ledgerv1.Transaction
	created, deleted bool
	updates          int
}

// checkEvents reads all that the person was told, without repeats: for each transaction it is the whole story in order, and
// it ends with what is there.
func (p *person) checkEvents(ctx context.Context, bus *outbox.Bus, is there) {
	stories, live := p.stories(ctx, bus)
	for id, s := range stories {
		v, exists := is[id]
		switch {
		case !s.created:
			p.find("the events of %s begin without its creation", id)
		case exists == s.deleted:
			p.find("%s is there: %t, and was told to be deleted: %t", id, exists, s.deleted)
		case exists && !p.same(v, tellingOf(s.last)):
			p.find("%s is %s, and was told to be %s", id, v, tellingOf(s.last))
		}
	}
	for id := range is {
		if stories[id] == nil {
			p.find("nothing was told of %s", id)
		}
	}
	for _, t := range p.things {
		if s := stories[t.id]; t.id != "" && s != nil && (s.updates < t.changed || s.updates > t.changed+t.doubtful) {
			p.find("%s %s was changed %d times, perhaps %d more, and %d times told", t.id, t.mark, t.changed, t.doubtful, s.updates)
		}
	}
	for _, id := range live {
		if !within(ctx, p.Arriving, func() bool { return p.stream.has(id) }) {
			p.find("event %s is missing in the live stream of %s", id, p.mark)
			return
		}
	}
}

var errEnd = errors.New("the end")

// stories reads the person's events up to the category that the check has made, and returns what they say of transactions,
// and the ids of those that came after the live stream began.
func (p *person) stories(ctx context.Context, bus *outbox.Bus) (map[string]*told, []string) {
	ctx, cancel := context.WithTimeout(ctx, p.Arriving)
	defer cancel()
	stories, known := map[string]*told{}, map[uuid.UUID]bool{}
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
				return errEnd
			}
		case *ledgerv1.TransactionCreated:
			p.tell(stories, m.GetTransaction().GetId(), nil, m.GetTransaction())
		case *ledgerv1.TransactionUpdated:
			p.tell(stories, m.GetAfter().GetId(), m.GetBefore(), m.GetAfter())
		case *ledgerv1.TransactionDeleted:
			p.tell(stories, m.GetTransaction().GetId(), m.GetTransaction(), nil)
		}
		if s := e.Subject; strings.HasPrefix(s, "ledger.v1.transaction.") && stories[p.contended.id] != nil && len(stories) > 1 {
			live = append(live, e.ID.String())
		}
		return nil
	})
	if !errors.Is(err, errEnd) {
		p.find("the events of %s do not arrive: %v", p.mark, err)
	}
	return stories, live
}

// tell adds a chapter: what was before must be what the last one ended with.
func (p *person) tell(stories map[string]*told, id string, before, after *ledgerv1.Transaction) {
	if after.GetWalletId() == p.receipts.id {
		return
	}
	s := stories[id]
	if s == nil {
		s = &told{}
		stories[id] = s
	}
	switch {
	case before == nil && s.created:
		p.find("the creation of %s was told twice, by two events", id)
	case before == nil:
		s.created = true
	case s.last == nil || !p.same(tellingOf(s.last), tellingOf(before)):
		p.find("the events of %s are not in order: after %s comes a change of %s", id, s.last, before)
	case after == nil:
		s.deleted = true
	default:
		s.updates++
	}
	s.last = after
}

func tellingOf(t *ledgerv1.Transaction) version {
	if t == nil {
		return version{amount: new(big.Rat)}
	}
	return version{amount: rat(t.GetAmount()), wallet: t.GetWalletId(), category: t.GetCategoryId(), text: t.GetDescription()}
}
