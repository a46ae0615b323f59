package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"
)

// maxAttempts limits the attempts of a request that is rejected by a rate limit or an unavailable
// service.
const maxAttempts = 20

type object = map[string]any

// amount returns cents in the major unit, as a JSON number with all its digits.
func amount(cents int64) json.Number {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return json.Number(fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100))
}

// client calls the API as one user. url has no trailing slash. token is empty until the sign-in,
// and id and email identify the user to others.
type client struct {
	url, id, email, token string
}

type apiError struct {
	Status    int
	Code      string `json:"code"`
	Message   string `json:"message"`
	RequestID string `json:"requestId"`
	Details   []struct{ Field, Message string }
}

// Error implements error.
func (e *apiError) Error() string {
	return fmt.Sprintf("%d %s: %s %v (request %s)",
		e.Status, e.Code, e.Message, e.Details, e.RequestID)
}

// newUser registers and signs in a user. It returns ErrExists if the e-mail has an account.
func newUser(ctx context.Context, url, name, email string) (*client, error) {
	client := &client{url: url, email: email}
	err := client.call(ctx, http.MethodPost, "/api/v1/auth/register",
		object{"name": name, "email": email, "password": Password}, nil)
	if rejected, ok := errors.AsType[*apiError](err); ok &&
		rejected.Code == "EMAIL_ALREADY_EXISTS" {
		return nil, fmt.Errorf("%s: %w", email, ErrExists)
	}
	if err != nil {
		return nil, err
	}
	var login struct {
		AccessToken string
		User        struct{ ID string }
	}
	err = client.call(ctx, http.MethodPost, "/api/v1/auth/login",
		object{"email": email, "password": Password}, &login)
	client.id, client.token = login.User.ID, login.AccessToken
	return client, err
}

// create sends a POST and returns the id of the created resource. The response has the resource in
// field.
func (c *client) create(
	ctx context.Context, path string, body object, field string,
) (string, error) {
	var created map[string]json.RawMessage
	if err := c.call(ctx, http.MethodPost, path, body, &created); err != nil {
		return "", err
	}
	var resource struct{ ID string }
	if err := json.Unmarshal(created[field], &resource); err != nil {
		return "", fmt.Errorf("decoding the %s: %w", field, err)
	}
	return resource.ID, nil
}

func (c *client) share(ctx context.Context, budget, email, role string, percent int) error {
	return c.call(ctx, http.MethodPost, "/api/v1/budgets/"+budget+"/share",
		object{"email": email, "role": role, "sharePercent": percent}, nil)
}

func (c *client) accept(ctx context.Context, budget string) error {
	return c.call(ctx, http.MethodPatch, "/api/v1/budgets/"+budget+"/members/"+c.id,
		object{"status": "accepted"}, nil)
}

// upload sends a form with a file in field, and other fields. It decodes the response into out,
// unless it is nil.
func (c *client) upload(
	ctx context.Context, path, field, name string, file []byte, fields map[string]string, out any,
) error {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	// Writes to a buffer do not fail.
	for key, value := range fields {
		_ = w.WriteField(key, value)
	}
	part, _ := w.CreateFormFile(field, name)
	_, _ = part.Write(file)
	_ = w.Close()
	return c.send(ctx, http.MethodPost, path, form.Bytes(), w.FormDataContentType(), out)
}

// call sends a JSON body and decodes the response into out, unless it is nil.
func (c *client) call(ctx context.Context, method, path string, body object, out any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding a request: %w", err)
	}
	return c.send(ctx, method, path, text, "application/json", out)
}

// send sends a request until it is not rejected because of load. A rejected request has had no
// effect, so it may be repeated without an idempotency key. Other errors are returned at once,
// because a realistic account must not depend on retries.
func (c *client) send(
	ctx context.Context, method, path string, body []byte, mediaType string, out any,
) error {
	for attempt := 1; ; attempt++ {
		pause, err := c.try(ctx, method, path, body, mediaType, out)
		if err == nil {
			return nil
		}
		if pause == 0 || attempt == maxAttempts {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// try sends a request once. If it may be repeated, pause is the time that Retry-After names.
func (c *client) try(
	ctx context.Context, method, path string, body []byte, mediaType string, out any,
) (pause time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("making a request: %w", err)
	}
	req.Header.Set("Content-Type", mediaType)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("sending a request: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, fmt.Errorf("reading a response: %w", err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		rejected := &apiError{Status: resp.StatusCode}
		// A body that is not JSON leaves the status as the only information.
		_ = json.Unmarshal(text, rejected)
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return time.Duration(seconds) * time.Second, rejected
	}
	if out == nil {
		return 0, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return 0, fmt.Errorf("decoding a response: %w", err)
	}
	return 0, nil
}
