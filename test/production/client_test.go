package production

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// user sends requests as one user, each to a random gateway in DNS, like a load balancer.
type user struct {
	cluster                 *cluster
	token, wallet, category string
	budget                  string
	// repeated counts the requests that were repeated after 503.
	repeated *atomic.Int64
}

var httpClient = &http.Client{
	Timeout: 5 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 16},
}

// newUser registers a user with an empty wallet, a category and a budget.
func (c *cluster) newUser() *user {
	c.t.Helper()
	user := &user{cluster: c, repeated: &atomic.Int64{}}
	email := fmt.Sprintf("p%d@example.com", rand.Int64())
	user.must(c.t, "/auth/register",
		map[string]any{"name": "Ada", "email": email, "password": "a long enough secret"})
	user.token = user.must(c.t, "/auth/login",
		map[string]any{"email": email, "password": "a long enough secret"})["accessToken"].(string)
	user.wallet = user.must(c.t, "/wallet", map[string]any{
		"name": "Cash", "currency": "EUR", "balance": 0,
	})["wallet"].(map[string]any)["id"].(string)
	user.category = user.must(c.t, "/categories",
		map[string]any{"name": "Food"})["category"].(map[string]any)["id"].(string)
	user.budget = user.must(c.t, "/budgets", map[string]any{
		"name": "Food", "currency": "EUR", "limit": 100, "period": "monthly",
		"startDate": "2026-01-01", "walletId": user.wallet, "categoryIds": []string{user.category},
	})["budget"].(map[string]any)["id"].(string)
	return user
}

// must sends a POST request, which must succeed, and returns the response.
func (u *user) must(t *testing.T, path string, body map[string]any) map[string]any {
	t.Helper()
	answer, err := u.call(http.MethodPost, path, body)
	require.NoError(t, err)
	return answer
}

// earn creates an income of 1.
func (u *user) earn() error {
	_, err := u.call(http.MethodPost, "/transaction", u.income())
	return err
}

// income returns an income of 1.
func (u *user) income() map[string]any {
	return map[string]any{
		"amount": 1, "type": "income", "currency": "EUR", "date": "2026-01-01",
		"walletId": u.wallet, "categoryId": u.category,
	}
}

// progressTimeout is the time that the budget service waits for the progress of a budget before it
// omits the progress.
const progressTimeout = 1500 * time.Millisecond

// readBudget reads a budget with its progress, for which the budget service calls the ledger. If
// the call fails, the response has no progress. It also has none if the call takes too long, as
// every call can on a busy machine; such a read is repeated.
func (u *user) readBudget() error {
	for range 3 {
		began := time.Now()
		answer, err := u.call(http.MethodGet, "/budgets/"+u.budget, nil)
		if err != nil || answer["budget"].(map[string]any)["progress"] != nil {
			return err
		}
		if time.Since(began) < progressTimeout {
			break
		}
	}
	return errors.New("the response has no progress")
}

// spend uploads a receipt over 1, for which the ledger calls ocr.
func (u *user) spend() error {
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, err := writer.CreateFormFile("receipt", "receipt.txt")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(part, "BAKERY %d\n01/01/2026\nBread 1.00\nTotal EUR 1.00\n", rand.Int64())
	err = errors.Join(err, writer.WriteField("walletId", u.wallet),
		writer.WriteField("categoryId", u.category), writer.Close())
	if err != nil {
		return err
	}
	_, err = u.send(http.MethodPost, "/transaction/receipt", writer.FormDataContentType(), &form)
	return err
}

func (u *user) balance(t *testing.T) int {
	t.Helper()
	answer, err := u.call(http.MethodGet, "/wallet/"+u.wallet, nil)
	require.NoError(t, err)
	return int(answer["wallet"].(map[string]any)["balance"].(float64))
}

func (u *user) call(
	method, path string, body map[string]any, key ...string,
) (map[string]any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return u.send(method, path, "application/json", bytes.NewReader(text), key...)
}

// failure is a response that is no success.
type failure struct {
	code       string
	retryAfter time.Duration
	text       string
}

// Error implements error.
func (f *failure) Error() string { return f.text }

// send returns an error unless the response is a success: a failure, or that of the connection. key
// is the Idempotency-Key.
func (u *user) send(
	method, path, mediaType string, body io.Reader, key ...string,
) (map[string]any, error) {
	gateways := u.cluster.names.lookup(name("gateway"))
	if len(gateways) == 0 {
		return nil, errors.New("no gateway is in DNS")
	}
	at := netip.AddrPortFrom(gateways[rand.IntN(len(gateways))], uint16(u.cluster.port))
	req, err := http.NewRequest(method, "http://"+at.String()+"/api/v1"+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", mediaType)
	if u.token != "" {
		req.Header.Set("Authorization", "Bearer "+u.token)
	}
	if len(key) > 0 {
		req.Header.Set("Idempotency-Key", key[0])
	}
	resp, err := httpClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("%s: %w", resp.Status, err)
	}
	if resp.StatusCode >= 300 {
		text := fmt.Sprintf("%s %s: %d %v", method, path, resp.StatusCode, answer)
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		code, _ := answer["code"].(string)
		return nil, &failure{code, time.Duration(seconds) * time.Second, text}
	}
	return answer, nil
}

// device holds the ids of a user's transactions, as GET /changes reports them.
type device struct {
	user         *user
	cursor       string
	transactions map[string]bool
}

func newDevice(u *user) *device { return &device{user: u, transactions: map[string]bool{}} }

// follow applies all changes since the last call.
func (d *device) follow(t *testing.T) {
	t.Helper()
	for more := true; more; {
		answer, err := d.user.call(http.MethodGet, "/changes?limit=1000&cursor="+d.cursor, nil)
		require.NoError(t, err)
		for _, x := range answer["changes"].(map[string]any)["transactions"].([]any) {
			d.transactions[x.(map[string]any)["id"].(string)] = true
		}
		pagination := answer["pagination"].(map[string]any)
		d.cursor, more = pagination["nextCursor"].(string), pagination["hasMore"].(bool)
	}
}
