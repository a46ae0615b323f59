package learning

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

const (
	// minChoices is the number of equal choices that a rule must save.
	minChoices = 3
	// maxProposals limits the proposals, and so the time that later steps take for each of them.
	maxProposals = 500
)

// Choice is a category that the owner chose by hand for Count transactions with the same payee.
type Choice struct {
	Payee      string
	CategoryID uuid.UUID `db:"category_id"`
	Count      int
}

// Proposal is a rule that sets a category for a payee.
type Proposal struct {
	// Op is matching.Is, or matching.StartsWith for payees that differ only in numbers and
	// punctuation.
	Op, Payee  string
	CategoryID uuid.UUID
	// Count is the number of choices that the rule would have saved.
	Count int
}

type chosen struct {
	Choice
	folded string
}

// Propose returns rules that would have saved at least minChoices equal choices each. Of all
// choices that a rule would apply to, at least minShare have its category. The rules with the most
// choices come first.
func Propose(choices []Choice) []Proposal {
	var sorted []chosen
	groups := map[string][]chosen{}
	for _, c := range choices {
		key := lettersOf(c.Payee)
		if key == "" {
			continue
		}
		one := chosen{Choice: c, folded: matching.Fold(c.Payee)}
		sorted, groups[key] = append(sorted, one), append(groups[key], one)
	}
	slices.SortFunc(sorted, func(a, b chosen) int { return strings.Compare(a.folded, b.folded) })
	seen := map[string]bool{}
	var proposals []Proposal
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		op, payee := conditionOf(groups[key])
		folded := matching.Fold(payee)
		if folded == "" || seen[op+folded] {
			continue
		}
		seen[op+folded] = true
		if category, count, ok := agreed(sorted, op, folded); ok {
			proposals = append(proposals,
				Proposal{Op: op, Payee: payee, CategoryID: category, Count: count})
		}
	}
	slices.SortFunc(proposals, func(a, b Proposal) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Payee, b.Payee))
	})
	return proposals[:min(len(proposals), maxProposals)]
}

// conditionOf returns the condition that the payees of a group with one key meet. The text is empty
// if they do not start with the same words. It is spelled like the most frequent payee. Of equally
// frequent ones the last in byte order is taken, in which small letters are later than capitals.
func conditionOf(group []chosen) (op, payee string) {
	first := slices.MaxFunc(group, func(a, b chosen) int {
		return cmp.Or(cmp.Compare(a.Count, b.Count), strings.Compare(a.Payee, b.Payee))
	})
	words := strings.Fields(first.folded)
	common := len(words)
	for _, c := range group {
		for i, w := range strings.Fields(c.folded) {
			if i < common && w != words[i] {
				common = i
			}
		}
		common = min(common, len(strings.Fields(c.folded)))
	}
	equal := !slices.ContainsFunc(group, func(c chosen) bool { return c.folded != first.folded })
	switch fields := strings.Fields(first.Payee); {
	case equal:
		return matching.Is, strings.Join(fields, " ")
	case lettersOf(strings.Join(words[:common], " ")) == "":
		return matching.StartsWith, ""
	case len(fields) == len(words):
		return matching.StartsWith, strings.Join(fields[:common], " ")
	}
	return matching.StartsWith, strings.Join(words[:common], " ")
}

// agreed returns the category of most choices that meet a condition, with its number of choices. ok
// is false if there are too few of them, or too many others. The choices are sorted by their folded
// payees, so those that meet the condition are neighbors.
func agreed(sorted []chosen, op, folded string) (category uuid.UUID, count int, ok bool) {
	from, _ := slices.BinarySearchFunc(sorted, folded, func(c chosen, s string) int {
		return strings.Compare(c.folded, s)
	})
	uses, all := map[uuid.UUID]int{}, 0
	for _, c := range sorted[from:] {
		if c.folded != folded && (op == matching.Is || !strings.HasPrefix(c.folded, folded)) {
			break
		}
		uses[c.CategoryID] += c.Count
		all += c.Count
	}
	category = ranking(uses)[0]
	count = uses[category]
	return category, count, count >= minChoices && float64(count) >= minShare*float64(all)
}
