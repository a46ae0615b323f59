// Package transfers serves transfers between the wallets of a user.
//
// A transfer is two transactions with the same transfer id, its legs: one with a negative and one
// with a positive amount. They have no category, so balances include them, while monthly totals,
// dashboards and budgets do not. A transfer has two legs or none: each write changes, deletes or
// links both rows in one database transaction. The files:
//
//   - transfers.go: the RPC methods that create, read, change and delete transfers. changes.go
//     validates the fields of a request. list.go: ListTransfers
//   - match.go: MatchTransfer and UnlinkTransfer. suggestions.go: the pairs of transactions that
//     look like one transfer
//   - counterparts.go: the transactions that are legs of imported transfers already. nearby.go:
//     which of them is which leg. store_suggestions.go and store_counterparts.go: the statements
//   - transfer.go: the two legs and their rate, pure functions. store_transfers.go: the statements
//     that read
//   - write.go: the writes. Package transactions also uses them when a request names a leg, and
//     imports match the legs of their rows
//
// MatchTransfer and UnlinkTransfer hold the owner's lock exclusively. Imports share it when they
// match or unlink, and have taken the owner's next number before. So while another write shares the
// lock and has taken a number, a leg stays a leg, and both rows can be locked in the order of their
// ids.
//
// Transfers implements TransferService.
package transfers

import (
	"cmp"
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/reads"
)

// Transfers implements the RPCs of transfers.
type Transfers struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeTransferServiceServer
	*posting.Ledger
	Cursors page.Cursors
	Reads   *reads.Gates
}

var _ ledgerv1.TransferServiceServer = (*Transfers)(nil)

// CreateTransfer creates a transfer, and updates the balances of both wallets. One statement
// inserts both legs, and checks again that both wallets belong to the owner: they may have been
// deleted since the currencies were read.
//
// Errors: TRANSFER_SAME_WALLET, TRANSFER_AMOUNT_MISMATCH, WALLET_NOT_FOUND and the errors of
// invalid fields.
func (s *Transfers) CreateTransfer(
	ctx context.Context, req *ledgerv1.CreateTransferRequest,
) (*ledgerv1.CreateTransferResponse, error) {
	var problems apierr.Problems
	owner, parsed := caller.ID(ctx), parseTransfer(&problems, req)
	valid := problems.Err() == nil
	currencies, err := selectCurrencies(ctx, s.DB, owner, parsed.wallets())
	if err != nil {
		return nil, err
	}
	transfer := parsed.apply(&problems, parsed.start(currencies), currencies)
	resp := &ledgerv1.CreateTransferResponse{}
	call := idem.Call{Owner: owner, Key: req.GetIdempotencyKey(), Request: req}
	if err := problems.Err(); err != nil {
		if valid { // A wallet may have been deleted after the first request with the key.
			resp.Replayed, err = idem.ReplayRejected(ctx, s.DB, call, resp, err)
		}
		return resp, err
	}
	transfer = s.legsOf(transfer, owner)
	resp.Etag = etag.Format(transfer.Out.Version)
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		t, err := s.useNewTags(ctx, tx, transfer)
		if err != nil {
			return err
		}
		resp.Transfer = t.Proto()
		// The locks have no timeout, because the statement contains the rows of one request only.
		written, err := posting.Insert(ctx, tx, 0, t.legs(), outbox.Rows{}, nil)
		if err != nil {
			return posting.ClientError(err)
		}
		if len(written) < len(t.legs()) {
			return s.notInserted(ctx, tx, parsed, owner)
		}
		return s.Publish(ctx, tx, owner,
			&ledgerv1.TransferCreated{OwnerId: owner.String(), Transfer: resp.GetTransfer()})
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// legsOf returns a new transfer with the ids, owner, version and times of its legs. Each leg has an
// id of its own besides the id of the transfer, because lists show it as a transaction.
func (s *Transfers) legsOf(t Transfer, owner uuid.UUID) Transfer {
	id, now := s.NewID(), s.Now()
	for _, leg := range []*posting.Transaction{&t.Out, &t.In} {
		leg.ID, leg.OwnerID, leg.TransferID = s.NewID(), owner, &id
		leg.Version, leg.CreatedAt, leg.UpdatedAt = 1, now, now
	}
	return t
}

// useNewTags returns a new transfer with the keys of its tags. It inserts the tags that the owner
// did not have, under the owner's lock.
func (s *Transfers) useNewTags(ctx context.Context, tx pgx.Tx, t Transfer) (Transfer, error) {
	if len(t.Out.TagNames) == 0 {
		return t, nil
	}
	if err := posting.ShareOwner(ctx, tx, t.Out.OwnerID); err != nil {
		return Transfer{}, err
	}
	return s.useTags(ctx, tx, t)
}

func (s *Transfers) useTags(ctx context.Context, tx pgx.Tx, t Transfer) (Transfer, error) {
	legs := t.legs()
	err := posting.UseTags(ctx, tx, t.Out.OwnerID, s.Now(), legs)
	return Transfer{Out: legs[0], In: legs[1]}, err
}

// notInserted returns the reason why Insert skipped a leg: a wallet does not belong to the owner. A
// wallet that was created after the insert makes a retry succeed.
func (s *Transfers) notInserted(
	ctx context.Context, q pg.Querier, c changes, owner uuid.UUID,
) error {
	currencies, err := selectCurrencies(ctx, q, owner, c.wallets())
	if err != nil {
		return err
	}
	var p apierr.Problems
	c.checkWallets(&p, currencies)
	return cmp.Or(p.Err(), error(apierr.Unavailable))
}

// GetTransfer returns one of the caller's transfers.
func (s *Transfers) GetTransfer(
	ctx context.Context, req *ledgerv1.GetTransferRequest,
) (*ledgerv1.GetTransferResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransferID
	}
	t, err := selectTransfer(ctx, s.DB, caller.ID(ctx), id)
	if err != nil {
		return nil, pg.IfNoRows(err, errTransferNotFound)
	}
	return &ledgerv1.GetTransferResponse{Transfer: t.Proto(), Etag: etag.Format(t.Out.Version)}, nil
}

// UpdateTransfer changes the fields that the request sets in both legs, and corrects the balances.
// It validates the request again after it has locked the legs, because the fields that the request
// omits belong to the combination. Errors: TRANSFER_NOT_FOUND, VERSION_MISMATCH, EMPTY_UPDATE and
// those of CreateTransfer.
func (s *Transfers) UpdateTransfer(
	ctx context.Context, req *ledgerv1.UpdateTransferRequest,
) (*ledgerv1.UpdateTransferResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransferID
	}
	var parsed apierr.Problems
	changes, err := parseTransferUpdate(&parsed, req)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.UpdateTransferResponse{}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		// pg.InTx may call the function again, which must start with the problems of the request
		// only.
		problems := parsed
		before, err := s.lockForChange(ctx, tx, id, req.GetIfMatch())
		if err != nil {
			return cmp.Or(problems.Err(), err)
		}
		currencies, err := selectCurrencies(ctx, tx, before.Out.OwnerID, changes.wallets())
		if err != nil {
			return err
		}
		after := changes.apply(&problems, before, currencies)
		if err := problems.Err(); err != nil {
			return err
		}
		if changes.tags != nil {
			if after, err = s.useTags(ctx, tx, after); err != nil {
				return err
			}
		}
		after, err = s.change(ctx, tx, before, after, posting.Unlocking{Allowed: req.GetUnlock()})
		if err != nil {
			return err
		}
		resp.Transfer, resp.Etag = after.Proto(), etag.Format(after.Out.Version)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// DeleteTransfer deletes both legs of a transfer, and corrects the balances. Errors:
// TRANSFER_NOT_FOUND, VERSION_MISMATCH.
func (s *Transfers) DeleteTransfer(
	ctx context.Context, req *ledgerv1.DeleteTransferRequest,
) (*ledgerv1.DeleteTransferResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransferID
	}
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		t, err := s.lockForChange(ctx, tx, id, req.GetIfMatch())
		if err != nil {
			return err
		}
		return s.remove(ctx, tx, t, posting.Unlocking{Allowed: req.GetUnlock()})
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteTransferResponse{Id: id.String()}, nil
}

// lockForChange locks both legs of the caller's transfer and returns it if its version matches
// If-Match. It shares the owner's lock first, like each database transaction that writes balances.
func (s *Transfers) lockForChange(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string,
) (Transfer, error) {
	owner := caller.ID(ctx)
	if err := posting.ShareOwner(ctx, tx, owner); err != nil {
		return Transfer{}, err
	}
	t, err := lockTransfer(ctx, tx, owner, id)
	if err != nil {
		return Transfer{}, pg.IfNoRows(err, errTransferNotFound)
	}
	if !etag.Matches(ifMatch, t.Out.Version) {
		return Transfer{}, apierr.VersionMismatch
	}
	return t, nil
}
