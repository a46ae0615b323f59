package receipts

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// upload is a validated request to recognize a receipt.
type upload struct {
	owner, wallet, category uuid.UUID
	currency                money.Currency
	file                    []byte
	// part is the number of the receipt in the file, from 1.
	part int
	// hash is the SHA-256 of the file, and of the part if it is not the first. It identifies
	// duplicates.
	hash            []byte
	mode            string
	rejectDuplicate bool
	keepImage       bool
	dryRun          bool
	// showImage adds images of the pages to the response of a dry run.
	showImage    bool
	withoutRules bool
	corrections  corrections
}

// parseUpload validates a request without a query. It returns the references that are well-formed;
// admit checks that they exist.
func parseUpload(
	problems *apierr.Problems, req *ledgerv1.CreateTransactionsFromReceiptRequest,
) (upload, request.References) {
	parsed := upload{
		file: req.GetReceipt(), mode: req.GetMode(),
		rejectDuplicate: req.GetOnDuplicate() == "reject",
		dryRun:          req.GetDryRun(),
		// A preview stores nothing.
		keepImage: req.GetKeepImage() && !req.GetDryRun(),
		showImage: req.GetInclude() == "image",
		// Rules run by default.
		withoutRules: req.Rules != nil && !req.GetRules(),
	}
	if len(parsed.file) == 0 {
		problems.Add(errReceiptFileRequired.With("receipt", "must be exactly one non-empty file"))
	}
	named := request.References{
		Wallet: request.RequireReference(problems, "walletId", req.GetWalletId(),
			request.ErrInvalidWalletID),
		Category: request.RequireReference(problems, "categoryId", req.GetCategoryId(),
			request.ErrInvalidCategoryID),
	}
	if !slices.Contains([]string{modeAuto, modeItems, modeSingle}, parsed.mode) {
		problems.Invalid("mode", "must be items or single")
	}
	if !slices.Contains([]string{"", "create", "reject"}, req.GetOnDuplicate()) {
		problems.Invalid("onDuplicate", "must be create or reject")
	}
	switch {
	case req.Include == nil:
	case !parsed.showImage:
		problems.Invalid("include", "must be image")
	case !req.GetDryRun():
		problems.Invalid("include", "is only possible with dryRun=true")
	}
	parsed.corrections = parseCorrections(problems, req.GetCorrections())
	parsed.part = 1
	if req.Part != nil {
		parsed.part = int(req.GetPart())
	}
	if parsed.part < 1 || parsed.part > maxParts {
		problems.Invalid("part", fmt.Sprintf("must be between 1 and %d", maxParts))
	}
	parsed.hash = hashOf(parsed.file, parsed.part)
	return parsed, named
}

// maxParts is the largest number of receipts that the ocr service finds in a file.
const maxParts = 8

func hashOf(file []byte, part int) []byte {
	hash := sha256.Sum256(file)
	if part > 1 {
		hash = sha256.Sum256(append(hash[:], byte(part)))
	}
	return hash[:]
}

// admit rejects an upload that must fail regardless of the receipt's content, with all problems in
// one error. It returns the upload with its wallet, the wallet's currency and its category.
// storeReceipt repeats the checks that other requests can invalidate meanwhile.
func (s *Receipts) admit(
	ctx context.Context, req *ledgerv1.CreateTransactionsFromReceiptRequest,
) (upload, error) {
	if len(req.GetReceipt()) > rpc.MaxFile {
		return upload{}, apierr.PayloadTooLarge
	}
	var problems apierr.Problems
	parsed, named := parseUpload(&problems, req)
	parsed.owner = caller.ID(ctx)
	owned, err := request.SelectReferences(ctx, s.DB, parsed.owner,
		append(parsed.corrections.references(), named)...)
	if err != nil {
		return upload{}, err
	}
	owned.Check(&problems, named)
	parsed.corrections.checkOwned(&problems, owned)
	if err := apierr.From(problems.Err()); err != nil {
		if problems.Has(errReceiptFileRequired) {
			// A form without a file has this code even if fields without a separate code are
			// invalid, too.
			e := *errReceiptFileRequired
			e.Fields = err.Fields
			err = &e
		}
		return upload{}, err
	}
	parsed.wallet = *named.Wallet
	parsed.category = *named.Category
	parsed.currency = money.CurrencyOf(owned.Currency)
	if parsed.rejectDuplicate {
		_, err = earlierReceipt(ctx, s.DB, parsed)
	}
	return parsed, err
}

// earlierReceipt returns the id of the owner's newest receipt from the same file, or nil if there
// is none. It returns errReceiptDuplicate instead if the request rejects duplicates.
func earlierReceipt(ctx context.Context, q pg.Querier, upload upload) (*uuid.UUID, error) {
	id, err := selectReceiptByFile(ctx, q, upload.owner, upload.hash)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	case upload.rejectDuplicate:
		return nil, errReceiptDuplicate
	}
	return &id, nil
}
