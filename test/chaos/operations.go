package chaos

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"time"
)

// createCategory creates a category with a key.
func (p *user) createCategory(ctx context.Context) {
	name := strings.TrimSuffix(p.nextMark(), ";")
	p.categoryNames = append(p.categoryNames, name)
	p.retry(ctx, func(ctx context.Context) bool {
		a, what := p.write(ctx, http.MethodPost, "/api/v1/categories", object{"name": name}, "Idempotency-Key", name)
		if what == rejectedWrite {
			p.find("a good category was rejected: %s", a.raw)
		}
		return what != unknown
	})
}

// createBatch creates several transactions in one request, mostly with a key and repeated until the result is known.
func (p *user) createBatch(ctx context.Context, random *rand.Rand) []*record {
	b := &batch{}
	var items []object
	for range 2 + random.IntN(20) {
		t := p.newRecord(random)
		b.records, items = append(b.records, t), append(items, t.body(t.states[0]))
	}
	p.lock.Lock()
	p.batches = append(p.batches, b)
	p.lock.Unlock()
	var headers []string
	if random.IntN(10) < 7 {
		headers = []string{"Idempotency-Key", "batch " + b.records[0].mark}
	}
	try := func(ctx context.Context) bool {
		a, what := p.write(ctx, http.MethodPost, "/api/v1/transaction/batch", object{"transactions": items}, headers...)
		switch what {
		case done:
			b.acknowledged = true
			for i, made := range a.list("transactions") {
				t := b.records[i]
				t.id, t.maybeAbsent, t.frozen = answer{body: object{"t": made}}.text("t.id"), false, false
			}
		case rejectedWrite:
			if !slices.ContainsFunc(b.records, func(t *record) bool { return p.mayReject(a, t.states[0]) }) {
				p.find("a good batch was rejected: %s", a.raw)
			}
			for _, t := range b.records {
				t.states = nil
			}
		case unknown:
			return false
		}
		return true
	}
	if headers == nil {
		try(ctx)
	} else {
		p.retry(ctx, try)
	}
	return b.records
}

// signIn starts a session and sends its refresh token several times with one key. All responses must have the same new token.
func (p *user) signIn(ctx context.Context, random *rand.Rand) {
	a := p.ask(ctx, http.MethodPost, "/api/v1/auth/login", object{"email": p.email, "password": password})
	if a.status != http.StatusOK {
		if a.status >= 400 && a.status < 500 {
			p.find("the right password was rejected: %s", a.raw)
		}
		return
	}
	key, refresh, first := fmt.Sprint("refresh ", random.Uint64()), a.text("refreshToken"), ""
	for range 3 {
		a = p.ask(ctx, http.MethodPost, "/api/v1/auth/refresh", object{"refreshToken": refresh}, "Idempotency-Key", key)
		switch {
		case a.status == http.StatusOK && first == "":
			first = a.text("refreshToken")
		case a.status == http.StatusOK && first != a.text("refreshToken"):
			p.find("one refresh token became two")
		case a.status >= 400 && a.status < 500:
			p.find("a good refresh token was rejected: %s", a.raw)
		}
	}
}

// retry tries a few times. If the result is still unknown, the request is repeated at the end.
func (p *user) retry(ctx context.Context, try func(ctx context.Context) bool) {
	for range 3 {
		if try(ctx) {
			return
		}
		pause(ctx, 500*time.Millisecond)
	}
	p.retryAtEnd(try)
}

// uploadReceipt uploads a receipt over 6.00 with a key, until the result is known.
func (p *user) uploadReceipt(ctx context.Context) {
	p.scanned++
	file, kind, err := receiptForm(p.receipts.id, p.budget.category, p.mark, p.scanned)
	if err != nil {
		p.find("%v", err)
		return
	}
	key := fmt.Sprintf("receipt %d", p.scanned)
	try := func(ctx context.Context) bool {
		a, what := p.write(ctx, http.MethodPost, "/api/v1/transaction/receipt", file, "Content-Type", kind, "Idempotency-Key", key)
		// A failing engine causes a 500, and nothing is created.
		if what == rejectedWrite {
			p.find("a good receipt was rejected: %s", a.raw)
		}
		return what != unknown
	}
	p.retry(ctx, try)
}

func receiptForm(wallet, category, mark string, n int) (form []byte, contentType string, err error) {
	img, err := receiptImage(mark, n)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("receipt", "receipt.png")
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(img); err != nil {
		return nil, "", err
	}
	for name, value := range map[string]string{"walletId": wallet, "categoryId": category} {
		if err := w.WriteField(name, value); err != nil {
			return nil, "", err
		}
	}
	err = w.Close()
	return b.Bytes(), w.FormDataContentType(), err
}
