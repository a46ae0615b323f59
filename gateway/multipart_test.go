package gateway

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

type part func(w *multipart.Writer) error

func file(name, fileName, content string) part {
	return func(w *multipart.Writer) error {
		p, err := w.CreateFormFile(name, fileName)
		if err != nil {
			return err
		}
		_, err = p.Write([]byte(content))
		return err
	}
}

func text(name, value string) part {
	return func(w *multipart.Writer) error { return w.WriteField(name, value) }
}

func encodeForm(parts ...part) (body []byte, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		if err := p(w); err != nil {
			panic(err)
		}
	}
	_ = w.Close()
	return b.Bytes(), w.FormDataContentType()
}

// errFileRequired is the ledger's error for a request without a file.
var errFileRequired = apierr.New(restv1.Reason_RECEIPT_FILE_REQUIRED)

const receiptPath = "/api/v1/transaction/receipt"

func (a *api) upload(query string, parts ...part) reply {
	a.Helper()
	body, contentType := encodeForm(parts...)
	return a.send("POST", receiptPath+query, string(body), "Content-Type", contentType)
}

func TestDecodeMultipartAnyOrder(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, map[string]any{
		"CreateTransactionsFromReceipt": &ledgerv1.CreateTransactionsFromReceiptResponse{},
	})
	content := strings.Repeat("\x00\xff\r\n--", 1<<20)
	r := gate.upload("?onDuplicate=reject", text("categoryId", "c"), text("unknown", "x"),
		file("receipt", "r.jpg", content), text("walletId", "w"))
	require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
	require.Equal(t, "RECEIPT_TRANSACTIONS_CREATED", r.code())
	got := received[*ledgerv1.CreateTransactionsFromReceiptRequest](gate)
	require.Equal(t, content, string(got.GetReceipt()))
	require.Equal(t, "w", got.GetWalletId())
	require.Equal(t, "c", got.GetCategoryId())
	require.Equal(t, "reject", got.GetOnDuplicate())
}

func TestDecodeMultipartRequiresOneFile(t *testing.T) {
	t.Parallel()
	for name, parts := range map[string][]part{
		"none":                {text("walletId", "w")},
		"an empty one":        {file("receipt", "r.jpg", "")},
		"two":                 {file("receipt", "r.jpg", "a"), file("receipt", "r.jpg", "b")},
		"text in its place":   {text("receipt", "a")},
		"under another name":  {file("file", "r.jpg", "a")},
		"a nameless form":     {},
		"an empty and a file": {file("receipt", "r.jpg", ""), file("receipt", "r.jpg", "b")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, map[string]any{"CreateTransactionsFromReceipt": errFileRequired})
			a.requireFailure(a.upload("", parts...), http.StatusBadRequest, "RECEIPT_FILE_REQUIRED")
			require.Empty(
				t, received[*ledgerv1.CreateTransactionsFromReceiptRequest](a).GetReceipt(),
				"the ledger reports it with the other problems",
			)
		})
	}
}

func TestDecodeMultipartWithoutBody(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"CreateTransactionsFromReceipt": errFileRequired})
	a.requireFailure(a.send("POST", receiptPath, ""), http.StatusBadRequest,
		"RECEIPT_FILE_REQUIRED")
	require.True(t, proto.Equal(&ledgerv1.CreateTransactionsFromReceiptRequest{},
		received[*ledgerv1.CreateTransactionsFromReceiptRequest](a)))
}

func TestDecodeMultipartFileSizeLimit(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{
		"CreateTransactionsFromReceipt": &ledgerv1.CreateTransactionsFromReceiptResponse{},
	})
	r := a.upload("", file("receipt", "r.jpg", strings.Repeat("x", 10<<20)))
	require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
	r = a.upload("", file("receipt", "r.jpg", strings.Repeat("x", 10<<20+1)))
	a.requireFailure(r, http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE")
	require.Equal(t, 1, a.calls())
}

func TestDecodeMultipartMalformedForm(t *testing.T) {
	t.Parallel()
	good, contentType := encodeForm(file("receipt", "r.jpg", "content"))
	for name, c := range map[string]struct{ body, contentType string }{
		"cut off":          {string(good[:len(good)-20]), contentType},
		"another boundary": {string(good), "multipart/form-data; boundary=other"},
		"no boundary":      {string(good), "multipart/form-data"},
		"no form at all":   {"hello", contentType},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, nil)
			a.requireFailure(a.send("POST", receiptPath, c.body, "Content-Type", c.contentType),
				http.StatusBadRequest, "VALIDATION_ERROR")
			require.Zero(t, a.calls())
		})
	}
}

func TestDecodeMultipartNamesBadTextFields(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	r := a.upload("?dryRun=yes", file("receipt", "r.jpg", "x"), text("walletId", "a"),
		text("walletId", "b"), text("categoryId", "\x00"), text("mode", strings.Repeat("m", 5000)))
	a.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
	require.Equal(t, map[string]string{
		"walletId": problemTwice, "categoryId": problemNUL, "mode": "is too long",
		"dryRun": "must be true or false",
	}, r.details())
}

func TestDecodeMultipartNamesBadTextAndMissingFile(t *testing.T) {
	t.Parallel()
	for name, files := range map[string][]part{
		"none": nil, "two": {file("receipt", "r.jpg", "a"), file("receipt", "r.jpg", "b")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, nil)
			r := a.upload("", append(files, text("walletId", "a"), text("walletId", "b"))...)
			a.requireFailure(r, http.StatusBadRequest, "RECEIPT_FILE_REQUIRED")
			require.Equal(t, map[string]string{
				"walletId": problemTwice, "receipt": "must be exactly one non-empty file",
			}, r.details())
			require.Zero(t, a.calls())
		})
	}
}

func TestDecodeMultipartAcceptsQueryParameters(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{
		"CreateTransactionsFromReceipt": &ledgerv1.CreateTransactionsFromReceiptResponse{},
	})
	r := a.upload("", file("receipt", "r.jpg", "x"), text("dryRun", "true"),
		text("onDuplicate", "reject"))
	require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
	got := received[*ledgerv1.CreateTransactionsFromReceiptRequest](a)
	require.True(t, got.GetDryRun())
	require.Equal(t, "reject", got.GetOnDuplicate())
}

func TestDecodeMultipartRejectsDuplicatedParameters(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	r := a.upload("?dryRun=true&mode=items", file("receipt", "r.jpg", "x"),
		text("dryRun", "false"), text("mode", "items"), text("onDuplicate", "reject"))
	a.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
	require.Equal(t, map[string]string{"dryRun": problemTwice, "mode": problemTwice}, r.details())
}

func TestDecodeMultipartObject(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]*ledgerv1.ReceiptCorrections{
		"":   nil,
		"{}": {},
		` {"merchant":"Käse","total":1.50,"date":null,"unknown":[1],
			"lines":[{"description":"Brie","amount":-1e1,"categoryId":"c"},{}]}`: {
			Merchant: new("Käse"), Total: new("1.50"),
			Lines: &ledgerv1.CorrectedLines{Values: []*ledgerv1.CorrectedLine{
				{Description: "Brie", Amount: "-1e1", CategoryId: new("c")}, {},
			}},
		},
		`{"lines":[]}`: {Lines: &ledgerv1.CorrectedLines{}},
		`{"merchant":"` + strings.Repeat("x", 200<<10) + `"}`: {
			Merchant: new(strings.Repeat("x", 200<<10)),
		},
	} {
		a := newAPI(t, map[string]any{
			"CreateTransactionsFromReceipt": &ledgerv1.CreateTransactionsFromReceiptResponse{},
		})
		r := a.upload("", file("receipt", "r.jpg", "x"), text("corrections", sent))
		require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
		got := received[*ledgerv1.CreateTransactionsFromReceiptRequest](a).GetCorrections()
		require.True(t, proto.Equal(want, got), "%s: %v", sent, got)
	}
}

func TestDecodeMultipartNamesProblemsOfObject(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil)
	for sent, details := range map[string]map[string]string{
		"total=1":                 {"corrections": "must be a JSON object"},
		"[]":                      {"corrections": "must be a JSON object"},
		"null":                    {"corrections": "must be a JSON object"},
		`{"total":1`:              {"corrections": "must be a JSON object"},
		"{\"merchant\":\"\xff\"}": {"corrections": "must be valid UTF-8"},
		`{"merchant":1,"total":"1.50"}`: {
			"corrections.merchant": "must be a string", "corrections.total": "must be a number",
		},
		`{"lines":{}}`: {"corrections.lines": "must be an array"},
		`{"lines":[{"amount":"1"},7]}`: {
			"corrections.lines[0].amount": "must be a number",
			"corrections.lines[1]":        "must be an object",
		},
		`{"total":1,"total":2}`:                 {"corrections.total": problemTwice},
		`{"x":"` + strings.Repeat("x", 256<<10): {"corrections": "is too long"},
	} {
		r := gate.upload("", file("receipt", "r.jpg", "x"), text("corrections", sent))
		gate.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
		require.Equal(t, details, r.details())
	}
	gate.requireFailure(gate.upload("", file("receipt", "r.jpg", "x"),
		text("corrections", `{"lines":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+"}")),
		http.StatusBadRequest, "VALIDATION_ERROR")
	r := gate.upload("", file("receipt", "r.jpg", "x"), text("corrections", "{}"),
		text("corrections", "{}"))
	require.Equal(t, map[string]string{"corrections": problemTwice}, r.details())
	require.Zero(t, gate.calls())
}
