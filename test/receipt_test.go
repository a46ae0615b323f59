package test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/jpeg"
	"math/big"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ocr/ocrtest"
)

const groceries = `       GREEN GROCER LTD
      14 Harbour Street
       Tel 555 0142

Date: 2026-03-18    14:22

Apples            3.20
Rye bread         2.75
Olive oil         8.90
Coffee beans      8.40

TOTAL    EUR     23.25
CASH             50.00
CHANGE           26.75

  Thank you, come again
`

func photograph(t *testing.T, text string) []byte {
	t.Helper()
	photo, err := ocrtest.Photograph(text, 1_200_000, 1)
	require.NoError(t, err)
	return photo
}

// TestCreateTransactionsFromReceiptPhoto uploads a photo. The transactions add up to the printed
// total.
func TestCreateTransactionsFromReceiptPhoto(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "100"), me.category("Food")
	photo := photograph(t, groceries)

	preview := me.upload("?dryRun=true", photo, "walletId", wallet, "categoryId", category).
		ok("RECEIPT_RECOGNIZED")
	require.Equal(t, "23.25", preview.text("receipt.total"))
	require.Equal(t, "100.00", me.balance(wallet))
	for _, field := range []string{"id", "createdAt", "receiptId"} {
		require.NotContains(t, preview.list("transactions")[0], field)
	}

	reply := me.upload("", photo, "walletId", wallet, "categoryId", category).
		created("RECEIPT_TRANSACTIONS_CREATED")
	require.Equal(t, "23.25", reply.text("receipt.total"))
	require.Equal(t, "2026-03-18", reply.text("receipt.date"))
	require.Equal(t, "EUR", reply.text("receipt.currency"))
	require.Contains(t, strings.ToUpper(reply.text("receipt.merchant")), "GREEN GROCER")
	require.Len(t, reply.list("transactions"), 4, "%s", reply.raw)
	sum := new(big.Rat)
	for _, tr := range reply.list("transactions") {
		amount, ok := new(big.Rat).SetString(tr.(object)["amount"].(json.Number).String())
		require.True(t, ok)
		sum.Add(sum, amount)
		require.Equal(t, reply.text("receipt.id"), tr.(object)["receiptId"])
	}
	require.Equal(t, "-23.25", sum.FloatString(2))
	require.Equal(t, "76.75", me.balance(wallet))

	id := reply.text("receipt.id")
	require.Equal(t, reply.body["receipt"], me.get("/api/v1/receipts/" + id).
		ok("RECEIPT_FETCHED").body["receipt"])
	again := me.upload("", photo, "walletId", wallet, "categoryId", category, "mode", "single").
		created("RECEIPT_TRANSACTIONS_CREATED")
	require.Equal(t, "DUPLICATE_OF", again.text("receipt.warnings.0.code"))
	require.Equal(t, "-23.25", again.text("transactions.0.amount"))
	me.upload("?onDuplicate=reject", photo, "walletId", wallet, "categoryId", category).
		fails(409, "RECEIPT_DUPLICATE")
	newUser(t).get("/api/v1/receipts/"+id).fails(404, "RECEIPT_NOT_FOUND")
	require.Equal(t, []any{again.body["receipt"], reply.body["receipt"]},
		me.get("/api/v1/receipts").ok("RECEIPTS_FETCHED").list("receipts"))
	newUser(t).del("/api/v1/receipts/"+id).fails(404, "RECEIPT_NOT_FOUND")
	me.del("/api/v1/receipts/x").fails(400, "INVALID_RECEIPT_ID")
	me.del("/api/v1/receipts/" + id).ok("RECEIPT_DELETED")
	require.Len(t, me.get("/api/v1/receipts").ok("RECEIPTS_FETCHED").list("receipts"), 1)
	require.Len(t, me.get("/api/v1/currencies").ok("CURRENCIES_FETCHED").list("currencies"),
		len(money.All()))
	me.get("/api/v1/receipts/x").fails(400, "INVALID_RECEIPT_ID")
}

// TestGetReceiptImage requires that the image is stored on request, without its metadata, and only
// its owner can read it.
func TestGetReceiptImage(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	photo := photograph(t, groceries)
	secret := append([]byte{0xff, 0xfe, 0, 14}, "51.5N 0.12W!"...)
	photo = append(append(bytes.Clone(photo[:2]), secret...), photo[2:]...)

	preview := me.upload("?dryRun=true&keepImage=true", photo, "walletId", wallet, "categoryId",
		category).ok("RECEIPT_RECOGNIZED")
	require.NotContains(t, preview.body["receipt"], "imagePages")
	record := me.upload("?keepImage=true", photo, "walletId", wallet, "categoryId", category).
		created("RECEIPT_TRANSACTIONS_CREATED")
	require.Equal(t, "1", record.text("receipt.imagePages"))
	path := "/api/v1/receipts/" + record.text("receipt.id") + "/image"
	got := me.get(path)
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, "image/jpeg", got.header.Get("Content-Type"))
	require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
	require.Contains(t, got.header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Equal(t, "private, max-age=3600", got.header.Get("Cache-Control"))
	require.Contains(t, got.header.Values("Vary"), "Authorization")
	require.NotContains(t, string(got.raw), "51.5N")
	shown, err := jpeg.Decode(bytes.NewReader(got.raw))
	require.NoError(t, err)
	requireOn(t, record, "total", shown)

	require.Equal(t, got.raw, me.get(path+"?page=1").raw)
	me.get(path+"?page=2").fails(404, "RECEIPT_IMAGE_NOT_FOUND")
	me.get(path + "?page=x").invalid("page")
	me.get("/api/v1/receipts/x/image").fails(400, "INVALID_RECEIPT_ID")
	me.get("/api/v1/receipts/"+uuid.NewString()+"/image").fails(404, "RECEIPT_NOT_FOUND")
	newUser(t).get(path).fails(404, "RECEIPT_NOT_FOUND")
	(&user{t: t}).get(path).fails(401, "UNAUTHORIZED")

	bare := me.upload("", photo, "walletId", wallet, "categoryId", category).
		created("RECEIPT_TRANSACTIONS_CREATED")
	me.get("/api/v1/receipts/"+bare.text("receipt.id")+"/image").
		fails(404, "RECEIPT_IMAGE_NOT_FOUND")
	for _, tr := range record.list("transactions") {
		me.del("/api/v1/transaction/" + tr.(object)["id"].(string)).ok("TRANSACTION_DELETED")
	}
	me.get(path).fails(404, "RECEIPT_NOT_FOUND")
}

// requireOn requires that the box of a field's evidence covers dark and light pixels of the image:
// text on paper.
func requireOn(t *testing.T, a response, field string, shown image.Image) {
	t.Helper()
	for _, e := range a.list("receipt.evidence") {
		if e.(object)["field"] != field {
			continue
		}
		in := func(name string) float64 {
			v, err := e.(object)["box"].(object)[name].(json.Number).Float64()
			require.NoError(t, err)
			return v
		}
		scale := float64(shown.Bounds().Dx()) / in("pageWidth")
		require.InDelta(t, scale, float64(shown.Bounds().Dy())/in("pageHeight"), 0.01)
		darkest, lightest := uint8(255), uint8(0)
		for y := in("y") * scale; y < (in("y")+in("height"))*scale; y++ {
			for x := in("x") * scale; x < (in("x")+in("width"))*scale; x++ {
				v := color.GrayModel.Convert(shown.At(int(x), int(y))).(color.Gray).Y
				darkest, lightest = min(darkest, v), max(lightest, v)
			}
		}
		require.Less(t, darkest, uint8(90))
		require.Greater(t, lightest, uint8(150))
		return
	}
	require.Fail(t, "no evidence of "+field)
}

// TestCreateTransactionsFromReceiptForm sends incomplete and malformed forms, and repeats a valid
// one with the same key.
func TestCreateTransactionsFromReceiptForm(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	text := []byte("SHOP\n2026-03-18\nMilk 1.00\nTOTAL EUR 1.00\n")
	me.upload("", nil, "walletId", wallet, "categoryId", category).
		fails(400, "RECEIPT_FILE_REQUIRED")
	me.upload("", []byte{}, "walletId", wallet, "categoryId", category).
		fails(400, "RECEIPT_FILE_REQUIRED")
	me.upload("", nil, "walletId", "x", "categoryId", category, "mode", "many").
		fails(400, "RECEIPT_FILE_REQUIRED").blames("mode", "receipt", "walletId")
	me.upload("", text).invalid("walletId", "categoryId")
	me.upload("", text, "walletId", "x", "categoryId", category).fails(400, "WALLET_NOT_FOUND")
	me.upload("", text, "walletId", stranger.wallet("EUR", "0"), "categoryId", category).
		fails(404, "WALLET_NOT_FOUND")
	me.upload("", text, "walletId", wallet, "categoryId", "x").
		fails(400, "INVALID_CATEGORY_EXIST_PARAMS")
	me.upload("", text, "walletId", wallet, "categoryId", stranger.category("A")).
		fails(404, "INVALID_CATEGORY_EXIST_PARAMS")
	me.upload("", text, "walletId", wallet, "categoryId", category, "mode", "many").invalid("mode")
	me.upload("?onDuplicate=maybe", text, "walletId", wallet, "categoryId", category).
		invalid("onDuplicate")
	me.upload("", bytes.Repeat([]byte{' '}, 10<<20+1), "walletId", wallet, "categoryId", category).
		fails(413, "PAYLOAD_TOO_LARGE")
	for _, junk := range []string{
		"\x00\x01\x02\x03", "PK\x03\x04 a zip", "\xff\xd8\xff\xe0 a cut JPEG", "%PDF-1.7 a cut PDF",
		"just a letter to a friend",
	} {
		me.upload("", []byte(junk), "walletId", wallet, "categoryId", category).
			fails(500, "OCR_PARSE_FAILED")
	}

	var two bytes.Buffer
	writer := multipart.NewWriter(&two)
	for range 2 {
		part, err := writer.CreateFormFile("receipt", "receipt")
		require.NoError(t, err)
		_, err = part.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, writer.Close())
	send := func(body any, kind string) response {
		return me.call(http.MethodPost, "/api/v1/transaction/receipt", body, "Content-Type", kind)
	}
	send(two.Bytes(), writer.FormDataContentType()).fails(400, "RECEIPT_FILE_REQUIRED")
	send(two.Bytes()[:40], writer.FormDataContentType()).fails(400, "VALIDATION_ERROR")
	send("x", "multipart/form-data").fails(400, "VALIDATION_ERROR")
	send(`{}`, "application/json").fails(415, "UNSUPPORTED_MEDIA_TYPE")

	key := uuid.NewString()
	send2 := func(file []byte) response {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		require.NoError(t, w.SetBoundary("boundary"))
		part, err := w.CreateFormFile("receipt", "receipt")
		require.NoError(t, err)
		_, err = part.Write(file)
		require.NoError(t, err)
		require.NoError(t, w.WriteField("walletId", wallet))
		require.NoError(t, w.WriteField("categoryId", category))
		require.NoError(t, w.Close())
		return me.call(http.MethodPost, "/api/v1/transaction/receipt", form.Bytes(), "Content-Type",
			w.FormDataContentType(), "Idempotency-Key", key)
	}
	first := send2(text).created("RECEIPT_TRANSACTIONS_CREATED")
	again := send2(text).created("RECEIPT_TRANSACTIONS_CREATED")
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	require.JSONEq(t, string(first.raw), string(again.raw))
	send2([]byte("SHOP\n2026-03-18\nMilk 2.00\nTOTAL EUR 2.00\n")).
		fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	require.Equal(t, "-1.00", me.balance(wallet))
}

// TestCreateTransactionsFromReceiptRules requires that rules run on receipts, unless the request
// switches them off.
func TestCreateTransactionsFromReceiptRules(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category, fun := me.wallet("EUR", "0"), me.category("Food"), me.category("Fun")
	rule := me.rule(fun)
	rule["conditions"] = []any{
		object{"field": "description", "op": "is", "values": []any{"coffee"}},
	}
	me.post("/api/v1/rules", rule).created("RULE_CREATED")
	text := []byte("CORNER CAFE\nCoffee 3.00\nCake 2.50\nTOTAL EUR 5.50\n")
	for query, want := range map[string]string{
		"": fun, "?rules=true": fun, "?rules=false": category,
	} {
		a := me.upload(query, text, "walletId", wallet, "categoryId", category).
			created("RECEIPT_TRANSACTIONS_CREATED")
		require.Equal(t, want, a.text("transactions.0.categoryId"), "%s: %s", query, a.raw)
		require.Equal(t, category, a.text("transactions.1.categoryId"), "%s: %s", query, a.raw)
	}
	me.upload("?rules=maybe", text, "walletId", wallet, "categoryId", category).invalid("rules")
}
