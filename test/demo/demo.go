// Package demo fills an account with a realistic year of a household, for demonstrations, screenshots and measurements of the console.
//
// Fill only uses the public REST API, like any client. The data follow from the seed and the current day: wallets in two currencies,
// categories, budgets of which one is shared and one is exceeded, a pending invitation, and transactions with plausible merchants,
// prices and seasons. Photographs of receipts are recognized by the server. The same options always give the same account, except for
// ids, so that screenshots can be compared. Fill does not change an existing account.
//
// household.go contains the household, year.go generates its transactions, and client.go sends the requests.
package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/ocrtest"
)

// ErrExists is returned if a user with the e-mail of the account exists. Fill has then changed nothing.
var ErrExists = errors.New("the account exists already")

const (
	// Password is the password of the accounts.
	Password = "a household of two"
	// batchSize is the number of transactions in a request, below the maximum of the API.
	batchSize = 250
	// photoPixels is the size of a photograph of a receipt.
	photoPixels = 1_200_000
)

// Options select the account and the amount of data.
type Options struct {
	// URL is the URL of the gateway, without a trailing slash.
	URL string
	// Email is the address of the account. PartnerEmail is the address of the user with whom it shares a budget.
	Email, PartnerEmail string
	// Days is the number of days before Now with transactions.
	Days int
	// Receipts is the number of photographs to upload, at most len(receipts).
	Receipts int
	// Seed selects merchants, amounts and days.
	Seed uint64
	// Now is the time of the last transactions.
	Now time.Time
}

// Account holds the numbers of created resources, for the summary that make demo prints.
type Account struct {
	Wallets, Categories, Transactions, Budgets, Receipts int
}

// filler holds the ids of the resources of one run.
type filler struct {
	Options
	user *client
	// wallets and categories map names to ids.
	wallets, categories map[string]string
}

// Fill creates the account and its partner and fills both. It returns ErrExists if the account exists.
func Fill(ctx context.Context, o Options) (Account, error) {
	user, err := newUser(ctx, o.URL, "Ada Marsh", o.Email)
	if err != nil {
		return Account{}, err
	}
	partner, err := newUser(ctx, o.URL, "Sam Okafor", o.PartnerEmail)
	if err != nil {
		return Account{}, err
	}
	f := &filler{Options: o, user: user, wallets: map[string]string{}, categories: map[string]string{}}
	entries := year(o.Seed, o.Now, o.Days)
	for _, step := range []func() error{
		func() error { return f.createAccounts(ctx, entries) },
		func() error { return f.createBudgets(ctx, partner) },
		func() error { return f.createTransactions(ctx, entries) },
		func() error { return f.uploadReceipts(ctx) },
		func() error { return invite(ctx, partner, o) },
	} {
		if err := step(); err != nil {
			return Account{}, err
		}
	}
	return Account{Wallets: len(wallets), Categories: len(categories), Transactions: len(entries), Budgets: len(budgets), Receipts: o.Receipts}, nil
}

// createAccounts creates the wallets and categories. The opening balances follow from the final ones.
func (f *filler) createAccounts(ctx context.Context, entries []entry) error {
	for i, w := range wallets {
		body := object{"name": w.name, "currency": w.currency, "balance": amount(w.balance - net(entries, w.name)), "color": w.color, "icon": w.icon, "position": i}
		id, err := f.user.create(ctx, "/api/v1/wallet", body, "wallet")
		if err != nil {
			return err
		}
		f.wallets[w.name] = id
	}
	for _, c := range categories {
		id, err := f.user.create(ctx, "/api/v1/categories", object{"name": c.name, "color": c.color, "icon": c.icon, "kind": c.kind}, "category")
		if err != nil {
			return err
		}
		f.categories[c.name] = id
	}
	return nil
}

// createBudgets creates the budgets before the transactions, so that these raise alerts. The partner accepts a share of the first one.
func (f *filler) createBudgets(ctx context.Context, partner *client) error {
	start := time.Date(f.Now.Year(), f.Now.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, -11, 0)
	for i, b := range budgets {
		ids := make([]string, len(b.categories))
		for j, name := range b.categories {
			ids[j] = f.categories[name]
		}
		id, err := f.user.create(ctx, "/api/v1/budgets", object{
			"name": b.name, "currency": currencyOf(b.wallet), "limit": amount(b.limit), "period": b.period,
			"startDate": start.Format(time.DateOnly), "walletId": f.wallets[b.wallet], "categoryIds": ids,
		}, "budget")
		if err != nil {
			return err
		}
		if i > 0 {
			continue
		}
		if err := f.user.share(ctx, id, partner.email, "editor", 40); err != nil {
			return err
		}
		if err := partner.call(ctx, "PATCH", "/api/v1/budgets/"+id+"/members/"+partner.id, object{"status": "accepted"}, nil); err != nil {
			return err
		}
	}
	return nil
}

// createTransactions creates the entries, oldest first. The requests have no idempotency keys, because send repeats only
// rejected ones.
func (f *filler) createTransactions(ctx context.Context, entries []entry) error {
	for len(entries) > 0 {
		batch := entries[:min(batchSize, len(entries))]
		entries = entries[len(batch):]
		bodies := make([]object, len(batch))
		for i, e := range batch {
			bodies[i] = object{
				"amount": amount(e.cents), "type": e.kind, "currency": currencyOf(e.wallet), "date": e.at.Format(time.RFC3339),
				"description": e.description, "walletId": f.wallets[e.wallet], "categoryId": f.categories[e.category],
			}
		}
		if err := f.user.call(ctx, "POST", "/api/v1/transaction/batch", object{"transactions": bodies}, nil); err != nil {
			return err
		}
	}
	return nil
}

// uploadReceipts uploads photographs of receipts of the last days.
func (f *filler) uploadReceipts(ctx context.Context) error {
	for i, r := range receipts[:f.Receipts] {
		day := f.Now.AddDate(0, 0, -2*i-1)
		photo, err := ocrtest.Photograph(fmt.Sprintf(r.text, day.Format("02/01/2006")), photoPixels, f.Seed+uint64(i))
		if err != nil {
			return err
		}
		if err := f.user.upload(ctx, photo, f.wallets[r.wallet], f.categories[r.category]); err != nil {
			return err
		}
	}
	return nil
}

// invite invites the account to a budget of the partner. The invitation stays pending.
func invite(ctx context.Context, partner *client, o Options) error {
	wallet, err := partner.create(ctx, "/api/v1/wallet", object{"name": "Trips", "currency": "EUR", "balance": amount(60000)}, "wallet")
	if err != nil {
		return err
	}
	category, err := partner.create(ctx, "/api/v1/categories", object{"name": "Weekends away", "icon": "⛺", "kind": "expense"}, "category")
	if err != nil {
		return err
	}
	budget, err := partner.create(ctx, "/api/v1/budgets", object{
		"name": "Weekends away", "currency": "EUR", "limit": amount(45000), "period": "quarterly",
		"startDate": o.Now.Format("2006-01") + "-01", "walletId": wallet, "categoryIds": []string{category},
	}, "budget")
	if err != nil {
		return err
	}
	return partner.share(ctx, budget, o.Email, "viewer", 50)
}
