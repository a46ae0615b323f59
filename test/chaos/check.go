package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/outbox"
)

// transactions maps ids to the final state of a user's transactions.
type transactions map[string]version

// check verifies the guarantees after the recovery:
//
//   - An acknowledged write exists once, with a state that was requested (checkTransactions,
//     checkCategories, checkReceipts).
//   - Each row of an imported file is booked once, and no row, wallet or category of an undone
//     import is left (checkImports).
//   - A transfer has both legs, and an attachment its content (checkTransfers, checkAttachments).
//   - A device that follows the changes has all objects that the lists return, and no others
//     (checkMirror).
//   - A bulk request or a receipt without a conclusive response took effect completely or not at
//     all (checkBatches).
//   - Balances, monthly totals and budget progress equal the sums of the transactions (checkSums,
//     verifySums).
//   - Each wallet and category that a transaction refers to exists (checkReferences).
//   - The events of each transaction are complete and in order, and the live stream has received
//     them (checkEvents).
//   - The consumers have processed all events, and no queue contains a row that is never processed
//     (checkApplied).
//   - The accounts whose deletion was requested are deleted, and no table names their users
//     (checkDeletions).
//   - Each threshold is notified once (checkAlerts). This is checked last, because it requires that
//     all events are processed.
func (r *run) check(ctx context.Context) {
	bus, err := outbox.Connect(outbox.Config{NATSURL: r.stack.NATS, NATSReplicas: 1}, "chaos",
		slog.New(slog.DiscardHandler))
	if err != nil {
		r.reportf("%v", err)
		return
	}
	defer bus.Close()
	var all sync.WaitGroup
	for _, u := range r.users {
		all.Go(func() { u.check(ctx, bus) })
	}
	all.Wait()
	r.logf("the transactions of all users are checked")
	r.checkApplied(ctx, bus)
	r.logf("all events are processed")
	r.verifySums(ctx)
	r.checkDeletions(ctx)
	for _, u := range r.users {
		u.checkAlerts(ctx)
	}
}

// check compares the data of one user with the model. The category that it creates marks the end of
// the user's events.
func (u *user) check(ctx context.Context, bus *outbox.Bus) {
	u.resolve(ctx)
	end := object{"name": u.mark + " end"}
	a := u.call(ctx, http.MethodPost, "/api/v1/categories", end)
	if a.status != http.StatusCreated {
		u.reportf("%s cannot write any more: %d %s", u.mark, a.status, a.raw)
		return
	}
	// The order matters: batches and events are compared with the ids that checkTransactions finds.
	is := u.checkTransactions(ctx)
	u.checkTransfers()
	u.checkAttachments(ctx, is)
	u.checkReferences(ctx, is)
	u.checkSums(ctx, is)
	u.checkReceipts(ctx)
	u.checkImports(ctx)
	u.checkCategories(ctx)
	u.checkMirror(ctx)
	u.checkEvents(ctx, bus, is)
}

func (u *user) list(ctx context.Context, path, name string) []any {
	var all []any
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	for cursor, more := "", true; more; {
		a := u.call(ctx, http.MethodGet, path+separator+"limit=200&cursor="+cursor, nil)
		if a.status != http.StatusOK {
			u.reportf("listing: %d %s", a.status, a.raw)
		}
		all = append(all, a.list(name)...)
		cursor, more = a.text("pagination.nextCursor"), a.at("pagination.hasMore") == true
	}
	return all
}

// resolve repeats the requests with an idempotency key whose result is unknown, until they are
// answered.
func (u *user) resolve(ctx context.Context) {
	for _, again := range u.pending {
		// Without faults, each request has a conclusive result after a few attempts. The job of a
		// killed ledger continues when its lease has ended.
		if !within(ctx, 2*time.Minute, func() bool { return again(ctx) }) {
			u.reportf(
				"%s: a repeated request still has no conclusive response two minutes after the "+
					"recovery",
				u.mark,
			)
		}
	}
}

// checkTransactions compares the listed transactions with the possible states, and returns them. It
// recognizes a transaction by the mark in its description, because the id is unknown if the create
// had no response.
func (u *user) checkTransactions(ctx context.Context) transactions {
	is, marked := transactions{}, map[string]string{}
	for _, wallet := range append(u.wallets, u.dollars) {
		for _, t := range u.list(ctx, "/api/v1/transaction?walletId="+wallet.id, "transactions") {
			row, target := response{body: object{"t": t}}, versionOf(t)
			if transfer := u.transferOf(target.text); transfer != nil {
				transfer.legs = append(transfer.legs, leg{target, row.text("t.transferId")})
				continue
			}
			// Updates append to the mark; only the part before the semicolon is constant.
			id := row.text("t.id")
			mark, _, _ := strings.Cut(target.text, ";")
			if other, twice := marked[mark+";"]; twice {
				u.reportf("%s was created twice, as %s and %s", mark, other, id)
			}
			is[id], marked[mark+";"] = target, id
		}
	}
	// Each record must agree with the listed transaction of its mark, or with the absence of one.
	for _, record := range u.records {
		id, exists := marked[record.mark]
		delete(marked, record.mark)
		switch {
		case !exists && !record.maybeAbsent:
			u.reportf("%s %s was acknowledged and is lost", record.id, record.mark)
		case exists && len(record.states) == 0:
			u.reportf("%s %s was deleted but exists", id, record.mark)
		case exists && record.id != "" && record.id != id:
			u.reportf("%s was acknowledged as %s and is %s", record.mark, record.id, id)
		case exists:
			record.id = id
			record.compare(is[id])
		}
	}
	// The transactions that belong to no record remain in marked.
	for mark, id := range marked {
		u.reportf("%s %s exists, but was never requested", id, mark)
	}
	u.checkBatches(is)
	return is
}

// checkBatches requires that batches with an unknown result exist completely or not at all.
func (u *user) checkBatches(is transactions) {
	for _, batch := range u.batches {
		exist := 0
		for _, t := range batch.records {
			if _, ok := is[t.id]; ok {
				exist++
			}
		}
		if !batch.acknowledged && exist > 0 && exist < len(batch.records) {
			u.reportf("%d of the %d transactions from %s on were made",
				exist, len(batch.records), batch.records[0].mark)
		}
	}
}

// checkReceipts requires that the transactions of each receipt exist completely and once. The
// receipts have a separate wallet, so that its balance shows the number of receipts.
func (u *user) checkReceipts(ctx context.Context) {
	reply := u.call(ctx, http.MethodGet, "/api/v1/transaction?limit=200&walletId="+u.receipts.id,
		nil)
	sums := map[string]*big.Rat{}
	for _, t := range reply.list("transactions") {
		row := response{body: object{"t": t}}
		id := row.text("t.receiptId")
		if sums[id] == nil {
			sums[id] = new(big.Rat)
		}
		sums[id].Add(sums[id], rat(row.text("t.amount")))
	}
	for id, sum := range sums {
		// Every receipt has the same total.
		if sum.Cmp(rat("-6.00")) != 0 {
			u.reportf("the transactions of receipt %s add up to %s", id, sum.FloatString(2))
		}
	}
	if len(sums) != u.scanned {
		u.reportf("%s uploaded %d receipts with keys, and has %d", u.mark, u.scanned, len(sums))
	}
	want := new(big.Rat).Mul(big.NewRat(int64(-len(sums)), 1), rat("6.00"))
	reply = u.call(ctx, http.MethodGet, "/api/v1/wallet/"+u.receipts.id, nil)
	if reply.text("wallet.balance") != want.FloatString(2) {
		u.reportf("%s: the receipts' wallet holds %s, not %s",
			u.mark, reply.text("wallet.balance"), want.FloatString(2))
	}
}

// checkCategories requires that each category created with a key exists once. Its creation was
// repeated until it was answered.
func (u *user) checkCategories(ctx context.Context) {
	count := map[string]int{}
	for _, c := range u.list(ctx, "/api/v1/categories", "categories") {
		count[response{body: object{"c": c}}.text("c.name")]++
	}
	for _, name := range u.categoryNames {
		if count[name] != 1 {
			u.reportf("category %q is there %d times", name, count[name])
		}
	}
}

// checkApplied waits until all consumers have processed all events, and the queues in the database
// are empty.
func (r *run) checkApplied(ctx context.Context, bus *outbox.Bus) {
	conn, err := pgx.Connect(ctx, r.stack.Databases[""])
	if err != nil {
		r.reportf("%v", err)
		return
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	// The consumers first: they may add checks, syncs and events to the tables.
	for _, consumer := range []string{
		"budget-events", "auth-audit", "ledger-erasures", "auth-erasures",
	} {
		var lag int64
		if !within(ctx, r.EventTimeout, func() bool {
			lag, err = bus.Lag(ctx, consumer)
			return err == nil && lag == 0
		}) {
			r.reportf("%s is %d events behind: %v", consumer, lag, err)
		}
	}
	for _, table := range []string{
		"budget.alert_checks", "budget.reference_syncs", "ledger.outbox", "budget.outbox",
		"auth.outbox",
	} {
		var rows int
		empty := func() bool {
			err = conn.QueryRow(ctx, `SELECT count(*) FROM `+table).Scan(&rows)
			return err == nil && rows == 0
		}
		if !within(ctx, r.EventTimeout, empty) {
			r.reportf("%s still has %d rows: %v", table, rows, err)
		}
	}
}

// checkAlerts requires that both partners were notified once of each threshold that was reached. A
// notification of a threshold that is no longer reached is correct, because the spending may have
// decreased.
func (u *user) checkAlerts(ctx context.Context) {
	// The budget's only window lasts until 2035, so each threshold is reached once at most.
	percent := new(big.Rat).
		Quo(new(big.Rat).Mul(u.budget.spent, big.NewRat(100, 1)), u.budget.limit)
	for _, who := range []*user{u, u.partner} {
		// Thresholds are counted by their percentage.
		count := map[string]int{}
		for cursor, more := "", true; more; {
			path := "/api/v1/notifications?limit=200&cursor=" + cursor
			a := who.call(ctx, http.MethodGet, path, nil)
			for _, n := range a.list("notifications") {
				row := response{body: object{"n": n}}
				if row.text("n.type") == "budget.v1.budget.threshold_reached" &&
					row.text("n.data.budgetId") == u.budget.id {
					count[fmt.Sprint(row.at("n.data.threshold").(json.Number))]++
				}
			}
			cursor, more = a.text("pagination.nextCursor"), a.at("pagination.hasMore") == true
		}
		// The default thresholds of a budget.
		for _, threshold := range []string{"80", "100"} {
			switch n := count[threshold]; {
			case n > 1:
				who.reportf("%s was notified %d times that %s's budget reached %s %%",
					who.mark, n, u.mark, threshold)
			case n == 0 && percent.Cmp(rat(threshold)) >= 0:
				who.reportf("%s was not notified that %s's budget reached %s %%: it is at %s %%",
					who.mark, u.mark, threshold, percent.FloatString(1))
			}
		}
	}
}
