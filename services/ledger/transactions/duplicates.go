package transactions

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// externalKey is the index that decides whether an external id is unique in its wallet.
const externalKey = "transactions_external"

// selectExternal returns the stored transactions with the wallets and the external ids of given
// ones, which have the same owner.
func (s *Transactions) selectExternal(
	ctx context.Context, ts ...posting.Transaction,
) ([]posting.External, error) {
	wallets, ids := make([]uuid.UUID, len(ts)), make([]*string, len(ts))
	for i, t := range ts {
		wallets[i], ids[i] = t.WalletID, t.ExternalID
	}
	return posting.SelectExternal(ctx, s.DB, ts[0].OwnerID, wallets, ids)
}

// repeats reports whether a create repeats an earlier request with the same idempotency key, and
// fills resp with its answer. It returns TRANSACTION_DUPLICATE if another request has used the
// external id. It reads only, so that a client that sends its transactions again does not fail the
// group commit of others. Without an external id it does nothing.
func (s *Transactions) repeats(
	ctx context.Context, transaction posting.Transaction, call idem.Call,
	resp *ledgerv1.CreateTransactionResponse,
) (bool, error) {
	if transaction.ExternalID == nil {
		return false, nil
	}
	ids, err := s.selectExternal(ctx, transaction)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	if resp.Replayed, err = idem.Replay(ctx, s.DB, call, resp); resp.GetReplayed() || err != nil {
		return resp.GetReplayed(), err
	}
	return false, duplicate(ids[0].ID)
}

// rejected returns the public error of a transaction that PostgreSQL rejected. It must be called
// after the end of the database transaction. The first transaction with the external id may have
// been deleted since; a retry then succeeds.
func (s *Transactions) rejected(ctx context.Context, t posting.Transaction, err error) error {
	if !pg.IsViolation(err, externalKey) {
		return posting.ClientError(err)
	}
	ids, err := s.selectExternal(ctx, t)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return apierr.Unavailable
	}
	return duplicate(ids[0].ID)
}

func duplicate(first uuid.UUID) *apierr.Error {
	return errTransactionDuplicate.With("externalId", first.String())
}

// duplicates returns TRANSACTION_DUPLICATE for the first maxBadItems transactions whose external
// ids others have in their wallets, stored ones or earlier ones of ts, or nil if there are none.
// list is the name of the request's items.
func (s *Transactions) duplicates(
	ctx context.Context, list string, ts []posting.Transaction,
) error {
	stored, err := s.selectExternal(ctx, ts...)
	if err != nil {
		return err
	}
	problems := make([]error, len(ts))
	for i, problem := range repeated(list, ts) {
		problems[i] = problem
	}
	for _, d := range stored {
		if place := d.Position - 1; d.ID != ts[place].ID {
			problems[place] = duplicate(d.ID)
		}
	}
	return itemProblems(list, problems)
}

// repeated returns a problem for each transaction that has the wallet and the external id of an
// earlier one, by its index. The unique index would also reject such a request, but could not name
// the two items.
func repeated(list string, ts []posting.Transaction) map[int]*apierr.Error {
	type key struct {
		wallet uuid.UUID
		id     string
	}
	first, problems := map[key]int{}, map[int]*apierr.Error{}
	for i, t := range ts {
		if t.ExternalID == nil {
			continue
		}
		k := key{t.WalletID, *t.ExternalID}
		if j, ok := first[k]; ok {
			problems[i] = errTransactionDuplicate.With("externalId",
				fmt.Sprintf("is also that of %s[%d]", list, j))
			continue
		}
		first[k] = i
	}
	return problems
}
