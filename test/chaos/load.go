package chaos

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"time"
)

// sessions is the number of concurrent clients per user. Each changes only the transactions that it
// created, except the contended one, which all sessions change.
const sessions = 2

// session runs random operations until ctx ends. Receipts, categories, reorganizations, transfers,
// imports and the mirror are left to the user's first session.
func (u *user) session(ctx context.Context, number int) {
	random := u.random(u.mark, number)
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
		case draw < 72 && number == 0:
			u.uploadReceipt(ctx)
		case draw < 74 && number == 0:
			u.createCategory(ctx)
		case draw < 75:
			u.signIn(ctx, random)
		case draw < 81 && number == 0:
			u.reorganize(ctx, random)
		case draw < 83:
			u.accessOtherUsersTransaction(ctx, random)
		case draw < 89 && number == 0:
			u.moveMoney(ctx, random)
		case draw < 92:
			u.attach(ctx, own[random.IntN(len(own))])
		case draw < 94 && number == 0:
			u.mirror.follow(ctx, u)
		case draw < 96 && number == 0:
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
	target := version{
		amount: big.NewRat(cents, 100), wallet: u.wallets[random.IntN(len(u.wallets))].id,
		category: category(),
	}
	if half := cents / 2; half != 0 && random.IntN(4) == 0 {
		if random.IntN(3) == 0 {
			half = -half
		}
		target.splits = []split{
			{target.category, big.NewRat(half, 100)}, {category(), big.NewRat(cents-half, 100)},
		}
		target.category = ""
	}
	if random.IntN(3) == 0 {
		target.tag = u.tags[random.IntN(len(u.tags))]
	}
	return target
}

// create creates a transaction. In 7 of 10 cases it sends a key and repeats the request until the
// result is known. Otherwise it sends a single request without a key.
func (u *user) create(ctx context.Context, random *rand.Rand) *record {
	record := u.newRecord(random)
	target := record.states[0]
	if random.IntN(10) < 3 {
		record.make(ctx, target)
		return record
	}
	record.key = record.mark
	for ctx.Err() == nil {
		if record.make(ctx, target) {
			// A quarter of the acknowledged requests are sent again.
			if random.IntN(4) == 0 && !record.maybeAbsent {
				record.repeat(ctx, target)
			}
			return record
		}
		pause(ctx, time.Duration(50+random.IntN(300))*time.Millisecond)
	}
	u.retryAtEnd(func(ctx context.Context) bool { return record.make(ctx, target) })
	return record
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
func (u *user) change(ctx context.Context, random *rand.Rand, record *record) {
	if record.frozen {
		return
	}
	target := u.anyVersion(random)
	target.text = fmt.Sprintf("%s %d", record.mark, record.changed+1)
	var headers []string
	if record.etag != "" && random.IntN(2) == 0 {
		headers = []string{"If-Match", record.etag}
	}
	reply, result := u.write(ctx, http.MethodPatch, "/api/v1/transaction/"+record.id,
		record.body(target), headers...)
	switch result {
	case accepted:
		record.changed++
		record.states, record.etag = []version{target}, reply.etag
	case rejected:
		switch {
		case record.owner.mayReject(reply, target):
		case reply.status == http.StatusPreconditionFailed && u.wasMerged(record.states[0]):
			// The merge incremented the version.
			record.etag = ""
		default:
			record.unexpectedRejection("the update of", reply)
		}
	case unknown:
		// Both the old and the new state are possible.
		record.uncertain++
		record.states, record.frozen = append(record.states, target), true
	}
}

// contend updates the transaction that other sessions update at the same time. Only one update may
// be based on each version.
func (u *user) contend(ctx context.Context, random *rand.Rand) {
	target := u.anyVersion(random)
	target.text = u.nextMark()
	path := "/api/v1/transaction/" + u.contended.id
	var headers []string
	seen := ""
	if random.IntN(2) == 0 {
		if seen = u.call(ctx, http.MethodGet, path, nil).etag; seen != "" {
			headers = []string{"If-Match", seen}
		}
	}
	reply, result := u.write(ctx, http.MethodPatch, path, u.contended.body(target), headers...)
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
		if reply.status != http.StatusPreconditionFailed && !u.retiredIn(reply, target) {
			u.reportf("an update of the contended transaction was rejected: %s", reply.raw)
		}
		return
	case unknown:
		u.contended.uncertain++
	}
	u.contended.states = append(u.contended.states, target)
}

func (u *user) remove(ctx context.Context, record *record) {
	if record.frozen {
		return
	}
	reply, result := u.write(ctx, http.MethodDelete, "/api/v1/transaction/"+record.id, nil)
	record.frozen = true
	switch result {
	case accepted:
		record.states, record.maybeAbsent = nil, true
	case rejected:
		record.unexpectedRejection("the deletion of", reply)
	case unknown:
		record.maybeAbsent = true
	}
}

// accessOtherUsersTransaction tries to read, change and delete a transaction of another user.
func (u *user) accessOtherUsersTransaction(ctx context.Context, random *rand.Rand) {
	other := u.users[random.IntN(len(u.users))]
	if other == u {
		return
	}
	path := "/api/v1/transaction/" + other.contended.id
	for _, a := range []response{
		u.call(ctx, http.MethodGet, path, nil),
		u.call(ctx, http.MethodPatch, path, object{"amount": 1}),
		u.call(ctx, http.MethodDelete, path, nil),
	} {
		if a.status >= 200 && a.status < 300 {
			u.reportf("%s accessed %s's transaction: %d %s", u.mark, other.mark, a.status, a.raw)
		}
	}
}

// readSomething sends a random read request while faults happen. Each response is inspected. A
// transaction that is read must be in one of its possible states.
func (u *user) readSomething(ctx context.Context, random *rand.Rand, record *record) {
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
		if record.frozen {
			return
		}
		a := u.call(ctx, http.MethodGet, "/api/v1/transaction/"+record.id, nil)
		switch a.status {
		case http.StatusOK:
			record.compare(versionOf(a.at("transaction")))
		case http.StatusNotFound:
			u.reportf("%s %s does not exist right after it was acknowledged", record.id,
				record.mark)
		}
	}
}
