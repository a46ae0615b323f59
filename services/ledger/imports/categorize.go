package imports

import (
	"github.com/google/uuid"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// The values of a row's category_from.
const (
	fromUser = "user"
	fromFile = "file"
	// fromRule precedes the id of the rule.
	fromRule    = "rule:"
	fromHistory = "history"
	fromDefault = "default"
)

// category returns the category with a name in the file. One that is seen for the first time gets the owner's category of that name, or is
// created by the commit.
func (c *resolver) category(name string) *ledgerv1.ImportCategory {
	if n, ok := c.categories[name]; ok {
		return n
	}
	if len(c.categories) >= maxNames {
		return &ledgerv1.ImportCategory{Name: name}
	}
	n := &ledgerv1.ImportCategory{Name: name, Create: true}
	if id, ok := c.owned.categoryNames[fold(name)]; ok {
		n.CategoryId, n.Create = id.String(), false
	}
	c.categories[name] = n
	return n
}

// categorize sets the category of a row: the user's choice, the one in the file, the one that the rule by sets, the one that the history
// suggests, or the default.
func (c *resolver) categorize(r *row, ruled, by uuid.UUID) {
	if other, ok := c.otherAccount(r); ok && r.ChosenCategoryID == nil && other.GetCreate() {
		// The commit creates the other wallet, and derives the row again.
		r.CategoryFrom = fromFile
		return
	}
	if len(r.Splits) > 0 && r.ChosenCategoryID == nil {
		for _, s := range r.Splits {
			if s.Category != "" {
				c.category(s.Category).Count++
			}
		}
		r.CategoryFrom = fromFile
		return
	}
	var named *ledgerv1.ImportCategory
	if r.Category != "" {
		named = c.category(r.Category)
		named.Count++
	}
	if r.ChosenCategoryID != nil {
		r.CategoryID, r.CategoryFrom = r.ChosenCategoryID, fromUser
		return
	}
	if named != nil && (named.GetCategoryId() != "" || named.GetCreate()) {
		r.CategoryID, r.CategoryFrom = parseID(named.GetCategoryId()), fromFile
		return
	}
	if ruled != uuid.Nil {
		r.CategoryID, r.CategoryFrom = &ruled, fromRule+by.String()
		return
	}
	if id, ok := c.learned(r); ok {
		r.CategoryID, r.CategoryFrom = &id, fromHistory
		return
	}
	if id := defaultCategory(c.details, negative(r.Amount)); id != nil {
		r.CategoryID, r.CategoryFrom = id, fromDefault
	}
}

// defaultCategory returns the default category of expenses or income, or nil.
func defaultCategory(details *ledgerv1.Import, expense bool) *uuid.UUID {
	if expense {
		return parseID(details.GetDefaults().GetExpenseCategoryId())
	}
	return parseID(details.GetDefaults().GetIncomeCategoryId())
}
