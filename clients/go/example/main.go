// Command example shows how to use the generated Go client.
//
//	example URL
//
// registers a user at the Coffer with this URL, for example http://localhost:8080, and signs in. It
// creates a wallet, a category and an expense, and prints the wallet's balance. It sends the
// expense twice with the same Idempotency-Key: the second request has no effect. It reads the
// balance with a personal access token, as a script does. `make clients` runs it.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	coffer "github.com/coffer-budget/coffer/clients/go"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: example URL")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

// run creates a wallet, a category and an expense, and prints the new balance.
func run(ctx context.Context, url string) error {
	client, err := signedIn(ctx, url)
	if err != nil {
		return err
	}
	wallet, err := client.CreateWalletWithResponse(ctx, nil, coffer.CreateWalletRequest{
		Name: "Cash", Currency: "EUR", Balance: new(json.Number("250")),
	})
	if err != nil {
		return err
	}
	if wallet.JSON201 == nil {
		return refused(wallet.JSONDefault)
	}
	food := coffer.CreateCategoryRequest{Name: "Food"}
	category, err := client.CreateCategoryWithResponse(ctx, nil, food)
	if err != nil {
		return err
	}
	if category.JSON201 == nil {
		return refused(category.JSONDefault)
	}
	// With an Idempotency-Key a request can be repeated safely if its response was lost. The second
	// request has no effect.
	once := &coffer.CreateTransactionParams{IdempotencyKey: new(rand.Text())}
	lunch := coffer.CreateTransactionRequest{
		Type: new(coffer.CreateTransactionRequestTypeExpense), Amount: "12.30", Currency: "EUR",
		Date: time.Now().Format(time.DateOnly), Description: new("Lunch"),
		WalletId: wallet.JSON201.Wallet.Id, CategoryId: &category.JSON201.Category.Id,
	}
	for range 2 {
		created, err := client.CreateTransactionWithResponse(ctx, once, lunch)
		if err != nil {
			return err
		}
		if created.JSON201 == nil {
			return refused(created.JSONDefault)
		}
	}
	script, err := reader(ctx, client, url)
	if err != nil {
		return err
	}
	after, err := script.GetWalletWithResponse(ctx, wallet.JSON201.Wallet.Id, nil)
	if err != nil {
		return err
	}
	if after.JSON200 == nil {
		return refused(after.JSONDefault)
	}
	fmt.Println(after.JSON200.Wallet.Balance)
	return nil
}

// signedIn registers a user and returns a client with the user's access token.
func signedIn(ctx context.Context, url string) (*coffer.ClientWithResponses, error) {
	anonymous, err := coffer.NewClientWithResponses(url)
	if err != nil {
		return nil, err
	}
	email, password := rand.Text()+"@example.com", "correct horse battery staple"
	ada := coffer.RegisterRequest{Name: "Ada", Email: email, Password: password}
	registered, err := anonymous.RegisterWithResponse(ctx, nil, ada)
	if err != nil {
		return nil, err
	}
	if registered.JSON201 == nil {
		return nil, refused(registered.JSONDefault)
	}
	credentials := coffer.LoginRequest{Email: email, Password: password}
	login, err := anonymous.LoginWithResponse(ctx, nil, credentials)
	if err != nil {
		return nil, err
	}
	if login.JSON200 == nil {
		return nil, refused(login.JSONDefault)
	}
	if login.JSON200.AccessToken == nil {
		return nil, errors.New("the user has a second factor: continue with LoginMfa")
	}
	return coffer.NewClientWithResponses(url, coffer.Bearer(*login.JSON200.AccessToken))
}

// reader creates a personal access token that may only read, and returns a client with it. A script
// keeps such a token, and needs no password.
func reader(
	ctx context.Context, client *coffer.ClientWithResponses, url string,
) (*coffer.ClientWithResponses, error) {
	created, err := client.CreatePersonalTokenWithResponse(ctx, nil,
		coffer.CreatePersonalTokenRequest{
			Name:   "Example",
			Scopes: []coffer.CreatePersonalTokenRequestScopes{"read"},
		})
	if err != nil {
		return nil, err
	}
	if created.JSON201 == nil {
		return nil, refused(created.JSONDefault)
	}
	return coffer.NewClientWithResponses(url, coffer.Bearer(created.JSON201.Token))
}

// refused converts an error response to an error.
func refused(e *coffer.Error) error {
	if e == nil {
		return errors.New("the response is not an error of Coffer")
	}
	return fmt.Errorf("%s: %s (request %s)", e.Code, e.Message, e.RequestId)
}
