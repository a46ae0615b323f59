package export

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// The limits of ids and tags in a filter. The list of transactions has the same limits.
const (
	maxFilterIDs  = 100
	maxFilterTags = 200
)

// filter selects the transactions of an export. Absent conditions are zero.
type filter struct {
	owner               uuid.UUID
	wallets, categories []uuid.UUID
	tags                []string
	request.Origin
	// from is inclusive and end exclusive.
	from, end *time.Time
	// after is the last transaction of the previous page, nil for the first page.
	after *position
}

// position is the place of a transaction in an export, which is ordered by date and id.
type position struct {
	date time.Time
	id   uuid.UUID
}

// parse validates a request as the list of transactions does, and returns all problems.
func parse(req *ledgerv1.ExportTransactionsRequest) (result filter, problems apierr.Problems) {
	if _, ok := supported[req.GetFormat()]; !ok {
		problems.Add(errUnsupportedFormat.With("format", "must be csv, json, hledger or beancount"))
	}
	result = filter{
		wallets: parseIDs(&problems, "walletId", req.GetWalletId(), request.ErrInvalidWalletID),
		categories: parseIDs(&problems, "categoryId", req.GetCategoryId(),
			request.ErrInvalidCategoryID),
		tags: parseTags(&problems, req.GetTag()),
		Origin: request.ParseOrigin(&problems, req.ExternalId, req.ImportId, req.ReceiptId,
			req.HasAttachments),
	}
	if req.From != nil {
		result.from = new(request.ParseBound(&problems, "from", req.GetFrom(), false))
	}
	if req.To != nil {
		result.end = new(request.ParseBound(&problems, "to", req.GetTo(), true))
	}
	if result.from != nil && result.end != nil && !problems.Has(request.ErrInvalidDate) &&
		!result.from.Before(*result.end) {
		problems.Invalid("from", "must not be after to")
	}
	return result, problems
}

// parseIDs parses at most maxFilterIDs ids.
func parseIDs(p *apierr.Problems, field string, ss []string, malformed *apierr.Error) []uuid.UUID {
	if len(ss) > maxFilterIDs {
		p.Invalid(field, fmt.Sprintf("must be at most %d ids", maxFilterIDs))
		return nil
	}
	return request.ParseIDs(p, field, ss, malformed)
}

func parseTags(problems *apierr.Problems, names []string) []string {
	if len(names) > maxFilterTags {
		problems.Invalid("tag", fmt.Sprintf("must be at most %d names", maxFilterTags))
		return nil
	}
	var tags []string
	for _, s := range names {
		name, problem := text.Tag("tag", s)
		problems.Field(problem)
		tags = append(tags, name)
	}
	return tags
}
