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

// sessions is the number of concurrent clients per user. Each changes only the transactions that it
// created, except the contended one, which all sessions change.
const sessions = 2

// record is a transaction in the model: the states that it may have according to the responses.
type record struct {
	owner *user
	// mark is the prefix of its description. key is its idempotency key, or "" for a request
	// without one.
	mark, key string
	// id is empty until a response contains it.
	id string
	// etag is the entity tag of the last response.
	etag string
	// states are the possible states. With maybeAbsent, the transaction may also not exist.
	states      []version
	maybeAbsent bool
	// contended is set for a transaction that all sessions change concurrently. Only its possible
	// amounts are checked.
	contended bool
	// frozen is set if the transaction is no longer changed, because an unanswered request may
	// still change it.
	frozen bool
	// file is the attachment, or nil if none was uploaded.
	file *attachment
	// changed counts acknowledged changes, and uncertain changes with an unknown result.
	changed, uncertain int
}

// body returns the request body for a version. The amount is positive in a request, and the type
// determines its sign.
func (t *record) body(v version) object {
	kind := "income"
	if v.amount.Sign() < 0 {
		kind = "expense"
	}
	body := object{
		"amount": decimal(v.amount), "type": kind, "date": "2026-03-14", "currency": "EUR",
		"walletId": v.wallet, "tags": []string{},
		"description": strings.TrimSpace(t.mark + strings.TrimPrefix(v.text, t.mark)),
	}
	if v.tag != "" {
		body["tags"] = []string{v.tag}
	}
	if len(v.splits) == 0 {
		// In an update, a category ends the splits.
		body["categoryId"] = v.category
		return body
	}
	var parts []object
	for _, s := range v.splits {
		amount := decimal(s.amount)
		if s.amount.Sign() != v.amount.Sign() {
			amount = "-" + amount
		}
		parts = append(parts, object{"categoryId": s.category, "amount": amount})
	}
	body["splits"] = parts
	return body
}

// decimal returns the absolute value of an amount for a request.
func decimal(amount *big.Rat) json.Number {
	return json.Number(new(big.Rat).Abs(amount).FloatString(2))
}

// outcome is the result of a write.
type outcome int

// A write with an unknown outcome may have been applied, or may still be applied.

const (
	accepted outcome = iota
	rejected
	unknown
)

// write sends a change and counts its outcome. Without a response, and with 429 or any 5xx status,
// the outcome is unknown: some of these requests were not applied, but the client must not depend
// on that.
func (u *user) write(
	ctx context.Context, method, path string, body any, headers ...string,
) (response, outcome) {
	a := u.call(ctx, method, path, body, headers...)
	switch {
	case a.status >= 200 && a.status < 300:
		u.acknowledged.Add(1)
		return a, accepted
	case a.status >= 400 && a.status < 500 && a.status != http.StatusTooManyRequests:
		u.rejected.Add(1)
		return a, rejected
	}
	u.unknown.Add(1)
	return a, unknown
}

// session runs random operations until ctx ends. Receipts, categories, reorganizations, transfers,
// imports and the mirror are left to the user's first session.
func (u *user) session(ctx context.Context, n int) {
	random := u.random(u.mark, n)
	var own []*record
	for ctx.Err() == nil {
		// The cases are cumulative percentages. Creates are the most frequent operation.
		switch draw := random.IntN(100); {
		case draw < 37 || len(own) == 0:
			own = append(own, u.create(ctx, random))
		case draw < 40:
			own = append(own, u.createBatch(ctx, random)...)
		case draw < 52:
			u.change(ctx, random, own[random.IntN(len(own))])
		case draw < 62:
			u.contend(ctx, random)
		case draw < 70:
			u.remove(ctx, own[random.IntN(len(own))])
		case draw < 72 && n == 0:
			u.uploadReceipt(ctx)
		case draw < 74 && n == 0:
			u.createCategory(ctx)
		case draw < 75:
			u.signIn(ctx, random)
		case draw < 81 && n == 0:
			u.reorganize(ctx, random)
		case draw < 83:
			u.accessOtherUsersTransaction(ctx, random)
		case draw < 89 && n == 0:
			u.moveMoney(ctx, random)
		case draw < 92:
			u.attach(ctx, own[random.IntN(len(own))])
		case draw < 94 && n == 0:
			u.mirror.follow(ctx, u)
		case draw < 96 && n == 0:
			u.importStatement(ctx, random)
		default:
			u.readSomething(ctx, random, own[random.IntN(len(own))])
		}
		pause(ctx, time.Duration(random.Int64N(int64(20*time.Millisecond))))
	}
}

// anyVersion returns a random amount in a random wallet and category of the user. A quarter of the
// transactions is split, a third of these with a refund, and a third has a tag.
func (u *user) anyVersion(random *rand.Rand) version {
	cents := int64(random.IntN(2000) - 1500)
	if cents == 0 {
		cents = -1
	}
	u.lock.Lock()
	defer u.lock.Unlock()
	category := func() string { return u.categories[random.IntN(len(u.categories))] }
	v := version{amount: big.NewRat(cents,
		100), wallet: u.wallets[random.IntN(len(u.wallets))].id, category: category()}
	if half := cents / 2; half != 0 && random.IntN(4) == 0 {
		if random.IntN(3) == 0 {
			half = -half
		}
		v.splits = []split{
			{v.category, big.NewRat(half, 100)}, {category(), big.NewRat(cents-half, 100)},
		}
		v.category = ""
	}
	if random.IntN(3) == 0 {
		v.tag = u.tags[random.IntN(len(u.tags))]
	}
	return v
}

// create creates a transaction. In 7 of 10 cases it sends a key and repeats the request until the
// result is known. Otherwise it sends a single request without a key.
func (u *user) create(ctx context.Context, random *rand.Rand) *record {
	t := u.newRecord(random)
	v := t.states[0]
	if random.IntN(10) < 3 {
		t.make(ctx, v)
		return t
	}
	t.key = t.mark
	for ctx.Err() == nil {
		if t.make(ctx, v) {
			// A quarter of the acknowledged requests are sent again.
			if random.IntN(4) == 0 && !t.maybeAbsent {
				t.repeat(ctx, v)
			}
			return t
		}
		pause(ctx, time.Duration(50+random.IntN(300))*time.Millisecond)
	}
	u.retryAtEnd(func(ctx context.Context) bool { return t.make(ctx, v) })
	return t
}

// newRecord returns the record of a transaction before its first request. It may be absent until a
// response acknowledges it.
func (u *user) newRecord(random *rand.Rand) *record {
	// A record is frozen until a response contains the id.
	t := &record{owner: u, mark: u.nextMark(), maybeAbsent: true, frozen: true}
	v := u.anyVersion(random)
	v.text = t.mark
	t.states = []version{v}
	u.lock.Lock()
	defer u.lock.Unlock()
	u.records = append(u.records, t)
	return t
}

// make sends the create request and reports whether the result is known.
func (t *record) make(ctx context.Context, v version) bool {
	var headers []string
	if t.key != "" {
		headers = []string{"Idempotency-Key", t.key}
	}
	a, result := t.owner.write(ctx, http.MethodPost, "/api/v1/transaction", t.body(v), headers...)
	switch result {
	case accepted:
		t.id, t.etag, t.maybeAbsent, t.frozen = a.text("transaction.id"), a.etag, false, false
	case rejected:
		// A rejection is conclusive: the transaction does not exist.
		if !t.owner.mayReject(a, v) {
			t.owner.reportf("a valid transaction was rejected: %s", a.raw)
		}
		t.states = nil
	case unknown:
		return false
	}
	return true
}

// repeat sends an acknowledged request again, with the same key. The response must have the same
// id. The repetition may also have an unknown outcome, which proves nothing.
func (t *record) repeat(ctx context.Context, v version) {
	a, result := t.owner.write(ctx, http.MethodPost, "/api/v1/transaction", t.body(v),
		"Idempotency-Key", t.key)
	if result == rejected || result == accepted && a.text("transaction.id") != t.id {
		t.owner.reportf("%s %s was repeated with its key, and answered %s", t.id, t.mark, a.raw)
	}
}

// retryAtEnd registers a request with a key that is repeated after the last fault, because its
// result was still unknown when the load ended.
func (u *user) retryAtEnd(again func(ctx context.Context) bool) {
	u.lock.Lock()
	defer u.lock.Unlock()
	u.pending = append(u.pending, again)
}

// change updates a transaction of the session, in half of the cases with If-Match. After an unknown
// outcome the transaction is frozen: the first update may still be in progress and overwrite
// another one.
func (u *user) change(ctx context.Context, random *rand.Rand, t *record) {
	if t.frozen {
		return
	}
	v := u.anyVersion(random)
	v.text = fmt.Sprintf("%s %d", t.mark, t.changed+1)
	var headers []string
	if t.etag != "" && random.IntN(2) == 0 {
		headers = []string{"If-Match", t.etag}
	}
	a, result := u.write(ctx, http.MethodPatch, "/api/v1/transaction/"+t.id, t.body(v), headers...)
	switch result {
	case accepted:
		t.changed++
		t.states, t.etag = []version{v}, a.etag
	case rejected:
		switch {
		case t.owner.mayReject(a, v):
		case a.status == http.StatusPreconditionFailed && u.wasMerged(t.states[0]):
			// The merge incremented the version.
			t.etag = ""
		default:
			t.unexpectedRejection("the update of", a)
		}
	case unknown:
		// Both the old and the new state are possible.
		t.uncertain++
		t.states, t.frozen = append(t.states, v), true
	}
}

// contend updates the transaction that other sessions update at the same time. Only one update may
// be based on each version.
func (u *user) contend(ctx context.Context, random *rand.Rand) {
	v := u.anyVersion(random)
	v.text = u.nextMark()
	path := "/api/v1/transaction/" + u.contended.id
	var headers []string
	seen := ""
	if random.IntN(2) == 0 {
		if seen = u.call(ctx, http.MethodGet, path, nil).etag; seen != "" {
			headers = []string{"If-Match", seen}
		}
	}
	a, result := u.write(ctx, http.MethodPatch, path, u.contended.body(v), headers...)
	u.lock.Lock()
	defer u.lock.Unlock()
	switch result {
	case accepted:
		u.contended.changed++
		if seen != "" && u.overwritten[seen] {
			u.reportf("two changes of version %s of %s were accepted", seen, u.contended.id)
		}
		u.overwritten[seen] = true
	case rejected:
		// Another session was faster.
		if a.status != http.StatusPreconditionFailed && !u.retiredIn(a, v) {
			u.reportf("an update of the contended transaction was rejected: %s", a.raw)
		}
		return
	case unknown:
		u.contended.uncertain++
	}
	u.contended.states = append(u.contended.states, v)
}

// remove deletes a transaction of the session.
func (u *user) remove(ctx context.Context, t *record) {
	if t.frozen {
		return
	}
	a, result := u.write(ctx, http.MethodDelete, "/api/v1/transaction/"+t.id, nil)
	t.frozen = true
	switch result {
	case accepted:
		t.states, t.maybeAbsent = nil, true
	case rejected:
		t.unexpectedRejection("the deletion of", a)
	case unknown:
		t.maybeAbsent = true
	}
}

// unexpectedRejection reports the rejection of a valid change.
func (t *record) unexpectedRejection(action string, a response) {
	t.frozen = true
	t.owner.reportf("%s %s %s was rejected: %s", action, t.id, t.mark, a.raw)
}

// accessOtherUsersTransaction tries to read, change and delete a transaction of another user.
func (u *user) accessOtherUsersTransaction(ctx context.Context, random *rand.Rand) {
	other := u.users[random.IntN(len(u.users))]
	if other == u {
		return
	}
	path := "/api/v1/transaction/" + other.contended.id
	for _, a := range []response{u.call(ctx, http.MethodGet, path, nil), u.call(ctx,
		http.MethodPatch, path, object{"amount": 1}), u.call(ctx, http.MethodDelete, path, nil)} {
		if a.status >= 200 && a.status < 300 {
			u.reportf("%s accessed %s's transaction: %d %s", u.mark, other.mark, a.status, a.raw)
		}
	}
}

// readSomething sends a random read request while faults happen. Each response is inspected. A
// transaction that is read must be in one of its possible states.
func (u *user) readSomething(ctx context.Context, random *rand.Rand, t *record) {
	u.reads.Add(1)
	switch random.IntN(6) {
	case 0:
		u.call(ctx, http.MethodGet, "/api/v1/transaction?limit=20", nil)
	case 1:
		u.call(ctx, http.MethodGet, "/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31", nil)
	case 2:
		u.call(ctx, http.MethodGet, "/api/v1/budgets", nil)
	case 3:
		u.call(ctx, http.MethodGet, "/api/v1/notifications", nil)
	default:
		if t.frozen {
			return
		}
		a := u.call(ctx, http.MethodGet, "/api/v1/transaction/"+t.id, nil)
		switch a.status {
		case http.StatusOK:
			t.compare(versionOf(a.at("transaction")))
		case http.StatusNotFound:
			u.reportf("%s %s does not exist right after it was acknowledged", t.id, t.mark)
		}
	}
}
