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

// person has a wallet and a category, and calls the API.
type person struct {
	t                       *testing.T
	token, wallet, category string
}

func newPerson(t *testing.T) person {
	t.Helper()
	p := person{t: t}
	who := map[string]any{"name": "Ada", "email": fmt.Sprintf("p%d@example.com", time.Now().UnixNano()), "password": "a long enough secret"}
	p.create("/auth/register", who)
	p.token = p.create("/auth/login", who)["accessToken"].(string)
	p.wallet = p.create("/wallet", map[string]any{"name": "Cash", "currency": "EUR", "balance": 0})["wallet"].(map[string]any)["id"].(string)
	p.category = p.create("/categories", map[string]any{"name": "Food"})["category"].(map[string]any)["id"].(string)
	return p
}

// create tries again while the last trouble is not quite over.
func (p person) create(path string, body any) map[string]any {
	p.t.Helper()
	var answer map[string]any
	require.Eventually(p.t, func() bool {
		answer = nil
		return p.send(http.MethodPost, path, "application/json", p.encode(body), &answer)/100 == 2
	}, 20*time.Second, 100*time.Millisecond, "%s: %v", path, &answer)
	return answer
}

func (p person) encode(body any) []byte {
	p.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(p.t, err)
	return text
}

// send returns the answer's status, 0 without one.
func (p person) send(method, path, mediaType string, body []byte, answer any) int {
	req, err := http.NewRequest(method, stack.URL+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", mediaType)
	req.Header.Set("Authorization", "Bearer "+p.token)
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

// look asks for the wallet so many times at once.
func (p person) look(times int) {
	atOnce(times, func() { p.send(http.MethodGet, "/wallet/"+p.wallet, "", nil, nil) })
}

// earn books so many transactions at once.
func (p person) earn(times int) {
	body := p.encode(map[string]any{
		"amount": 1, "type": "income", "currency": "EUR", "date": "2026-01-01", "walletId": p.wallet, "categoryId": p.category,
	})
	atOnce(times, func() { p.send(http.MethodPost, "/transaction", "application/json", body, nil) })
}

// upload sends so many pictures without a receipt at once.
func (p person) upload(times int) {
	p.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("receipt", "receipt.png")
	require.NoError(p.t, err)
	picture := image.NewGray(image.Rect(0, 0, 600, 800))
	for x := range 600 {
		for y := range 800 {
			picture.SetGray(x, y, color.Gray{Y: uint8(x*y + int(time.Now().Unix()))})
		}
	}
	require.NoError(p.t, png.Encode(part, picture))
	require.NoError(p.t, w.WriteField("walletId", p.wallet))
	require.NoError(p.t, w.WriteField("categoryId", p.category))
	require.NoError(p.t, w.Close())
	atOnce(times, func() {
		p.send(http.MethodPost, "/transaction/receipt", w.FormDataContentType(), form.Bytes(), nil)
	})
}

func atOnce(times int, do func()) {
	var doing sync.WaitGroup
	for range times {
		doing.Go(do)
	}
	doing.Wait()
}

// answers is 1 when something listens.
func answers(ctx context.Context, addr string) float64 {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0
	}
	_ = conn.Close()
	return 1
}

// asSuperuser runs statements in one transaction, and does something before its end.
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
