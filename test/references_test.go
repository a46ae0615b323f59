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

func TestDeleteCategoryThatABudgetUses(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	wallet, food, fun, rent := p.wallet("EUR", "0"), p.category("Food"), p.category("Fun"), p.category("Rent")
	budget := "/api/v1/budgets/" + p.budget(wallet, food)
	for range 2 {
		a := p.del("/api/v1/categories/"+food).fails(http.StatusConflict, "CATEGORY_IN_USE")
		require.Equal(t, "Transactions or budgets use the category", a.text("message"))
	}
	p.patch(budget, object{"categoryIds": []string{fun}}).ok("BUDGET_UPDATED")
	p.del("/api/v1/categories/" + food).ok("CATEGORY_DELETED")

	p.del("/api/v1/categories/" + fun + "?reassignTo=" + rent).ok("CATEGORY_DELETED")
	p.awaitCategories(budget, rent)
	p.del("/api/v1/categories/"+rent).fails(http.StatusConflict, "CATEGORY_IN_USE")
	p.del(budget).ok("BUDGET_DELETED")
	p.del("/api/v1/categories/" + rent).ok("CATEGORY_DELETED")

	// A refused write keeps its category for a moment only.
	taken := p.budgetNamed("Taken", wallet, p.category("Kept"))
	require.NotEmpty(t, taken)
	spare := p.category("Spare")
	p.post("/api/v1/budgets", aBudget("Taken", wallet, spare)).fails(http.StatusConflict, "BUDGET_ALREADY_EXISTS")
	require.Eventually(t, func() bool { return p.del("/api/v1/categories/"+spare).status == http.StatusOK }, 20*time.Second, 20*time.Millisecond)
}

// awaitCategories waits until a budget has exactly these categories.
func (p *person) awaitCategories(budget string, categories ...any) {
	require.EventuallyWithT(p.t, func(c *assert.CollectT) {
		require.Equal(c, categories, p.get(budget).ok("BUDGET_FETCHED").list("budget.categoryIds"))
	}, 20*time.Second, 20*time.Millisecond)
}

// TestBudgetsDuringMerges creates and changes budgets while their category is merged or deleted. Whatever the order, a budget
// ends with a category that exists.
func TestBudgetsDuringMerges(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	wallet := p.wallet("EUR", "0")
	for i := range 8 {
		n := strconv.Itoa(i)
		merged, deleted, target, old := p.category("Merged "+n), p.category("Deleted "+n), p.category("Target "+n), p.category("Old "+n)
		changed := "/api/v1/budgets/" + p.budgetNamed("Changed "+n, wallet, old)
		var answers [6]answer
		var racing sync.WaitGroup
		for k, call := range []func() answer{
			func() answer { return p.post("/api/v1/budgets", aBudget("With merged "+n, wallet, merged)) },
			func() answer { return p.post("/api/v1/budgets", aBudget("With deleted "+n, wallet, deleted)) },
			func() answer { return p.patch(changed, object{"categoryIds": []string{merged}}) },
			func() answer { return p.del("/api/v1/categories/" + merged + "?reassignTo=" + target) },
			func() answer { return p.del("/api/v1/categories/" + deleted) },
			func() answer { return p.patch(changed, object{"limit": 50}) },
		} {
			racing.Go(func() { answers[k] = call() })
		}
		racing.Wait()
		require.Equal(t, http.StatusOK, answers[3].status, "%s", answers[3].raw)
		if answers[0].status == http.StatusCreated {
			p.awaitCategories("/api/v1/budgets/"+answers[0].text("budget.id"), target)
		} else {
			answers[0].fails(http.StatusNotFound, "INVALID_CATEGORY_EXIST_PARAMS")
		}
		if answers[2].status == http.StatusOK {
			p.awaitCategories(changed, target)
		} else {
			answers[2].fails(http.StatusNotFound, "INVALID_CATEGORY_EXIST_PARAMS")
		}
		// Of the create and the delete, one is refused.
		created, gone := answers[1].status == http.StatusCreated, answers[4].status == http.StatusOK
		require.NotEqual(t, created, gone, "%s\n%s", answers[1].raw, answers[4].raw)
	}
}
