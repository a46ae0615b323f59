package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// permanent is the number of wallets and categories that a person keeps: receipts, budgets and checks use them.
const permanent = 2

// reorganize adds a wallet or a category, or merges or deletes one that was added, while the other session uses it.
func (p *user) reorganize(ctx context.Context, random *rand.Rand) {
	switch random.IntN(6) {
	case 0:
		p.addWallet(ctx)
	case 1, 2:
		p.addCategory(ctx)
	case 3:
		p.retireWallet(ctx, random)
	default:
		p.retireCategory(ctx, random)
	}
}

func (p *user) addWallet(ctx context.Context) {
	name := strings.TrimSuffix(p.nextMark(), ";")
	p.retry(ctx, func(ctx context.Context) bool {
		body := object{"name": name, "currency": "EUR", "balance": json.Number("12.34")}
		a, what := p.write(ctx, http.MethodPost, "/api/v1/wallet", body, "Idempotency-Key", name)
		if what == done {
			p.lock.Lock()
			defer p.lock.Unlock()
			p.wallets = append(p.wallets, &wallet{a.text("wallet.id"), rat("12.34")})
		}
		return what != unknown
	})
}

func (p *user) addCategory(ctx context.Context) {
	name := strings.TrimSuffix(p.nextMark(), ";")
	p.retry(ctx, func(ctx context.Context) bool {
		a, what := p.write(ctx, http.MethodPost, "/api/v1/categories", object{"name": name}, "Idempotency-Key", name)
		if what == done {
			p.lock.Lock()
			defer p.lock.Unlock()
			p.categories = append(p.categories, a.text("category.id"))
		}
		return what != unknown
	})
}

// retireWallet deletes a wallet that was added, which is refused if transactions use it. The wallet leaves the list before
// the request: until it is answered, the wallet may be absent.
func (p *user) retireWallet(ctx context.Context, random *rand.Rand) {
	p.lock.Lock()
	if len(p.wallets) == permanent {
		p.lock.Unlock()
		return
	}
	w := p.wallets[permanent+random.IntN(len(p.wallets)-permanent)]
	p.retired[w.id] = true
	p.wallets = slices.DeleteFunc(p.wallets, func(o *wallet) bool { return o == w })
	p.lock.Unlock()
	p.retry(ctx, func(ctx context.Context) bool {
		a, what := p.write(ctx, http.MethodDelete, "/api/v1/wallet/"+w.id, nil)
		switch {
		case a.text("code") == "WALLET_IN_USE":
			p.lock.Lock()
			defer p.lock.Unlock()
			p.wallets = append(p.wallets, w)
		case what == rejectedWrite && a.status != http.StatusNotFound:
			p.find("the deletion of wallet %s was rejected: %s", w.id, a.raw)
		}
		return what != unknown
	})
}

// retireCategory merges a category that was added into another one, or deletes it, which is refused if transactions use it.
func (p *user) retireCategory(ctx context.Context, random *rand.Rand) {
	p.lock.Lock()
	if len(p.categories) == permanent {
		p.lock.Unlock()
		return
	}
	category := p.categories[permanent+random.IntN(len(p.categories)-permanent)]
	path := "/api/v1/categories/" + category
	p.retired[category] = true
	p.categories = slices.DeleteFunc(p.categories, func(o string) bool { return o == category })
	if random.IntN(4) > 0 {
		p.merged[category] = p.categories[random.IntN(len(p.categories))]
		path += "?reassignTo=" + p.merged[category]
	}
	p.lock.Unlock()
	p.retry(ctx, func(ctx context.Context) bool {
		a, what := p.write(ctx, http.MethodDelete, path, nil)
		switch {
		case a.text("code") == "CATEGORY_IN_USE":
			p.lock.Lock()
			defer p.lock.Unlock()
			p.categories = append(p.categories, category)
		case what == rejectedWrite && a.status != http.StatusNotFound:
			p.find("the deletion of category %s was rejected: %s", category, a.raw)
		}
		return what != unknown
	})
}

// mergedCategory returns the category into which a category was merged, perhaps through others, or the category itself.
func (p *user) mergedCategory(id string) string {
	p.lock.Lock()
	defer p.lock.Unlock()
	for p.merged[id] != "" {
		id = p.merged[id]
	}
	return id
}

func (p *user) wasMerged(category string) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.merged[category] != ""
}

// mayRefuse reports whether a refusal is due to a wallet or category whose deletion or merge was requested.
func (p *user) mayReject(a answer, v version) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.retiredIn(a, v)
}

// retiredIn is mayRefuse for a caller that holds the lock.
func (p *user) retiredIn(a answer, v version) bool {
	switch a.text("code") {
	case "WALLET_NOT_FOUND":
		return p.retired[v.wallet]
	case "INVALID_CATEGORY_EXIST_PARAMS":
		return p.retired[v.category]
	}
	return false
}

// checkReferences requires that each transaction has a wallet and a category that exist.
func (p *user) checkReferences(ctx context.Context, is transactions) {
	for _, kind := range []struct {
		path, list string
		of         func(version) string
	}{
		{"/api/v1/wallet", "wallets", func(v version) string { return v.wallet }},
		{"/api/v1/categories", "categories", func(v version) string { return v.category }},
	} {
		exist := map[string]bool{}
		for cursor, more := "", true; more; {
			a := p.ask(ctx, http.MethodGet, fmt.Sprintf("%s?limit=200&cursor=%s", kind.path, cursor), nil)
			for _, item := range a.list(kind.list) {
				exist[answer{body: object{"i": item}}.text("i.id")] = true
			}
			cursor, more = a.text("pagination.nextCursor"), a.at("pagination.hasMore") == true
		}
		for id, v := range is {
			if !exist[kind.of(v)] {
				p.find("transaction %s of %s is in %s %s, which does not exist", id, p.mark, kind.list, kind.of(v))
			}
		}
	}
}
