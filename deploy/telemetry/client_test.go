package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// user is a user with a wallet and a category.
type user struct {
	t                       *testing.T
	token, wallet, category string
}

func newUser(t *testing.T) user {
	t.Helper()
	u := user{t: t}
	email := fmt.Sprintf("p%d@example.com", time.Now().UnixNano())
	who := map[string]any{"name": "Ada", "email": email, "password": "a long enough secret"}
	u.create("/auth/register", who)
	u.token = u.create("/auth/login", who)["accessToken"].(string)
	made := u.create("/wallet", map[string]any{"name": "Cash", "currency": "EUR", "balance": 0})
	u.wallet = made["wallet"].(map[string]any)["id"].(string)
	made = u.create("/categories", map[string]any{"name": "Food"})
	u.category = made["category"].(map[string]any)["id"].(string)
	return u
}

// create repeats a POST request until it succeeds, because the stack may still recover from the
// preceding trouble.
func (u user) create(path string, body any) map[string]any {
	u.t.Helper()
	var answer map[string]any
	require.Eventually(u.t, func() bool {
		answer = nil
		return u.send(http.MethodPost, path, "application/json", u.encode(body), &answer)/100 == 2
	}, time.Minute, 100*time.Millisecond, "%s: %v", path, &answer)
	return answer
}

func (u user) encode(body any) []byte {
	u.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(u.t, err)
	return text
}

// send returns the status of the response, or 0 without a response.
func (u user) send(method, path, mediaType string, body []byte, answer any) int {
	req, err := http.NewRequest(method, stack.URL+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", mediaType)
	req.Header.Set("Authorization", "Bearer "+u.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if answer != nil && json.NewDecoder(resp.Body).Decode(answer) != nil {
		return 0
	}
	return resp.StatusCode
}

// readWallet sends simultaneous requests for the wallet.
func (u user) readWallet(times int) {
	atOnce(times, func() { u.send(http.MethodGet, "/wallet/"+u.wallet, "", nil, nil) })
}

// earn sends simultaneous requests that create a transaction.
func (u user) earn(times int) {
	body := u.encode(map[string]any{
		"amount": 1, "type": "income", "currency": "EUR", "date": "2026-01-01",
		"walletId": u.wallet, "categoryId": u.category,
	})
	atOnce(times, func() { u.send(http.MethodPost, "/transaction", "application/json", body, nil) })
}

// upload sends simultaneous uploads of an image without text.
func (u user) upload(times int) {
	u.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("receipt", "receipt.png")
	require.NoError(u.t, err)
	img := image.NewGray(image.Rect(0, 0, 600, 800))
	for x := range 600 {
		for y := range 800 {
			img.SetGray(x, y, color.Gray{Y: uint8(x*y + int(time.Now().Unix()))})
		}
	}
	require.NoError(u.t, png.Encode(part, img))
	require.NoError(u.t, w.WriteField("walletId", u.wallet))
	require.NoError(u.t, w.WriteField("categoryId", u.category))
	require.NoError(u.t, w.Close())
	atOnce(times, func() {
		u.send(http.MethodPost, "/transaction/receipt", w.FormDataContentType(), form.Bytes(), nil)
	})
}

// correct creates a transaction from a receipt whose merchant the user corrects.
func (u user) correct() {
	u.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("receipt", "receipt.txt")
	require.NoError(u.t, err)
	_, err = part.Write([]byte("CORNER SHOP\nTotal EUR 1.00\n"))
	require.NoError(u.t, err)
	for name, value := range map[string]string{
		"walletId": u.wallet, "categoryId": u.category,
		"corrections": `{"merchant":"Corner Bakery"}`,
	} {
		require.NoError(u.t, w.WriteField(name, value))
	}
	require.NoError(u.t, w.Close())
	require.Equal(u.t, http.StatusCreated,
		u.send(http.MethodPost, "/transaction/receipt", w.FormDataContentType(), form.Bytes(), nil))
}

func atOnce(times int, do func()) {
	var doing sync.WaitGroup
	for range times {
		doing.Go(do)
	}
	doing.Wait()
}

// answers returns 1 if a process listens at the address, and 0 otherwise.
func answers(ctx context.Context, addr string) float64 {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0
	}
	_ = conn.Close()
	return 1
}

// asSuperuser runs statements in a transaction, and calls meanwhile before the commit.
func asSuperuser(t *testing.T, sql string, meanwhile func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), stack.Databases[""])
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	require.NoError(t, pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), sql)
		if err == nil && meanwhile != nil {
			meanwhile()
		}
		return err
	}))
}

// stored returns the value of a query that returns one row.
func stored(t *testing.T, query string) (value string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), stack.Databases[""])
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	require.NoError(t, conn.QueryRow(t.Context(), query).Scan(&value))
	return value
}
