package demo

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// rules are the rules of the account. value is the name of a category for setCategory, otherwise a
// tag.
var rules = []struct{ name, field, op, operand, kind, value string }{
	{"Books are gifts", "payee", "contains", "Paper Moon", "setCategory", gifts},
	{"Trains and buses", "payee", "startsWith", "Metro Transit", "setCategory", transport},
	{"Trips", "text", "contains", "Guesthouse", "addTag", "Weekend trip"},
	{"Large payments", "amount", "gt", "250", "addTag", "Check"},
}

// createRules creates the rules. The last one is off.
func (f *filler) createRules(ctx context.Context) error {
	for i, r := range rules {
		value := r.value
		if r.kind == "setCategory" {
			value = f.categories[r.value]
		}
		err := f.user.call(ctx, http.MethodPost, "/api/v1/rules", object{
			"name": r.name, "enabled": i < len(rules)-1,
			"conditions": []object{{"field": r.field, "op": r.op, "values": []string{r.operand}}},
			"actions":    []object{{"kind": r.kind, "value": value}},
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// The ages in days of the rows of the two statements, which overlap.
const (
	bookedDays = 31
	reviewDays = 36
)

// statement has the rows of the bank's statements of the everyday card, oldest first.
var statement = []struct {
	ago          int
	payee, about string
	cents        int64
}{
	{58, "Roxy Cinema", "Two tickets", 2480},
	{54, "Bloom & Stem", "Flowers for Mara", 3150},
	{51, "Paper Moon Books", "Card payment", 1890},
	{47, "Climbing Hall 8a", "Ten entries", 9500},
	{43, "Ceramics by Ines", "Two cups", 4200},
	{39, "Board Game Café", "Card payment", 1730},
	{35, "Philharmonic", "Season opening", 6400},
	{33, "Paper Moon Books", "Card payment", 2295},
	{20, "Seeblick Guesthouse", "One night", 11800},
	{13, "Paper Moon Books", "Picture books", 3160},
	{8, "Metro Transit", "Ticket", 880},
	{4, "Kite & Wind", "Card payment", 5490},
	{2, "Roxy Cinema", "Two tickets", 2480},
}

// imported returns the rows that importStatements books.
func imported(now time.Time) []entry {
	var entries []entry
	for _, s := range statement {
		if s.ago > bookedDays {
			entries = append(entries, entry{
				at: now.AddDate(0, 0, -s.ago), kind: expense, wallet: card, payee: s.payee,
				description: s.about, cents: s.cents,
			})
		}
	}
	return entries
}

// importStatements books one statement of the bank, and leaves the next one for the review. The
// second one repeats rows of the first one and transactions that were entered by hand, and has a
// row with an impossible date.
func (f *filler) importStatements(ctx context.Context, transactions []entry) error {
	first := imported(f.Now)
	if err := f.importStatement(ctx, first[len(first)-1].at, first, true); err != nil {
		return err
	}
	var second []entry
	for _, s := range statement {
		if s.ago < reviewDays {
			day := f.Now.AddDate(0, 0, -s.ago)
			second = append(second,
				entry{at: day, payee: s.payee, description: s.about, cents: s.cents})
		}
	}
	for _, e := range transactions {
		if e.wallet == card && e.kind == expense && e.at.After(f.Now.AddDate(0, 0, -20)) {
			second = append(second, e)
		}
	}
	slices.SortStableFunc(second, func(a, b entry) int { return a.at.Compare(b.at) })
	return f.importStatement(ctx, f.Now, second, false)
}

// importStatement uploads a statement of the everyday card. book commits it and waits until it is
// booked.
func (f *filler) importStatement(
	ctx context.Context, until time.Time, entries []entry, book bool,
) error {
	file := "Date;Payee;Details;Amount\n"
	for _, e := range entries {
		file += fmt.Sprintf("%s;%s;%s;-%s\n", e.at.Format("02.01.2006"), e.payee, e.description,
			strings.Replace(string(amount(e.cents)), ".", ",", 1))
	}
	if !book {
		file += fmt.Sprintf("31.02.%d;Harbor Bank;Fee of the card;-2,50\n", until.Year())
	}
	var created struct{ Import struct{ ID string } }
	name := "everyday-card-" + until.Format("2006-01") + ".csv"
	err := f.user.upload(ctx, "/api/v1/imports", "file", name, []byte(file),
		map[string]string{"walletId": f.wallets[card]}, &created)
	if err != nil {
		return err
	}
	path := "/api/v1/imports/" + created.Import.ID
	defaults := object{
		"walletId": f.wallets[card], "expenseCategoryId": f.categories[leisure],
		"incomeCategoryId": f.categories[gifts],
	}
	err = f.user.call(ctx, http.MethodPatch, path, object{"defaults": defaults}, nil)
	if err != nil || !book {
		return err
	}
	if err := f.user.call(ctx, http.MethodPost, path+"/commit", object{}, nil); err != nil {
		return err
	}
	for {
		var current struct{ Import struct{ Status string } }
		err := f.user.call(ctx, http.MethodGet, path, nil, &current)
		if err != nil || current.Import.Status == "done" {
			return err
		}
		if current.Import.Status == "failed" {
			return fmt.Errorf("the import of %s failed", name)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// createWebhooks creates a webhook with one delivery, and one that is off. Hosts in .example do not
// exist, so the delivery fails.
func (f *filler) createWebhooks(ctx context.Context) error {
	id, err := f.user.create(ctx, "/api/v1/webhooks", object{
		"url":         "https://home.coffer.example/hooks/budgets",
		"description": "Light in the kitchen turns red", "events": []string{"budget.v1.budget.*"},
	}, "webhook")
	if err != nil {
		return err
	}
	path := "/api/v1/webhooks/" + id + "/test"
	if err := f.user.call(ctx, http.MethodPost, path, object{}, nil); err != nil {
		return err
	}
	_, err = f.user.create(ctx, "/api/v1/webhooks", object{
		"url": "https://sheets.coffer.example/import", "description": "Spreadsheet",
		"enabled": false, "events": []string{"ledger.v1.transaction.*"},
	}, "webhook")
	return err
}
