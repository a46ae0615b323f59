package views

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/series"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

// The values of kind.
const (
	ofTransactions = "transactions"
	ofReport       = "report"
	ofComparison   = "comparison"
	ofBalances     = "balances"
	ofCalendar     = "calendar"
)

const maxQuery = 2000

// paging are the parameters of a list that a view does not store: the client chooses them for each
// page.
var paging = []string{"limit", "cursor", "include"}

// checkQuery adds a problem if a query is not one of the list or report of its kind. It does not
// check whether the owner has the wallets and categories of the query, because they may be deleted
// later.
func checkQuery(p *apierr.Problems, kind, query string, now time.Time) {
	switch kind {
	case ofTransactions:
		req := &ledgerv1.ListTransactionsRequest{}
		if read(p, query, req) {
			_, problems := transactions.ParseFilter(req)
			include(p, problems)
		}
	case ofReport, ofCalendar:
		req := &ledgerv1.GetSeriesRequest{}
		if read(p, query, req) {
			include(p, series.Check(req, now))
		}
	case ofComparison:
		req := &ledgerv1.GetComparisonRequest{}
		if read(p, query, req) {
			include(p, series.CheckComparison(req, now))
		}
	case ofBalances:
		req := &ledgerv1.GetBalancesRequest{}
		if read(p, query, req) {
			include(p, series.CheckBalances(req, now))
		}
	default:
		p.Invalid("kind", "must be transactions, report, comparison, balances or calendar")
	}
}

// include adds the first problem of a parameter as one of the query.
func include(p *apierr.Problems, problems apierr.Problems) {
	if e := apierr.From(problems.Err()); e != nil {
		p.Invalid("query", e.Fields[0].Name+" "+e.Fields[0].Message)
	}
}

// read sets the fields of a request that a query names, as the gateway does. It adds a problem and
// returns false if the query has another parameter, or a value that the field cannot have.
func read(p *apierr.Problems, query string, req proto.Message) bool {
	values, err := url.ParseQuery(query)
	if err != nil || utf8.RuneCountInString(query) > maxQuery {
		p.Invalid("query",
			"must be a query string of at most "+strconv.Itoa(maxQuery)+" characters")
		return false
	}
	m := req.ProtoReflect()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		field := m.Descriptor().Fields().ByJSONName(name)
		switch {
		case field == nil || slices.Contains(paging, name):
			p.Invalid("query", "must not have the parameter "+strconv.Quote(name))
		case !set(m, field, values[name]):
			p.Invalid("query", name+" has a value that is not allowed")
		default:
			continue
		}
		return false
	}
	return true
}

// set sets a field of a request, and reports whether it can have the values.
func set(m protoreflect.Message, field protoreflect.FieldDescriptor, values []string) bool {
	if field.IsList() {
		list := m.Mutable(field).List()
		for _, v := range values {
			list.Append(protoreflect.ValueOfString(v))
		}
		return true
	}
	if len(values) > 1 {
		return false
	}
	switch field.Kind() {
	case protoreflect.BoolKind:
		m.Set(field, protoreflect.ValueOfBool(values[0] == "true"))
		return values[0] == "true" || values[0] == "false"
	case protoreflect.Int32Kind:
		n, err := strconv.ParseInt(values[0], 10, 32)
		m.Set(field, protoreflect.ValueOfInt32(int32(n)))
		return err == nil
	default:
		m.Set(field, protoreflect.ValueOfString(values[0]))
		return true
	}
}
