package receipts

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/internal/apierr"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestCreateTransactionsFromReceiptRejectsBeforeRecognition(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	stranger := fixture.ActAs(t.Context(), me.NewID())
	theirWallet := me.MakeWallet(stranger, t, "Cash", "EUR")
	theirCategory := me.MakeCategory(stranger, t, "Food")
	for name, tc := range map[string]struct {
		change func(*form)
		code   codes.Code
		reason string
		field  string
	}{
		"no file": {
			func(r *form) { r.Receipt = nil }, codes.InvalidArgument, "RECEIPT_FILE_REQUIRED",
			"receipt",
		},
		"a file over 10 MiB": {func(r *form) {
			r.Receipt = bytes.Repeat([]byte("x"), 10<<20+1)
		}, codes.ResourceExhausted, "PAYLOAD_TOO_LARGE", ""},
		"no wallet": {
			func(r *form) { r.WalletId = "" }, codes.InvalidArgument, "VALIDATION_ERROR",
			"walletId",
		},
		"no category": {
			func(r *form) { r.CategoryId = "" }, codes.InvalidArgument, "VALIDATION_ERROR",
			"categoryId",
		},
		"a malformed wallet": {
			func(r *form) { r.WalletId = "1" }, codes.InvalidArgument, "WALLET_NOT_FOUND",
			"walletId",
		},
		"a malformed category": {
			func(r *form) { r.CategoryId = "1" }, codes.InvalidArgument,
			"INVALID_CATEGORY_EXIST_PARAMS", "categoryId",
		},
		"an unknown wallet": {
			func(r *form) { r.WalletId = uuid.NewString() }, codes.NotFound, "WALLET_NOT_FOUND", "",
		},
		"an unknown category": {
			func(r *form) { r.CategoryId = uuid.NewString() }, codes.NotFound,
			"INVALID_CATEGORY_EXIST_PARAMS", "",
		},
		"another user's wallet": {
			func(r *form) { r.WalletId = theirWallet.String() }, codes.NotFound, "WALLET_NOT_FOUND",
			"",
		},
		"another user's category": {
			func(r *form) { r.CategoryId = theirCategory.String() }, codes.NotFound,
			"INVALID_CATEGORY_EXIST_PARAMS", "",
		},
		"an unknown mode": {
			func(r *form) { r.Mode = new("lines") }, codes.InvalidArgument, "VALIDATION_ERROR",
			"mode",
		},
		"an unknown duplicate policy": {
			func(r *form) { r.OnDuplicate = new("skip") }, codes.InvalidArgument,
			"VALIDATION_ERROR", "onDuplicate",
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := me.request()
			tc.change(req)
			e := me.refusesUpload(t, req, tc.code, tc.reason)
			require.Zero(t, me.fake.Calls.Load())
			if tc.field != "" {
				require.Equal(t, tc.field, e.Fields[0].Name)
			}
		})
	}
}

func TestCreateTransactionsFromReceiptFailedRecognition(t *testing.T) {
	t.Parallel()
	busy := apierr.Unavailable.After(2 * time.Second)
	for name, tc := range map[string]struct {
		err    error
		code   codes.Code
		reason string
	}{
		"no readable receipt": {errOCRParse.GRPCStatus().Err(), codes.Internal, "OCR_PARSE_FAILED"},
		"a file that is too complex": {
			errTooComplex.GRPCStatus().Err(), codes.InvalidArgument, "RECEIPT_TOO_COMPLEX",
		},
		"a broken engine": {
			errOCRResponse.GRPCStatus().Err(), codes.Internal, "OCR_RESPONSE_FAILED",
		},
		"a full queue": {busy.GRPCStatus().Err(), codes.Unavailable, "SERVICE_UNAVAILABLE"},
		"an unreachable service": {
			status.Error(codes.Unavailable, "connection refused"), codes.Internal,
			"OCR_RESPONSE_FAILED",
		},
		"a service that hangs": {
			status.Error(codes.DeadlineExceeded, "context deadline exceeded"), codes.Internal,
			"OCR_RESPONSE_FAILED",
		},
		"a service out of time": {
			apierr.DeadlineExceeded.GRPCStatus().Err(), codes.Internal, "OCR_RESPONSE_FAILED",
		},
		"a service that broke": {
			apierr.Internal.GRPCStatus().Err(), codes.Internal, "OCR_RESPONSE_FAILED",
		},
		"a service of strangers": {
			apierr.ServiceOnly.GRPCStatus().Err(), codes.Internal, "OCR_RESPONSE_FAILED",
		},
		"a service without an RPC": {
			status.Error(codes.Unimplemented, "unknown method"), codes.Internal,
			"OCR_RESPONSE_FAILED",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newShopper(t)
			p.fake.Err = tc.err
			e := p.refusesUpload(t, p.request(), tc.code, tc.reason)
			if tc.reason == "SERVICE_UNAVAILABLE" {
				require.Equal(t, busy.RetryAfter, e.RetryAfter)
			}
		})
	}
}

func TestCreateTransactionsFromReceiptIsAtomic(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*ocrv1.Receipt)
		reason string
	}{
		"no total": {func(r *ocrv1.Receipt) { r.Total = "" }, "OCR_PARSE_FAILED"},
		"a total of zero without lines": {
			func(r *ocrv1.Receipt) { r.Total, r.Lines = "0.00", nil }, "OCR_PARSE_FAILED",
		},
		"a total beyond all money": {
			func(r *ocrv1.Receipt) { r.Total = "1000000000000.00" }, "OCR_PARSE_FAILED",
		},
		"a total that is no number": {
			func(r *ocrv1.Receipt) { r.Total = "4,90" }, "OCR_RESPONSE_FAILED",
		},
		"a line's amount that is no number": {
			func(r *ocrv1.Receipt) { r.Lines[0].Amount = "NaN" }, "OCR_RESPONSE_FAILED",
		},
		"a line's quantity that is no number": {
			func(r *ocrv1.Receipt) { r.Lines[0].Quantity = "2 x" }, "OCR_RESPONSE_FAILED",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newShopper(t)
			tc.change(p.fake.Receipt)
			p.refusesUpload(t, p.request(), codes.Internal, tc.reason)
		})
	}
	t.Run("no receipt at all", func(t *testing.T) {
		t.Parallel()
		p := newShopper(t)
		p.fake.Receipt = nil
		p.refusesUpload(t, p.request(), codes.Internal, "OCR_RESPONSE_FAILED")
	})
	t.Run("a total of zero as a single transaction", func(t *testing.T) {
		t.Parallel()
		p := newShopper(t)
		p.fake.Receipt.Total, p.fake.Receipt.Discount = "0", "4.90"
		req := p.request()
		req.Mode = new("single")
		p.refusesUpload(t, req, codes.InvalidArgument, "VALIDATION_ERROR")
		require.Len(t, p.upload(t, asItIs).GetTransactions(), 5)
	})
}

func TestCreateTransactionsFromReceiptCurrencyMismatch(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		wallet, printed, total string
		message                string
		field                  string
	}{
		"no currency into a yen wallet": {
			"JPY", "", "5.60",
			"must be a wallet in the receipt's currency: no currency is printed, the total is " +
				"5.60, and the wallet's currency JPY permits 0 decimals", "walletId",
		},
		"unknown currency into a euro wallet": {
			"EUR", "XXX", "5.605",
			"must be a wallet in the receipt's currency: no currency is printed, the total is " +
				"5.605, and the wallet's currency EUR permits 2 decimals", "walletId",
		},
		"printed currency": {
			"EUR", "JPY", "5.60", "has the total 5.60, and JPY permits 0 decimals", "receipt",
		},
		"fits": {"JPY", "", "560.00", "", ""},
	} {
		for _, dryRun := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", dry run ", dryRun), func(t *testing.T) {
				t.Parallel()
				me := newShopper(t)
				me.fake.Receipt.Currency = tc.printed
				me.fake.Receipt.Total = tc.total
				me.fake.Receipt.Lines = nil
				me.fake.Receipt.Tax = ""
				req := me.request()
				req.WalletId = me.MakeWallet(me.Ctx, t, "Other", tc.wallet).String()
				req.DryRun = dryRun
				if tc.field == "" {
					_, err := me.CreateTransactionsFromReceipt(me.Ctx, req)
					require.NoError(t, err)
					return
				}
				e := me.refusesUpload(t, req, codes.InvalidArgument, "RECEIPT_CURRENCY_MISMATCH")
				require.Equal(t, []apierr.Field{{Name: tc.field, Message: tc.message}}, e.Fields)
			})
		}
	}
}

func TestCreateTransactionsFromReceiptNamesAllProblems(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	unknown := me.NewID().String()
	for name, tc := range map[string]struct {
		change func(*form)
		code   codes.Code
		reason string
		fields []string
	}{
		"unknown wallet and category": {
			func(r *form) { r.WalletId, r.CategoryId = unknown, unknown },
			codes.NotFound, "WALLET_NOT_FOUND",
			[]string{"walletId", "categoryId"},
		},
		"no file, unknown wallet, malformed category": {
			func(r *form) {
				r.Receipt, r.WalletId, r.CategoryId = nil, unknown, "x"
			},
			codes.InvalidArgument, "RECEIPT_FILE_REQUIRED",
			[]string{"receipt", "categoryId", "walletId"},
		},
		"no file and bad mode": {
			func(r *form) { r.Receipt, r.Mode = nil, new("x") },
			codes.InvalidArgument, "RECEIPT_FILE_REQUIRED",
			[]string{"mode", "receipt"},
		},
		"bad mode and unknown category": {
			func(r *form) { r.Mode, r.CategoryId = new("x"), unknown },
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"mode", "categoryId"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := me.request()
			tc.change(req)
			require.Equal(t, tc.fields,
				fixture.FieldNames(me.refusesUpload(t, req, tc.code, tc.reason)))
		})
	}
	require.Zero(t, me.fake.Calls.Load())
}

func TestCreateTransactionsFromReceiptInvalidLines(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*ocrv1.Receipt){
		"too fine":        func(r *ocrv1.Receipt) { r.Lines[0].Amount = "3.001" },
		"too large":       func(r *ocrv1.Receipt) { r.Lines[0].Amount = "1e13" },
		"not found":       func(r *ocrv1.Receipt) { r.Lines[0].Amount = "" },
		"a tax too fine":  func(r *ocrv1.Receipt) { r.Tax = "0.401" },
		"a tip too large": func(r *ocrv1.Receipt) { r.Tip = "1e13" },
		"too many of them": func(r *ocrv1.Receipt) {
			r.Lines = append(r.Lines, make([]*ocrv1.Line, maxLines)...)
		},
		"a long last cent":  func(r *ocrv1.Receipt) { r.Rounding = "0.0049" },
		"a fine discount":   func(r *ocrv1.Receipt) { r.Discount = "0.001" },
		"an unheard-of sum": func(r *ocrv1.Receipt) { r.Lines[1].Amount = "999999999999.99" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newShopper(t)
			change(p.fake.Receipt)
			resp := p.upload(t, asItIs)
			require.Equal(t, map[string]string{"Corner Shop": "-4.90"}, amounts(resp))
			require.Equal(t, []string{"LINES_NOT_RECONCILED"}, warnings(resp))
		})
	}
}
