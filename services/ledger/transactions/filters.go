package transactions

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

const maxFilterIDs = 100

// Filter selects transactions as a list with the same filters does. Reports use it, so that the
// list has exactly the transactions of a number of a report.
type Filter struct{ list transactionList }

// ParseFilter validates the filters of a request, and returns all problems.
func ParseFilter(req *ledgerv1.ListTransactionsRequest) (Filter, apierr.Problems) {
	list, problems := parseList(req)
	return Filter{list}, problems
}

// IDs returns the wallets and categories of the filter.
func (f Filter) IDs() request.Filter {
	return request.Filter{Wallets: f.list.wallets, Categories: f.list.categories}
}

// Within returns the filter with another period.
func (f Filter) Within(p calendar.Period) Filter {
	f.list.from, f.list.end = &p.From, &p.End
	return f
}

// Resolve returns the filter of an owner. The problems of the request are among those of the
// returned error, and so are wallets and categories that the owner does not have.
func (f Filter) Resolve(
	ctx context.Context, book *posting.Ledger, owner uuid.UUID, problems apierr.Problems,
) (Filter, error) {
	f.list.owner, f.list.distributed = owner, book.Distributed
	err := request.CheckFilter(ctx, book.DB, problems, owner, f.IDs())
	if err != nil {
		return Filter{}, err
	}
	f.list.tags, f.list.parts, err = selectFilters(ctx, book.DB, f.list)
	return f, err
}

const maxFilterTags = 200

// parseList validates the filters, the order and the limit of a request, and returns all problems.
// The caller sets owner, after and limit.
func parseList(
	req *ledgerv1.ListTransactionsRequest,
) (list transactionList, problems apierr.Problems) {
	_, problem := page.Limit(req.Limit)
	problems.Field(problem)
	list = transactionList{
		wallets: parseFilterIDs(&problems, "walletId", req.GetWalletId(),
			request.ErrInvalidWalletID),
		categories: parseFilterIDs(&problems, "categoryId", req.GetCategoryId(),
			request.ErrInvalidCategoryID),
		kind: req.GetType(), sort: newestFirst, cleared: req.Cleared,
		excluded: parseExcluded(&problems, req),
	}
	kinds := []string{posting.Expense, posting.Income, posting.Transfer, posting.Adjustment}
	if req.Type != nil && !slices.Contains(kinds, list.kind) {
		problems.Add(errInvalidTransactionType.With("type",
			"must be expense, income, transfer or adjustment"))
	}
	if req.Currency != nil {
		list.currency = request.ParseCurrency(&problems, "currency", req.GetCurrency()).Code()
	}
	if req.From != nil {
		list.from = new(request.ParseBound(&problems, "from", req.GetFrom(), false))
	}
	if req.To != nil {
		list.end = new(request.ParseBound(&problems, "to", req.GetTo(), true))
	}
	list.minE4 = parseAmountBound(&problems, "minAmount", req.MinAmount)
	list.maxE4 = parseAmountBound(&problems, "maxAmount", req.MaxAmount)
	part, problem := text.Description("q", req.GetQ())
	list.substring = part
	problems.Field(problem)
	list.parseDetails(&problems, req)
	list.Origin = request.ParseOrigin(&problems, req.ExternalId, req.ImportId, req.ReceiptId,
		req.HasAttachments)
	if req.Sort != nil {
		list.sort = req.GetSort()
	}
	if !slices.Contains([]string{newestFirst, oldestFirst, largestAmount, leastAmount}, list.sort) {
		problems.Invalid("sort", "must be -date, date, -amount or amount")
	}
	list.checkBounds(&problems)
	checkInclude(&problems, req.GetInclude())
	return list, problems
}

func (l *transactionList) parseDetails(
	problems *apierr.Problems, req *ledgerv1.ListTransactionsRequest,
) {
	payee, problem := text.Payee("payee", req.GetPayee())
	problems.Field(problem)
	if req.Payee != nil && problem == nil && payee == "" {
		problems.Invalid("payee", "must not be blank")
	}
	l.payee = payee
	if len(req.GetTag()) > maxFilterTags {
		problems.Invalid("tag", "must be at most 200 names")
		return
	}
	for _, s := range req.GetTag() {
		name, problem := text.Tag("tag", s)
		problems.Field(problem)
		l.tagNames = append(l.tagNames, name)
	}
	l.untagged = req.GetUntagged()
	if l.untagged && len(l.tagNames) > 0 {
		problems.Invalid("untagged", "must be absent with tag")
	}
}

// excluded holds the filters that exclude transactions. Absent filters are zero.
type excluded struct {
	// counted excludes the transactions that are neither income nor spending.
	counted bool
	// unnamed selects the transactions without payee.
	unnamed bool

	outsideWallets, outsideCategories []uuid.UUID
	// outsidePayees has an empty text if transactions without payee are excluded.
	outsidePayees []string
}

// parseExcluded validates these filters. Each is an alternative to the one that selects.
func parseExcluded(p *apierr.Problems, req *ledgerv1.ListTransactionsRequest) excluded {
	e := excluded{
		counted: req.GetCounted(), unnamed: req.GetWithoutPayee(),
		outsideWallets: parseFilterIDs(p, "exceptWalletId", req.GetExceptWalletId(),
			request.ErrInvalidWalletID),
		outsideCategories: parseFilterIDs(p, "exceptCategoryId", req.GetExceptCategoryId(),
			request.ErrInvalidCategoryID),
	}
	if len(req.GetExceptPayee()) > maxFilterIDs {
		p.Invalid("exceptPayee", "must be at most 100 names")
		return e
	}
	for _, s := range req.GetExceptPayee() {
		payee, problem := text.Payee("exceptPayee", s)
		p.Field(problem)
		e.outsidePayees = append(e.outsidePayees, payee)
	}
	for _, pair := range []struct {
		field, other string
		both         bool
	}{
		{"withoutPayee", "payee", e.unnamed && req.Payee != nil},
		{"exceptPayee", "payee", len(e.outsidePayees) > 0 && req.Payee != nil},
		{"exceptWalletId", "walletId", len(e.outsideWallets)*len(req.GetWalletId()) > 0},
		{"exceptCategoryId", "categoryId", len(e.outsideCategories)*len(req.GetCategoryId()) > 0},
	} {
		if pair.both {
			p.Invalid(pair.field, "must be absent with "+pair.other)
		}
	}
	return e
}

// unindexed reports whether there is a filter that no index supports. Those by counted transactions
// are like the filters by expense and income: nearly all transactions match.
func (e excluded) unindexed() bool {
	return e.unnamed || len(e.outsideWallets)+len(e.outsideCategories)+len(e.outsidePayees) > 0
}

// checkBounds adds a problem for a window or a range of amounts that ends before it begins.
func (l transactionList) checkBounds(p *apierr.Problems) {
	if l.from != nil && l.end != nil && !p.Has(request.ErrInvalidDate) && !l.from.Before(*l.end) {
		p.Invalid("from", "must not be after to")
	}
	if l.minE4 != nil && l.maxE4 != nil && *l.minE4 > *l.maxE4 {
		p.Invalid("minAmount", "must not be greater than maxAmount")
	}
}

func parseFilterIDs(
	p *apierr.Problems, field string, ss []string, malformed *apierr.Error,
) []uuid.UUID {
	if len(ss) > maxFilterIDs {
		p.Invalid(field, "must be at most 100 ids")
		return nil
	}
	return request.ParseIDs(p, field, ss, malformed)
}

// parseAmountBound parses a limit of signed amounts in ten-thousandths of the major unit, which fit
// all currencies. It returns nil if there is none.
func parseAmountBound(problems *apierr.Problems, field string, s *string) *int64 {
	if s == nil {
		return nil
	}
	n, err := money.ParseDecimal(*s, money.MaxDecimals)
	if err != nil {
		problems.Invalid(field, err.Error())
		return nil
	}
	return &n
}

// maxIndexedTags is the maximum number of tags for which a list reads the index of tags. For more,
// PostgreSQL expects so many rows that it reads the whole table.
const maxIndexedTags = 20

// maxComparisons is the maximum number of comparisons per character of a row's texts with which a
// search examines as many rows as other lists. Words take 2 or 3, and a masked card number, as in
// XXXXXXXXXXXX1234, takes 12.
const maxComparisons = 20

// unindexed reports whether the list has a search, or a filter by many tags, by transactions
// without tags, payee or attachments, by cleared ones, or by other wallets, categories or payees,
// and no index that supports it or another filter. The index of searches also finds payees. An
// expensive search does not use it, because it finds any number of rows.
func (l transactionList) unindexed() bool {
	if comparisons(l.substring) > maxComparisons {
		return true
	}
	scanned := l.substring+l.payee != "" || l.untagged || l.unattached() ||
		l.cleared != nil || len(l.tags) > maxIndexedTags || l.excluded.unindexed()
	return scanned && !l.indexed() && !hasTrigram(l.substring) && !hasTrigram(l.payee)
}

// indexed reports whether an index finds the rows of one of the filters of request.Origin.
func (l transactionList) indexed() bool {
	return l.ExternalID != "" || l.ImportID != nil || l.ReceiptID != nil ||
		l.Attached != nil && *l.Attached
}

// unattached reports whether the list has the filter by transactions without attachments, which no
// index supports.
func (l transactionList) unattached() bool { return l.Attached != nil && !*l.Attached }

// affordable returns the number of rows that the list may examine instead of rows.
func (l transactionList) affordable(rows int) int {
	return rows * maxComparisons / max(maxComparisons, comparisons(l.substring))
}

// comparisons returns an upper limit of the comparisons per character of a text with which LIKE
// finds a substring: the sum of 1/p for the smallest period p of each of its prefixes. LIKE
// compares the substring again at each position, and a prefix with the period p begins at every
// p-th position at most.
func comparisons(substring string) int {
	s := strings.ToLower(substring)
	// borders has, for each prefix, the length of the longest proper prefix that is also its suffix
	// (Knuth, Morris and Pratt, 1977).
	borders := make([]int, len(s)+1)
	sum, border := 0.0, 0
	for i := range len(s) {
		for border > 0 && s[border] != s[i] {
			border = borders[border]
		}
		if i > 0 && s[border] == s[i] {
			border++
		}
		borders[i+1] = border
		sum += 1 / float64(i+1-border)
	}
	return int(sum)
}

// hasTrigram reports whether the trigram index of descriptions can find a substring, which requires
// three letters or digits in a row. Only ASCII counts, because a database with the character type C
// treats other letters as punctuation.
func hasTrigram(s string) bool {
	run := 0
	for _, r := range s {
		run++
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			run = 0
		}
		if run == 3 {
			return true
		}
	}
	return false
}

// searched is the expression of the index of searches.
const searched = `lower((t.payee || ' ' || t.description || ' ' || t.notes) COLLATE "und-x-icu")`

func likeEscaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
