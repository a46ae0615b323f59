package receipt

import (
	"cmp"
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// draftReadings returns the draft of each reading, each item with the amounts that other readings
// found in the same row. If a reading lacks lines of another, it adds a draft merged from all of
// them.
func draftReadings(readings []Reading) [][]draftItem {
	var out [][]draftItem
	for i, r := range readings {
		draft := slices.Clone(r.draft)
		for j, other := range readings {
			if i == j {
				continue
			}
			for k := range draft {
				draft[k].addRereads(other.draft)
			}
		}
		out = append(out, draft)
	}
	if all := merged(out); all != nil {
		out = append(out, all)
	}
	return out
}

func (it *draftItem) addRereads(other []draftItem) {
	for _, o := range other {
		value := o.amount.Value
		known := value == it.amount.Value || slices.Contains(it.rereads, value)
		if !known && printed.SameRow(it.at, o.at) {
			// Copies of an item in other drafts share the array.
			it.rereads = append(slices.Clone(it.rereads), value)
		}
	}
}

// merged returns the longest draft, which most likely has all columns and rows in order, with the
// lines that only other drafts have, sorted from top to bottom. It returns nil if there are no such
// lines.
func merged(drafts [][]draftItem) []draftItem {
	if len(drafts) < 2 {
		return nil
	}
	longest := slices.MaxFunc(drafts, func(a, b []draftItem) int { return len(a) - len(b) })
	all := slices.Clone(longest)
	for _, draft := range drafts {
		for _, it := range draft {
			same := func(have draftItem) bool { return printed.SameRow(have.at, it.at) }
			if !slices.ContainsFunc(all, same) {
				all = append(all, it)
			}
		}
	}
	if len(all) == len(longest) {
		return nil
	}
	slices.SortStableFunc(all, func(a, b draftItem) int {
		lower := a.at.Middle - b.at.Middle
		return cmp.Or(a.at.Page-b.at.Page, lower)
	})
	return all
}
