package series

import (
	"cmp"
	"context"
	"encoding/csv"
	"io"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/balances"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// maxBalances is the maximum number of balances in a report: 200 months of 500 wallets.
const maxBalances = 100_000

// GetBalances returns the balances of wallets at the ends of intervals, with the sums of assets and
// debts. Errors: those of the filters, RATE_LIMITED and REPORT_TOO_LARGE.
func (s *Reports) GetBalances(
	ctx context.Context, req *ledgerv1.GetBalancesRequest,
) (*ledgerv1.GetBalancesResponse, error) {
	asked, leave, err := s.enter(ctx, periodsOf(req), defaultMonths)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := s.split(ctx, &asked); err != nil {
		return nil, err
	}
	ends := make([]time.Time, len(asked.intervals))
	for i, interval := range asked.intervals {
		ends[i] = interval.End
	}
	found, err := balances.Select(ctx, s.DB, balances.Query{
		Owner: asked.owner, Ends: ends, Wallets: asked.filter.IDs().Wallets,
		Currency: asked.currency,
	})
	if err != nil {
		return nil, err
	}
	for i := range found {
		asked.endArchived(&found[i])
	}
	found = slices.DeleteFunc(found, func(b balances.Balance) bool {
		return !slices.ContainsFunc(b.Amounts, func(minor int64) bool { return minor != 0 })
	})
	if len(found)*len(ends) > maxBalances {
		return nil, errTooManyBalances
	}
	report, err := asked.balances(found)
	if err != nil {
		return nil, err
	}
	return &ledgerv1.GetBalancesResponse{Balances: report}, nil
}

// periodsOf returns the parameters of a report with the same intervals.
func periodsOf(req *ledgerv1.GetBalancesRequest) *ledgerv1.GetSeriesRequest {
	return &ledgerv1.GetSeriesRequest{
		From: req.From, To: req.To, Interval: req.Interval, Currency: req.Currency,
		WalletId: req.GetWalletId(),
	}
}

// CheckBalances returns the problems of the parameters of net worth, like Check.
func CheckBalances(req *ledgerv1.GetBalancesRequest, today time.Time) apierr.Problems {
	return Check(periodsOf(req), today)
}

// endArchived sets the balances of an archived wallet to 0 in the intervals after the one with its
// last transaction. A wallet without transactions counts until the interval of its opening day.
func (q query) endArchived(b *balances.Balance) {
	if !b.Archived {
		return
	}
	last := cmp.Or(b.LastDate, b.OpeningDate)
	for i, interval := range q.intervals {
		if last == nil || interval.From.After(*last) {
			b.Amounts[i] = 0
		}
	}
}

// balances returns the report of balances.
func (q query) balances(found []balances.Balance) (*ledgerv1.Balances, error) {
	report := &ledgerv1.Balances{Interval: q.interval}
	for _, interval := range q.intervals {
		report.Intervals = append(report.Intervals, periodProto(interval))
	}
	assets, debts := map[string][]int64{}, map[string][]int64{}
	var codes []string
	for _, b := range found {
		if assets[b.Currency] == nil {
			codes = append(codes, b.Currency)
			assets[b.Currency] = make([]int64, len(b.Amounts))
			debts[b.Currency] = make([]int64, len(b.Amounts))
		}
		for i, minor := range b.Amounts {
			assets[b.Currency][i] += max(minor, 0)
			debts[b.Currency][i] += max(-minor, 0)
			if assets[b.Currency][i] < 0 || debts[b.Currency][i] < 0 {
				return nil, errOverflow
			}
		}
		report.Wallets = append(report.Wallets, &ledgerv1.WalletBalances{
			WalletId: b.WalletID.String(), Name: b.Name, Kind: b.Kind, Archived: b.Archived,
			Currency: b.Currency, Balances: formatted(b.Currency, b.Amounts),
		})
	}
	slices.Sort(codes)
	for _, code := range codes {
		net := make([]int64, len(q.intervals))
		for i := range net {
			net[i] = assets[code][i] - debts[code][i]
		}
		report.Totals = append(report.Totals, &ledgerv1.BalanceTotals{
			Currency: code, Assets: formatted(code, assets[code]),
			Debts: formatted(code, debts[code]), Net: formatted(code, net),
		})
	}
	return report, nil
}

func formatted(code string, minors []int64) []string {
	currency, texts := money.CurrencyOf(code), make([]string, len(minors))
	for i, minor := range minors {
		texts[i] = currency.Format(minor)
	}
	return texts
}

// ExportBalances sends the report of GetBalances as a table. The report is complete before the
// first message, so an error is never after a part of the file.
func (s *Reports) ExportBalances(
	req *ledgerv1.ExportBalancesRequest,
	stream grpc.ServerStreamingServer[ledgerv1.ExportBalancesResponse],
) error {
	resp, err := s.GetBalances(stream.Context(), &ledgerv1.GetBalancesRequest{
		From: req.From, To: req.To, Interval: req.Interval, WalletId: req.GetWalletId(),
		Currency: req.Currency,
	})
	if err != nil {
		return err
	}
	report := resp.GetBalances()
	last := report.GetIntervals()[len(report.GetIntervals())-1]
	err = stream.Send(&ledgerv1.ExportBalancesResponse{Header: &restv1.FileHeader{
		MediaType: "text/csv; charset=utf-8",
		FileName: "coffer-balances-" + report.GetIntervals()[0].GetStart() + "-" + last.GetEnd() +
			".csv",
	}})
	if err != nil {
		return err
	}
	w := rpc.NewFileWriter(func(piece []byte) error {
		return stream.Send(&ledgerv1.ExportBalancesResponse{Content: piece})
	})
	if err := writeBalances(w, report); err != nil {
		return err
	}
	return w.Flush()
}

// writeBalances writes a row for each wallet, currency and interval, and then the sums.
func writeBalances(w io.Writer, report *ledgerv1.Balances) error {
	rows := csv.NewWriter(w)
	rows.UseCRLF = true
	err := rows.Write([]string{
		"group", "key", "name", "kind", "start", "end", "balance", "currency",
	})
	add := func(currency string, values []string, group ...string) {
		for i, interval := range report.GetIntervals() {
			if err == nil {
				err = rows.Write(append(slices.Clone(group), interval.GetStart(),
					interval.GetEnd(), values[i], currency))
			}
		}
	}
	for _, b := range report.GetWallets() {
		add(b.GetCurrency(), b.GetBalances(), "wallet", b.GetWalletId(), written.Guard(b.GetName()),
			b.GetKind())
	}
	for _, t := range report.GetTotals() {
		add(t.GetCurrency(), t.GetAssets(), "assets", "", "", "")
		add(t.GetCurrency(), t.GetDebts(), "debts", "", "", "")
		add(t.GetCurrency(), t.GetNet(), "net", "", "", "")
	}
	if err != nil {
		return err
	}
	rows.Flush()
	return rows.Error()
}
