// Command example books an expense at the Coffer that its argument names, as http://localhost:8080, by somebody new.
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

func run(ctx context.Context, url string) error {
	client, err := signedIn(ctx, url)
	if err != nil {
		return err
	}
	wallet, err := client.CreateWalletWithResponse(ctx, nil, coffer.CreateWalletRequest{Name: "Cash", Currency: "EUR", Balance: new(json.Number("250"))})
	if err != nil {
		return err
	}
	if wallet.JSON201 == nil {
		return refused(wallet.JSONDefault)
	}
	category, err := client.CreateCategoryWithResponse(ctx, nil, coffer.CreateCategoryRequest{Name: "Food"})
	if err != nil {
		return err
	}
	if category.JSON201 == nil {
		return refused(category.JSONDefault)
	}
	// With a key the request may be sent again without fear, when no answer comes.
	key := rand.Text()
	for range 2 {
		booked, err := client.CreateTransactionWithResponse(ctx, &coffer.CreateTransactionParams{IdempotencyKey: &key}, coffer.CreateTransactionRequest{
			Amount: "12.30", Type: new("expense"), Currency: "EUR", Date: time.Now().Format(time.DateOnly), Description: new("Lunch"),
			WalletId: wallet.JSON201.Wallet.Id, CategoryId: category.JSON201.Category.Id,
		})
		if err != nil {
			return err
		}
		if booked.JSON201 == nil {
			return refused(booked.JSONDefault)
		}
	}
	after, err := client.GetWalletWithResponse(ctx, wallet.JSON201.Wallet.Id)
	if err != nil {
		return err
	}
	if after.JSON200 == nil {
		return refused(after.JSONDefault)
	}
	fmt.Println(after.JSON200.Wallet.Balance)
	return nil
}

// signedIn registers somebody, and returns a client that speaks for him.
func signedIn(ctx context.Context, url string) (*coffer.ClientWithResponses, error) {
	stranger, err := coffer.NewClientWithResponses(url)
	if err != nil {
		return nil, err
	}
	email, password := rand.Text()+"@example.com", "correct horse battery staple"
	registered, err := stranger.RegisterWithResponse(ctx, nil, coffer.RegisterRequest{Name: "Ada", Email: email, Password: password})
	if err != nil {
		return nil, err
	}
	if registered.JSON201 == nil {
		return nil, refused(registered.JSONDefault)
	}
	login, err := stranger.LoginWithResponse(ctx, nil, coffer.LoginRequest{Email: email, Password: password})
	if err != nil {
		return nil, err
	}
	if login.JSON200 == nil {
		return nil, refused(login.JSONDefault)
	}
	return coffer.NewClientWithResponses(url, coffer.Bearer(login.JSON200.AccessToken))
}

func refused(e *coffer.Error) error {
	if e == nil {
		return errors.New("an answer that is not Coffer's")
	}
	return fmt.Errorf("%s: %s (request %s)", e.Code, e.Message, e.RequestId)
}
