package ledger

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const maxReceiptFile = 10 << 20

// upload is a checked request to read a receipt.
type upload struct {
	owner, wallet, category uuid.UUID
	file                    []byte
	hash                    []byte
	mode                    string
	rejectDuplicate         bool
	keepImage               bool
}

func parseUpload(req *ledgerv1.CreateTransactionsFromReceiptRequest) (upload, error) {
	var p apierr.Problems
	u := upload{
		file: req.GetReceipt(), mode: req.GetMode(), rejectDuplicate: req.GetOnDuplicate() == "reject",
		// A preview keeps nothing.
		keepImage: req.GetKeepImage() && !req.GetDryRun(),
	}
	switch size := len(u.file); {
	case size > maxReceiptFile:
		return upload{}, apierr.PayloadTooLarge
	case size == 0:
		p.Add(errReceiptFileRequired.With("receipt", "is required"))
	}
	u.wallet = parseReference(&p, "walletId", req.GetWalletId(), errInvalidWalletID)
	u.category = parseReference(&p, "categoryId", req.GetCategoryId(), errInvalidCategoryID)
	if !slices.Contains([]string{modeAuto, modeItems, modeSingle}, u.mode) {
		p.Field(&apierr.Field{Name: "mode", Message: "must be items or single"})
	}
	if !slices.Contains([]string{"", "create", "reject"}, req.GetOnDuplicate()) {
		p.Field(&apierr.Field{Name: "onDuplicate", Message: "must be create or reject"})
	}
	hash := sha256.Sum256(u.file)
	u.hash = hash[:]
	return u, p.Err()
}

// admit refuses what must fail whatever the receipt says, and returns the wallet's currency.
func (s *server) admit(ctx context.Context, u upload) (string, error) {
	currency, err := checkOwn(ctx, s.db, u.owner, u.wallet, u.category)
	if err != nil || !u.rejectDuplicate {
		return currency, err
	}
	_, err = earlierReceipt(ctx, s.db, u)
	return currency, err
}

// earlierReceipt is the newest receipt that the owner has uploaded the same file for, nil without one; an error when the
// request wants no duplicate.
func earlierReceipt(ctx context.Context, q pg.Querier, u upload) (*uuid.UUID, error) {
	id, err := selectReceiptByFile(ctx, q, u.owner, u.hash)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	case u.rejectDuplicate:
		return nil, errReceiptDuplicate
	}
	return &id, nil
}
