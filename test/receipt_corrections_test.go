package test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image/jpeg"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/tiff"
)

// corrections encodes the form field corrections.
func corrections(t *testing.T, fields object) string {
	t.Helper()
	encoded, err := json.Marshal(fields)
	require.NoError(t, err)
	return string(encoded)
}

// line is a corrected line. The category is optional.
func line(description, amount string, category ...string) object {
	l := object{"description": description, "amount": json.Number(amount)}
	if len(category) > 0 {
		l["categoryId"] = category[0]
	}
	return l
}

// TestCreateTransactionsFromReceiptCorrections reviews a photo: a dry run, then the same file with
// corrections.
func TestCreateTransactionsFromReceiptCorrections(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, food, drinks := me.wallet("EUR", "100"), me.category("Food"), me.category("Drinks")
	photo := photograph(t, groceries)
	read := me.upload("?dryRun=true", photo, "walletId", wallet, "categoryId", food).
		ok("RECEIPT_RECOGNIZED")
	require.NotContains(t, read.body["receipt"], "recognized")
	require.NotContains(t, read.body["receipt"], "pages")

	fields := corrections(t, object{
		"merchant": "Green Grocer", "date": "2026-03-17", "total": json.Number("22.25"),
		"tax": json.Number("0.25"), "discount": json.Number("1"),
		"lines": []any{
			line("Apples", "3.20"), line("Rye bread", "2.75"), line("Olive oil", "8.65"),
			line("Coffee beans", "8.40", drinks),
		},
	})
	key := "review-1"
	book := func() response {
		return me.uploadWith([]string{"Idempotency-Key", key}, "", photo, "walletId", wallet,
			"categoryId", food, "corrections", fields)
	}
	booked := book().created("RECEIPT_TRANSACTIONS_CREATED")
	require.Equal(t, "Green Grocer", booked.text("receipt.merchant"))
	require.Equal(t, "2026-03-17", booked.text("receipt.date"))
	require.Equal(t, "22.25", booked.text("receipt.total"))
	require.Equal(t, "8.65", booked.text("receipt.lines.2.amount"))
	require.Equal(t, read.text("receipt.merchant"), booked.text("receipt.recognized.merchant"))
	require.Equal(t, "23.25", booked.text("receipt.recognized.total"))
	require.Equal(t, "2026-03-18", booked.text("receipt.recognized.date"))
	require.Equal(t, read.list("receipt.lines"), booked.list("receipt.recognized.lines"))
	require.NotContains(t, booked.at("receipt.recognized"), "tax")
	require.Equal(t, read.list("receipt.evidence"), booked.list("receipt.evidence"))
	categories := map[string]string{}
	for _, tr := range booked.list("transactions") {
		categories[tr.(object)["description"].(string)] = tr.(object)["categoryId"].(string)
		require.Equal(t, "2026-03-17T00:00:00.000Z", tr.(object)["date"])
	}
	require.Equal(t, map[string]string{
		"Apples": food, "Rye bread": food, "Olive oil": food, "Coffee beans": drinks, "Tax": food,
		"Discount": food,
	}, categories)
	require.Equal(t, "77.75", me.balance(wallet))
	require.Equal(t, booked.body["receipt"],
		me.get("/api/v1/receipts/" + booked.text("receipt.id")).
			ok("RECEIPT_FETCHED").body["receipt"])

	again := book().created("RECEIPT_TRANSACTIONS_CREATED")
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	require.JSONEq(t, string(booked.raw), string(again.raw))
	fields = corrections(t, object{"merchant": "Another"})
	book().fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	require.Equal(t, "77.75", me.balance(wallet))
}

// TestCreateTransactionsFromReceiptInvalidCorrections requires that a rejected correction names its
// field and books nothing.
func TestCreateTransactionsFromReceiptInvalidCorrections(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	wallet, food := me.wallet("EUR", "0"), me.category("Food")
	theirs := stranger.category("Food")
	text := []byte("SHOP\n2026-03-18\nMilk 1.00\nBread 2.00\nTOTAL EUR 3.00\n")
	send := func(fields string) response {
		return me.upload("", text, "walletId", wallet, "categoryId", food, "corrections", fields)
	}
	mismatch := send(corrections(t, object{
		"lines": []any{line("Milk", "1.00"), line("Bread", "1.50")},
	})).fails(400, "RECEIPT_SUM_MISMATCH").blames("corrections.lines")
	require.Equal(t,
		"must add up to the total 3.00: with tax, tip, discount and rounding the sum is 2.50, "+
			"the difference is 0.50", mismatch.text("details.0.message"))
	for fields, names := range map[string][]string{
		"merchant=Shop":                   {"corrections"},
		"[]":                              {"corrections"},
		`{"merchant":7,"total":"3.00"}`:   {"corrections.merchant", "corrections.total"},
		`{"merchant":" ","date":"18.3."}`: {"corrections.merchant", "corrections.date"},
		`{"currency":"EURO"}`:             {"corrections.currency"},
		`{"total":3.001}`:                 {"corrections.total"},
		`{"total":1e15}`:                  {"corrections.total"},
		`{"lines":[]}`:                    {"corrections.lines"},
		`{"lines":"Milk"}`:                {"corrections.lines"},
		`{"lines":[{"amount":"3"},{}]}`:   {"corrections.lines[0].amount"},
		`{"lines":[{"amount":3},{}]}`: {
			"corrections.lines[0].description", "corrections.lines[1].description",
			"corrections.lines[1].amount",
		},
		`{"discount":-1,"rounding":0.001}`:                             {"corrections.discount"},
		corrections(t, object{"merchant": strings.Repeat("x", 1001)}):  {"corrections.merchant"},
		corrections(t, object{"merchant": strings.Repeat("x", 1<<18)}): {"corrections"},
	} {
		send(fields).invalid(names...)
	}
	send(corrections(t, object{"lines": []any{line("Milk", "3.00", "x")}})).
		fails(400, "INVALID_CATEGORY_EXIST_PARAMS").blames("corrections.lines[0].categoryId")
	send(corrections(t, object{"lines": []any{line("Milk", "3.00", theirs)}})).
		fails(404, "INVALID_CATEGORY_EXIST_PARAMS").blames("corrections.lines[0].categoryId")
	send(corrections(t, object{"currency": "JPY", "total": json.Number("3")})).
		created("RECEIPT_TRANSACTIONS_CREATED")
	require.Equal(t, "0.00", me.balance(wallet))
	require.Len(t, me.get("/api/v1/transaction").ok("TRANSACTIONS_FETCHED").list("transactions"), 2)
	me.upload("?include=image", text, "walletId", wallet, "categoryId", food).invalid("include")
	me.upload("?dryRun=true&include=pages", text, "walletId", wallet, "categoryId", food).
		invalid("include")
}

// TestCreateTransactionsFromReceiptInclude shows the pages of receipts that a browser cannot show.
// The boxes fit the pages.
func TestCreateTransactionsFromReceiptInclude(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, food := me.wallet("EUR", "0"), me.category("Food")
	photo := photograph(t, groceries)
	decoded, err := jpeg.Decode(bytes.NewReader(photo))
	require.NoError(t, err)
	var asTIFF bytes.Buffer
	require.NoError(t, tiff.Encode(&asTIFF, decoded, nil))
	for name, file := range map[string][]byte{
		"JPEG": photo, "TIFF": asTIFF.Bytes(), "HEIC": asHEIC(t, photo),
	} {
		reply := me.upload("?dryRun=true&include=image", file, "walletId", wallet, "categoryId",
			food).
			ok("RECEIPT_RECOGNIZED")
		require.Len(t, reply.list("receipt.pages"), 1, name)
		content, ok := strings.CutPrefix(reply.text("receipt.pages.0.image"),
			"data:image/jpeg;base64,")
		require.True(t, ok, name)
		require.Less(t, len(content), 1_000_000, name)
		raw, err := base64.StdEncoding.DecodeString(content)
		require.NoError(t, err, name)
		shown, err := jpeg.Decode(bytes.NewReader(raw))
		require.NoError(t, err, name)
		requireOn(t, reply, "total", shown)
		box := reply.list("receipt.evidence")[0].(object)["box"].(object)
		require.Equal(t, box["pageWidth"], reply.at("receipt.pages.0.width"), name)
		require.Equal(t, box["pageHeight"], reply.at("receipt.pages.0.height"), name)
	}
	text := me.upload("?dryRun=true&include=image", []byte(groceries), "walletId", wallet,
		"categoryId", food).ok("RECEIPT_RECOGNIZED")
	require.NotContains(t, text.body["receipt"], "pages")
}

// asHEIC encodes a JPEG with libheif, as cameras do.
func asHEIC(t *testing.T, photo []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.jpg"), filepath.Join(dir, "out.heic")
	require.NoError(t, os.WriteFile(in, photo, 0o600))
	said, err := exec.CommandContext(t.Context(), "heif-enc", "-q", "80", "-p", "preset=ultrafast",
		in, "-o", out).CombinedOutput()
	require.NoError(t, err, "%s", said)
	heic, err := os.ReadFile(out)
	require.NoError(t, err)
	return heic
}

// uploadWith is upload with headers.
func (u *user) uploadWith(headers []string, query string, file []byte, fields ...string) response {
	body, contentType := u.form(file, fields...)
	return u.call(http.MethodPost, "/api/v1/transaction/receipt"+query, body,
		append(headers, "Content-Type", contentType)...)
}
