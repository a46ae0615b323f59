package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
)

type user struct {
	base, token      string
	id               uuid.UUID
	wallet, category string
}

// newUser registers a user and signs in. The token is valid for an hour, and a run is shorter.
func (s *stack) newUser(ctx context.Context) (user, error) {
	created := user{base: s.URL}
	// The e-mail is unique in all stacks, and the password is not in the list of well-known ones.
	email := uuid.NewString() + "@example.com"
	const password = "a long enough secret"
	var me struct{ User struct{ ID uuid.UUID } }
	var login struct{ AccessToken string }
	account := map[string]any{"name": "Bench", "email": email, "password": password}
	if err := created.call(ctx, http.MethodPost, "/api/v1/auth/register", account,
		nil); err != nil {
		return user{}, err
	}
	signIn := map[string]any{"email": email, "password": password}
	if err := created.call(ctx, http.MethodPost, "/api/v1/auth/login", signIn, &login); err != nil {
		return user{}, err
	}
	created.token = login.AccessToken
	// The id is needed to fill the database with the user's transactions.
	if err := created.call(ctx, http.MethodGet, "/api/v1/auth/me", nil, &me); err != nil {
		return user{}, err
	}
	created.id = me.User.ID
	return created, nil
}

func (u *user) createResources(ctx context.Context) error {
	var wallet struct{ Wallet struct{ ID string } }
	var category struct{ Category struct{ ID string } }
	cash := map[string]any{"name": "Cash", "currency": "EUR"}
	if err := u.call(ctx, http.MethodPost, "/api/v1/wallet", cash, &wallet); err != nil {
		return err
	}
	food := map[string]any{"name": "Food"}
	if err := u.call(ctx, http.MethodPost, "/api/v1/categories", food, &category); err != nil {
		return err
	}
	u.wallet, u.category = wallet.Wallet.ID, category.Category.ID
	return nil
}

// call sends a request with a JSON body. It decodes the response into answer, unless answer is nil.
func (u user) call(ctx context.Context, method, path string, body, answer any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return u.send(ctx, method, path, "application/json", sent, answer)
}

func (u user) previews(ctx context.Context, photo []byte) error {
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, err := writer.CreateFormFile("receipt", "receipt.jpg")
	if err != nil {
		return err
	}
	if _, err := part.Write(photo); err != nil {
		return err
	}
	if err := errors.Join(writer.WriteField("walletId", u.wallet),
		writer.WriteField("categoryId", u.category), writer.Close()); err != nil {
		return err
	}
	return u.send(ctx, http.MethodPost, "/api/v1/transaction/receipt?dryRun=true",
		writer.FormDataContentType(), form.Bytes(), nil)
}

// send sends a request with any body. A response with an error status is an error.
func (u user) send(ctx context.Context, method, path, kind string, body []byte, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, u.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", kind)
	if u.token != "" {
		req.Header.Set("Authorization", "Bearer "+u.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	// These requests prepare a benchmark, so each error ends it.
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}

func (u user) gets(path string) request {
	return request{method: http.MethodGet, path: path, token: u.token}
}

// creates returns a request for wrk that creates a transaction. Each request is the same, because
// wrk repeats it. Only the Idempotency-Key differs.
func (u user) creates() request {
	return request{
		method: http.MethodPost, path: "/api/v1/transaction", token: u.token, body: u.transaction(),
	}
}

func (u user) imports(n int) request {
	// Identical transactions are valid, because only keys make requests idempotent.
	items := strings.Join(slices.Repeat([]string{u.transaction()}, n), ",")
	return request{
		method: http.MethodPost, path: "/api/v1/transaction/batch", token: u.token,
		body: `{"transactions":[` + items + `]}`,
	}
}

func (u user) transaction() string {
	return fmt.Sprintf(
		`{"amount":12.3,"type":"expense","currency":"EUR","date":"2026-03-14",`+
			`"description":"Lunch","walletId":%q,"categoryId":%q}`,
		u.wallet, u.category,
	)
}
