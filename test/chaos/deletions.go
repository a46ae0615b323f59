package chaos

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// leavers is the number of accounts that are deleted during the load.
const leavers = 20

// setUpLeavers creates users who have an account like the others. Each shares a budget with the
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
