package ledger

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// at reads a date, or a date and a time of day.
func at(s string) time.Time {
	if len(s) == len(dateLayout) {
		s += "T00:00"
	}
	t, err := time.Parse("2006-01-02T15:04", s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestWindow(t *testing.T) {
	t.Parallel()
	between := func(from, end string) window { return window{from: at(from), end: at(end)} }
	for name, c := range map[string]struct{ window, previous, head, months, tail, trend window }{
		"a calendar month is compared with the one before": {
			window: between("2026-03-01", "2026-04-01"), previous: between("2026-02-01", "2026-03-01"),
			months: between("2026-03-01", "2026-04-01"), trend: between("2025-04-01", "2026-04-01"),
		},
		"January is compared with December": {
			window: between("2026-01-01", "2026-02-01"), previous: between("2025-12-01", "2026-01-01"),
			months: between("2026-01-01", "2026-02-01"), trend: between("2025-02-01", "2026-02-01"),
		},
		"a quarter is compared with the one before": {
			window: between("2026-01-01", "2026-04-01"), previous: between("2025-10-01", "2026-01-01"),
			months: between("2026-01-01", "2026-04-01"), trend: between("2025-04-01", "2026-04-01"),
		},
		"a year is compared with the one before, which may have a day more": {
			window: between("2025-01-01", "2026-01-01"), previous: between("2024-01-01", "2025-01-01"),
			months: between("2025-01-01", "2026-01-01"), trend: between("2025-01-01", "2026-01-01"),
		},
		"other windows are compared with as many days": {
			window: between("2026-03-10", "2026-03-13"), previous: between("2026-03-07", "2026-03-10"),
			head: between("2026-03-10", "2026-03-13"), trend: between("2025-04-01", "2026-04-01"),
		},
		"whole months are parted from the days around them": {
			window: between("2026-01-31", "2026-04-02"), previous: between("2025-12-01", "2026-01-31"),
			head: between("2026-01-31", "2026-02-01"), months: between("2026-02-01", "2026-04-01"),
			tail: between("2026-04-01", "2026-04-02"), trend: between("2025-05-01", "2026-05-01"),
		},
		"parts of two months hold no whole one": {
			window: between("2026-02-02", "2026-03-31"), previous: between("2025-12-07", "2026-02-02"),
			head: between("2026-02-02", "2026-03-31"), trend: between("2025-04-01", "2026-04-01"),
		},
		"a window may end within a day": {
			window: between("2026-02-01", "2026-03-01T10:30"), previous: between("2026-01-03T13:30", "2026-02-01"),
			months: between("2026-02-01", "2026-03-01"), tail: between("2026-03-01", "2026-03-01T10:30"),
			trend: between("2025-04-01", "2026-04-01"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.previous, c.window.previous())
			require.Equal(t, c.trend, c.window.trend())
			head, months, tail := c.window.parts()
			for _, p := range []struct{ want, got window }{{c.head, head}, {c.months, months}, {c.tail, tail}} {
				if p.want == (window{}) {
					require.Equal(t, p.got.from, p.got.end)
					continue
				}
				require.Equal(t, p.want, p.got)
			}
		})
	}
}

func TestParseSummary(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := actAs(t.Context(), s.newID())
	for name, c := range map[string]struct {
		req      *ledgerv1.GetSummaryRequest
		from, to string
		reason   string
		fields   []string
	}{
		"without bounds it is the current month":   {req: &ledgerv1.GetSummaryRequest{}, from: "2026-03-01", to: "2026-03-31"},
		"a bare date is a whole day":               {req: ask("2026-03-15", "2026-03-15"), from: "2026-03-15", to: "2026-03-15"},
		"a time is taken as UTC":                   {req: ask("2026-03-01T01:00:00+02:00", "2026-03-14T23:00:00-02:00"), from: "2026-02-28", to: "2026-03-15"},
		"one moment is a window":                   {req: ask("2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"), from: "2026-03-01", to: "2026-03-01"},
		"without an end it ends with the month":    {req: &ledgerv1.GetSummaryRequest{From: new("2025-12-24")}, from: "2025-12-24", to: "2026-03-31"},
		"without a start it starts with the month": {req: &ledgerv1.GetSummaryRequest{To: new("2026-03-02")}, from: "2026-03-01", to: "2026-03-02"},
		"a later start ends with its own month":    {req: &ledgerv1.GetSummaryRequest{From: new("2026-04-10")}, from: "2026-04-10", to: "2026-04-30"},
		"an earlier end starts with its own month": {req: &ledgerv1.GetSummaryRequest{To: new("2025-12-24")}, from: "2025-12-01", to: "2025-12-24"},
		"ten years are allowed":                    {req: ask("2016-03-01", "2026-02-28"), from: "2016-03-01", to: "2026-02-28"},
		"the first years are allowed":              {req: ask("1900-01-01", "1900-01-31"), from: "1900-01-01", to: "1900-01-31"},
		"the last years are allowed":               {req: ask("2200-12-01", "2200-12-31"), from: "2200-12-01", to: "2200-12-31"},
		"more than ten years are refused":          {req: ask("2016-03-01", "2026-03-01"), reason: "VALIDATION_ERROR", fields: []string{"to"}},
		"an upside-down window is refused":         {req: ask("2026-03-02", "2026-03-01"), reason: "VALIDATION_ERROR", fields: []string{"from"}},
		"dates that are none are refused":          {req: ask("yesterday", "2026-02-30"), reason: "INVALID_TRANSACTION_DATE", fields: []string{"from", "to"}},
		"an empty date is refused":                 {req: ask("", "2026-02-28"), reason: "INVALID_TRANSACTION_DATE", fields: []string{"from"}},
		"a currency that is none is refused":       {req: &ledgerv1.GetSummaryRequest{Currency: new("EURO")}, reason: "UNSUPPORTED_CURRENCY", fields: []string{"currency"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := s.GetSummary(ctx, c.req)
			if c.reason == "" {
				require.NoError(t, err)
				require.Equal(t, c.from, resp.GetSummary().GetFrom())
				require.Equal(t, c.to, resp.GetSummary().GetTo())
				return
			}
			var fields []string
			for _, f := range requireReason(t, err, codes.InvalidArgument, c.reason).Fields {
				fields = append(fields, f.Name)
			}
			require.Equal(t, c.fields, fields)
		})
	}
}

func ask(from, to string) *ledgerv1.GetSummaryRequest {
	return &ledgerv1.GetSummaryRequest{From: &from, To: &to}
}

func TestGetSummaryOfNewUser(t *testing.T) {
	t.Parallel()
	s := setup(t)
	resp, err := s.GetSummary(actAs(t.Context(), s.newID()), &ledgerv1.GetSummaryRequest{})
	require.NoError(t, err)
	want := &ledgerv1.Summary{From: "2026-03-01", To: "2026-03-31"}
	require.True(t, proto.Equal(want, resp.GetSummary()), resp.GetSummary())
}

func TestGetSummaryOfUnusedCurrency(t *testing.T) {
	t.Parallel()
	s := setup(t)
	resp, err := s.GetSummary(actAs(t.Context(), s.newID()), &ledgerv1.GetSummaryRequest{Currency: new("jpy")})
	require.NoError(t, err)
	zero := []*ledgerv1.Totals{{Currency: "JPY", Income: "0", Expense: "0", Net: "0", Balance: "0"}}
	requireSame(t, zero, resp.GetSummary().GetTotals())
	requireSame(t, zero, resp.GetSummary().GetPrevious())
	require.Len(t, resp.GetSummary().GetTrend(), 12)
	requireSame(t, []*ledgerv1.MonthTotals{{Month: "2025-04", Currency: "JPY", Income: "0", Expense: "0", Net: "0"}}, resp.GetSummary().GetTrend()[:1])
}

func TestGetSummaryShowsUnusedWallet(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := actAs(t.Context(), s.newID())
	id := s.makeWallet(ctx, t, "Cash", "EUR")
	resp, err := s.GetSummary(ctx, &ledgerv1.GetSummaryRequest{})
	require.NoError(t, err)
	requireSame(t, []*ledgerv1.WalletTotals{{
		WalletId: id.String(), Name: "Cash", Currency: "EUR", Income: "0.00", Expense: "0.00", Net: "0.00", Balance: "0.00",
	}}, resp.GetSummary().GetByWallet())
	requireSame(t, []*ledgerv1.Totals{{Currency: "EUR", Income: "0.00", Expense: "0.00", Net: "0.00", Balance: "0.00"}}, resp.GetSummary().GetTotals())
	require.Len(t, resp.GetSummary().GetTrend(), 12)
}

func TestGetSummaryOfThePast(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := actAs(t.Context(), s.newID())
	resp, err := s.CreateWallet(ctx, &ledgerv1.CreateWalletRequest{Name: "Cash", Currency: "EUR", Balance: new("100")})
	require.NoError(t, err)
	wallet, category := uuid.MustParse(resp.GetWallet().GetId()), s.makeCategory(ctx, t, "Food")
	entry := func(day, currency string, amount int64) transaction {
		return transaction{WalletID: wallet, CategoryID: category, AmountMinor: amount, Currency: currency, Date: at(day)}
	}
	s.record(ctx, t, entry("2026-01-10", "EUR", -1000), entry("2026-01-20", "EUR", -200), entry("2026-02-20", "EUR", -30),
		entry("2026-03-10", "EUR", -4), entry("2026-01-15", "JPY", -9000), entry("2026-02-15", "JPY", 9000))
	balances := func(of []*ledgerv1.Totals) map[string]string {
		byCurrency := map[string]string{}
		for _, m := range of {
			byCurrency[m.GetCurrency()] = m.GetBalance()
		}
		return byCurrency
	}
	for name, c := range map[string]struct {
		from, to         string
		totals, previous map[string]string
	}{
		"a whole month":            {"2026-01-01", "2026-01-31", map[string]string{"EUR": "88.00", "JPY": "-9000"}, map[string]string{"EUR": "100.00", "JPY": "0"}},
		"a window within a month":  {"2026-01-15", "2026-01-19", map[string]string{"EUR": "90.00", "JPY": "-9000"}, map[string]string{"EUR": "90.00", "JPY": "0"}},
		"a window over two months": {"2026-01-20", "2026-02-17", map[string]string{"EUR": "88.00", "JPY": "0"}, map[string]string{"EUR": "90.00", "JPY": "-9000"}},
		"the current month":        {"2026-03-01", "2026-03-31", map[string]string{"EUR": "87.66"}, map[string]string{"EUR": "87.70", "JPY": "0"}},
		"before all transactions":  {"2020-01-01", "2020-12-31", map[string]string{"EUR": "100.00"}, map[string]string{"EUR": "100.00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := s.GetSummary(ctx, ask(c.from, c.to))
			require.NoError(t, err)
			require.Equal(t, c.totals, balances(resp.GetSummary().GetTotals()))
			require.Equal(t, c.previous, balances(resp.GetSummary().GetPrevious()))
			for _, w := range resp.GetSummary().GetByWallet() {
				require.Equal(t, c.totals[w.GetCurrency()], w.GetBalance())
			}
		})
	}
}

func TestGetSummaryCategoryPercentages(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := actAs(t.Context(), s.newID())
	wallet, food, fun, pay := s.makeWallet(ctx, t, "Cash", "EUR"), s.makeCategory(ctx, t, "Food"), s.makeCategory(ctx, t, "Fun"), s.makeCategory(ctx, t, "Pay")
	entry := func(category uuid.UUID, amount int64) transaction {
		return transaction{WalletID: wallet, CategoryID: category, AmountMinor: amount, Currency: "EUR", Date: today}
	}
	s.record(ctx, t, entry(food, -100), entry(food, -100), entry(fun, -100), entry(fun, 30), entry(pay, 100_000))
	resp, err := s.GetSummary(ctx, &ledgerv1.GetSummaryRequest{})
	require.NoError(t, err)
	requireSame(t, []*ledgerv1.CategoryTotals{
		{CategoryId: food.String(), Name: "Food", Currency: "EUR", Income: "0.00", Expense: "2.00", Percentage: 66.67},
		{CategoryId: fun.String(), Name: "Fun", Currency: "EUR", Income: "0.30", Expense: "1.00", Percentage: 33.33},
		{CategoryId: pay.String(), Name: "Pay", Currency: "EUR", Income: "1000.00", Expense: "0.00"},
	}, resp.GetSummary().GetByCategory())
}

func TestGetSummaryOmitsOtherUsers(t *testing.T) {
	t.Parallel()
	s := setup(t)
	other := actAs(t.Context(), s.newID())
	s.record(other, t, transaction{
		WalletID: s.makeWallet(other, t, "Cash", "EUR"), CategoryID: s.makeCategory(other, t, "Food"),
		AmountMinor: -100, Currency: "EUR", Date: today,
	})
	resp, err := s.GetSummary(actAs(t.Context(), s.newID()), ask("2026-03-02", "2026-03-20"))
	require.NoError(t, err)
	want := &ledgerv1.Summary{From: "2026-03-02", To: "2026-03-20"}
	require.True(t, proto.Equal(want, resp.GetSummary()), resp.GetSummary())
}

// record stores transactions of the acting user.
func (s *server) record(ctx context.Context, t require.TestingT, ts ...transaction) {
	err := pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		for i := range ts {
			ts[i].ID, ts[i].OwnerID, ts[i].Version, ts[i].CreatedAt, ts[i].UpdatedAt = s.newID(), caller.ID(ctx), 1, today, today
		}
		written, err := s.createTransactions(ctx, tx, ts, transactionsProto(ts))
		require.Len(t, written, len(ts))
		return err
	})
	require.NoError(t, err)
}

func requireSame[T proto.Message](t require.TestingT, want, got []T) {
	require.Len(t, got, len(want), "want %v\ngot  %v", want, got)
	for i := range want {
		require.True(t, proto.Equal(want[i], got[i]), "%d: want %v\ngot  %v", i, want[i], got[i])
	}
}

// TestGetSummaryEqualsRecomputation compares summaries of random histories with a computation from all their transactions, in
// windows that start and end anywhere in a month.
func TestGetSummaryEqualsRecomputation(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		ctx := actAs(context.Background(), s.newID())
		h := s.anyHistory(r, ctx)
		for range 5 {
			req := anyQuestion(r)
			q, err := parseSummary(req, today)
			require.NoError(r, err)
			resp, err := s.GetSummary(ctx, req)
			require.NoError(r, err)
			want := h.summary(q)
			got := resp.GetSummary()
			requireSame(r, want.GetTotals(), got.GetTotals())
			requireSame(r, want.GetPrevious(), got.GetPrevious())
			requireSame(r, want.GetByCategory(), got.GetByCategory())
			requireSame(r, want.GetByWallet(), got.GetByWallet())
			requireSame(r, want.GetTrend(), got.GetTrend())
			requireSame(r, want.GetLargestExpenses(), got.GetLargestExpenses())
			requireSame(r, want.GetRecentTransactions(), got.GetRecentTransactions())
			require.True(r, proto.Equal(want, got))
		}
	})
}

// history is the data of a user as plain lists.
type history struct {
	wallets      []wallet
	categories   map[uuid.UUID]string
	transactions []transaction
}

func (s *server) anyHistory(r *rapid.T, ctx context.Context) history {
	h := history{categories: map[uuid.UUID]string{}}
	currencies := []string{"EUR", "JPY", "BHD"}
	for i := range rapid.IntRange(1, 3).Draw(r, "wallets") {
		w := wallet{Name: string(rune('A' + i)), Currency: currencies[i], InitialMinor: rapid.Int64Range(-300, 300).Draw(r, "opening balance")}
		resp, err := s.CreateWallet(ctx, &ledgerv1.CreateWalletRequest{
			Name: w.Name, Currency: w.Currency, Balance: new(currencyOf(w.Currency).Format(w.InitialMinor)),
		})
		require.NoError(r, err)
		w.ID = uuid.MustParse(resp.GetWallet().GetId())
		if rapid.Bool().Draw(r, "archived") {
			_, err := s.UpdateWallet(ctx, &ledgerv1.UpdateWalletRequest{Id: w.ID.String(), Archived: new(true)})
			require.NoError(r, err)
		}
		h.wallets = append(h.wallets, w)
	}
	var categories []uuid.UUID
	for i := range rapid.IntRange(1, 3).Draw(r, "categories") {
		name := string(rune('a' + i))
		id := s.makeCategory(ctx, r, name)
		categories = append(categories, id)
		h.categories[id] = name
	}
	amount := rapid.Int64Range(-500, 500).Filter(func(n int64) bool { return n != 0 })
	for range rapid.IntRange(0, 40).Draw(r, "transactions") {
		h.transactions = append(h.transactions, transaction{
			WalletID: rapid.SampledFrom(h.wallets).Draw(r, "wallet").ID, CategoryID: rapid.SampledFrom(categories).Draw(r, "category"),
			AmountMinor: amount.Draw(r, "amount"), Currency: rapid.SampledFrom(currencies).Draw(r, "currency"), Date: anyTime(r),
		})
	}
	s.record(ctx, r, h.transactions...)
	return h
}

// anyTime is often the first or last moment of a month.
func anyTime(r *rapid.T) time.Time {
	start := at("2024-11-01").AddDate(0, rapid.IntRange(0, 17).Draw(r, "month"), 0)
	return rapid.SampledFrom([]time.Time{
		start, start.Add(-time.Millisecond), start.AddDate(0, 0, 14), start.AddDate(0, 0, 14).Add(12 * time.Hour),
	}).Draw(r, "time")
}

func anyQuestion(r *rapid.T) *ledgerv1.GetSummaryRequest {
	if rapid.IntRange(0, 5).Draw(r, "default") == 0 {
		return &ledgerv1.GetSummaryRequest{}
	}
	from, to := anyTime(r), anyTime(r)
	if to.Before(from) {
		from, to = to, from
	}
	layout := rapid.SampledFrom([]string{dateLayout, "2006-01-02T15:04:05.999Z07:00"}).Draw(r, "layout")
	req := ask(from.Format(layout), to.Format(layout))
	if rapid.Bool().Draw(r, "only one currency") {
		req.Currency = new(rapid.SampledFrom([]string{"EUR", "jpy", "CHF"}).Draw(r, "only"))
	}
	return req
}

// summary computes each figure from all transactions.
func (h history) summary(q summaryQuestion) *ledgerv1.Summary {
	out := &ledgerv1.Summary{From: q.window.from.Format(dateLayout), To: q.window.end.Add(-time.Microsecond).Format(dateLayout)}
	all := func(transaction) bool { return true }
	for _, code := range []string{"BHD", "CHF", "EUR", "JPY"} {
		if q.currency != "" && q.currency != code {
			continue
		}
		c := currencyOf(code)
		wallets := h.walletTotals(q.window, code)
		out.ByWallet = append(out.ByWallet, wallets...)
		held := len(wallets) > 0 || q.currency == code
		total := func(w window) []*ledgerv1.Totals {
			income, expense, count := h.moved(w, code, all)
			if !held && count == 0 {
				return nil
			}
			var balance int64
			for _, of := range h.wallets {
				balance += h.balance(of, code, w.end)
			}
			return []*ledgerv1.Totals{{
				Currency: code, Income: c.Format(income), Expense: c.Format(expense), Net: c.Format(income - expense),
				Balance: c.Format(balance), TransactionCount: count,
			}}
		}
		out.Totals = append(out.Totals, total(q.window)...)
		out.Previous = append(out.Previous, total(q.window.previous())...)
		out.ByCategory = append(out.ByCategory, h.categoryTotals(q.window, code)...)
		var trend []*ledgerv1.MonthTotals
		for i := range 12 {
			month := at(q.window.lastDay().Format("2006-01")+"-01").AddDate(0, i-11, 0)
			income, expense, count := h.moved(window{month, month.AddDate(0, 1, 0)}, code, all)
			held = held || count > 0
			trend = append(trend, &ledgerv1.MonthTotals{
				Month: month.Format("2006-01"), Currency: code,
				Income: c.Format(income), Expense: c.Format(expense), Net: c.Format(income - expense),
			})
		}
		if held {
			out.Trend = append(out.Trend, trend...)
		}
	}
	slices.SortStableFunc(out.ByWallet, func(a, b *ledgerv1.WalletTotals) int { return cmp.Compare(a.GetName(), b.GetName()) })
	slices.SortStableFunc(out.Trend, func(a, b *ledgerv1.MonthTotals) int { return cmp.Compare(a.GetMonth(), b.GetMonth()) })
	h.list(q, out)
	return out
}

// balance is what a wallet held in a currency at a moment.
func (h history) balance(w wallet, currency string, at time.Time) (sum int64) {
	if w.Currency == currency {
		sum = w.InitialMinor
	}
	for _, t := range h.transactions {
		if t.WalletID == w.ID && t.Currency == currency && t.Date.Before(at) {
			sum += t.AmountMinor
		}
	}
	return sum
}

// walletTotals has a row for a wallet's own currency, and for others with a balance or movements.
func (h history) walletTotals(w window, currency string) (out []*ledgerv1.WalletTotals) {
	c := currencyOf(currency)
	for _, of := range h.wallets {
		income, expense, count := h.moved(w, currency, func(t transaction) bool { return t.WalletID == of.ID })
		balance := h.balance(of, currency, w.end)
		if of.Currency != currency && balance == 0 && count == 0 {
			continue
		}
		out = append(out, &ledgerv1.WalletTotals{
			WalletId: of.ID.String(), Name: of.Name, Currency: currency,
			Income: c.Format(income), Expense: c.Format(expense), Net: c.Format(income - expense), Balance: c.Format(balance),
		})
	}
	return out
}

func (w window) holds(t time.Time) bool { return !t.Before(w.from) && t.Before(w.end) }

func (h history) moved(w window, currency string, which func(transaction) bool) (income, expense int64, count int32) {
	for _, t := range h.transactions {
		if !w.holds(t.Date) || t.Currency != currency || !which(t) {
			continue
		}
		count++
		income += max(t.AmountMinor, 0)
		expense += max(-t.AmountMinor, 0)
	}
	return income, expense, count
}

func (h history) categoryTotals(w window, currency string) (out []*ledgerv1.CategoryTotals) {
	c := currencyOf(currency)
	_, all, _ := h.moved(w, currency, func(transaction) bool { return true })
	spent, earned := map[string]int64{}, map[string]int64{}
	for id, name := range h.categories {
		income, expense, count := h.moved(w, currency, func(t transaction) bool { return t.CategoryID == id })
		if count == 0 {
			continue
		}
		spent[name], earned[name] = expense, income
		out = append(out, &ledgerv1.CategoryTotals{
			CategoryId: id.String(), Name: name, Currency: currency, Income: c.Format(income), Expense: c.Format(expense),
			Percentage: math.Round(10_000*float64(expense)/float64(max(all, 1))) / 100,
		})
	}
	slices.SortFunc(out, func(a, b *ledgerv1.CategoryTotals) int {
		return cmp.Or(cmp.Compare(spent[b.GetName()], spent[a.GetName()]), cmp.Compare(earned[b.GetName()], earned[a.GetName()]), cmp.Compare(a.GetName(), b.GetName()))
	})
	return out
}

func (h history) list(q summaryQuestion, out *ledgerv1.Summary) {
	var all, expenses []transaction
	for _, t := range h.transactions {
		if q.window.holds(t.Date) && (q.currency == "" || t.Currency == q.currency) {
			all = append(all, t)
			if t.AmountMinor < 0 {
				expenses = append(expenses, t)
			}
		}
	}
	newest := func(a, b transaction) int {
		return cmp.Or(b.Date.Compare(a.Date), cmp.Compare(b.ID.String(), a.ID.String()))
	}
	slices.SortFunc(all, newest)
	slices.SortFunc(expenses, func(a, b transaction) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.AmountMinor, b.AmountMinor), newest(a, b))
	})
	shown := map[string]int{}
	expenses = slices.DeleteFunc(expenses, func(t transaction) bool {
		shown[t.Currency]++
		return shown[t.Currency] > 5
	})
	out.RecentTransactions = transactionsProto(all[:min(5, len(all))])
	out.LargestExpenses = transactionsProto(expenses)
}
