package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// sessions is how many clients a person uses at once.
const sessions = 2

// thing is a transaction, as it may be by what we were answered.
type thing struct {
	p *person
	// mark begins its description; key is the idempotency key that it was made with, if any.
	mark, key string
	id        string
	etag      string
	// states are what it may be; gone: it may also not be there.
	states []version
	gone   bool
	// contended ones are changed by all sessions at once: of their states only the amounts that were ever sent are known.
	contended bool
	// frozen ones are left alone: a request without an answer might still change them.
	frozen bool
	// changed and doubtful count the changes that were acknowledged, and those that nobody knows of.
	changed, doubtful int
}

// version is what of a transaction can change.
type version struct {
	amount           *big.Rat
	wallet, category string
	text             string
}

// same reports whether two versions are equal. Merges change the category of a transaction without an event of its own, so
// categories are equal if one was merged into the other.
func (p *person) same(v, o version) bool {
	return v.amount.Cmp(o.amount) == 0 && v.wallet == o.wallet && p.mergedCategory(v.category) == p.mergedCategory(o.category) && v.text == o.text
}

func (v version) String() string {
	return fmt.Sprintf("%s %q in %s, %s", v.amount.FloatString(2), v.text, v.wallet, v.category)
}

// body is a request's.
func (t *thing) body(v version) object {
	kind := "income"
	if v.amount.Sign() < 0 {
		kind = "expense"
	}
	return object{
		"amount": json.Number(new(big.Rat).Abs(v.amount).FloatString(2)), "type": kind, "date": "2026-03-14", "currency": "EUR",
		"walletId": v.wallet, "categoryId": v.category, "description": strings.TrimSpace(t.mark + strings.TrimPrefix(v.text, t.mark)),
	}
}

// outcome of a write.
type outcome int

const (
	done outcome = iota
	refused
	unknown
)

// write sends a change and counts what came of it.
func (p *person) write(ctx context.Context, method, path string, body any, headers ...string) (answer, outcome) {
	a := p.ask(ctx, method, path, body, headers...)
	switch {
	case a.status >= 200 && a.status < 300:
		p.acknowledged.Add(1)
		return a, done
	case a.status >= 400 && a.status < 500 && a.status != http.StatusTooManyRequests:
		p.declined.Add(1)
		return a, refused
	}
	p.untold.Add(1)
	return a, unknown
}

// session does what people do until ctx ends.
func (p *person) session(ctx context.Context, n int) {
	random := p.random(p.mark, n)
	var own []*thing
	for ctx.Err() == nil {
		switch what := random.IntN(100); {
		case what < 37 || len(own) == 0:
			own = append(own, p.create(ctx, random))
		case what < 40:
			own = append(own, p.bring(ctx, random)...)
		case what < 52:
			p.change(ctx, random, own[random.IntN(len(own))])
		case what < 62:
			p.contend(ctx, random)
		case what < 70:
			p.remove(ctx, own[random.IntN(len(own))])
		case what < 72 && n == 0:
			p.scan(ctx)
		case what < 74 && n == 0:
			p.open(ctx)
		case what < 75:
			p.signIn(ctx, random)
		case what < 81 && n == 0:
			p.reorganize(ctx, random)
		case what < 84:
			p.trespass(ctx, random)
		default:
			p.look(ctx, random, own[random.IntN(len(own))])
		}
		pause(ctx, time.Duration(random.Int64N(int64(20*time.Millisecond))))
	}
}

func (p *person) anyVersion(random *rand.Rand) version {
	amount := big.NewRat(int64(random.IntN(2000)-1500), 100)
	if amount.Sign() == 0 {
		amount.SetInt64(-1)
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	return version{amount: amount, wallet: p.wallets[random.IntN(len(p.wallets))].id, category: p.categories[random.IntN(len(p.categories))]}
}

// create makes a transaction: mostly with a key and again until the answer tells, else once.
func (p *person) create(ctx context.Context, random *rand.Rand) *thing {
	t := p.newThing(random)
	v := t.states[0]
	if random.IntN(10) < 3 {
		t.make(ctx, v)
		return t
	}
	t.key = t.mark
	for ctx.Err() == nil {
		if t.make(ctx, v) {
			if random.IntN(4) == 0 && !t.gone {
				t.repeat(ctx, v)
			}
			return t
		}
		pause(ctx, time.Duration(50+random.IntN(300))*time.Millisecond)
	}
	p.later(func(ctx context.Context) bool { return t.make(ctx, v) })
	return t
}

// newThing is one that nobody has asked for yet.
func (p *person) newThing(random *rand.Rand) *thing {
	t := &thing{p: p, mark: p.nextMark(), gone: true, frozen: true}
	v := p.anyVersion(random)
	v.text = t.mark
	t.states = []version{v}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.things = append(p.things, t)
	return t
}

// make reports whether the answer told.
func (t *thing) make(ctx context.Context, v version) bool {
	var headers []string
	if t.key != "" {
		headers = []string{"Idempotency-Key", t.key}
	}
	a, what := t.p.write(ctx, http.MethodPost, "/api/v1/transaction", t.body(v), headers...)
	switch what {
	case done:
		t.id, t.etag, t.gone, t.frozen = a.text("transaction.id"), a.etag, false, false
	case refused:
		if !t.p.mayRefuse(a, v) {
			t.p.find("a good transaction was refused: %s", a.raw)
		}
		t.states = nil
	case unknown:
		return false
	}
	return true
}

// repeat sends what was acknowledged once more: the first answer must come again.
func (t *thing) repeat(ctx context.Context, v version) {
	a, what := t.p.write(ctx, http.MethodPost, "/api/v1/transaction", t.body(v), "Idempotency-Key", t.key)
	if what == refused || what == done && a.text("transaction.id") != t.id {
		t.p.find("%s %s was repeated with its key, and answered %s", t.id, t.mark, a.raw)
	}
}

// later notes what is to be repeated with its key until the answer tells.
func (p *person) later(again func(ctx context.Context) bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.pending = append(p.pending, again)
}

func (p *person) change(ctx context.Context, random *rand.Rand, t *thing) {
	if t.frozen {
		return
	}
	v := p.anyVersion(random)
	v.text = fmt.Sprintf("%s %d", t.mark, t.changed+1)
	var headers []string
	if t.etag != "" && random.IntN(2) == 0 {
		headers = []string{"If-Match", t.etag}
	}
	a, what := p.write(ctx, http.MethodPatch, "/api/v1/transaction/"+t.id, t.body(v), headers...)
	switch what {
	case done:
		t.changed++
		t.states, t.etag = []version{v}, a.etag
	case refused:
		switch {
		case t.p.mayRefuse(a, v):
		case a.status == http.StatusPreconditionFailed && p.wasMerged(t.states[0].category):
			// The merge has changed the version.
			t.etag = ""
		default:
			t.refuse("changing", a)
		}
	case unknown:
		t.doubtful++
		t.states, t.frozen = append(t.states, v), true
	}
}

// contend changes what another session changes at the same time.
func (p *person) contend(ctx context.Context, random *rand.Rand) {
	v := p.anyVersion(random)
	v.text = p.nextMark()
	path := "/api/v1/transaction/" + p.contended.id
	var headers []string
	seen := ""
	if random.IntN(2) == 0 {
		if seen = p.ask(ctx, http.MethodGet, path, nil).etag; seen != "" {
			headers = []string{"If-Match", seen}
		}
	}
	a, what := p.write(ctx, http.MethodPatch, path, p.contended.body(v), headers...)
	p.lock.Lock()
	defer p.lock.Unlock()
	switch what {
	case done:
		p.contended.changed++
		if seen != "" && p.overwritten[seen] {
			p.find("two have changed version %s of %s, one of them unseen", seen, p.contended.id)
		}
		p.overwritten[seen] = true
	case refused:
		if a.status != http.StatusPreconditionFailed && !p.retiredIn(a, v) {
			p.find("changing what two change was refused: %s", a.raw)
		}
		return
	case unknown:
		p.contended.doubtful++
	}
	p.contended.states = append(p.contended.states, v)
}

func (p *person) remove(ctx context.Context, t *thing) {
	if t.frozen {
		return
	}
	a, what := p.write(ctx, http.MethodDelete, "/api/v1/transaction/"+t.id, nil)
	t.frozen = true
	switch what {
	case done:
		t.states, t.gone = nil, true
	case refused:
		t.refuse("deleting", a)
	case unknown:
		t.gone = true
	}
}

// refuse is for changes that were good.
func (t *thing) refuse(what string, a answer) {
	t.frozen = true
	t.p.find("%s %s %s was refused: %s", what, t.id, t.mark, a.raw)
}

// trespass asks for what is somebody else's.
func (p *person) trespass(ctx context.Context, random *rand.Rand) {
	other := p.people[random.IntN(len(p.people))]
	if other == p {
		return
	}
	path := "/api/v1/transaction/" + other.contended.id
	for _, a := range []answer{p.ask(ctx, http.MethodGet, path, nil), p.ask(ctx, http.MethodPatch, path, object{"amount": 1}), p.ask(ctx, http.MethodDelete, path, nil)} {
		if a.status >= 200 && a.status < 300 {
			p.find("%s came to %s's transaction: %d %s", p.mark, other.mark, a.status, a.raw)
		}
	}
}

// look reads in the middle of it all.
func (p *person) look(ctx context.Context, random *rand.Rand, t *thing) {
	p.reads.Add(1)
	switch random.IntN(6) {
	case 0:
		p.ask(ctx, http.MethodGet, "/api/v1/transaction?limit=20", nil)
	case 1:
		p.ask(ctx, http.MethodGet, "/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31", nil)
	case 2:
		p.ask(ctx, http.MethodGet, "/api/v1/budgets", nil)
	case 3:
		p.ask(ctx, http.MethodGet, "/api/v1/notifications", nil)
	default:
		if t.frozen {
			return
		}
		a := p.ask(ctx, http.MethodGet, "/api/v1/transaction/"+t.id, nil)
		switch a.status {
		case http.StatusOK:
			t.compare(versionOf(a.at("transaction")))
		case http.StatusNotFound:
			p.find("%s %s is not there right after it was acknowledged", t.id, t.mark)
		}
	}
}
