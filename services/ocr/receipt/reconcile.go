package receipt

// maxRepairItems limits the search for repairs. On longer receipts too many combinations equal the
// total by chance.
const maxRepairItems = 40

// reconciler makes the amounts of goods add up to a total. All its methods leave the drafts that
// they get unchanged.
type reconciler struct {
	total int64
	sums  *sums
}

// repair is one way to change a draft so that it adds up to the total. It returns false if that is
// not possible.
type repair func(r reconciler, draft []draftItem) (items, bool)

// repairs are tried in this order, the most reliable first.
var repairs = []repair{
	subset(withQuantity), subset(belowNames), reconciler.useProducts, reconciler.useRereads,
	reconciler.replaceOne, reconciler.fixOneDigit, reconciler.dropOne, reconciler.otherColumn,
}

// exactRepairs are the repairs for text. Its figures are not misread, so only the selection of
// lines and of the price column may be wrong.
var exactRepairs = []repair{
	subset(withQuantity), subset(belowNames), reconciler.dropOne, reconciler.otherColumn,
}

// reconcile returns the draft if its lines, tax, tip, discount and rounding add up to the total.
// Otherwise it returns the result of the first repair that succeeds, or the draft with reconciled
// unset.
func (r reconciler) reconcile(draft []draftItem) items {
	plain := items{list: draft, confidence: unreconciledConfidence}
	if len(draft) == 0 {
		return plain
	}
	if out, ok := r.balance(draft, 0); ok {
		return out
	}
	// This is a single combination, so it is tried on receipts of any length.
	if out, ok := subset(named)(r, draft); ok {
		return out
	}
	if len(draft) > maxRepairItems {
		return plain
	}
	list := repairs
	if draft[0].at.Exact {
		list = exactRepairs
	}
	for _, repair := range list {
		if out, ok := repair(r, draft); ok {
			return out
		}
	}
	return plain
}

func (r reconciler) balance(list []draftItem, repairs int) (items, bool) {
	adj, ok := r.adjustment(list)
	return reconciled(list, adj, repairs), ok
}

func (r reconciler) adjustment(list []draftItem) (adjustment, bool) {
	sum := sumOf(list)
	adj, ok := r.sums.adjustments(sum, r.total)
	return adj, ok && adj.plausible(sum)
}

func reconciled(list []draftItem, adj adjustment, repairs int) items {
	return items{
		list: list, reconciled: true, repairs: repairs, adjustment: adj,
		confidence: reconciledConfidence(len(list), repairs),
	}
}

// unreconciledConfidence is the confidence of lines that do not add up to the total.
const unreconciledConfidence = 0.3

// reconciledConfidence returns the confidence of n lines that add up to the total after the given
// number of repairs.
func reconciledConfidence(n, repairs int) float64 {
	c := 0.95
	if n == 1 {
		c = 0.8
	}
	return c - 0.15*float64(repairs)
}

func sumOf(list []draftItem) int64 {
	sum := int64(0)
	for _, it := range list {
		sum += it.amount.Value
	}
	return sum
}
