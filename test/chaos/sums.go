package chaos

import (
	"context"
	"math/big"
	"net/http"
	"os/exec"
	"path/filepath"
)

// checkSums compares balances, totals and budget progress with the sums of the listed transactions.
// Both partners must see the same progress.
func (u *user) checkSums(ctx context.Context, is transactions) {
	// All transactions are in March 2026, so one window covers all of them. Each wallet has one
	// currency.
	spent := new(big.Rat)
	balances := map[string]*big.Rat{}
	incomes := map[string]*big.Rat{}
	expenses := map[string]*big.Rat{}
	wallets := append(u.wallets, u.dollars)
	for _, w := range wallets {
		balances[w.id], incomes[w.id], expenses[w.id] = new(big.Rat).
			Set(w.opening), new(big.Rat), new(big.Rat)
	}
	count := func(target version) {
		balances[target.wallet].Add(balances[target.wallet], target.amount)
		// A refund within an expense lowers the expense, so the whole amount counts (ADR 103).
		if target.amount.Sign() > 0 {
			incomes[target.wallet].Add(incomes[target.wallet], target.amount)
		} else {
			expenses[target.wallet].Sub(expenses[target.wallet], target.amount)
		}
		if target.wallet == u.budget.wallet {
			spent.Sub(spent, target.in(u.budget.category))
		}
	}
	for _, v := range is {
		count(v)
	}
	for _, t := range u.transfers {
		for _, l := range t.legs {
			if l.transfer == "" {
				count(l.version)
			} else {
				// Transfers are in no total.
				balances[l.wallet].Add(balances[l.wallet], l.amount)
			}
		}
	}
	// same compares a value in a response with the expected sum.
	same := func(what string, want *big.Rat, a response, path string) {
		if got, ok := new(big.Rat).SetString(a.text(path)); !ok || got.Cmp(want) != 0 {
			u.reportf("%s of %s is %s, but adds up to %s",
				what, u.mark, a.text(path), want.FloatString(2))
		}
	}
	for _, w := range wallets {
		same("the balance", balances[w.id],
			u.call(ctx, http.MethodGet, "/api/v1/wallet/"+w.id, nil), "wallet.balance")
	}
	summary := u.call(ctx, http.MethodGet,
		"/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31", nil)
	for _, w := range summary.list("summary.byWallet") {
		row := response{body: object{"row": w}}
		if id := row.text("row.walletId"); incomes[id] != nil {
			same("the summary's income", incomes[id], row, "row.income")
			same("the summary's expense", expenses[id], row, "row.expense")
		}
	}
	for _, other := range []*user{u, u.partner} {
		var a response
		// The budget service omits progress until it retries the ledger.
		within(ctx, u.EventTimeout, func() bool {
			path := "/api/v1/budgets/" + u.budget.id + "?at=2026-03-14"
			a = other.call(ctx, http.MethodGet, path, nil)
			return a.at("budget.progress") != nil
		})
		same("the budget's progress", spent, a, "budget.progress.spent")
	}
	u.budget.spent = spent
}

// verifySums runs `ledger verify`, which recomputes the balances and monthly totals of all users.
func (r *run) verifySums(ctx context.Context) {
	verify := exec.CommandContext(ctx, filepath.Join(r.Programs, "ledger"), "verify")
	// The command exits with an error if it finds a difference.
	verify.Env = []string{"DATABASE_URL=" + r.stack.Databases["ledger"]}
	if out, err := verify.CombinedOutput(); err != nil {
		r.reportf("ledger verify: %v: %s", err, out)
	}
}
