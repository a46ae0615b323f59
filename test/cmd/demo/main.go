// Command demo fills an account of a running Coffer with a year of a household, and prints how to
// sign in. `make demo` runs it.
//
// The same seed on the same day creates the same data. It uses only the public REST API, so it also
// fills a remote Coffer. It does not change an account that exists. The package test/demo describes
// the data.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/coffer-budget/coffer/test/demo"
)

func main() {
	options := demo.Options{Now: time.Now().UTC()}
	flag.StringVar(&options.URL, "url", "http://localhost:8080", "URL of the gateway")
	flag.StringVar(&options.Email, "email", "ada@coffer.example", "e-mail of the account")
	flag.StringVar(&options.PartnerEmail, "partner", "sam@coffer.example",
		"e-mail of the user who shares a budget")
	flag.IntVar(&options.Days, "days", 365, "number of days with transactions")
	flag.IntVar(&options.Receipts, "receipts", 3, "number of photographs of receipts, at most 3")
	flag.Uint64Var(&options.Seed, "seed", 1, "selects merchants, amounts and days")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, options); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, options demo.Options) error {
	account, err := demo.Fill(ctx, options)
	switch {
	case errors.Is(err, demo.ErrExists):
		const advice = `For another account: make demo DEMOFLAGS="-email=... -partner=..."`
		fmt.Printf("%v. Nothing was changed. %s\n", err, advice)
	case err != nil:
		return err
	default:
		fmt.Printf("Created %d wallets, %d categories, %d transactions, %d transfers, "+
			"%d budgets, %d goals, %d receipts, %d rules and %d imports.\n",
			account.Wallets, account.Categories, account.Transactions, account.Transfers,
			account.Budgets, account.Goals, account.Receipts, account.Rules, account.Imports)
	}
	fmt.Printf("Sign in at %s\n  e-mail    %s (or %s)\n  password  %s\n",
		options.URL, options.Email, options.PartnerEmail, demo.Password)
	return nil
}
