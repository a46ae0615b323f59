package chaos

import (
	"context"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"net/http"
	"strings"
)

// record is a transaction in the model: the states that it may have according to the responses.
type record struct {
	owner *user
	// mark is the prefix of its description. key is its idempotency key, or "" for a request
	// without one.
	mark, key string
	// id is empty until a response contains it.
	id   string
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
	file   *attachment
	// changed counts acknowledged changes, and uncertain changes with an unknown result.
	changed, uncertain int
}

// body returns the request body for a version. The amount is positive in a request, and the type
// determines its sign.
func (t *record) body(target version) object {
	kind := "income"
	if target.amount.Sign() < 0 {
		kind = "expense"
	}
	body := object{
		"amount": decimal(target.amount), "type": kind, "date": "2026-03-14", "currency": "EUR",
		"walletId": target.wallet, "tags": []string{},
		"description": strings.TrimSpace(t.mark + strings.TrimPrefix(target.text, t.mark)),
	}
	if target.tag != "" {
		body["tags"] = []string{target.tag}
	}
	if len(target.splits) == 0 {
		// In an update, a category ends the splits.
		body["categoryId"] = target.category
		return body
	}
	var parts []object
	for _, s := range target.splits {
		amount := decimal(s.amount)
		if s.amount.Sign() != target.amount.Sign() {
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
	reply := u.call(ctx, method, path, body, headers...)
	switch {
	case reply.status >= 200 && reply.status < 300:
		u.acknowledged.Add(1)
		return reply, accepted
	case reply.status >= 400 && reply.status < 500 && reply.status != http.StatusTooManyRequests:
		u.rejected.Add(1)
		return reply, rejected
	}
	u.unknown.Add(1)
	return reply, unknown
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
func (t *record) make(ctx context.Context, target version) bool {
	var headers []string
	if t.key != "" {
		headers = []string{"Idempotency-Key", t.key}
	}
	reply, result := t.owner.write(ctx, http.MethodPost, "/api/v1/transaction", t.body(target),
		headers...)
	switch result {
	case accepted:
		t.id, t.etag = reply.text("transaction.id"), reply.etag
		t.maybeAbsent, t.frozen = false, false
	case rejected:
		// A rejection is conclusive: the transaction does not exist.
		if !t.owner.mayReject(reply, target) {
			t.owner.reportf("a valid transaction was rejected: %s", reply.raw)
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

func (t *record) unexpectedRejection(action string, a response) {
	t.frozen = true
	t.owner.reportf("%s %s %s was rejected: %s", action, t.id, t.mark, a.raw)
}
