package chaos

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

type version struct {
	amount *big.Rat
	// category is empty for a transaction with splits.
	wallet, category string
	splits           []split
	// tag is the only tag, or empty.
	tag, text string
}

// split is a part of a transaction. Its amount has the sign of the transaction, and the opposite
// one for a refund.
type split struct {
	category string
	amount   *big.Rat
}

// part returns a part of a response or an event, whose amounts are positive, and negative for a
// refund.
func (v version) part(category, amount string) split {
	s := split{category, rat(amount)}
	if v.amount.Sign() < 0 {
		s.amount.Neg(s.amount)
	}
	return s
}

// categories returns the categories of the transaction or of its parts.
func (v version) categories() []string {
	if len(v.splits) == 0 {
		return []string{v.category}
	}
	var all []string
	for _, s := range v.splits {
		all = append(all, s.category)
	}
	return all
}

func (v version) in(category string) *big.Rat {
	if v.category == category {
		return v.amount
	}
	sum := new(big.Rat)
	for _, s := range v.splits {
		if s.category == category {
			sum.Add(sum, s.amount)
		}
	}
	return sum
}

// same reports whether two versions are equal. A merge changes categories and tags of transactions
// without publishing events for them, so two categories or tags are equal if one was merged into
// the other.
func (u *user) same(v, o version) bool {
	equal := func(a, b split) bool {
		return a.amount.Cmp(b.amount) == 0 && u.target(a.category) == u.target(b.category)
	}
	return v.amount.Cmp(o.amount) == 0 && v.wallet == o.wallet && v.text == o.text &&
		u.target(v.category) == u.target(o.category) && u.target(v.tag) == u.target(o.tag) &&
		slices.EqualFunc(v.splits, o.splits, equal)
}

// String returns the version for findings.
func (v version) String() string {
	parts := ""
	for _, s := range v.splits {
		parts += fmt.Sprintf("; %s in %s", s.amount.FloatString(2), s.category)
	}
	return fmt.Sprintf("%s %q in %s, %s%s, with tag %q",
		v.amount.FloatString(2), v.text, v.wallet, v.category, parts, v.tag)
}

// compare requires that a transaction is in one of its possible states. The category and
// description of a contended transaction depend on the order of the changes, so only its amount is
// compared.
func (t *record) compare(is version) {
	if t.contended {
		equal := func(v version) bool { return v.amount.Cmp(is.amount) == 0 }
		if !slices.ContainsFunc(t.states, equal) {
			t.owner.reportf("%s %s has an amount that was never requested: %s", t.id, t.mark, is)
		}
		return
	}
	if !slices.ContainsFunc(t.states, func(v version) bool { return t.owner.same(v, is) }) {
		t.owner.reportf("%s %s is %s, but may be only %s", t.id, t.mark, is, t.states)
	}
}

func versionOf(transaction any) version {
	reply := response{body: object{"t": transaction}}
	target := version{
		amount: rat(reply.text("t.amount")), wallet: reply.text("t.walletId"),
		category: reply.text("t.categoryId"), text: reply.text("t.description"),
	}
	for _, s := range reply.list("t.splits") {
		row := response{body: object{"s": s}}
		target.splits = append(target.splits,
			target.part(row.text("s.categoryId"), row.text("s.amount")))
	}
	var tags []string
	for _, tag := range reply.list("t.tags") {
		tags = append(tags, fmt.Sprint(tag))
	}
	target.tag = strings.Join(tags, ",")
	return target
}

// versionIn converts a transaction of an event. It returns an empty version for nil.
func versionIn(transaction *ledgerv1.Transaction) version {
	if transaction == nil {
		return version{amount: new(big.Rat)}
	}
	v := version{
		amount: rat(transaction.GetAmount()), wallet: transaction.GetWalletId(),
		category: transaction.GetCategoryId(),
		tag:      strings.Join(transaction.GetTags(), ","), text: transaction.GetDescription(),
	}
	for _, s := range transaction.GetSplits() {
		v.splits = append(v.splits, v.part(s.GetCategoryId(), s.GetAmount()))
	}
	return v
}
