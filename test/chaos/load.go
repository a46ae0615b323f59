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

// sessions is the number of concurrent clients per user.
const sessions = 2

// record is a transaction with the states that it may have according to the responses.
type record struct {
	p *user
	// mark is the prefix of its description. key is its idempotency key, or "" for a request without one.
	mark, key string
	id        string
	etag      string
	// states are the possible states. With maybeAbsent, the transaction may also not exist.
	states      []version
	maybeAbsent bool
	// contended is set for a transaction that all sessions change concurrently. Only its possible amounts are checked.
	contended bool
	// frozen is set if the transaction is no longer changed, because an unanswered request may still change it.
	frozen bool
	// changed counts acknowledged changes, and uncertain changes with an unknown result.
	changed, uncertain int
}

// version holds the fields of a transaction that can change.
type version struct {
	amount           *big.Rat
	wallet, category string
	text             string
}

// same reports whether two versions are equal. Merges change the category of a transaction without an event of its own, so
// categories are equal if one was merged into the other.
func (p *user) same(v, o version) bool {
	return v.amount.Cmp(o.amount) == 0 && v.wallet == o.wallet && p.mergedCategory(v.category) == p.mergedCategory(o.category) && v.text == o.text
}

func (v version) String() string {
	return fmt.Sprintf("%s %q in %s, %s", v.amount.FloatString(2), v.text, v.wallet, v.category)
}

// body returns the request body for a version.
func (t *record) body(v version) object {
	kind := "income"
	if v.amount.Sign() < 0 {
		kind = "expense"
	}
	return object{
		"amount": json.Number(new(big.Rat).Abs(v.amount).FloatString(2)), "type": kind, "date": "2026-03-14", "currency": "EUR",
		"walletId": v.wallet, "categoryId": v.category, "description": strings.TrimSpace(t.mark + strings.TrimPrefix(v.text, t.mark)),
	}
}

// outcome is the result of a write.
type outcome int

const (
	done outcome = iota
	rejectedWrite
	unknown
)

// write sends a change and counts its outcome. A write without a conclusive response is unknown.
func (p *user) write(ctx context.Context, method, path string, body any, headers ...string) (answer, outcome) {
	a := p.ask(ctx, method, path, body, headers...)
	switch {
	case a.status >= 200 && a.status < 300:
		p.acknowledged.Add(1)
		return a, done
	case a.status >= 400 && a.status < 500 && a.status != http.StatusTooManyRequests:
		p.rejected.Add(1)
		return a, rejectedWrite
	}
	p.unanswered.Add(1)
	return a, unknown
}

// session runs random operations until ctx ends.
func (p *user) session(ctx context.Context, n int) {
	random := p.random(p.mark, n)
	var own []*record
	for ctx.Err() == nil {
		switch what := random.IntN(100); {
		case what < 37 || len(own) == 0:
			own = append(own, p.create(ctx, random))
		case what < 40:
			own = append(own, p.createBatch(ctx, random)...)
		case what < 52:
			p.change(ctx, random, own[random.IntN(len(own))])
		case what < 62:
			p.contend(ctx, random)
		case what < 70:
			p.remove(ctx, own[random.IntN(len(own))])
		case what < 72 && n == 0:
			p.uploadReceipt(ctx)
		case what < 74 && n == 0:
			p.createCategory(ctx)
		case what < 75:
			p.signIn(ctx, random)
		case what < 81 && n == 0:
			p.reorganize(ctx, random)
		case what < 84:
			p.accessForeignTransaction(ctx, random)
		default:
			p.readSomething(ctx, random, own[random.IntN(len(own))])
		}
		pause(ctx, time.Duration(random.Int64N(int64(20*time.Millisecond))))
	}
}

func (p *user) anyVersion(random *rand.Rand) version {
	amount := big.NewRat(int64(random.IntN(2000)-1500), 100)
	if amount.Sign() == 0 {
		amount.SetInt64(-1)
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	return version{amount: amount, wallet: p.wallets[random.IntN(len(p.wallets))].id, category: p.categories[random.IntN(len(p.categories))]}
}

// create creates a transaction, mostly with a key and repeated until the result is known, otherwise with a single request.
func (p *user) create(ctx context.Context, random *rand.Rand) *record {
	t := p.newRecord(random)
	v := t.states[0]
	if random.IntN(10) < 3 {
		t.make(ctx, v)
		return t
	}
	t.key = t.mark
	for ctx.Err() == nil {
		if t.make(ctx, v) {
			if random.IntN(4) == 0 && !t.maybeAbsent {
				t.repeat(ctx, v)
			}
			return t
		}
		pause(ctx, time.Duration(50+random.IntN(300))*time.Millisecond)
	}
	p.retryAtEnd(func(ctx context.Context) bool { return t.make(ctx, v) })
	return t
}

// newRecord returns a transaction that was not requested yet.
func (p *user) newRecord(random *rand.Rand) *record {
	t := &record{p: p, mark: p.nextMark(), maybeAbsent: true, frozen: true}
	v := p.anyVersion(random)
	v.text = t.mark
	t.states = []version{v}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.records = append(p.records, t)
	return t
}

// make requests the transaction and reports whether the result is known.
func (t *record) make(ctx context.Context, v version) bool {
	var headers []string
	if t.key != "" {
		headers = []string{"Idempotency-Key", t.key}
	}
	a, what := t.p.write(ctx, http.MethodPost, "/api/v1/transaction", t.body(v), headers...)
	switch what {
	case done:
		t.id, t.etag, t.maybeAbsent, t.frozen = a.text("transaction.id"), a.etag, false, false
	case rejectedWrite:
		if !t.p.mayReject(a, v) {
			t.p.find("a good transaction was rejected: %s", a.raw)
		}
		t.states = nil
	case unknown:
		return false
	}
	return true
}

// repeat sends an acknowledged request again. The response must have the same id.
func (t *record) repeat(ctx context.Context, v version) {
	a, what := t.p.write(ctx, http.MethodPost, "/api/v1/transaction", t.body(v), "Idempotency-Key", t.key)
	if what == rejectedWrite || what == done && a.text("transaction.id") != t.id {
		t.p.find("%s %s was repeated with its key, and answered %s", t.id, t.mark, a.raw)
	}
}

// retryAtEnd registers a request with a key that is repeated after the last fault.
func (p *user) retryAtEnd(again func(ctx context.Context) bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.pending = append(p.pending, again)
}

func (p *user) change(ctx context.Context, random *rand.Rand, t *record) {
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
	case rejectedWrite:
		switch {
		case t.p.mayReject(a, v):
		case a.status == http.StatusPreconditionFailed && p.wasMerged(t.states[0].category):
			// The merge has changed the version.
			t.etag = ""
		default:
			t.unexpectedRejection("changing", a)
		}
	case unknown:
		t.uncertain++
		t.states, t.frozen = append(t.states, v), true
	}
}

// contend changes the transaction that other sessions change at the same time.
func (p *user) contend(ctx context.Context, random *rand.Rand) {
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
			p.find("two changes of version %s of %s were accepted", seen, p.contended.id)
		}
		p.overwritten[seen] = true
	case rejectedWrite:
		if a.status != http.StatusPreconditionFailed && !p.retiredIn(a, v) {
			p.find("changing what two change was rejected: %s", a.raw)
		}
		return
	case unknown:
		p.contended.uncertain++
	}
	p.contended.states = append(p.contended.states, v)
}

func (p *user) remove(ctx context.Context, t *record) {
	if t.frozen {
		return
	}
	a, what := p.write(ctx, http.MethodDelete, "/api/v1/transaction/"+t.id, nil)
	t.frozen = true
	switch what {
	case done:
		t.states, t.maybeAbsent = nil, true
	case rejectedWrite:
		t.unexpectedRejection("deleting", a)
	case unknown:
		t.maybeAbsent = true
	}
}

// unexpectedRejection reports the rejection of a valid change.
func (t *record) unexpectedRejection(what string, a answer) {
	t.frozen = true
	t.p.find("%s %s %s was rejected: %s", what, t.id, t.mark, a.raw)
}

// accessForeignTransaction tries to read, change and delete a transaction of another user.
func (p *user) accessForeignTransaction(ctx context.Context, random *rand.Rand) {
	other := p.users[random.IntN(len(p.users))]
	if other == p {
		return
	}
	path := "/api/v1/transaction/" + other.contended.id
	for _, a := range []answer{p.ask(ctx, http.MethodGet, path, nil), p.ask(ctx, http.MethodPatch, path, object{"amount": 1}), p.ask(ctx, http.MethodDelete, path, nil)} {
		if a.status >= 200 && a.status < 300 {
			p.find("%s accessed %s's transaction: %d %s", p.mark, other.mark, a.status, a.raw)
		}
	}
}

// readSomething sends a random read request while faults happen.
func (p *user) readSomething(ctx context.Context, random *rand.Rand, t *record) {
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
			p.find("%s %s does not exist right after it was acknowledged", t.id, t.mark)
		}
	}
}
