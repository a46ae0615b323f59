package transactions

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/page"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// ListTransactions returns a page of the caller's transactions, by default newest first. A page of
// untagged transactions, of those without payee or outside of wallets, categories or payees, of
// more than maxIndexedTags tags, of a search without three ASCII letters or digits in a row or with
// many repetitions, or of long texts may have fewer rows than the limit although more follow.
func (s *Transactions) ListTransactions(
	ctx context.Context, req *ledgerv1.ListTransactionsRequest,
) (*ledgerv1.ListTransactionsResponse, error) {
	list, problems := parseList(req)
	list.distributed = s.Distributed
	list.owner = caller.ID(ctx)
	if problems.Err() != nil {
		return nil, request.CheckFilter(ctx, s.DB, problems, list.owner,
			request.Filter{Wallets: list.wallets, Categories: list.categories})
	}
	scope, err := listScope(list.owner, req)
	if err != nil {
		return nil, err
	}
	var after position
	limit, err := s.cursors.Page(scope, req.Limit, req.GetCursor(), &after)
	if err != nil {
		return nil, err
	}
	if req.GetCursor() != "" {
		list.after = &after
	}
	list.limit = limit + 1
	if list.tags, list.parts, err = selectFilters(ctx, s.DB, list); err != nil {
		return nil, err
	}
	rows, end, err := s.readList(ctx, list)
	if err != nil {
		return nil, err
	}
	// The rows belong to the owner, and so do their wallets and categories. Only filter ids without
	// a row have to be checked.
	inWallet := func(t posting.Transaction, id uuid.UUID) bool { return t.WalletID == id }
	wallets := missing(list.wallets, rows, inWallet)
	categories := missing(list.categories, rows, posting.Transaction.HasCategory)
	owned, err := request.SelectOwned(ctx, s.DB, list.owner, wallets, categories)
	if err != nil {
		return nil, err
	}
	owned.CheckLists(&problems, "walletId", wallets, "categoryId", categories)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	rows, pagination, err := page.Cut(s.cursors, scope, rows,
		page.Fitting(rows, limit, posting.Transaction.Bytes), list.position)
	if err != nil {
		return nil, err
	}
	pagination.Limit = int32(limit)
	if err := posting.AddDetails(ctx, s.DB, list.owner, rows); err != nil {
		return nil, err
	}
	if end != nil && !pagination.GetHasMore() {
		pagination.HasMore = true
		if pagination.NextCursor, err = s.cursors.Seal(scope, list.position(*end)); err != nil {
			return nil, err
		}
	}
	resp := &ledgerv1.ListTransactionsResponse{
		Transactions: posting.Protos(rows), Pagination: pagination,
	}
	if slices.Contains(req.GetInclude(), includeEtags) {
		resp.Etags = etags(rows)
	}
	if slices.Contains(req.GetInclude(), includeTotals) {
		return resp, s.addTotals(ctx, list, resp)
	}
	return resp, nil
}

// etags returns the entity tag of each row.
func etags(rows []posting.Transaction) []string {
	tags := make([]string, len(rows))
	for i, row := range rows {
		tags[i] = etag.Format(row.Version)
	}
	return tags
}

// readList returns up to l.limit rows. Most pages are full after reading the nearest rows in the
// list's order. Otherwise another index finds all matching rows, and they are sorted. If no index
// supports the filters, a page examines a limited number of rows; end is then the last examined
// row, or nil if the list ends there.
func (s *Transactions) readList(
	ctx context.Context, list transactionList,
) (rows []posting.Transaction, end *posting.Transaction, err error) {
	rows, err = walkTransactions(ctx, s.DB, list)
	if err != nil || len(rows) == list.limit || !list.filtered() {
		return rows, nil, err
	}
	leave, err := s.reads.Enter(ctx, list.owner)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	if list.unindexed() {
		return scanTransactions(ctx, s.DB, list)
	}
	rows, err = collectTransactions(ctx, s.DB, list)
	return rows, nil, err
}

// missing returns the ids that no row has. It does not change ids, which the totals need
// afterwards.
func missing(
	ids []uuid.UUID, rows []posting.Transaction, names func(posting.Transaction, uuid.UUID) bool,
) []uuid.UUID {
	return slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool {
		return slices.ContainsFunc(rows, func(t posting.Transaction) bool { return names(t, id) })
	})
}

// transactionList is a parsed ListTransactions request. Absent filters are zero.
type transactionList struct {
	owner               uuid.UUID
	wallets, categories []uuid.UUID
	kind, currency      string
	// from is inclusive and end exclusive.
	from, end *time.Time
	// minE4 and maxE4 are inclusive limits of the signed amount in ten-thousandths of the major
	// unit, which fit all currencies.
	minE4, maxE4 *int64
	// substring is contained in the payee, the description or the notes, ignoring case.
	substring string
	// payee is the whole payee, ignoring case.
	payee string
	// tagNames are the tags of the request, and tags their keys. The list has the transactions with
	// at least one of them.
	tagNames, tags []string
	untagged       bool
	cleared        *bool
	request.Origin
	excluded
	// parts is true if the owner has a part of a split transaction in one of the categories.
	parts bool
	sort  string
	// after is the last row of the previous page, nil for the first page.
	after *position
	// limit is the page size plus one; the additional row shows whether another page follows.
	limit int
	// distributed is posting.Ledger.Distributed.
	distributed bool
}

const (
	newestFirst   = "-date"
	oldestFirst   = "date"
	largestAmount = "-amount"
	leastAmount   = "amount"
)

// position is the content of a cursor: the last row of a page. The list's order uses either Date or
// AmountE4, and ID for rows with equal values.
type position struct {
	Date     time.Time
	AmountE4 int64
	ID       uuid.UUID
}

// byAmount reports whether the list is sorted by amount, and otherwise by date.
func (l transactionList) byAmount() bool { return l.sort == leastAmount || l.sort == largestAmount }

func (l transactionList) descending() bool { return strings.HasPrefix(l.sort, "-") }

func (l transactionList) position(t posting.Transaction) any {
	return position{Date: t.Date, AmountE4: t.AmountE4(), ID: t.ID}
}

// listScope returns the scope of a list's cursors. It contains the owner, the filters and the
// order, so that a cursor is valid for the same list only. The limit and the included parts may
// change from page to page.
func listScope(owner uuid.UUID, req *ledgerv1.ListTransactionsRequest) (string, error) {
	question := proto.CloneOf(req)
	question.Limit, question.Cursor, question.Include = nil, "", nil
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(question)
	if err != nil {
		return "", fmt.Errorf("encoding a list's filters: %w", err)
	}
	return "transactions " + owner.String() + " " + base64.StdEncoding.EncodeToString(b), nil
}
