package transactions

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// conditions holds the WHERE conditions of a list's statements. It omits absent filters, so that
// the planner can choose an index.
type conditions struct {
	// bounds limit the range of an index in the list's order. filters are evaluated for each row of
	// that range.
	bounds, filters []condition
	args            []any
	// owner, categories and outside are the numbers of their parameters. categories is 0 unless
	// parts may match the filter by category, and outside is 0 unless categories are excluded.
	owner, categories, outside int
}

// condition is an SQL condition in two forms: known has plain parameters, whose values the planner
// uses. hidden has the parameters in subqueries, whose values it does not know.
type condition struct{ known, hidden string }

// value is an argument with the SQL expression of its parameter. PostgreSQL evaluates the
// expression once per statement. A plain value is never hidden.
type value struct {
	of    any
	as    string
	plain bool
}

// ownerValue returns the owner of the list. A distributed database selects the shard by it before
// it plans the statement, and so must know its value (ADR 124).
func (l transactionList) ownerValue() value {
	return value{of: l.owner, as: "$%d::uuid", plain: l.distributed}
}

// add appends a condition to a list of conditions, and its values to the arguments. format has one
// %s per value.
func (c *conditions) add(to *[]condition, format string, values ...value) {
	known, hidden := make([]any, len(values)), make([]any, len(values))
	for i, v := range values {
		c.args = append(c.args, v.of)
		text := fmt.Sprintf(v.as, len(c.args))
		known[i], hidden[i] = text, "(SELECT "+text+")"
		if v.plain {
			hidden[i] = text
		}
	}
	*to = append(*to, condition{fmt.Sprintf(format, known...), fmt.Sprintf(format, hidden...)})
}

// conditions returns the conditions of the list. In the order by date, conditions on the date are
// bounds and those on the amount are filters; in the order by amount it is the other way round.
func (l transactionList) conditions() *conditions {
	all := &conditions{}
	ofDate, ofAmount := &all.bounds, &all.filters
	if l.byAmount() {
		ofDate, ofAmount = ofAmount, ofDate
	}
	all.addIDs(l)
	all.addKind(l, ofAmount)
	if l.currency != "" {
		all.add(&all.filters, "t.currency = %s", value{of: l.currency, as: "$%d::text"})
	}
	if l.from != nil {
		all.add(ofDate, "t.date >= %s", value{of: *l.from, as: "$%d::timestamptz"})
	}
	if l.end != nil {
		all.add(ofDate, "t.date < %s", value{of: *l.end, as: "$%d::timestamptz"})
	}
	if l.minE4 != nil {
		all.add(ofAmount, "t.amount_e4 >= %s", value{of: *l.minE4, as: "$%d::bigint"})
	}
	if l.maxE4 != nil {
		all.add(ofAmount, "t.amount_e4 <= %s", value{of: *l.maxE4, as: "$%d::bigint"})
	}
	if l.substring != "" {
		all.add(&all.filters, searched+` LIKE %s`,
			value{of: "%" + likeEscaped(l.substring) + "%", as: `lower($%d COLLATE "und-x-icu")`})
	}
	if l.cleared != nil {
		all.add(&all.filters, "t.cleared = %s", value{of: *l.cleared, as: "$%d::boolean"})
	}
	all.addDetails(l)
	all.addOrigin(l)
	all.addExcluded(l)
	all.addPlace(l)
	return all
}

// addManyTags adds a condition that rejects rows without any of the tags. && would compare each tag
// of a row with each tag of the filter: a second for 200 tags and 100,000 rows. PostgreSQL finds a
// key in a JSON object by binary search.
func (c *conditions) addManyTags(tags []string) {
	keys := make(map[string]bool, len(tags))
	for _, key := range tags {
		keys[key] = true
	}
	c.add(&c.filters, "%s ?| t.tags", value{of: keys, as: "$%d::jsonb"})
}

// addDetails adds the filters by payee and by tags. The payee begins the indexed text of searches.
func (c *conditions) addDetails(list transactionList) {
	if list.payee != "" {
		c.add(&c.filters, `lower(t.payee COLLATE "und-x-icu") = %s`,
			value{of: list.payee, as: `lower($%d COLLATE "und-x-icu")`})
		c.add(&c.filters, searched+` LIKE %s`,
			value{of: likeEscaped(list.payee) + " %", as: `lower($%d COLLATE "und-x-icu")`})
	}
	switch {
	case list.untagged:
		c.add(&c.filters, "t.tags = '{}'")
	case len(list.tags) > 0:
		c.add(&c.filters, "t.tags <> '{}'")
		if len(list.tags) > maxIndexedTags {
			c.addManyTags(list.tags)
			return
		}
		c.add(&c.filters, "t.tags && %s::text[]", value{of: list.tags, as: "$%d::text[]"})
	}
}

// addOrigin adds the filters of request.Origin. An external id is unique in a wallet, so the index
// transactions_external finds it if the wallets are named. A list of transactions with attachments
// by date reads the index transactions_attached, unless another filter selects a different one.
func (c *conditions) addOrigin(list transactionList) {
	if list.ExternalID != "" {
		c.add(&c.filters, `t.wallet_id = ANY(ARRAY(
			SELECT w.id FROM wallets w WHERE w.owner_id = %s))`, list.ownerValue())
		c.add(&c.filters, "t.external_id = %s", value{of: list.ExternalID, as: "$%d::text"})
	}
	if list.ImportID != nil {
		c.add(&c.filters, "t.import_id = %s", value{of: *list.ImportID, as: "$%d::uuid"})
	}
	if list.ReceiptID != nil {
		c.add(&c.filters, "t.receipt_id = %s", value{of: *list.ReceiptID, as: "$%d::uuid"})
	}
	switch {
	case list.unattached():
		c.add(&c.filters, "t.attachment_count = 0")
	case list.Attached == nil:
	case list.byAmount() || len(list.wallets) == 1 || len(list.categories) == 1 ||
		list.kind == posting.Transfer:
		c.add(&c.filters, "t.attachment_count > 0")
	default:
		c.add(&c.bounds, "t.attachment_count > 0")
	}
}

// addExcluded adds the filters of excluded.
func (c *conditions) addExcluded(list transactionList) {
	if list.counted {
		c.add(&c.filters, "t.transfer_id IS NULL AND NOT t.adjustment")
	}
	if list.unnamed {
		c.add(&c.filters, "t.payee = ''")
	}
	if len(list.outsidePayees) > 0 {
		c.add(&c.filters, `lower(t.payee COLLATE "und-x-icu") <> ALL(%s::text[])`,
			value{of: list.outsidePayees, as: `ARRAY(
				SELECT lower(n.name COLLATE "und-x-icu") FROM unnest($%d::text[]) AS n (name))`})
	}
	if len(list.outsideWallets) > 0 {
		c.add(&c.filters, "t.wallet_id <> ALL(%s::uuid[])",
			value{of: list.outsideWallets, as: "$%d::uuid[]"})
	}
	if len(list.outsideCategories) > 0 {
		c.add(&c.filters, `(t.category_id IS NOT NULL AND t.category_id <> ALL(%[1]s::uuid[])
			OR t.split_count > 0 AND EXISTS (
				SELECT FROM splits s
				WHERE s.owner_id = %[2]s AND s.transaction_id = t.id
					AND s.category_id <> ALL(%[1]s::uuid[])))`,
			value{of: list.outsideCategories, as: "$%d::uuid[]"}, list.ownerValue())
		c.outside = len(c.args) - 1
	}
}

// addKind adds the filter by type. The filters by expense and by income exclude the legs of
// transfers and adjustments. A list of transfers by date reads the index transactions_transfers,
// unless a wallet or a category selects another one.
func (c *conditions) addKind(list transactionList, ofAmount *[]condition) {
	switch list.kind {
	case posting.Expense:
		c.add(ofAmount, "t.amount_e4 < 0")
		c.add(ofAmount, "t.transfer_id IS NULL AND NOT t.adjustment")
	case posting.Income:
		c.add(ofAmount, "t.amount_e4 > 0")
		c.add(ofAmount, "t.transfer_id IS NULL AND NOT t.adjustment")
	case posting.Transfer:
		to := &c.filters
		if !list.byAmount() && len(list.wallets) != 1 && len(list.categories) != 1 {
			to = &c.bounds
		}
		c.add(to, "t.transfer_id IS NOT NULL")
	case posting.Adjustment:
		c.add(&c.filters, "t.adjustment")
	}
}

func (c *conditions) addPlace(list transactionList) {
	c.add(&c.bounds, "t.owner_id = %s", list.ownerValue())
	c.owner = len(c.args)
	beyond := ">"
	if list.descending() {
		beyond = "<"
	}
	switch {
	case list.after == nil:
	case list.byAmount():
		c.add(&c.bounds, "(t.amount_e4, t.id) "+beyond+" (%s, %s)",
			value{of: list.after.AmountE4, as: "$%d::bigint"},
			value{of: list.after.ID, as: "$%d::uuid"})
	default:
		c.add(&c.bounds, "(t.date, t.id) "+beyond+" (%s, %s)",
			value{of: list.after.Date, as: "$%d::timestamptz"},
			value{of: list.after.ID, as: "$%d::uuid"})
	}
}

// addIDs adds the filters by wallet and category. In a list by date, a single wallet, or otherwise
// a single category, is a bound, because there is an index for each in that order.
func (c *conditions) addIDs(list transactionList) {
	ofWallet, ofCategory := &c.filters, &c.filters
	switch {
	case list.byAmount():
	case len(list.wallets) == 1:
		ofWallet = &c.bounds
	case len(list.categories) == 1 && !list.parts:
		ofCategory = &c.bounds
	}
	if list.parts {
		c.addParts(list)
		ofCategory = nil
	}
	for _, by := range []struct {
		to     *[]condition
		column string
		ids    []uuid.UUID
	}{{ofWallet, "t.wallet_id", list.wallets}, {ofCategory, "t.category_id", list.categories}} {
		switch {
		case by.to == nil, len(by.ids) == 0:
		case len(by.ids) == 1:
			c.add(by.to, by.column+" = %s", value{of: by.ids[0], as: "$%d::uuid"})
		default:
			// Without the second cast, ANY would compare with the rows of a subquery instead of the
			// elements of an array.
			c.add(by.to, by.column+" = ANY(%s::uuid[])", value{of: by.ids, as: "$%d::uuid[]"})
		}
	}
}

// addParts adds the filter by category for an owner with parts in the categories.
func (c *conditions) addParts(l transactionList) {
	c.add(&c.filters, `EXISTS (
		SELECT FROM unnest(%s::uuid[]) AS n (id)
		WHERE n.id = t.category_id OR t.split_count > 0 AND EXISTS (
			SELECT FROM splits s
			WHERE s.owner_id = %s AND s.transaction_id = t.id
				AND s.category_id = n.id))`,
		value{of: l.categories, as: "$%d::uuid[]"}, l.ownerValue())
	c.categories = len(c.args) - 1
}

func all(conditions []condition, form func(condition) string) string {
	texts := make([]string, len(conditions))
	for i, c := range conditions {
		texts[i] = form(c)
	}
	return strings.Join(texts, " AND ")
}
