package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

type object = map[string]any

const password = "a long enough secret"

// user is a user with a token and the expected state of their data.
type user struct {
	*run
	// mark is part of every text of the user, so that it can be recognized in responses to others.
	mark      string
	email, id string
	token     string
	partner   *user
	// wallets and categories are in use; the first two of each stay until the end.
	wallets    []*wallet
	categories []string
	// merged has the target of each category whose merge was requested, and retired the wallets and categories whose deletion
	// or merge was requested.
	merged    map[string]string
	retired   map[string]bool
	budget    budget
	client    *http.Client
	stream    *stream
	contended *record
	receipts  *wallet
	lock      sync.Mutex
	records   []*record
	pending   []func(ctx context.Context) bool
	// batches are the bulk requests.
	batches         []*batch
	number, scanned int
	// categoryNames are the names of the requested categories.
	categoryNames []string
	// overwritten has the versions of the contended transaction on which an accepted change was based.
	overwritten map[string]bool
}

// batch is a bulk request. acknowledged is set if a response confirmed it.
type batch struct {
	records      []*record
	acknowledged bool
}

type wallet struct {
	id      string
	opening *big.Rat
}

// budget covers one wallet and one category. Both partners see it.
type budget struct {
	id, wallet, category string
	limit, spent         *big.Rat
}

// answer is a response. status is 0 if there was none.
type answer struct {
	status int
	etag   string
	raw    []byte
	body   object
}

const (
	// maxDuration is longer than any deadline of the gateway, with a margin for a busy machine.
	maxDuration        = 20 * time.Second
	maxReceiptDuration = 70 * time.Second
)

// marks matches the mark of a user. Between letters, digits and hyphens it is part of a token.
var marks = regexp.MustCompile(`[^\w-](u\d{3})[^\w-]`)

// ask sends a request and inspects the response. headers are alternating names and values.
func (p *user) ask(ctx context.Context, method, path string, body any, headers ...string) answer {
	// Requests are not canceled at the end of the load, so that their results are known.
	ctx = context.WithoutCancel(ctx)
	var sent []byte
	switch b := body.(type) {
	case nil:
	case []byte:
		sent = b
	default:
		var err error
		if sent, err = json.Marshal(b); err != nil {
			p.find("encoding a request: %v", err)
			return answer{}
		}
	}
	limit := maxDuration
	if strings.Contains(path, "receipt") {
		limit = maxReceiptDuration
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.stack.URL+path, bytes.NewReader(sent))
	if err != nil {
		p.find("%v", err)
		return answer{}
	}
	req.Header.Set("Content-Type", "application/json")
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	a, err := p.send(req)
	if errors.Is(err, context.DeadlineExceeded) {
		p.find("%s %s hung", method, path)
	}
	if a.status != 0 {
		p.inspect(method+" "+path, a)
	}
	return a
}

func (p *user) send(req *http.Request) (answer, error) {
	resp, err := p.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: resp.StatusCode, etag: resp.Header.Get("ETag"), raw: raw}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if err := decoder.Decode(&a.body); err != nil {
			return answer{}, err
		}
	}
	return a, nil
}

// inspect checks the guarantees that hold for every response, also during faults.
func (p *user) inspect(request string, a answer) {
	for _, found := range marks.FindAllStringSubmatch(string(a.raw), -1) {
		mark := found[1]
		if mark != p.mark && (p.partner == nil || mark != p.partner.mark) {
			p.find("%s: %s received data of %s: %s", request, p.mark, mark, a.raw)
			return
		}
	}
	switch code := a.text("code"); {
	case a.status < 500:
	case code == "SERVICE_UNAVAILABLE", code == "DEADLINE_EXCEEDED", code == "OCR_RESPONSE_FAILED", strings.HasSuffix(request, "/readyz"):
	default:
		p.find("%s answers %d %s", request, a.status, bytes.TrimSpace(a.raw))
	}
	if a.status == http.StatusUnauthorized {
		p.find("%s: a good token was rejected: %s", request, a.raw)
	}
}

// text returns the value at a path like "transaction.id", or "" if there is none.
func (a answer) text(path string) string {
	v := a.at(path)
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func (a answer) at(path string) any {
	var v any = a.body
	for step := range strings.SplitSeq(path, ".") {
		o, ok := v.(object)
		if !ok {
			return nil
		}
		v = o[step]
	}
	return v
}

func (a answer) list(path string) []any {
	l, _ := a.at(path).([]any)
	return l
}

// setUp creates users with wallets, categories and shared budgets before the first fault.
func (r *run) setUp(ctx context.Context) error {
	for n := range r.Users {
		p := &user{run: r, mark: fmt.Sprintf("u%03d", n), overwritten: map[string]bool{}, merged: map[string]string{}, retired: map[string]bool{}, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}
		r.users = append(r.users, p)
		if n%2 == 1 {
			p.partner, r.users[n-1].partner = r.users[n-1], p
		}
	}
	for _, p := range r.users {
		if err := p.setUp(ctx); err != nil {
			return fmt.Errorf("settling %s: %w", p.mark, err)
		}
	}
	for _, p := range r.users {
		path := "/api/v1/budgets/" + p.budget.id
		if a := p.ask(ctx, "POST", path+"/share", object{"email": p.partner.email}); a.status != http.StatusCreated {
			return fmt.Errorf("sharing: %d %s", a.status, a.raw)
		}
		if a := p.partner.ask(ctx, "PATCH", path+"/members/"+p.partner.id, object{"status": "accepted"}); a.status != http.StatusOK {
			return fmt.Errorf("accepting: %d %s", a.status, a.raw)
		}
	}
	for _, p := range r.users {
		if err := p.stream.open(ctx); err != nil {
			return fmt.Errorf("listening for %s: %w", p.mark, err)
		}
	}
	return nil
}

func (p *user) setUp(ctx context.Context) error {
	var failure error
	create := func(path string, body object, id string) string {
		a := p.ask(ctx, "POST", path, body)
		if a.status != http.StatusCreated && failure == nil {
			failure = fmt.Errorf("%s: %d %s", path, a.status, a.raw)
		}
		return a.text(id)
	}
	p.email = p.mark + "@example.com"
	p.id = create("/api/v1/auth/register", object{"name": p.mark, "email": p.email, "password": password}, "user.id")
	p.token = p.ask(ctx, "POST", "/api/v1/auth/login", object{"email": p.email, "password": password}).text("accessToken")
	opening := func(name, balance string) *wallet {
		return &wallet{create("/api/v1/wallet", object{"name": p.mark + " " + name, "currency": "EUR", "balance": json.Number(balance)}, "wallet.id"), rat(balance)}
	}
	p.wallets = []*wallet{opening("cash", "100.00"), opening("bank", "-3.50"), opening("purse", "5.00")}
	p.receipts = opening("receipts", "0")
	for _, name := range []string{"food", "rent", "fun"} {
		p.categories = append(p.categories, create("/api/v1/categories", object{"name": p.mark + " " + name}, "category.id"))
	}
	p.budget = budget{wallet: p.wallets[0].id, category: p.categories[0], limit: rat("100")}
	p.budget.id = create("/api/v1/budgets", object{
		"name": p.mark + " plan", "currency": "EUR", "limit": 100, "period": "custom", "startDate": "2026-01-01", "endDate": "2035-12-31",
		"walletId": p.budget.wallet, "categoryIds": []string{p.budget.category},
	}, "budget.id")
	first := &record{p: p, mark: p.nextMark()}
	first.id = create("/api/v1/transaction", first.body(version{amount: rat("-1.00"), wallet: p.budget.wallet, category: p.budget.category}), "transaction.id")
	first.states = []version{{amount: rat("-1.00"), wallet: p.budget.wallet, category: p.budget.category, text: first.mark}}
	first.contended = true
	p.contended, p.records = first, []*record{first}
	p.stream = &stream{p: p, seen: map[string]bool{}}
	return failure
}

// nextMark returns a text that is unique to one transaction.
func (p *user) nextMark() string {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.number++
	return fmt.Sprintf("%s t%d;", p.mark, p.number)
}

func rat(s string) *big.Rat {
	r, _ := new(big.Rat).SetString(s)
	return r
}
