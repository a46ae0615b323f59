package chaos

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// transfer is a transfer in the model. Both transactions have its mark as their description.
type transfer struct {
	owner *user
	mark  string
	// id is empty until a response contains it, out and in are the ids of the transactions.
	id, out, in string
	// states, maybeAbsent and frozen have the same meaning as in record.
	states              []pair
	maybeAbsent, frozen bool
	// legs are the listed transactions.
	legs []leg
}

// pair is a state of a transfer. category is empty for a transfer, and the category of both
// transactions after it was unlinked.
type pair struct {
	from, to         *wallet
	amount, received *big.Rat
	category         string
}

// leg is a listed transaction with the id of its transfer.
type leg struct {
	version
	transfer string
}

func (u *user) transferOf(description string) *transfer {
	u.lock.Lock()
	defer u.lock.Unlock()
	mark, _, _ := strings.Cut(description, ";")
	return u.transfers[mark+";"]
}

func (u *user) moveMoney(ctx context.Context, random *rand.Rand) {
	var known []*transfer
	for _, t := range u.transfers {
		if !t.frozen {
			known = append(known, t)
		}
	}
	// The order of a map is random in a way that no seed repeats.
	slices.SortFunc(known, func(a, b *transfer) int { return strings.Compare(a.mark, b.mark) })
	if len(known) == 0 || random.IntN(3) == 0 {
		u.createTransfer(ctx, random)
		return
	}
	transfer := known[random.IntN(len(known))]
	switch draw := random.IntN(4); {
	case transfer.states[0].category != "":
		transfer.match(ctx)
	case draw == 0:
		transfer.remove(ctx)
	case draw == 1:
		transfer.unlink(ctx, u.categories[random.IntN(permanent)])
	default:
		transfer.change(ctx, u.anyPair(random))
	}
}

// anyPair returns random amounts between two wallets that are never deleted. A wallet in dollars
// receives another amount.
func (u *user) anyPair(random *rand.Rand) pair {
	u.lock.Lock()
	defer u.lock.Unlock()
	wallets := []*wallet{u.wallets[0], u.wallets[1], u.dollars}
	random.Shuffle(len(wallets), func(i, j int) { wallets[i], wallets[j] = wallets[j], wallets[i] })
	p := pair{from: wallets[0], to: wallets[1], amount: big.NewRat(int64(1+random.IntN(2000)), 100)}
	p.received = p.amount
	if wallets[2] != u.dollars {
		p.received = big.NewRat(int64(1+random.IntN(2000)), 100)
	}
	return p
}

func (t *transfer) body(p pair) object {
	return object{
		"fromWalletId": p.from.id, "amount": decimal(p.amount),
		"currency":   t.owner.currency(p.from),
		"toWalletId": p.to.id, "toAmount": decimal(p.received),
		"toCurrency": t.owner.currency(p.to),
		"date":       "2026-03-14", "description": t.mark,
	}
}

func (u *user) currency(w *wallet) string {
	if w == u.dollars {
		return "USD"
	}
	return "EUR"
}

func (u *user) createTransfer(ctx context.Context, random *rand.Rand) {
	transfer := &transfer{
		owner: u, mark: u.nextMark(), states: []pair{u.anyPair(random)}, frozen: true,
	}
	u.lock.Lock()
	u.transfers[transfer.mark] = transfer
	u.lock.Unlock()
	u.retry(ctx, func(ctx context.Context) bool {
		reply, result := u.write(ctx, http.MethodPost, "/api/v1/transfers",
			transfer.body(transfer.states[0]), "Idempotency-Key", transfer.mark)
		switch result {
		case accepted:
			transfer.id = reply.text("transfer.id")
			transfer.out = reply.text("transfer.outTransactionId")
			transfer.in = reply.text("transfer.inTransactionId")
			transfer.frozen = false
		case rejected:
			u.reportf("a valid transfer was rejected: %s", reply.raw)
		case unknown:
		}
		return result != unknown
	})
}

func (t *transfer) change(ctx context.Context, p pair) {
	a, result := t.owner.write(ctx, http.MethodPatch, "/api/v1/transfers/"+t.id, t.body(p))
	t.settle("the update of", p, a, result)
}

func (t *transfer) unlink(ctx context.Context, category string) {
	p := t.states[0]
	p.category = category
	a, result := t.owner.write(ctx, http.MethodPost, "/api/v1/transfers/"+t.id+"/unlink",
		object{"categoryId": category})
	t.settle("unlinking", p, a, result)
}

func (t *transfer) match(ctx context.Context) {
	p := t.states[0]
	p.category = ""
	a, result := t.owner.write(ctx, http.MethodPost, "/api/v1/transfers/match",
		object{"outTransactionId": t.out, "inTransactionId": t.in})
	if result == accepted {
		t.id = a.text("transfer.id")
	}
	t.settle("matching", p, a, result)
}

// settle records the result of a change to the state sides. After an unknown one, both states are
// possible.
func (t *transfer) settle(action string, sides pair, reply response, result outcome) {
	switch result {
	case accepted:
		t.states = []pair{sides}
	case rejected:
		t.frozen = true
		t.owner.reportf("%s transfer %s %s was rejected: %s", action, t.id, t.mark, reply.raw)
	case unknown:
		t.states, t.frozen = append(t.states, sides), true
	}
}

func (t *transfer) remove(ctx context.Context) {
	a, result := t.owner.write(ctx, http.MethodDelete, "/api/v1/transfers/"+t.id, nil)
	t.frozen, t.maybeAbsent = true, true
	switch result {
	case accepted:
		t.states = nil
	case rejected:
		t.owner.reportf("the deletion of transfer %s %s was rejected: %s", t.id, t.mark, a.raw)
	case unknown:
	}
}

// checkTransfers requires that each transfer has two legs in one of its possible states, or no leg
// after its deletion.
func (u *user) checkTransfers() {
	for _, transfer := range u.transfers {
		switch n := len(transfer.legs); {
		case n == 0 && transfer.maybeAbsent:
		case n == 0:
			u.reportf("transfer %s %s was acknowledged and is lost", transfer.id, transfer.mark)
		case n != 2:
			u.reportf("transfer %s %s has %d of 2 legs", transfer.id, transfer.mark, n)
		case !slices.ContainsFunc(transfer.states, transfer.is):
			u.reportf("transfer %s %s is %s, but may be only %v", transfer.id, transfer.mark,
				transfer.legs, transfer.states)
		}
	}
}

func (t *transfer) is(p pair) bool {
	out, in := t.legs[0], t.legs[1]
	if out.amount.Sign() > 0 {
		out, in = in, out
	}
	return out.wallet == p.from.id && in.wallet == p.to.id &&
		new(big.Rat).Neg(out.amount).Cmp(p.amount) == 0 && in.amount.Cmp(p.received) == 0 &&
		out.category == p.category && in.category == p.category && out.transfer == in.transfer &&
		(out.transfer == "") == (p.category != "")
}

// String returns the state for findings.
func (p pair) String() string {
	return fmt.Sprintf("%s from %s, %s to %s, %q",
		p.amount.FloatString(2), p.from.id, p.received.FloatString(2), p.to.id, p.category)
}
