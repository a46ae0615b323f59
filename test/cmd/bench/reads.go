package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/services/ledger/ledgertest"
)

const firstPage = "/api/v1/transaction?limit=50"

// pageSQL is the query of that page. It reads one row more than the page has, like the ledger,
// which finds out in this way whether another page follows.
const pageSQL = `
SELECT t.id, t.owner_id, t.amount_minor, t.description, t.date, t.currency, t.wallet_id,
	t.category_id, t.receipt_id, t.version, t.created_at, t.updated_at
FROM transactions t
WHERE t.owner_id = '%s'
ORDER BY t.date DESC, t.id DESC
LIMIT 51;
`

// reads measures lists, dashboard and budgets in a ledger with millions of transactions, and
// compares some with a ledger that has 50 000. The time of a request should depend on its result,
// and not on the size of the table or of the user's history.
func (b *bench) reads(ctx context.Context) error {
	// Both stacks run at the same time, but only one of them gets requests.
	large, err := b.stack(ctx, "large")
	if err != nil {
		return err
	}
	small, err := b.stack(ctx, "small")
	if err != nil {
		return err
	}
	readers, err := b.fill(ctx, large, b.rows, 100_000, 1000)
	if err != nil {
		return err
	}
	// Readers with long, usual and short histories.
	rich, usual := readers[0], readers[1]
	readers, err = b.fill(ctx, small, 50_000, 1000)
	if err != nil {
		return err
	}
	few := readers[0]
	if err := b.compareLists(ctx, large, small, rich, few); err != nil {
		return err
	}
	// The default window is the current month.
	const summary = "/api/v1/dashboard/summary"
	err = b.compareMedians(ctx, comparison{
		what: "dashboard of a user with 100 000 transactions, against one with 1000", atMost: 1.3,
	},
		large, rich.gets(summary), large, usual.gets(summary))
	if err != nil {
		return err
	}
	if err := b.compareBudgets(ctx, large); err != nil {
		return err
	}
	return b.stop("small")
}

// fill creates a user for each number in each, with that many transactions over three years. The
// other rows belong to further owners with 1000 transactions over one year each.
func (b *bench) fill(ctx context.Context, target *stack, rows int, each ...int) ([]user, error) {
	var readers []user
	var owners []ledgertest.Owner
	for _, n := range each {
		u, err := target.newUser(ctx)
		if err != nil {
			return nil, err
		}
		readers = append(readers, u)
		owners = append(owners, ledgertest.Owner{ID: u.id, Transactions: n, Years: 3})
		rows -= n
	}
	// The other owners provide the rest of the rows.
	for range rows / 1000 {
		owners = append(owners, ledgertest.Owner{ID: uuid.New(), Transactions: 1000, Years: 1})
	}
	conn, err := target.superuser(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	// The histories end with the current month, so that the dashboard's window is full.
	now := time.Now().UTC()
	monthsEnd := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Second)
	return readers, ledgertest.Fill(ctx, conn, monthsEnd, owners...)
}

func (b *bench) compareLists(ctx context.Context, large, small *stack, rich, few user) error {
	err := b.compareMedians(ctx, comparison{
		what: fmt.Sprintf("first page of a user with 100 000 of %d transactions, "+
			"against 1000 of 50 000", b.rows),
		atMost: 1.6,
	}, large, rich.gets(firstPage), small, few.gets(firstPage))
	if err != nil {
		return err
	}
	if err := b.comparePages(ctx, large, rich, "pages of 50, 16 clients", 0.3); err != nil {
		return err
	}
	// p99 measures the slow requests: a single slow combination would not change the median.
	p99 := func(requests ...request) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) {
			a, err := b.wrk(ctx, large, load{clients: 8, requests: requests})
			return a.p99, err
		}
	}
	// All combinations are sent in turn, so each has the same share of the requests.
	requests, err := listRequests(ctx, rich)
	if err != nil {
		return err
	}
	// The page without filters shows the part of the latency that is the wait for a core.
	_, err = b.compare(ctx, comparison{
		what: fmt.Sprintf(
			"%d filters and orders on 100 000 transactions, 8 clients, 99th percentile, "+
				"against no filter", len(requests),
		),
		unit: "ms", atMost: 50, absolute: true,
		ours: p99(requests...), theirs: p99(rich.gets(firstPage)),
	})
	return err
}

func listRequests(ctx context.Context, created user) ([]request, error) {
	var wallets struct{ Wallets []struct{ ID string } }
	var categories struct{ Categories []struct{ ID string } }
	if err := created.call(ctx, http.MethodGet, "/api/v1/wallet", nil, &wallets); err != nil {
		return nil, err
	}
	if err := created.call(ctx, http.MethodGet, "/api/v1/categories", nil,
		&categories); err != nil {
		return nil, err
	}
	wallet, category := "walletId="+wallets.Wallets[0].ID, "categoryId="+categories.Categories[0].ID
	// A month in the past, so that a list in the order of dates must skip newer rows.
	month := time.Now().AddDate(0, -3, 0).Format("2006-01")
	var requests []request
	// The values match few, many or no transactions that ledgertest.Fill creates.
	for _, filter := range []string{
		"", wallet, wallet + "&walletId=" + wallets.Wallets[1].ID, category,
		wallet + "&" + category, "type=expense", "type=income",
		"currency=EUR", "currency=JPY", "currency=CHF", "from=" + month + "-01&to=" + month + "-28",
		"minAmount=-150&maxAmount=-100",
		"minAmount=199.9", "q=groceries", "q=" + url.QueryEscape("café 1234"), "q=nothing+has+it",
		"q=rent&" + wallet,
	} {
		for _, sort := range []string{"-date", "date", "-amount", "amount"} {
			requests = append(requests, created.gets(firstPage+"&sort="+sort+"&"+filter))
		}
	}
	return requests, nil
}

// comparePages compares pages with PostgreSQL, which runs the query of the same page.
func (b *bench) comparePages(
	ctx context.Context, target *stack, created user, what string, goal float64,
) error {
	const clients = 16
	_, err := b.compare(ctx, comparison{
		what: what, unit: "/s", atLeast: goal,
		ours: func(ctx context.Context) (float64, error) {
			a, err := b.wrk(ctx, target,
				load{clients: clients, requests: []request{created.gets(firstPage)}})
			return a.perSecond, err
		},
		theirs: func(ctx context.Context) (float64, error) {
			a, err := b.pgbench(ctx, target, fmt.Sprintf(pageSQL, created.id), clients, 0)
			return a.perSecond, err
		},
	})
	return err
}

// compareBudgets compares a list of 50 budgets with a list of one. Both take one call to the
// ledger.
func (b *bench) compareBudgets(ctx context.Context, target *stack) error {
	// One writer gets 50 budgets, the other one.
	for i, created := range target.writers[:2] {
		for n := range []int{50, 1}[i] {
			err := created.call(ctx, http.MethodPost, "/api/v1/budgets", map[string]any{
				"name": fmt.Sprintf("Budget %d", n), "currency": "EUR", "limit": 100,
				"period": "monthly", "startDate": "2026-01-15",
				"walletId": created.wallet, "categoryIds": []string{created.category},
			}, nil)
			if err != nil {
				return err
			}
		}
	}
	const path = "/api/v1/budgets?limit=50"
	return b.compareMedians(ctx,
		comparison{what: "list of 50 budgets, against a list of 1", atMost: 3},
		target, target.writers[0].gets(path), target, target.writers[1].gets(path))
}

func (b *bench) compareMedians(
	ctx context.Context, comparison comparison, target *stack, req request, against *stack,
	smaller request,
) error {
	// side measures one request on one stack.
	side := func(s *stack, r request) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) {
			a, err := b.wrk(ctx, s, load{clients: 4, requests: []request{r}})
			return a.median, err
		}
	}
	comparison.unit, comparison.ours, comparison.theirs = "ms", side(target, req), side(against,
		smaller)
	_, err := b.compare(ctx, comparison)
	return err
}
