package chaos

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// permanent is the number of wallets and of categories that are never deleted or merged, because
// budgets and receipts use them.
const permanent = 2

// reorganize adds a wallet or a category, or merges or deletes an added one, while the other
// session creates transactions in it. It does the same with tags.
func (u *user) reorganize(ctx context.Context, random *rand.Rand) {
	switch random.IntN(8) {
	case 6, 7:
		u.retireTag(ctx, random)
	case 0:
		u.addWallet(ctx)
	case 1, 2:
		u.addCategory(ctx)
	case 3:
		u.retireWallet(ctx, random)
	default:
		u.retireCategory(ctx, random)
	}
}

func (u *user) addWallet(ctx context.Context) {
	name := strings.TrimSuffix(u.nextMark(), ";")
	u.retry(ctx, func(ctx context.Context) bool {
		body := object{"name": name, "currency": "EUR", "balance": json.Number("12.34")}
		a, result := u.write(ctx, http.MethodPost, "/api/v1/wallet", body, "Idempotency-Key", name)
		if result == accepted {
			u.lock.Lock()
			defer u.lock.Unlock()
			u.wallets = append(u.wallets, &wallet{a.text("wallet.id"), rat("12.34")})
		}
		return result != unknown
	})
}

func (u *user) addCategory(ctx context.Context) {
	name := strings.TrimSuffix(u.nextMark(), ";")
	u.retry(ctx, func(ctx context.Context) bool {
		a, result := u.write(ctx, http.MethodPost, "/api/v1/categories", object{"name": name},
			"Idempotency-Key", name)
		if result == accepted {
			u.lock.Lock()
			defer u.lock.Unlock()
			u.categories = append(u.categories, a.text("category.id"))
		}
		return result != unknown
	})
}

// retireWallet deletes an added wallet. The request is rejected if transactions use the wallet. The
// wallet is removed from the list before the request, because it may no longer exist before the
// response arrives.
func (u *user) retireWallet(ctx context.Context, random *rand.Rand) {
	u.lock.Lock()
	if len(u.wallets) == permanent {
		u.lock.Unlock()
		return
	}
	// Until the response arrives, requests that use the wallet may be rejected.
	retired := u.wallets[permanent+random.IntN(len(u.wallets)-permanent)]
	u.retired[retired.id] = true
	u.wallets = slices.DeleteFunc(u.wallets, func(o *wallet) bool { return o == retired })
	u.lock.Unlock()
	u.retry(ctx, func(ctx context.Context) bool {
		reply, result := u.write(ctx, http.MethodDelete, "/api/v1/wallet/"+retired.id, nil)
		switch {
		case reply.text("code") == "WALLET_IN_USE":
			// The wallet remains, and may be used again.
			u.lock.Lock()
			defer u.lock.Unlock()
			u.wallets = append(u.wallets, retired)
		// 404 is correct: an earlier attempt without a response may have succeeded.
		case result == rejected && reply.status != http.StatusNotFound:
			u.reportf("the deletion of wallet %s was rejected: %s", retired.id, reply.raw)
		}
		return result != unknown
	})
}

// retireCategory merges an added category into another one, or deletes it. The deletion is rejected
// if transactions use the category.
func (u *user) retireCategory(ctx context.Context, random *rand.Rand) {
	u.lock.Lock()
	if len(u.categories) == permanent {
		u.lock.Unlock()
		return
	}
	category := u.categories[permanent+random.IntN(len(u.categories)-permanent)]
	path := "/api/v1/categories/" + category
	u.retired[category] = true
	u.categories = slices.DeleteFunc(u.categories, func(o string) bool { return o == category })
	// Three of four are merges. The target may be merged later, too.
	if random.IntN(4) > 0 {
		u.merged[category] = u.categories[random.IntN(len(u.categories))]
		path += "?reassignTo=" + u.merged[category]
	}
	u.lock.Unlock()
	u.retry(ctx, func(ctx context.Context) bool {
		reply, result := u.write(ctx, http.MethodDelete, path, nil)
		switch {
		case reply.text("code") == "CATEGORY_IN_USE":
			u.lock.Lock()
			defer u.lock.Unlock()
			u.categories = append(u.categories, category)
		// As for wallets, an earlier attempt may have succeeded.
		case result == rejected && reply.status != http.StatusNotFound:
			u.reportf("the deletion of category %s was rejected: %s", category, reply.raw)
		}
		return result != unknown
	})
}

// target returns the category or tag into which another one was merged, perhaps through others, or
// the given one itself. It returns an empty text for a deleted tag. A merge whose response is
// missing counts as done: the transaction may have either, and same accepts both.
func (u *user) target(id string) string {
	u.lock.Lock()
	defer u.lock.Unlock()
	for u.merged[id] != "" {
		id = u.merged[id]
	}
	if id == deletedTag {
		return ""
	}
	return id
}

func (u *user) wasMerged(v version) bool {
	u.lock.Lock()
	defer u.lock.Unlock()
	return slices.ContainsFunc(append(v.categories(), v.tag),
		func(id string) bool { return u.merged[id] != "" })
}

// mayReject reports whether a rejection is allowed, because the deletion or merge of the wallet or
// category was requested.
func (u *user) mayReject(a response, v version) bool {
	u.lock.Lock()
	defer u.lock.Unlock()
	return u.retiredIn(a, v)
}

// retiredIn is mayReject for a caller that holds the lock.
func (u *user) retiredIn(a response, v version) bool {
	switch a.text("code") {
	case "WALLET_NOT_FOUND":
		return u.retired[v.wallet]
	case "INVALID_CATEGORY_EXIST_PARAMS":
		return slices.ContainsFunc(v.categories(), func(id string) bool { return u.retired[id] })
	}
	return false
}

// checkReferences requires that the wallet and the category of each transaction exist. Concurrent
// deletions could leave a transaction that refers to a deleted one.
func (u *user) checkReferences(ctx context.Context, is transactions) {
	for _, kind := range []struct {
		path, list string
		of         func(version) []string
	}{
		{"/api/v1/wallet", "wallets", func(v version) []string { return []string{v.wallet} }},
		{"/api/v1/categories", "categories", version.categories},
	} {
		exist := map[string]bool{}
		for _, item := range u.list(ctx, kind.path, kind.list) {
			exist[response{body: object{"i": item}}.text("i.id")] = true
		}
		for id, v := range is {
			for _, reference := range kind.of(v) {
				if !exist[reference] {
					u.reportf("transaction %s of %s is in %s %s, which does not exist",
						id, u.mark, kind.list, reference)
				}
			}
		}
	}
}

// deletedTag is the target of a deleted tag in the model.
const deletedTag = "deleted"

// retireTag renames a tag, merges it into another one, or deletes it, while the sessions use it. A
// tag that was retired may come back with a transaction that names it; same accepts that. Two tags
// remain.
func (u *user) retireTag(ctx context.Context, random *rand.Rand) {
	fresh := strings.TrimSuffix(u.nextMark(), ";")
	u.lock.Lock()
	tag := u.tags[random.IntN(len(u.tags))]
	u.tags = append(slices.DeleteFunc(u.tags, func(o string) bool { return o == tag }), fresh)
	method, path := http.MethodPatch, "/api/v1/tags/"+url.PathEscape(tag)
	var body any = object{"name": fresh}
	u.merged[tag] = fresh
	switch random.IntN(3) {
	case 0:
		// The other tag may be unused; the merge then renames this one.
		u.merged[tag] = u.tags[0]
		path, body = path+"?merge=true", object{"name": u.tags[0]}
	case 1:
		u.merged[tag] = deletedTag
		method, body = http.MethodDelete, nil
	}
	u.lock.Unlock()
	u.retry(ctx, func(ctx context.Context) bool {
		a, result := u.write(ctx, method, path, body)
		// The tag is missing before its first use and after an earlier attempt. A session that
		// still uses the old name lets both exist.
		if result == rejected && a.status != http.StatusNotFound &&
			a.text("code") != "TAG_ALREADY_EXISTS" {
			u.reportf("%s %s was rejected: %s", method, path, a.raw)
		}
		return result != unknown
	})
}
