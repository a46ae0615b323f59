package receipts

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// shopper is a person with an ocr service to talk to.
type shopper struct {
	person
	fake *fixture.OCR
}

func newShopper(t *testing.T) shopper {
	t.Helper()
	fake := &fixture.OCR{Receipt: fixture.Groceries()}
	p := newPerson(t.Context(), t, setup(t))
	p.OCR = fake
	return shopper{person: p, fake: fake}
}

func (p shopper) request() *form {
	return &form{
		Receipt: []byte("a photograph"), WalletId: p.Wallet.String(),
		CategoryId: p.Category.String(),
	}
}

func (p shopper) upload(
	t *testing.T, change func(*form),
) *ledgerv1.CreateTransactionsFromReceiptResponse {
	t.Helper()
	req := p.request()
	change(req)
	resp, err := p.CreateTransactionsFromReceipt(p.Ctx, req)
	require.NoError(t, err)
	return resp
}

func asItIs(*form) {}

// refusesUpload requires a reason, and that nothing was stored.
func (p shopper) refusesUpload(
	t *testing.T, req *form, code codes.Code, reason string,
) apierr.Error {
	t.Helper()
	return p.RequireRejected(t, code, reason, func() error {
		_, err := p.CreateTransactionsFromReceipt(p.Ctx, req)
		return err
	})
}

func amounts(resp *ledgerv1.CreateTransactionsFromReceiptResponse) map[string]string {
	out := map[string]string{}
	for _, tr := range resp.GetTransactions() {
		out[tr.GetDescription()] = tr.GetAmount()
	}
	return out
}

func warnings(resp *ledgerv1.CreateTransactionsFromReceiptResponse) []string {
	var out []string
	for _, w := range resp.GetReceipt().GetWarnings() {
		out = append(out, w.GetCode())
	}
	return out
}

func TestCreateTransactionsFromReceiptPerLine(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	resp := me.upload(t, asItIs)
	require.Equal(t, map[string]string{
		"Milk": "-3.00", "Bread": "-2.50", "Deposit returned": "1.00", "Tax": "-0.40",
	}, amounts(resp))
	require.Empty(t, warnings(resp))
	for _, tr := range resp.GetTransactions() {
		require.Equal(t, "2026-03-14T00:00:00.000Z", tr.GetDate())
		require.Equal(t, "USD", tr.GetCurrency())
		require.Equal(t, me.Wallet.String(), tr.GetWalletId())
		require.Equal(t, me.Category.String(), tr.GetCategoryId())
		require.Equal(t, resp.GetReceipt().GetId(), tr.GetReceiptId())
		require.NotEmpty(t, tr.GetId())
	}
	got, err := me.GetReceipt(me.Ctx,
		&ledgerv1.GetReceiptRequest{Id: strings.ToUpper(resp.GetReceipt().GetId())})
	require.NoError(t, err)
	require.True(t, proto.Equal(resp.GetReceipt(), got.GetReceipt()))

	for i, event := range me.Events(t)[2:] {
		require.True(t, proto.Equal(&ledgerv1.TransactionCreated{
			OwnerId: me.ID.String(), Transaction: resp.GetTransactions()[i],
		}, event))
	}
	require.Len(t, me.Events(t), 2+4)
	summary, err := me.GetSummary(me.Ctx, &ledgerv1.GetSummaryRequest{Currency: new("USD")})
	require.NoError(t, err)
	require.Equal(t, "-4.90", summary.GetSummary().GetTotals()[0].GetBalance())
}

func TestCreateTransactionsFromReceiptAssumptions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		date, currency string
		want           []string
	}{
		"everything was read": {date: "2026-03-14", currency: "eur"},
		"no date":             {currency: "EUR", want: []string{"DATE_ASSUMED"}},
		"no such day": {
			date: "2026-02-30", currency: "EUR", want: []string{"DATE_ASSUMED"},
		},
		"a date out of range": {
			date: "1899-12-31", currency: "EUR", want: []string{"DATE_ASSUMED"},
		},
		"no currency": {date: "2026-03-14", want: []string{"CURRENCY_ASSUMED"}},
		"no such currency": {
			date: "2026-03-14", currency: "XXX", want: []string{"CURRENCY_ASSUMED"},
		},
		"neither was recognised": {want: []string{"CURRENCY_ASSUMED", "DATE_ASSUMED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newShopper(t)
			p.fake.Receipt.Date, p.fake.Receipt.Currency = tc.date, tc.currency
			resp := p.upload(t, asItIs)
			require.Equal(t, tc.want, warnings(resp))
			day := "2026-03-14"
			if len(tc.want) > 0 && tc.want[len(tc.want)-1] == "DATE_ASSUMED" {
				day = fixture.Today.Format(calendar.DateLayout)
			}
			require.Equal(t, day, resp.GetReceipt().GetDate())
			require.Equal(t, "EUR", resp.GetReceipt().GetCurrency())
			for _, tr := range resp.GetTransactions() {
				require.Equal(t, day+"T00:00:00.000Z", tr.GetDate())
				require.Equal(t, "EUR", tr.GetCurrency())
			}
		})
	}
}

func TestCreateTransactionsFromReceiptUnreconciledLines(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	me.fake.Receipt.Total = "4.91"
	resp := me.upload(t, asItIs)
	require.Equal(t, map[string]string{"Corner Shop": "-4.91"}, amounts(resp))
	require.Equal(t, []string{"LINES_NOT_RECONCILED"}, warnings(resp))

	req := me.request()
	req.Mode = new("items")
	e := me.refusesUpload(t, req, codes.InvalidArgument, "VALIDATION_ERROR")
	require.Equal(t, "mode", e.Fields[0].Name)
}

func TestCreateTransactionsFromReceiptModeSingle(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	p.fake.Receipt.Merchant = " \x00 "
	resp := p.upload(t, func(req *form) { req.Mode = new("single") })
	require.Equal(t, map[string]string{"Receipt": "-4.90"}, amounts(resp))
	require.Empty(t, warnings(resp))
}

func TestCreateTransactionsFromReceiptKeepsOneWarning(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	p.fake.Receipt.Total = "4.91"
	p.fake.Receipt.Warnings = []*ocrv1.Warning{
		{Code: "LINES_NOT_RECONCILED"}, {Code: "PAGES_SKIPPED"},
	}
	require.Equal(t, []string{"LINES_NOT_RECONCILED", "PAGES_SKIPPED"},
		warnings(p.upload(t, asItIs)))
}

func TestCreateTransactionsFromReceiptDryRun(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	before := me.Stored(t)
	dry := func(req *form) { req.DryRun, req.IdempotencyKey = true, "k" }
	resp := me.upload(t, dry)
	require.Equal(t, before, me.Stored(t))
	require.Equal(t, "RECEIPT_RECOGNIZED", resp.GetCode())
	require.Equal(t, map[string]string{
		"Milk": "-3.00", "Bread": "-2.50", "Deposit returned": "1.00", "Tax": "-0.40",
	}, amounts(resp))
	require.Empty(t, resp.GetReceipt().GetId())
	for _, tr := range resp.GetTransactions() {
		require.Empty(t, tr.GetId())
		require.Empty(t, tr.GetCreatedAt())
		require.Nil(t, tr.ReceiptId)
	}

	earlier := me.upload(t, asItIs).GetReceipt().GetId()
	again := me.upload(t, dry)
	require.Equal(t, []string{"DUPLICATE_OF"}, warnings(again))
	require.Equal(t, earlier, again.GetReceipt().GetWarnings()[0].GetReceiptId())
}

func TestRecognizeLeavesTimeToStore(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	ctx, cancel := context.WithTimeout(p.Ctx, 20*time.Second)
	defer cancel()
	_, err := p.CreateTransactionsFromReceipt(ctx, p.request())
	require.NoError(t, err)
	require.LessOrEqual(t, p.fake.Left, 20*time.Second-writeReserve)
}
