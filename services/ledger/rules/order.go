package rules

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// OrderRules sets the order of the caller's rules. The request names all of them, so a client that
// has not seen a new rule gets an error instead of an order that it did not intend. It shares the
// owner's lock and takes the owner's next number, so no rule is created between the check and the
// update.
func (s *Rules) OrderRules(
	ctx context.Context, req *ledgerv1.OrderRulesRequest,
) (*ledgerv1.OrderRulesResponse, error) {
	ids, err := parseOrder(req.GetIds())
	if err != nil {
		return nil, err
	}
	owner := caller.ID(ctx)
	resp := &ledgerv1.OrderRulesResponse{}
	call := idem.Call{Owner: owner, Key: req.GetIdempotencyKey(), Request: req}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, owner); err != nil {
			return err
		}
		before, err := selectRules(ctx, tx, owner)
		if err != nil {
			return err
		}
		complete := len(ids) == len(before)
		for _, r := range before {
			complete = complete && slices.Contains(ids, r.ID)
		}
		if !complete {
			return apierr.Invalid("ids", "must name each rule exactly once")
		}
		if err := updatePositions(ctx, tx, owner, ids, s.Now()); err != nil {
			return err
		}
		after, err := selectRules(ctx, tx, owner)
		resp.Rules = protos(after)
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func parseOrder(given []string) ([]uuid.UUID, error) {
	ids := make([]uuid.UUID, 0, min(len(given), maxRules))
	for i, s := range given {
		id, ok := text.ID(s)
		if !ok {
			return nil, errInvalidID.With(fmt.Sprintf("ids[%d]", i), "must be a UUID")
		}
		if slices.Contains(ids, id) || len(ids) == maxRules {
			return nil, apierr.Invalid("ids", "must name each rule exactly once")
		}
		ids = append(ids, id)
	}
	return ids, nil
}
