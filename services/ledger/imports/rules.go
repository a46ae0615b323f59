package imports

import (
	"cmp"

	"github.com/google/uuid"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/rules/learning"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

// ruled is what rules change in a row, besides its category and its transfer.
type ruled struct {
	Payee       *string     `json:"payee,omitempty"`
	Description *string     `json:"description,omitempty"`
	Notes       *string     `json:"notes,omitempty"`
	Tags        []string    `json:"tags,omitempty"`
	Rules       []uuid.UUID `json:"rules"`
}

// payee and description return the user's text, the one of a rule, or the one in the file.
func (r *row) payee() string { return *cmp.Or(r.ChosenPayee, r.ruledTexts().Payee, &r.Payee) }

func (r *row) description() string {
	return *cmp.Or(r.ChosenDescription, r.ruledTexts().Description, &r.Description)
}

// notes returns the text of a rule, or the one in the file.
func (r *row) notes() string { return *cmp.Or(r.ruledTexts().Notes, &r.Notes) }

// tags returns the names in the file and those of rules.
func (r *row) tags() []string {
	return tagNames(append(append([]string{}, r.Tags...), r.ruledTexts().Tags...))
}

// ruledTexts returns what rules change, which is nothing without rules.
func (r *row) ruledTexts() ruled {
	if r.Ruled == nil {
		return ruled{}
	}
	return *r.Ruled
}

// rule runs the owner's rules on a row that is no transfer. The user's choices take precedence. It returns the category that a rule sets.
func (c *resolver) rule(r *row) (category, by uuid.UUID) {
	if c.rules == nil || c.rules.Empty() {
		return uuid.Nil, uuid.Nil
	}
	t := matching.Transaction{
		Payee: r.payee(), Description: r.description(), Notes: r.Notes, Income: !negative(r.Amount), Currency: r.BookedCurrency, Tags: r.Tags,
		AmountE4: matching.UnknownAmount,
	}
	if r.WalletID != nil {
		t.Wallet = *r.WalletID
	}
	if r.AmountMinor != nil {
		t.AmountE4 = posting.Transaction{AmountMinor: *r.AmountMinor, Currency: r.BookedCurrency}.AmountE4()
		t.AmountE4 = max(t.AmountE4, -t.AmountE4)
	}
	o := c.rules.Run(t)
	if len(o.Matched) == 0 {
		return uuid.Nil, uuid.Nil
	}
	r.Ruled = &ruled{Payee: o.Payee, Description: o.Description, Notes: o.Notes, Tags: o.Tags, Rules: o.Matched}
	switch {
	case o.Skip && r.Action == "":
		r.Status, r.Problem = skipped, "a rule skips the row"
	case o.TransferTo != uuid.Nil && r.ChosenCategoryID == nil && len(r.Splits) == 0 && (r.WalletID == nil || *r.WalletID != o.TransferTo):
		r.TransferWalletID = &o.TransferTo
	}
	return o.Category, o.DecidedBy
}

// learned returns the category that the owner's earlier transactions suggest, or the earlier suggestion if they were not read.
func (c *resolver) learned(r *row) (uuid.UUID, bool) {
	if c.memory == nil {
		id, ok := c.suggested[r.N]
		return id, ok && c.owned.categories[id]
	}
	s := c.memory.Suggest(r.payee(), r.description(), negative(r.Amount))
	return s.Category, s.Confidence >= learning.MinConfidence
}

// applications returns the rules that changed booked rows, and the numbers of these rows.
func applications(rows []row) (ids []uuid.UUID, counts []int32) {
	at := map[uuid.UUID]int{}
	for _, r := range rows {
		if r.Status != booked {
			continue
		}
		for _, id := range r.ruledTexts().Rules {
			if _, ok := at[id]; !ok {
				at[id] = len(ids)
				ids, counts = append(ids, id), append(counts, 0)
			}
			counts[at[id]]++
		}
	}
	return ids, counts
}

// fold returns a text in which letters that differ only in case or width are equal.
func fold(s string) string { return cases.Fold().String(norm.NFKC.String(s)) }
