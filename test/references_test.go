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
	me := newUser(t)
	wallet := me.wallet("EUR", "0")
	food := me.category("Food")
	fun := me.category("Fun")
	rent := me.category("Rent")
	budget := "/api/v1/budgets/" + me.budget(wallet, food)
	for range 2 {
		a := me.del("/api/v1/categories/"+food).fails(409, "CATEGORY_IN_USE")
		require.Equal(t, "Transactions or budgets use the category", a.text("message"))
	}
	me.patch(budget, object{"categoryIds": []string{fun}}).ok("BUDGET_UPDATED")
	me.del("/api/v1/categories/" + food).ok("CATEGORY_DELETED")

	me.del("/api/v1/categories/" + fun + "?reassignTo=" + rent).ok("CATEGORY_DELETED")
	me.awaitCategories(budget, rent)
	me.del("/api/v1/categories/"+rent).fails(409, "CATEGORY_IN_USE")
	me.del(budget).ok("BUDGET_DELETED")
	me.del("/api/v1/categories/" + rent).ok("CATEGORY_DELETED")

	// A rejected create reserves its category only temporarily.
	taken := me.budgetNamed("Taken", wallet, me.category("Kept"))
	require.NotEmpty(t, taken)
	unused := me.category("Unused")
	me.post("/api/v1/budgets", aBudget("Taken", wallet, unused)).fails(409, "BUDGET_ALREADY_EXISTS")
	require.Eventually(t, func() bool {
		return me.del("/api/v1/categories/"+unused).status == http.StatusOK
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
	me := newUser(t)
	wallet := me.wallet("EUR", "0")
	for i := range 8 {
		name := strconv.Itoa(i)
		merged := me.category("Merged " + name)
		deleted := me.category("Deleted " + name)
		target := me.category("Target " + name)
		old := me.category("Old " + name)
		changed := "/api/v1/budgets/" + me.budgetNamed("Changed "+name, wallet, old)
		var responses [6]response
		var racing sync.WaitGroup
		for index, call := range []func() response{
			func() response {
				return me.post("/api/v1/budgets", aBudget("With merged "+name, wallet, merged))
			},
			func() response {
				return me.post("/api/v1/budgets", aBudget("With deleted "+name, wallet, deleted))
			},
			func() response { return me.patch(changed, object{"categoryIds": []string{merged}}) },
			func() response {
				return me.del("/api/v1/categories/" + merged + "?reassignTo=" + target)
			},
			func() response { return me.del("/api/v1/categories/" + deleted) },
			func() response { return me.patch(changed, object{"limit": 50}) },
		} {
			racing.Go(func() { responses[index] = call() })
		}
		racing.Wait()
		require.Equal(t, http.StatusOK, responses[3].status, "%s", responses[3].raw)
		if responses[0].status == http.StatusCreated {
			me.awaitCategories("/api/v1/budgets/"+responses[0].text("budget.id"), target)
		} else {
			responses[0].fails(404, "INVALID_CATEGORY_EXIST_PARAMS")
		}
		if responses[2].status == http.StatusOK {
			me.awaitCategories(changed, target)
		} else {
			responses[2].fails(404, "INVALID_CATEGORY_EXIST_PARAMS")
		}
		// Either the create or the delete is rejected.
		created := responses[1].status == http.StatusCreated
		deletedFirst := responses[4].status == http.StatusOK
		require.NotEqual(t, created, deletedFirst, "%s\n%s", responses[1].raw, responses[4].raw)
	}
}
