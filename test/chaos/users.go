package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

type object = map[string]any

const password = "a long enough secret"

// user is a user with a token and the model of their data, which the load updates and the checks
// compare with the responses.
type user struct {
	*run
	// mark is part of every name and description of the user, so that responses to other users can
	// be searched for it.
	mark      string
	email, id string
	token     string
	// partner is the member of this user's budget.
	partner *user
	// wallets and categories are in use; the first two of each stay until the end.
	wallets    []*wallet
	categories []string
	// dollars is the wallet of the transfers between currencies.
	dollars *wallet
	tags    []string
	// transfers has the transfers by mark. The first session changes them.
	transfers map[string]*transfer
	mirror    mirror
	// merged has the target of each category or tag whose merge was requested, and retired the
	// wallets and categories whose deletion or merge was requested.
	merged    map[string]string
	retired   map[string]bool
	budget    budget
	client    *http.Client
	stream    *stream
	contended *record
	// receipts is the wallet of the uploaded receipts, and imports that of the imported files.
	receipts, imports *wallet
	statements        []*statement
	// lock protects the lists and maps of this struct, which the sessions share.
	lock    sync.Mutex
	records []*record
	// pending are the requests to repeat after the last fault. Each returns whether its result is
	// known.
	pending []func(ctx context.Context) bool
	batches []*batch
	// number counts the marks of transactions, and scanned the uploaded receipts.
	number, scanned int
	categoryNames   []string
	// overwritten has the versions of the contended transaction on which an accepted change was
	// based.
	overwritten map[string]bool
}

// batch is a request that creates several transactions. acknowledged is set if a response confirmed
// it.
type batch struct {
	records      []*record
	acknowledged bool
}

type wallet struct {
	id      string
	opening *big.Rat
}

// budget covers one wallet and one category. Both partners see it. spent is the expected spending,
// set by checkSums.
type budget struct {
	id, wallet, category string
	limit, spent         *big.Rat
}

// setUp creates users with wallets, categories and shared budgets before the first fault.
func (r *run) setUp(ctx context.Context) error {
	for n := range r.Users {
		user := &user{
			run: r, mark: fmt.Sprintf("u%03d", n), overwritten: map[string]bool{},
			transfers: map[string]*transfer{}, mirror: newMirror(), merged: map[string]string{},
			retired: map[string]bool{},
			client:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}},
		}
		r.users = append(r.users, user)
		// Each even user and the next odd one are partners.
		if n%2 == 1 {
			user.partner, r.users[n-1].partner = r.users[n-1], user
		}
	}
	for _, u := range r.users {
		if err := u.setUp(ctx); err != nil {
			return fmt.Errorf("setting up %s: %w", u.mark, err)
		}
	}
	for _, user := range r.users {
		path := "/api/v1/budgets/" + user.budget.id
		a := user.call(ctx, http.MethodPost, path+"/share", object{"email": user.partner.email})
		if a.status != http.StatusCreated {
			return fmt.Errorf("sharing: %d %s", a.status, a.raw)
		}
		path += "/members/" + user.partner.id
		a = user.partner.call(ctx, http.MethodPatch, path, object{"status": "accepted"})
		if a.status != http.StatusOK {
			return fmt.Errorf("accepting: %d %s", a.status, a.raw)
		}
	}
	if err := r.setUpLeavers(ctx); err != nil {
		return err
	}
	// The streams are opened last, so that the events of the setup do not have to be compared.
	for _, u := range r.users {
		if err := u.stream.open(ctx); err != nil {
			return fmt.Errorf("opening the event stream of %s: %w", u.mark, err)
		}
	}
	return nil
}

// setUp registers the user and creates their resources. It returns the first error.
func (u *user) setUp(ctx context.Context) error {
	var failure error
	create := func(path string, body object, id string) string {
		a := u.call(ctx, "POST", path, body)
		if a.status != http.StatusCreated && failure == nil {
			failure = fmt.Errorf("%s: %d %s", path, a.status, a.raw)
		}
		return a.text(id)
	}
	u.email = u.mark + "@example.com"
	u.id = create("/api/v1/auth/register",
		object{"name": u.mark, "email": u.email, "password": password}, "user.id")
	u.token = u.call(ctx, "POST", "/api/v1/auth/login",
		object{"email": u.email, "password": password}).text("accessToken")
	opening := func(name, balance string) *wallet {
		return &wallet{create("/api/v1/wallet", object{
			"name": u.mark + " " + name, "currency": "EUR", "balance": json.Number(balance),
		}, "wallet.id"), rat(balance)}
	}
	u.wallets = []*wallet{opening("cash", "100.00"), opening("bank", "-3.50"), opening("purse",
		"5.00")}
	u.receipts, u.imports = opening("receipts", "0"), opening("imports", "0")
	u.dollars = &wallet{create("/api/v1/wallet", object{
		"name": u.mark + " dollars", "currency": "USD", "balance": 0,
	}, "wallet.id"), rat("0")}
	u.tags = []string{u.mark + " trip", u.mark + " work"}
	for _, name := range []string{"food", "rent", "fun"} {
		u.categories = append(u.categories,
			create("/api/v1/categories", object{"name": u.mark + " " + name}, "category.id"))
	}
	u.budget = budget{wallet: u.wallets[0].id, category: u.categories[0], limit: rat("100")}
	u.budget.id = create("/api/v1/budgets", object{
		"name": u.mark + " plan", "currency": "EUR", "limit": 100, "period": "custom",
		"startDate": "2026-01-01", "endDate": "2035-12-31",
		"walletId": u.budget.wallet, "categoryIds": []string{u.budget.category},
	}, "budget.id")
	// The contended transaction exists before the load begins.
	first := &record{owner: u, mark: u.nextMark()}
	first.id = create("/api/v1/transaction", first.body(version{
		amount: rat("-1.00"), wallet: u.budget.wallet, category: u.budget.category,
	}), "transaction.id")
	first.states = []version{{
		amount: rat("-1.00"), wallet: u.budget.wallet, category: u.budget.category,
		text: first.mark,
	}}
	first.contended = true
	u.contended, u.records = first, []*record{first}
	u.stream = &stream{user: u, seen: map[string]bool{}}
	return failure
}

// nextMark returns a text that is unique to one transaction.
func (u *user) nextMark() string {
	u.lock.Lock()
	defer u.lock.Unlock()
	u.number++
	return fmt.Sprintf("%s t%d;", u.mark, u.number)
}

// rat parses a decimal. It returns nil for an invalid one.
func rat(s string) *big.Rat {
	r, _ := new(big.Rat).SetString(s)
	return r
}

// leavers is the number of accounts that are deleted during the load.
const leavers = 20

// setUpLeavers creates users with an account like the others. Each shares a budget with the
// previous one.
func (r *run) setUpLeavers(ctx context.Context) error {
	for n := range leavers {
		u := &user{
			run: r, mark: fmt.Sprintf("leaver-%02d", n),
			client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}},
		}
		if err := u.setUp(ctx); err != nil {
			return fmt.Errorf("setting up %s: %w", u.mark, err)
		}
		if n > 0 {
			before := r.leavers[n-1]
			path := "/api/v1/budgets/" + before.budget.id
			before.call(ctx, http.MethodPost, path+"/share", object{"email": u.email})
			a := u.call(ctx, http.MethodPatch, path+"/members/"+u.id, object{"status": "accepted"})
			if a.status != http.StatusOK {
				return fmt.Errorf("accepting: %d %s", a.status, a.raw)
			}
		}
		r.leavers = append(r.leavers, u)
	}
	return nil
}

// leave requests the deletion of one account after the other while faults are injected.
func (r *run) leave(ctx context.Context) {
	for _, u := range r.leavers {
		pause(ctx, r.Length/(leavers+1))
		u.leave(context.WithoutCancel(ctx))
	}
}

// leave requests the deletion of the account, until it is known that it was requested: a repeated
// request is rejected, because the session has ended.
func (u *user) leave(ctx context.Context) {
	requested := func() bool {
		login := u.call(ctx, http.MethodPost, "/api/v1/auth/login",
			object{"email": u.email, "password": password})
		switch login.status {
		case http.StatusOK:
			u.token = login.text("accessToken")
		// The account is being deleted, or does not exist any more.
		case http.StatusForbidden, http.StatusUnauthorized:
			return true
		default:
			return false
		}
		u.call(ctx, http.MethodPost, "/api/v1/auth/deletion", object{"email": u.email})
		return false
	}
	if !within(ctx, time.Minute, requested) {
		u.reportf("%s could not request the deletion of the account", u.mark)
	}
}

// checkDeletions requires that all accounts are deleted after the last fault, and that no row of
// any table names their users.
func (r *run) checkDeletions(ctx context.Context) {
	conn, err := pgx.Connect(ctx, r.stack.Databases[""])
	if err != nil {
		r.reportf("%v", err)
		return
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var unfinished int
	if !within(ctx, r.EventTimeout, func() bool {
		err = conn.QueryRow(ctx,
			`SELECT count(*) FROM auth.deletions WHERE erased_at IS NULL`).Scan(&unfinished)
		return err == nil && unfinished == 0
	}) {
		r.reportf("%d accounts are not deleted: %v", unfinished, err)
	}
	var texts []string
	for _, u := range r.leavers {
		texts = append(texts, u.id, u.email)
	}
	tables, err := pgtest.FindMentions(ctx, conn, texts...)
	if err != nil || len(tables) > 0 {
		r.reportf("tables name users whose accounts were deleted: %v, %v", tables, err)
	}
}
