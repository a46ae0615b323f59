package test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDeleteCategoryUsedByBudget(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet := u.wallet("EUR", "0")
	food := u.category("Food")
	fun := u.category("Fun")
	rent := u.category("Rent")
	budget := "/api/v1/budgets/" + u.budget(wallet, food)
	for range 2 {
		a := u.del("/api/v1/categories/"+food).fails(409, "CATEGORY_IN_USE")
		require.Equal(t, "Transactions or budgets use the category", a.text("message"))
	}
	u.patch(budget, object{"categoryIds": []string{fun}}).ok("BUDGET_UPDATED")
	u.del("/api/v1/categories/" + food).ok("CATEGORY_DELETED")

	u.del("/api/v1/categories/" + fun + "?reassignTo=" + rent).ok("CATEGORY_DELETED")
	u.awaitCategories(budget, rent)
	u.del("/api/v1/categories/"+rent).fails(409, "CATEGORY_IN_USE")
	u.del(budget).ok("BUDGET_DELETED")
	u.del("/api/v1/categories/" + rent).ok("CATEGORY_DELETED")

	// A rejected create reserves its category only temporarily.
	taken := u.budgetNamed("Taken", wallet, u.category("Kept"))
	require.NotEmpty(t, taken)
	unused := u.category("Unused")
	u.post("/api/v1/budgets", aBudget("Taken", wallet, unused)).fails(409, "BUDGET_ALREADY_EXISTS")
	require.Eventually(t, func() bool {
		return u.del("/api/v1/categories/"+unused).status == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
}

// awaitCategories waits until a budget has exactly these categories.
func (u *user) awaitCategories(budget string, categories ...any) {
	require.EventuallyWithT(u.t, func(c *assert.CollectT) {
		require.Equal(c, categories, u.get(budget).ok("BUDGET_FETCHED").list("budget.categoryIds"))
	}, time.Minute, 20*time.Millisecond)
}

// TestBudgetsDuringMerges creates and updates budgets while their category is merged or deleted.
// Regardless of the order, each budget finally has a category that exists.
func TestBudgetsDuringMerges(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet := u.wallet("EUR", "0")
	for i := range 8 {
		n := strconv.Itoa(i)
		merged := u.category("Merged " + n)
		deleted := u.category("Deleted " + n)
		target := u.category("Target " + n)
		old := u.category("Old " + n)
		changed := "/api/v1/budgets/" + u.budgetNamed("Changed "+n, wallet, old)
		var responses [6]response
		var racing sync.WaitGroup
		for k, call := range []func() response{
			func() response {
				return u.post("/api/v1/budgets", aBudget("With merged "+n, wallet, merged))
			},
			func() response {
				return u.post("/api/v1/budgets", aBudget("With deleted "+n, wallet, deleted))
			},
			func() response { return u.patch(changed, object{"categoryIds": []string{merged}}) },
			func() response {
				return u.del("/api/v1/categories/" + merged + "?reassignTo=" + target)
			},
			func() response { return u.del("/api/v1/categories/" + deleted) },
			func() response { return u.patch(changed, object{"limit": 50}) },
		} {
			racing.Go(func() { responses[k] = call() })
		}
		racing.Wait()
		require.Equal(t, http.StatusOK, responses[3].status, "%s", responses[3].raw)
		if responses[0].status == http.StatusCreated {
			u.awaitCategories("/api/v1/budgets/"+responses[0].text("budget.id"), target)
		} else {
			responses[0].fails(404, "INVALID_CATEGORY_EXIST_PARAMS")
		}
		if responses[2].status == http.StatusOK {
			u.awaitCategories(changed, target)
		} else {
			responses[2].fails(404, "INVALID_CATEGORY_EXIST_PARAMS")
		}
		// Either the create or the delete is rejected.
		created := responses[1].status == http.StatusCreated
		deletedFirst := responses[4].status == http.StatusOK
		require.NotEqual(t, created, deletedFirst, "%s\n%s", responses[1].raw, responses[4].raw)
	}
}
