// Package demo fills an account with a realistic year of a household, for demonstrations,
// screenshots and measurements of the console.
//
// Fill only uses the public REST API, like any client. The data follow from the seed and the
// current day: wallets in two currencies, categories, budgets of which one is shared and one is
// exceeded, a budget of the partner, a pending invitation, and transactions with plausible
// merchants, prices, tags, splits and seasons, transfers, and goals. Photographs of receipts are
// recognized by the server. There are rules, a booked import and one to review, attachments and
// webhooks. The same options always give the same account, except for ids, so that screenshots can
// be compared. Fill does not change an existing account.
//
// household.go contains the household, year.go generates its transactions, imports.go the rules and
// imports, partner.go the shared budgets, goals.go the goals, and client.go sends the requests.
package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/ocrtest"
)

// ErrExists is returned if a user with the e-mail of the account exists. Fill has then changed
// nothing.
var ErrExists = errors.New("the account exists already")

const (
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
	// Email is the address of the account. PartnerEmail is the address of the user with whom it
	// shares a budget.
	Email, PartnerEmail string
	// Days is the number of days before Now with transactions.
	Days int
	// Receipts is the number of photographs to upload, at most len(receipts).
	Receipts int
	Seed     uint64
	// Now is the time of the last transactions.
	Now time.Time
}

// Account holds the numbers of created resources, for the summary that make demo prints.
type Account struct {
	Wallets, Categories, Transactions, Transfers, Budgets, Receipts, Rules, Imports, Goals int
}

type filler struct {
	Options
	user *client
	// wallets and categories map names to ids.
	wallets, categories map[string]string
	latest              map[string]string
}

// Fill creates the account and its partner and fills both. It returns ErrExists if the account
// exists.
func Fill(ctx context.Context, options Options) (Account, error) {
	user, err := newUser(ctx, options.URL, "Ada Marsh", options.Email)
	if err != nil {
		return Account{}, err
	}
	partner, err := newUser(ctx, options.URL, "Sam Okafor", options.PartnerEmail)
	if err != nil {
		return Account{}, err
	}
	filler := &filler{
		Options: options, user: user, wallets: map[string]string{}, categories: map[string]string{},
		latest: map[string]string{},
	}
	entries := year(options.Seed, options.Now, options.Days)
	transactions := slices.DeleteFunc(slices.Clone(entries),
		func(e entry) bool { return e.kind == transfer })
	transfers := slices.DeleteFunc(slices.Clone(entries),
		func(e entry) bool { return e.kind != transfer })
	for _, step := range []func() error{
		func() error {
			return filler.createAccounts(ctx, append(imported(options.Now), entries...))
		},
		func() error { return filler.createBudgets(ctx, partner) },
		func() error { return filler.createTransactions(ctx, transactions) },
		func() error { return filler.createGoals(ctx) },
		func() error { return filler.createTransfers(ctx, transfers) },
		func() error { return filler.valueFund(ctx, firstDay(entries)) },
		func() error { return filler.attach(ctx) },
		func() error { return filler.createRules(ctx) },
		func() error { return filler.importStatements(ctx, transactions) },
		func() error { return filler.uploadReceipts(ctx) },
		func() error { return filler.shareHousehold(ctx, partner) },
		func() error { return filler.invite(ctx, partner) },
		func() error { return filler.createWebhooks(ctx) },
	} {
		if err := step(); err != nil {
			return Account{}, err
		}
	}
	return Account{
		Wallets: len(wallets), Categories: len(categories), Transactions: len(transactions),
		Transfers: len(transfers),
		Budgets:   len(budgets) + 1, Receipts: options.Receipts, Rules: len(rules), Imports: 2,
		Goals: len(goals),
	}, nil
}

// createAccounts creates the wallets and categories. The opening balances follow from the final
// ones, and count from the first day on.
func (f *filler) createAccounts(ctx context.Context, entries []entry) error {
	first := firstDay(entries).Format(time.DateOnly)
	for i, w := range wallets {
		body := object{
			"name": w.name, "currency": w.currency, "kind": w.kind,
			"balance": amount(w.balance - net(entries, w.name)), "openingDate": first,
			"color": w.color, "icon": w.icon, "position": i,
		}
		id, err := f.user.create(ctx, "/api/v1/wallet", body, "wallet")
		if err != nil {
			return err
		}
		f.wallets[w.name] = id
	}
	for _, c := range categories {
		id, err := f.user.create(ctx, "/api/v1/categories",
			object{"name": c.name, "color": c.color, "icon": c.icon, "kind": c.kind}, "category")
		if err != nil {
			return err
		}
		f.categories[c.name] = id
	}
	return f.user.call(ctx, http.MethodPatch, "/api/v1/settings", object{
		"baseCurrency": "EUR", "timeZone": "Europe/Dublin", "defaultWalletId": f.wallets[checking],
		"defaultCategoryId": f.categories[groceries],
	}, nil)
}

// valueFund states the value of the fund at the end of each of the last months, which changes
// without income.
func (f *filler) valueFund(ctx context.Context, first time.Time) error {
	for _, v := range valuations(f.Now, first) {
		body := object{
			"date": v.day.Format(time.DateOnly), "balance": amount(v.cents),
			"description": "Value at the end of the month",
		}
		path := "/api/v1/wallet/" + f.wallets[fund] + "/adjustments"
		if err := f.user.call(ctx, http.MethodPost, path, body, nil); err != nil {
			return err
		}
	}
	return nil
}

// createBudgets creates the budgets before the transactions, so that these raise alerts. The
// partner accepts a share of the first one, and raises its limit.
func (f *filler) createBudgets(ctx context.Context, partner *client) error {
	start := time.Date(f.Now.Year(), f.Now.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, -11, 0)
	for index, tc := range budgets {
		ids := make([]string, len(tc.categories))
		for j, name := range tc.categories {
			ids[j] = f.categories[name]
		}
		id, err := f.user.create(ctx, "/api/v1/budgets", object{
			"name": tc.name, "currency": currencyOf(tc.wallet), "limit": amount(tc.limit),
			"period":    tc.period,
			"startDate": start.Format(time.DateOnly), "walletId": f.wallets[tc.wallet],
			"categoryIds": ids,
		}, "budget")
		if err != nil {
			return err
		}
		if index > 0 {
			continue
		}
		if err := f.user.share(ctx, id, partner.email, "editor", 40); err != nil {
			return err
		}
		if err := partner.accept(ctx, id); err != nil {
			return err
		}
		if err := partner.call(ctx, http.MethodPatch, "/api/v1/budgets/"+id,
			object{"limit": amount(tc.limit + 5_000)}, nil); err != nil {
			return err
		}
	}
	return nil
}

// createTransactions creates the entries, oldest first. The requests have no idempotency keys,
// because send repeats only rejected ones.
func (f *filler) createTransactions(ctx context.Context, entries []entry) error {
	for len(entries) > 0 {
		batch := entries[:min(batchSize, len(entries))]
		entries = entries[len(batch):]
		bodies := make([]object, len(batch))
		for i, e := range batch {
			bodies[i] = f.transaction(e)
		}
		var created struct{ Transactions []struct{ ID string } }
		if err := f.user.call(ctx, http.MethodPost, "/api/v1/transaction/batch",
			object{"transactions": bodies}, &created); err != nil {
			return err
		}
		for i, e := range batch {
			f.latest[e.category] = created.Transactions[i].ID
		}
	}
	return nil
}

func (f *filler) transaction(entry entry) object {
	body := object{
		"amount": amount(entry.cents), "type": entry.kind, "currency": currencyOf(entry.wallet),
		"date":  entry.at.Format(time.RFC3339),
		"payee": entry.payee, "description": entry.description, "tags": entry.tags,
		"walletId": f.wallets[entry.wallet],
	}
	if entry.part == "" {
		body["categoryId"] = f.categories[entry.category]
	} else {
		body["splits"] = []object{
			{
				"amount":     amount(entry.cents - entry.partCents),
				"categoryId": f.categories[entry.category],
			},
			{"amount": amount(entry.partCents), "categoryId": f.categories[entry.part]},
		}
	}
	return body
}

func (f *filler) createTransfers(ctx context.Context, entries []entry) error {
	for _, e := range entries {
		body := object{
			"fromWalletId": f.wallets[e.wallet], "toWalletId": f.wallets[e.to],
			"amount": amount(e.cents), "toAmount": amount(e.toCents),
			"date": e.at.Format(time.RFC3339), "description": e.description, "tags": e.tags,
		}
		if err := f.user.call(ctx, http.MethodPost, "/api/v1/transfers", body, nil); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) attach(ctx context.Context) error {
	for i, p := range papers {
		id, ok := f.latest[p.category]
		if !ok {
			continue // A short account may have no transaction of the category.
		}
		photo, err := ocrtest.Photograph(p.text, photoPixels/2, f.Seed+uint64(i))
		if err != nil {
			return err
		}
		path := "/api/v1/transaction/" + id + "/attachments"
		if err := f.user.upload(ctx, path, "file", p.name, photo, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) uploadReceipts(ctx context.Context) error {
	for i, r := range receipts[:f.Receipts] {
		day := f.Now.AddDate(0, 0, -2*i-1)
		photo, err := ocrtest.Photograph(fmt.Sprintf(r.text, day.Format("02/01/2006")), photoPixels,
			f.Seed+uint64(i))
		if err != nil {
			return err
		}
		fields := map[string]string{
			"walletId": f.wallets[r.wallet], "categoryId": f.categories[r.category],
		}
		const path = "/api/v1/transaction/receipt?keepImage=true"
		err = f.user.upload(ctx, path, "receipt", "receipt.jpg", photo, fields, nil)
		if err != nil {
			return err
		}
	}
	return nil
}
