package ledger

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

// fakeOCR reads the same receipt from every file.
type fakeOCR struct {
	ocrv1.OCRServiceClient
	receipt *ocrv1.Receipt
	// pictures are answered to those who ask for them.
	pictures [][]byte
	err      error
	calls    atomic.Int32
	left     time.Duration
}

func (f *fakeOCR) Recognize(ctx context.Context, req *ocrv1.RecognizeRequest, _ ...grpc.CallOption) (*ocrv1.RecognizeResponse, error) {
	f.calls.Add(1)
	if deadline, ok := ctx.Deadline(); ok {
		f.left = time.Until(deadline)
	}
	if f.err != nil {
		return nil, f.err
	}
	resp := &ocrv1.RecognizeResponse{Receipt: proto.CloneOf(f.receipt)}
	if req.GetPictures() {
		resp.Pictures = f.pictures
	}
	return resp, nil
}

// shopper is a person with an ocr service to talk to.
type shopper struct {
	person
	fake *fakeOCR
}

func newShopper(t *testing.T) shopper {
	t.Helper()
	fake := &fakeOCR{receipt: groceries()}
	p := newPerson(t.Context(), t, setup(t))
	p.ocr = fake
	return shopper{person: p, fake: fake}
}

func groceries() *ocrv1.Receipt {
	return &ocrv1.Receipt{
		Merchant: "Corner Shop", Date: "2026-03-14", Currency: "USD", Tax: "0.40", Total: "4.90",
		Lines: []*ocrv1.Line{
			{Description: "Milk", Quantity: "2", UnitPrice: "1.50", Amount: "3.00"},
			{Description: "Bread", Amount: "2.50"},
			{Description: "Deposit returned", Amount: "-1.00"},
		},
		Confidence: map[string]float64{"total": 0.98},
	}
}

func (p shopper) request() *ledgerv1.CreateTransactionsFromReceiptRequest {
	return &ledgerv1.CreateTransactionsFromReceiptRequest{
		Receipt: []byte("a photograph"), WalletId: p.wallet.String(), CategoryId: p.category.String(),
	}
}

func (p shopper) upload(t *testing.T, change func(*ledgerv1.CreateTransactionsFromReceiptRequest)) *ledgerv1.CreateTransactionsFromReceiptResponse {
	t.Helper()
	req := p.request()
	change(req)
	resp, err := p.CreateTransactionsFromReceipt(p.ctx, req)
	require.NoError(t, err)
	return resp
}

func asItIs(*ledgerv1.CreateTransactionsFromReceiptRequest) {}

// refusesUpload requires a reason, and that nothing was stored.
func (p shopper) refusesUpload(t *testing.T, req *ledgerv1.CreateTransactionsFromReceiptRequest, code codes.Code, reason string) apierr.Error {
	t.Helper()
	return p.refuses(t, code, reason, func() error {
		_, err := p.CreateTransactionsFromReceipt(p.ctx, req)
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
	p := newShopper(t)
	resp := p.upload(t, asItIs)
	require.Equal(t, map[string]string{"Milk": "-3.00", "Bread": "-2.50", "Deposit returned": "1.00", "Tax": "-0.40"}, amounts(resp))
	require.Empty(t, warnings(resp))
	for _, tr := range resp.GetTransactions() {
		require.Equal(t, "2026-03-14T00:00:00.000Z", tr.GetDate())
		require.Equal(t, "USD", tr.GetCurrency())
		require.Equal(t, p.wallet.String(), tr.GetWalletId())
		require.Equal(t, p.category.String(), tr.GetCategoryId())
		require.Equal(t, resp.GetReceipt().GetId(), tr.GetReceiptId())
		require.NotEmpty(t, tr.GetId())
	}
	got, err := p.GetReceipt(p.ctx, &ledgerv1.GetReceiptRequest{Id: strings.ToUpper(resp.GetReceipt().GetId())})
	require.NoError(t, err)
	require.True(t, proto.Equal(resp.GetReceipt(), got.GetReceipt()))

	for i, event := range p.events(t)[2:] {
		require.True(t, proto.Equal(&ledgerv1.TransactionCreated{OwnerId: p.id.String(), Transaction: resp.GetTransactions()[i]}, event))
	}
	require.Len(t, p.events(t), 2+4)
	summary, err := p.GetSummary(p.ctx, &ledgerv1.GetSummaryRequest{Currency: new("USD")})
	require.NoError(t, err)
	require.Equal(t, "-4.90", summary.GetSummary().GetTotals()[0].GetBalance())
}

func TestCreateTransactionsFromReceiptAssumptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		date, currency string
		want           []string
	}{
		"everything was read":    {date: "2026-03-14", currency: "eur"},
		"no date":                {currency: "EUR", want: []string{"DATE_ASSUMED"}},
		"no such day":            {date: "2026-02-30", currency: "EUR", want: []string{"DATE_ASSUMED"}},
		"a date out of range":    {date: "1899-12-31", currency: "EUR", want: []string{"DATE_ASSUMED"}},
		"no currency":            {date: "2026-03-14", want: []string{"CURRENCY_ASSUMED"}},
		"no such currency":       {date: "2026-03-14", currency: "XXX", want: []string{"CURRENCY_ASSUMED"}},
		"neither was recognised": {want: []string{"CURRENCY_ASSUMED", "DATE_ASSUMED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newShopper(t)
			p.fake.receipt.Date, p.fake.receipt.Currency = c.date, c.currency
			resp := p.upload(t, asItIs)
			require.Equal(t, c.want, warnings(resp))
			day := "2026-03-14"
			if len(c.want) > 0 && c.want[len(c.want)-1] == "DATE_ASSUMED" {
				day = today.Format(dateLayout)
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
	p := newShopper(t)
	p.fake.receipt.Total = "4.91"
	resp := p.upload(t, asItIs)
	require.Equal(t, map[string]string{"Corner Shop": "-4.91"}, amounts(resp))
	require.Equal(t, []string{"LINES_NOT_RECONCILED"}, warnings(resp))

	req := p.request()
	req.Mode = new("items")
	e := p.refusesUpload(t, req, codes.InvalidArgument, "VALIDATION_ERROR")
	require.Equal(t, "mode", e.Fields[0].Name)
}

func TestCreateTransactionsFromReceiptModeSingle(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	p.fake.receipt.Merchant = " \x00 "
	resp := p.upload(t, func(req *ledgerv1.CreateTransactionsFromReceiptRequest) { req.Mode = new("single") })
	require.Equal(t, map[string]string{"Receipt": "-4.90"}, amounts(resp))
	require.Empty(t, warnings(resp))
}

func TestCreateTransactionsFromReceiptKeepsOneWarning(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	p.fake.receipt.Total = "4.91"
	p.fake.receipt.Warnings = []*ocrv1.Warning{{Code: "LINES_NOT_RECONCILED"}, {Code: "PAGES_SKIPPED"}}
	require.Equal(t, []string{"LINES_NOT_RECONCILED", "PAGES_SKIPPED"}, warnings(p.upload(t, asItIs)))
}

func TestCreateTransactionsFromReceiptDryRun(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	before := p.stored(t)
	dry := func(req *ledgerv1.CreateTransactionsFromReceiptRequest) { req.DryRun, req.IdempotencyKey = true, "k" }
	resp := p.upload(t, dry)
	require.Equal(t, before, p.stored(t))
	require.Equal(t, "RECEIPT_RECOGNIZED", resp.GetCode())
	require.Equal(t, map[string]string{"Milk": "-3.00", "Bread": "-2.50", "Deposit returned": "1.00", "Tax": "-0.40"}, amounts(resp))
	require.Empty(t, resp.GetReceipt().GetId())
	for _, tr := range resp.GetTransactions() {
		require.Empty(t, tr.GetId())
		require.Empty(t, tr.GetCreatedAt())
		require.Nil(t, tr.ReceiptId)
	}

	earlier := p.upload(t, asItIs).GetReceipt().GetId()
	again := p.upload(t, dry)
	require.Equal(t, []string{"DUPLICATE_OF"}, warnings(again))
	require.Equal(t, earlier, again.GetReceipt().GetWarnings()[0].GetReceiptId())
}

func TestCreateTransactionsFromReceiptRejectsBeforeRecognition(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	stranger := actAs(t.Context(), p.newID())
	theirWallet, theirCategory := p.makeWallet(stranger, t, "Cash", "EUR"), p.makeCategory(stranger, t, "Food")
	for name, c := range map[string]struct {
		change func(*ledgerv1.CreateTransactionsFromReceiptRequest)
		code   codes.Code
		reason string
		field  string
	}{
		"no file": {func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.Receipt = nil }, codes.InvalidArgument, "RECEIPT_FILE_REQUIRED", "receipt"},
		"a file over 10 MiB": {func(r *ledgerv1.CreateTransactionsFromReceiptRequest) {
			r.Receipt = bytes.Repeat([]byte("x"), 10<<20+1)
		}, codes.ResourceExhausted, "PAYLOAD_TOO_LARGE", ""},
		"no wallet":                   {func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.WalletId = "" }, codes.InvalidArgument, "VALIDATION_ERROR", "walletId"},
		"no category":                 {func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.CategoryId = "" }, codes.InvalidArgument, "VALIDATION_ERROR", "categoryId"},
		"a malformed wallet":          {func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.WalletId = "1" }, codes.InvalidArgument, "WALLET_NOT_FOUND", "walletId"},
		"a malformed category":        {func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.CategoryId = "1" }, codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS", "categoryId"},
		"an unknown wallet":           {func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.WalletId = uuid.NewString() }, codes.NotFound, "WALLET_NOT_FOUND", ""},
		"an unknown category":         {func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.CategoryId = uuid.NewString() }, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", ""},
		"another user's wallet":       {func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.WalletId = theirWallet.String() }, codes.NotFound, "WALLET_NOT_FOUND", ""},
		"another user's category":     {func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.CategoryId = theirCategory.String() }, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", ""},
		"an unknown mode":             {func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.Mode = new("lines") }, codes.InvalidArgument, "VALIDATION_ERROR", "mode"},
		"an unknown duplicate policy": {func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.OnDuplicate = new("skip") }, codes.InvalidArgument, "VALIDATION_ERROR", "onDuplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			req := p.request()
			c.change(req)
			e := p.refusesUpload(t, req, c.code, c.reason)
			require.Zero(t, p.fake.calls.Load())
			if c.field != "" {
				require.Equal(t, c.field, e.Fields[0].Name)
			}
		})
	}
}

func TestCreateTransactionsFromReceiptFailedRecognition(t *testing.T) {
	t.Parallel()
	busy := apierr.Unavailable.After(2 * time.Second)
	for name, c := range map[string]struct {
		err    error
		code   codes.Code
		reason string
	}{
		"no readable receipt":      {errOCRParse.GRPCStatus().Err(), codes.Internal, "OCR_PARSE_FAILED"},
		"a broken engine":          {errOCRResponse.GRPCStatus().Err(), codes.Internal, "OCR_RESPONSE_FAILED"},
		"a full queue":             {busy.GRPCStatus().Err(), codes.Unavailable, "SERVICE_UNAVAILABLE"},
		"an unreachable service":   {status.Error(codes.Unavailable, "connection refused"), codes.Internal, "OCR_RESPONSE_FAILED"},
		"a service that hangs":     {status.Error(codes.DeadlineExceeded, "context deadline exceeded"), codes.Internal, "OCR_RESPONSE_FAILED"},
		"a service out of time":    {apierr.DeadlineExceeded.GRPCStatus().Err(), codes.Internal, "OCR_RESPONSE_FAILED"},
		"a service that broke":     {apierr.Internal.GRPCStatus().Err(), codes.Internal, "OCR_RESPONSE_FAILED"},
		"a service of strangers":   {apierr.ServiceOnly.GRPCStatus().Err(), codes.Internal, "OCR_RESPONSE_FAILED"},
		"a service without an RPC": {status.Error(codes.Unimplemented, "unknown method"), codes.Internal, "OCR_RESPONSE_FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newShopper(t)
			p.fake.err = c.err
			e := p.refusesUpload(t, p.request(), c.code, c.reason)
			if c.reason == "SERVICE_UNAVAILABLE" {
				require.Equal(t, busy.RetryAfter, e.RetryAfter)
			}
		})
	}
}

func TestCreateTransactionsFromReceiptIsAtomic(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*ocrv1.Receipt)
		reason string
	}{
		"no total":                            {func(r *ocrv1.Receipt) { r.Total = "" }, "OCR_PARSE_FAILED"},
		"a total of zero without lines":       {func(r *ocrv1.Receipt) { r.Total, r.Lines = "0.00", nil }, "OCR_PARSE_FAILED"},
		"a total beyond all money":            {func(r *ocrv1.Receipt) { r.Total = "1000000000000.00" }, "OCR_PARSE_FAILED"},
		"a total that is no number":           {func(r *ocrv1.Receipt) { r.Total = "4,90" }, "OCR_RESPONSE_FAILED"},
		"a line's amount that is no number":   {func(r *ocrv1.Receipt) { r.Lines[0].Amount = "NaN" }, "OCR_RESPONSE_FAILED"},
		"a line's quantity that is no number": {func(r *ocrv1.Receipt) { r.Lines[0].Quantity = "2 x" }, "OCR_RESPONSE_FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newShopper(t)
			c.change(p.fake.receipt)
			p.refusesUpload(t, p.request(), codes.Internal, c.reason)
		})
	}
	t.Run("no receipt at all", func(t *testing.T) {
		t.Parallel()
		p := newShopper(t)
		p.fake.receipt = nil
		p.refusesUpload(t, p.request(), codes.Internal, "OCR_RESPONSE_FAILED")
	})
	t.Run("a total of zero as a single transaction", func(t *testing.T) {
		t.Parallel()
		p := newShopper(t)
		p.fake.receipt.Total, p.fake.receipt.Discount = "0", "4.90"
		req := p.request()
		req.Mode = new("single")
		p.refusesUpload(t, req, codes.InvalidArgument, "VALIDATION_ERROR")
		require.Len(t, p.upload(t, asItIs).GetTransactions(), 5)
	})
}

func TestCreateTransactionsFromReceiptCurrencyMismatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wallet, printed, total string
		message                string
		field                  string
	}{
		"no currency into a yen wallet": {
			"JPY", "", "5.60",
			"must be a wallet in the receipt's currency: no currency is printed, the total is 5.60, and the wallet's currency JPY permits 0 decimals", "walletId",
		},
		"unknown currency into a euro wallet": {
			"EUR", "XXX", "5.605",
			"must be a wallet in the receipt's currency: no currency is printed, the total is 5.605, and the wallet's currency EUR permits 2 decimals", "walletId",
		},
		"printed currency": {"EUR", "JPY", "5.60", "has the total 5.60, and JPY permits 0 decimals", "receipt"},
		"fits":             {"JPY", "", "560.00", "", ""},
	} {
		for _, dryRun := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", dry run ", dryRun), func(t *testing.T) {
				t.Parallel()
				p := newShopper(t)
				p.fake.receipt.Currency, p.fake.receipt.Total, p.fake.receipt.Lines, p.fake.receipt.Tax = c.printed, c.total, nil, ""
				req := p.request()
				req.WalletId, req.DryRun = p.makeWallet(p.ctx, t, "Other", c.wallet).String(), dryRun
				if c.field == "" {
					_, err := p.CreateTransactionsFromReceipt(p.ctx, req)
					require.NoError(t, err)
					return
				}
				e := p.refusesUpload(t, req, codes.InvalidArgument, "RECEIPT_CURRENCY_MISMATCH")
				require.Equal(t, []apierr.Field{{Name: c.field, Message: c.message}}, e.Fields)
			})
		}
	}
}

func TestCreateTransactionsFromReceiptNamesAllProblems(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	unknown := p.newID().String()
	for name, c := range map[string]struct {
		change func(*ledgerv1.CreateTransactionsFromReceiptRequest)
		code   codes.Code
		reason string
		fields []string
	}{
		"unknown wallet and category": {
			func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.WalletId, r.CategoryId = unknown, unknown },
			codes.NotFound, "WALLET_NOT_FOUND",
			[]string{"walletId", "categoryId"},
		},
		"no file, unknown wallet, malformed category": {
			func(r *ledgerv1.CreateTransactionsFromReceiptRequest) {
				r.Receipt, r.WalletId, r.CategoryId = nil, unknown, "x"
			},
			codes.InvalidArgument, "RECEIPT_FILE_REQUIRED",
			[]string{"receipt", "categoryId", "walletId"},
		},
		"bad mode and unknown category": {
			func(r *ledgerv1.CreateTransactionsFromReceiptRequest) { r.Mode, r.CategoryId = new("x"), unknown },
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"mode", "categoryId"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := p.request()
			c.change(req)
			require.Equal(t, c.fields, fieldNames(p.refusesUpload(t, req, c.code, c.reason)))
		})
	}
	require.Zero(t, p.fake.calls.Load())
}

func TestCreateTransactionsFromReceiptInvalidLines(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*ocrv1.Receipt){
		"too fine":          func(r *ocrv1.Receipt) { r.Lines[0].Amount = "3.001" },
		"too large":         func(r *ocrv1.Receipt) { r.Lines[0].Amount = "1e13" },
		"not found":         func(r *ocrv1.Receipt) { r.Lines[0].Amount = "" },
		"a tax too fine":    func(r *ocrv1.Receipt) { r.Tax = "0.401" },
		"a tip too large":   func(r *ocrv1.Receipt) { r.Tip = "1e13" },
		"too many of them":  func(r *ocrv1.Receipt) { r.Lines = append(r.Lines, make([]*ocrv1.Line, maxLines)...) },
		"a long last cent":  func(r *ocrv1.Receipt) { r.Rounding = "0.0049" },
		"a fine discount":   func(r *ocrv1.Receipt) { r.Discount = "0.001" },
		"an unheard-of sum": func(r *ocrv1.Receipt) { r.Lines[1].Amount = "999999999999.99" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newShopper(t)
			change(p.fake.receipt)
			resp := p.upload(t, asItIs)
			require.Equal(t, map[string]string{"Corner Shop": "-4.90"}, amounts(resp))
			require.Equal(t, []string{"LINES_NOT_RECONCILED"}, warnings(resp))
		})
	}
}

func TestRecognizeLeavesTimeToStore(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	ctx, cancel := context.WithTimeout(p.ctx, 20*time.Second)
	defer cancel()
	_, err := p.CreateTransactionsFromReceipt(ctx, p.request())
	require.NoError(t, err)
	require.LessOrEqual(t, p.fake.left, 20*time.Second-writeReserve)
}

func TestGetReceiptImage(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	p.fake.pictures = [][]byte{[]byte("page one"), []byte("page two")}
	keep := func(req *ledgerv1.CreateTransactionsFromReceiptRequest) { req.KeepImage = true }
	kept := p.upload(t, keep).GetReceipt()
	require.EqualValues(t, 2, kept.GetImagePages())
	for page, want := range map[int32]string{0: "page one", 1: "page one", 2: "page two"} {
		got, err := p.GetReceiptImage(p.ctx, &ledgerv1.GetReceiptImageRequest{Id: kept.GetId(), Page: page})
		require.NoError(t, err)
		require.Equal(t, want, string(got.GetImage()))
	}
	for _, page := range []int32{-1, 3, 1 << 20, -1 << 31} {
		_, err := p.GetReceiptImage(p.ctx, &ledgerv1.GetReceiptImageRequest{Id: kept.GetId(), Page: page})
		requireReason(t, err, codes.NotFound, "RECEIPT_IMAGE_NOT_FOUND")
	}
	without := p.upload(t, asItIs).GetReceipt()
	require.Zero(t, without.GetImagePages())
	_, err := p.GetReceiptImage(p.ctx, &ledgerv1.GetReceiptImageRequest{Id: without.GetId()})
	requireReason(t, err, codes.NotFound, "RECEIPT_IMAGE_NOT_FOUND")

	before := p.stored(t)
	dry := p.upload(t, func(req *ledgerv1.CreateTransactionsFromReceiptRequest) { req.KeepImage, req.DryRun = true, true })
	require.Zero(t, dry.GetReceipt().GetImagePages())
	require.Equal(t, before, p.stored(t))
}

func TestDeleteTransactionDeletesUnusedReceipt(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	p.fake.pictures = [][]byte{[]byte("page one")}
	resp := p.upload(t, func(req *ledgerv1.CreateTransactionsFromReceiptRequest) { req.KeepImage = true })
	transactions := resp.GetTransactions()
	receipts, images := 0, 0
	count := func() {
		require.NoError(t, p.db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM receipts), (SELECT count(*) FROM receipt_images)`).Scan(&receipts, &images))
	}
	_, err := p.DeleteTransaction(p.ctx, &ledgerv1.DeleteTransactionRequest{Id: transactions[0].GetId()})
	require.NoError(t, err)
	count()
	require.Equal(t, []int{1, 1}, []int{receipts, images})

	var racing sync.WaitGroup
	for _, tr := range transactions[1:] {
		racing.Go(func() {
			if _, err := p.DeleteTransaction(p.ctx, &ledgerv1.DeleteTransactionRequest{Id: tr.GetId()}); err != nil {
				t.Error(err)
			}
		})
	}
	racing.Wait()
	count()
	require.Equal(t, []int{0, 0}, []int{receipts, images})
	_, err = p.GetReceipt(p.ctx, &ledgerv1.GetReceiptRequest{Id: resp.GetReceipt().GetId()})
	requireReason(t, err, codes.NotFound, "RECEIPT_NOT_FOUND")
	require.Empty(t, warnings(p.upload(t, asItIs)), "what is gone has no duplicate")
}

func TestGetReceiptOfAnotherUser(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	p.fake.pictures = [][]byte{[]byte("page one")}
	id := p.upload(t, func(req *ledgerv1.CreateTransactionsFromReceiptRequest) { req.KeepImage = true }).GetReceipt().GetId()
	for name, c := range map[string]struct {
		ctx    context.Context
		id     string
		code   codes.Code
		reason string
	}{
		"a malformed id":         {p.ctx, "receipt", codes.InvalidArgument, "INVALID_RECEIPT_ID"},
		"an id in braces":        {p.ctx, "{" + id + "}", codes.InvalidArgument, "INVALID_RECEIPT_ID"},
		"an unknown id":          {p.ctx, uuid.Nil.String(), codes.NotFound, "RECEIPT_NOT_FOUND"},
		"another user's receipt": {actAs(t.Context(), p.newID()), id, codes.NotFound, "RECEIPT_NOT_FOUND"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := p.GetReceipt(c.ctx, &ledgerv1.GetReceiptRequest{Id: c.id})
			requireReason(t, err, c.code, c.reason)
			_, err = p.GetReceiptImage(c.ctx, &ledgerv1.GetReceiptImageRequest{Id: c.id})
			requireReason(t, err, c.code, c.reason)
		})
	}
}
