package receipt

import (
	"cmp"
	"slices"
)

// drafts are the goods as each reading found them, with what the others found in the same places; and all of them
// together, for what one reading misses another may have.
func drafts(readings []Reading) [][]draftItem {
	var out [][]draftItem
	for i, r := range readings {
		draft := slices.Clone(r.draft)
		for j, other := range readings {
			if i == j {
				continue
			}
			for k := range draft {
				draft[k].reread(other.draft)
			}
		}
		out = append(out, draft)
	}
	if all := together(out); all != nil {
		out = append(out, all)
	}
	return out
}

// reread notes what another reading found for the item.
func (it *draftItem) reread(other []draftItem) {
	for _, o := range other {
		if samePlace(it.at, o.at) && o.amount.value != it.amount.value && !slices.Contains(it.again, o.amount.value) {
			it.again = append(slices.Clone(it.again), o.amount.value)
		}
	}
}

// together adds to the longest draft the lines that only others have; nil when there are none.
func together(drafts [][]draftItem) []draftItem {
	if len(drafts) < 2 {
		return nil
	}
	longest := slices.MaxFunc(drafts, func(a, b []draftItem) int { return cmp.Compare(len(a), len(b)) })
	all := slices.Clone(longest)
	for _, draft := range drafts {
		for _, it := range draft {
			if !slices.ContainsFunc(all, func(have draftItem) bool { return samePlace(have.at, it.at) }) {
				all = append(all, it)
			}
		}
	}
	if len(all) == len(longest) {
		return nil
	}
	slices.SortStableFunc(all, func(a, b draftItem) int {
		return cmp.Or(cmp.Compare(a.at.page, b.at.page), cmp.Compare(rowMiddle(a.at.words), rowMiddle(b.at.words)))
	})
	return all
}
