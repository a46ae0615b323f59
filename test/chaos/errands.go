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

// open makes a category with a key, until the answer tells.
func (p *person) open(ctx context.Context) {
	name := strings.TrimSuffix(p.nextMark(), ";")
	p.opened = append(p.opened, name)
	p.insist(ctx, func(ctx context.Context) bool {
		a, what := p.write(ctx, http.MethodPost, "/api/v1/categories", object{"name": name}, "Idempotency-Key", name)
		if what == refused {
			p.find("a good category was refused: %s", a.raw)
		}
		return what != unknown
	})
}

// bring makes several transactions at once: mostly with a key and again until the answer tells, else once.
func (p *person) bring(ctx context.Context, random *rand.Rand) []*thing {
	b := &batch{}
	var items []object
	for range 2 + random.IntN(20) {
		t := p.newThing(random)
		b.things, items = append(b.things, t), append(items, t.body(t.states[0]))
	}
	p.lock.Lock()
	p.batches = append(p.batches, b)
	p.lock.Unlock()
	var headers []string
	if random.IntN(10) < 7 {
		headers = []string{"Idempotency-Key", "batch " + b.things[0].mark}
	}
	try := func(ctx context.Context) bool {
		a, what := p.write(ctx, http.MethodPost, "/api/v1/transaction/batch", object{"transactions": items}, headers...)
		switch what {
		case done:
			b.told = true
			for i, made := range a.list("transactions") {
				t := b.things[i]
				t.id, t.gone, t.frozen = answer{body: object{"t": made}}.text("t.id"), false, false
			}
		case refused:
			if !slices.ContainsFunc(b.things, func(t *thing) bool { return p.mayRefuse(a, t.states[0]) }) {
				p.find("a good batch was refused: %s", a.raw)
			}
			for _, t := range b.things {
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
		p.insist(ctx, try)
	}
	return b.things
}

// signIn begins a session, goes on with it by a refresh token that is sent twice with one key, and ends it.
func (p *person) signIn(ctx context.Context, random *rand.Rand) {
	a := p.ask(ctx, http.MethodPost, "/api/v1/auth/login", object{"email": p.email, "password": password})
	if a.status != http.StatusOK {
		if a.status >= 400 && a.status < 500 {
			p.find("the right password was refused: %s", a.raw)
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
			p.find("a good refresh token was refused: %s", a.raw)
		}
	}
}

// insist tries a few times, and leaves the rest to the end.
func (p *person) insist(ctx context.Context, try func(ctx context.Context) bool) {
	for range 3 {
		if try(ctx) {
			return
		}
		pause(ctx, 500*time.Millisecond)
	}
	p.later(try)
}

// scan uploads a receipt over 6.00 with a key, until the answer tells.
func (p *person) scan(ctx context.Context) {
	p.scanned++
	file, kind, err := receiptForm(p.receipts.id, p.budget.category, p.mark, p.scanned)
	if err != nil {
		p.find("%v", err)
		return
	}
	key := fmt.Sprintf("receipt %d", p.scanned)
	try := func(ctx context.Context) bool {
		a, what := p.write(ctx, http.MethodPost, "/api/v1/transaction/receipt", file, "Content-Type", kind, "Idempotency-Key", key)
		// A broken engine is told of with 500, and nothing was created.
		if what == refused {
			p.find("a good receipt was refused: %s", a.raw)
		}
		return what != unknown
	}
	p.insist(ctx, try)
}

func receiptForm(wallet, category, mark string, n int) (form []byte, contentType string, err error) {
	picture, err := receiptPicture(mark, n)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("receipt", "receipt.png")
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(picture); err != nil {
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
