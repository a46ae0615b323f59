package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/outbox"
)

// transactions are the final transactions of a user by id.
type transactions map[string]version

// check verifies each guarantee after the recovery.
func (r *run) check(ctx context.Context) {
	bus, err := outbox.Connect(outbox.Config{NATSURL: r.stack.NATS, NATSReplicas: 1}, "chaos", slog.New(slog.DiscardHandler))
	if err != nil {
		r.find("%v", err)
		return
	}
	defer bus.Close()
	var all sync.WaitGroup
	for _, p := range r.users {
		all.Go(func() { p.check(ctx, bus) })
	}
	all.Wait()
	r.logf("the transactions of all users are checked")
	r.checkApplied(ctx, bus)
	r.logf("all events are processed")
	r.verifySums(ctx)
	for _, p := range r.users {
		p.checkAlerts(ctx)
	}
}

func (p *user) check(ctx context.Context, bus *outbox.Bus) {
	p.resolve(ctx)
	if a := p.ask(ctx, http.MethodPost, "/api/v1/categories", object{"name": p.mark + " end"}); a.status != http.StatusCreated {
		p.find("%s cannot write any more: %d %s", p.mark, a.status, a.raw)
		return
	}
	is := p.checkTransactions(ctx)
	p.checkReferences(ctx, is)
	p.checkSums(ctx, is)
	p.checkReceipts(ctx)
	p.checkCategories(ctx)
	p.checkEvents(ctx, bus, is)
}

// resolve repeats the requests with an idempotency key whose result is unknown, until they are answered.
func (p *user) resolve(ctx context.Context) {
	for _, again := range p.pending {
		if !within(ctx, time.Minute, func() bool { return again(ctx) }) {
			p.find("%s: a repeated request has no answer long after all was mended", p.mark)
		}
	}
}

// checkTransactions compares the listed transactions with the possible states, and returns them.
func (p *user) checkTransactions(ctx context.Context) transactions {
	is, marked := transactions{}, map[string]string{}
	for _, wallet := range p.wallets {
		for cursor, more := "", true; more; {
			a := p.ask(ctx, http.MethodGet, "/api/v1/transaction?limit=200&walletId="+wallet.id+"&cursor="+cursor, nil)
			if a.status != http.StatusOK {
				p.find("listing: %d %s", a.status, a.raw)
				return is
			}
			for _, t := range a.list("transactions") {
				id, v := answer{body: object{"t": t}}.text("t.id"), versionOf(t)
				mark, _, _ := strings.Cut(v.text, ";")
				if other, twice := marked[mark+";"]; twice {
					p.find("%s was made twice, as %s and %s", mark, other, id)
				}
				is[id], marked[mark+";"] = v, id
			}
			cursor, more = a.text("pagination.nextCursor"), a.at("pagination.hasMore") == true
		}
	}
	for _, t := range p.records {
		id, exists := marked[t.mark]
		delete(marked, t.mark)
		switch {
		case !exists && !t.maybeAbsent:
			p.find("%s %s was acknowledged and is lost", t.id, t.mark)
		case exists && len(t.states) == 0:
			p.find("%s %s was deleted but exists", id, t.mark)
		case exists && t.id != "" && t.id != id:
			p.find("%s was acknowledged as %s and is %s", t.mark, t.id, id)
		case exists:
			t.id = id
			t.compare(is[id])
		}
	}
	for mark, id := range marked {
		p.find("%s %s exists, but was never requested", id, mark)
	}
	p.checkBatches(is)
	return is
}

// checkBatches requires that batches with an unknown result exist completely or not at all.
func (p *user) checkBatches(is transactions) {
	for _, b := range p.batches {
		exist := 0
		for _, t := range b.records {
			if _, ok := is[t.id]; ok {
				exist++
			}
		}
		if !b.acknowledged && exist > 0 && exist < len(b.records) {
			p.find("%d of the %d transactions from %s on were made", exist, len(b.records), b.records[0].mark)
		}
	}
}

// checkSums compares balances, totals and budget progress with the sums of the listed transactions.
func (p *user) checkSums(ctx context.Context, is transactions) {
	income, expense, spent := new(big.Rat), new(big.Rat), new(big.Rat)
	balances := map[string]*big.Rat{}
	for _, w := range p.wallets {
		balances[w.id] = new(big.Rat).Set(w.opening)
	}
	for _, v := range is {
		balances[v.wallet].Add(balances[v.wallet], v.amount)
		if v.amount.Sign() > 0 {
			income.Add(income, v.amount)
		} else {
			expense.Sub(expense, v.amount)
		}
		if v.wallet == p.budget.wallet && v.category == p.budget.category {
			spent.Sub(spent, v.amount)
		}
	}
	same := func(what string, want *big.Rat, a answer, path string) {
		if got, ok := new(big.Rat).SetString(a.text(path)); !ok || got.Cmp(want) != 0 {
			p.find("%s of %s is %s, but adds up to %s", what, p.mark, a.text(path), want.FloatString(2))
		}
	}
	for _, w := range p.wallets {
		same("the balance", balances[w.id], p.ask(ctx, http.MethodGet, "/api/v1/wallet/"+w.id, nil), "wallet.balance")
	}
	summary := p.ask(ctx, http.MethodGet, "/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31", nil)
	for _, w := range summary.list("summary.byWallet") {
		row := answer{body: object{"row": w}}
		if balance := balances[row.text("row.walletId")]; balance != nil {
			opening := p.wallets[slices.IndexFunc(p.wallets, func(o *wallet) bool { return o.id == row.text("row.walletId") })].opening
			same("the summary's total", new(big.Rat).Sub(balance, opening), row, "row.net")
		}
	}
	for _, other := range []*user{p, p.partner} {
		var a answer
		// The budget service omits progress until it retries the ledger.
		within(ctx, p.EventTimeout, func() bool {
			a = other.ask(ctx, http.MethodGet, "/api/v1/budgets/"+p.budget.id+"?at=2026-03-14", nil)
			return a.at("budget.progress") != nil
		})
		same("the budget's progress", spent, a, "budget.progress.spent")
	}
	p.budget.spent = spent
}

// checkReceipts requires that each receipt was posted completely and once.
func (p *user) checkReceipts(ctx context.Context) {
	a := p.ask(ctx, http.MethodGet, "/api/v1/transaction?limit=200&walletId="+p.receipts.id, nil)
	sums := map[string]*big.Rat{}
	for _, t := range a.list("transactions") {
		row := answer{body: object{"t": t}}
		id := row.text("t.receiptId")
		if sums[id] == nil {
			sums[id] = new(big.Rat)
		}
		sums[id].Add(sums[id], rat(row.text("t.amount")))
	}
	for id, sum := range sums {
		if sum.Cmp(rat("-6.00")) != 0 {
			p.find("the transactions of receipt %s add up to %s", id, sum.FloatString(2))
		}
	}
	if len(sums) != p.scanned {
		p.find("%s uploaded %d receipts with keys, and has %d", p.mark, p.scanned, len(sums))
	}
	want := new(big.Rat).Mul(big.NewRat(int64(-len(sums)), 1), rat("6.00"))
	if a := p.ask(ctx, http.MethodGet, "/api/v1/wallet/"+p.receipts.id, nil); a.text("wallet.balance") != want.FloatString(2) {
		p.find("%s: the receipts' wallet holds %s, not %s", p.mark, a.text("wallet.balance"), want.FloatString(2))
	}
}

// checkCategories requires that each category created with a key exists once.
func (p *user) checkCategories(ctx context.Context) {
	count := map[string]int{}
	for cursor, more := "", true; more; {
		a := p.ask(ctx, http.MethodGet, "/api/v1/categories?limit=200&cursor="+cursor, nil)
		for _, c := range a.list("categories") {
			count[answer{body: object{"c": c}}.text("c.name")]++
		}
		cursor, more = a.text("pagination.nextCursor"), a.at("pagination.hasMore") == true
	}
	for _, name := range p.categoryNames {
		if count[name] != 1 {
			p.find("category %q is there %d times", name, count[name])
		}
	}
}

// checkApplied waits until all consumers have processed all events.
func (r *run) checkApplied(ctx context.Context, bus *outbox.Bus) {
	conn, err := pgx.Connect(ctx, r.stack.Databases[""])
	if err != nil {
		r.find("%v", err)
		return
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, consumer := range []string{"budget-events", "auth-audit"} {
		var lag int64
		if !within(ctx, r.EventTimeout, func() bool { lag, err = bus.Lag(ctx, consumer); return err == nil && lag == 0 }) {
			r.find("%s is %d events behind: %v", consumer, lag, err)
		}
	}
	for _, table := range []string{"budget.alert_checks", "budget.reference_syncs", "ledger.outbox", "budget.outbox", "auth.outbox"} {
		var rows int
		empty := func() bool {
			err = conn.QueryRow(ctx, `SELECT count(*) FROM `+table).Scan(&rows)
			return err == nil && rows == 0
		}
		if !within(ctx, r.EventTimeout, empty) {
			r.find("%s still has %d rows: %v", table, rows, err)
		}
	}
}

// verifySums runs `ledger verify`, which recomputes the balances and monthly totals of all users.
func (r *run) verifySums(ctx context.Context) {
	verify := exec.CommandContext(ctx, filepath.Join(r.Programs, "ledger"), "verify")
	verify.Env = []string{"DATABASE_URL=" + r.stack.Databases["ledger"]}
	if out, err := verify.CombinedOutput(); err != nil {
		r.find("ledger verify: %v: %s", err, out)
	}
}

// checkAlerts requires that both partners were notified once of each threshold that was reached.
func (p *user) checkAlerts(ctx context.Context) {
	percent := new(big.Rat).Quo(new(big.Rat).Mul(p.budget.spent, big.NewRat(100, 1)), p.budget.limit)
	for _, who := range []*user{p, p.partner} {
		count := map[string]int{}
		for cursor, more := "", true; more; {
			a := who.ask(ctx, http.MethodGet, "/api/v1/notifications?limit=200&cursor="+cursor, nil)
			for _, n := range a.list("notifications") {
				row := answer{body: object{"n": n}}
				if row.text("n.type") == "budget.v1.budget.threshold_reached" && row.text("n.data.budgetId") == p.budget.id {
					count[fmt.Sprint(row.at("n.data.threshold").(json.Number))]++
				}
			}
			cursor, more = a.text("pagination.nextCursor"), a.at("pagination.hasMore") == true
		}
		for _, threshold := range []string{"80", "100"} {
			switch n := count[threshold]; {
			case n > 1:
				who.find("%s was notified %d times that %s's budget reached %s %%", who.mark, n, p.mark, threshold)
			case n == 0 && percent.Cmp(rat(threshold)) >= 0:
				who.find("%s was not notified that %s's budget reached %s %%: it is at %s %%", who.mark, p.mark, threshold, percent.FloatString(1))
			}
		}
	}
}

// compare requires that a transaction is in one of its possible states.
func (t *record) compare(is version) {
	if t.contended {
		if !slices.ContainsFunc(t.states, func(v version) bool { return v.amount.Cmp(is.amount) == 0 }) {
			t.p.find("%s %s has an amount that was never requested: %s", t.id, t.mark, is)
		}
		return
	}
	if !slices.ContainsFunc(t.states, func(v version) bool { return t.p.same(v, is) }) {
		t.p.find("%s %s is %s, but may be only %s", t.id, t.mark, is, t.states)
	}
}

func versionOf(transaction any) version {
	a := answer{body: object{"t": transaction}}
	return version{amount: rat(a.text("t.amount")), wallet: a.text("t.walletId"), category: a.text("t.categoryId"), text: a.text("t.description")}
}
