package resolving

import (
	"maps"
	"slices"

	"github.com/google/uuid"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// category returns the category with a name in the file. One that is seen for the first time gets
// the owner's category of that name, or is created by the commit.
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

// categorize sets the category of a row. The first of these that exists wins: the user's choice,
// the category in the file, the category ruled that the rule by sets, the one that the history
// suggests, and the default. A row without any of them is not ready.
func (c *resolver) categorize(row *staging.Row, ruled, by uuid.UUID) {
	if other, ok := c.otherAccount(row); ok && row.ChosenCategoryID == nil && other.GetCreate() {
		// The commit creates the other wallet, and derives the row again.
		row.CategoryFrom = staging.FromFile
		return
	}
	if len(row.Splits) > 0 && row.ChosenCategoryID == nil {
		for _, s := range row.Splits {
			if s.Category != "" {
				c.category(s.Category).Count++
			}
		}
		row.CategoryFrom = staging.FromFile
		return
	}
	var named *ledgerv1.ImportCategory
	if row.Category != "" {
		named = c.category(row.Category)
		named.Count++
	}
	if row.ChosenCategoryID != nil {
		row.CategoryID, row.CategoryFrom = row.ChosenCategoryID, staging.FromUser
		return
	}
	if named != nil && (named.GetCategoryId() != "" || named.GetCreate()) {
		row.CategoryID, row.CategoryFrom = staging.ParseID(named.GetCategoryId()), staging.FromFile
		return
	}
	if ruled != uuid.Nil {
		row.CategoryID, row.CategoryFrom = &ruled, staging.FromRule+by.String()
		return
	}
	if id, ok := c.learned(row); ok {
		row.CategoryID, row.CategoryFrom = &id, staging.FromHistory
		return
	}
	if id := DefaultCategory(c.details, negative(row.Amount)); id != nil {
		row.CategoryID, row.CategoryFrom = id, staging.FromDefault
	}
}

// DefaultCategory returns the default category of expenses or income, or nil.
func DefaultCategory(details *ledgerv1.Import, expense bool) *uuid.UUID {
	if expense {
		return staging.ParseID(details.GetDefaults().GetExpenseCategoryId())
	}
	return staging.ParseID(details.GetDefaults().GetIncomeCategoryId())
}

// Categories returns the categories that a file describes: the owner's of the same name, or one
// that the commit creates.
func Categories(o Owned, found []statement.Category) []*ledgerv1.ImportCategory {
	c := newResolver(&ledgerv1.Import{}, o)
	for _, f := range found {
		if f.Name != "" {
			n := c.category(f.Name)
			n.Color, n.Icon, n.Kind = accounts.Appearance(f.Color, f.Icon, f.Kind)
		}
	}
	return slices.Collect(maps.Values(c.categories))
}
