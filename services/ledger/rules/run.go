package rules

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/rules/learning"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

const (
	// RequestSteps is the maximum number of steps that patterns take in a request, about half a
	// second of processor time.
	RequestSteps = 50_000_000
	// ImportSteps is the maximum number of steps that patterns take on the rows of an import. 50
	// patterns on 100,000 rows take fewer.
	ImportSteps = 100 * RequestSteps
)

// Run runs rules on a transaction. It returns a public error if the patterns take too many steps.
func Run(ctx context.Context, set *matching.Set, t matching.Transaction) (matching.Outcome, error) {
	o, err := set.Run(ctx, t)
	if errors.Is(err, matching.ErrSteps) {
		return matching.Outcome{}, errTooLong
	}
	return o, err
}

// Load returns the enabled rules of an owner that run on a source, compiled. A caller limits the
// steps of their patterns. It loads them once and runs them on all rows of its request, because
// compiling the patterns costs more than matching. Callers are SuggestCategories, and the packages
// of imports and receipts.
func Load(
	ctx context.Context, q pg.Querier, owner uuid.UUID, source string,
) (*matching.Set, error) {
	rows, err := selectEnabled(ctx, q, owner, source)
	if err != nil {
		return nil, err
	}
	return compile(rows...)
}

// Remember returns the memory of an owner's categorized transactions of the last 24 months. It
// reads up to historyRows rows, so callers limit it like other expensive reads, or read it only if
// a row needs a suggestion.
func Remember(ctx context.Context, q pg.Querier, owner uuid.UUID) (*learning.Memory, error) {
	examples, err := selectExamples(ctx, q, owner)
	if err != nil {
		return nil, err
	}
	m := &learning.Memory{}
	for _, e := range examples {
		m.Add(e)
	}
	m.Learn()
	return m, nil
}
