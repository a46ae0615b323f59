package chaos

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// createCategory creates a category with a key. It is never merged or deleted, so that
// checkCategories can count it.
func (u *user) createCategory(ctx context.Context) {
	name := strings.TrimSuffix(u.nextMark(), ";")
	u.categoryNames = append(u.categoryNames, name)
	u.retry(ctx, func(ctx context.Context) bool {
		a, result := u.write(ctx, http.MethodPost, "/api/v1/categories", object{"name": name},
			"Idempotency-Key", name)
		if result == rejected {
			u.reportf("a valid category was rejected: %s", a.raw)
		}
		return result != unknown
	})
}

// createBatch creates several transactions in one request. In 7 of 10 cases it sends a key and
// repeats the request until the result is known.
func (u *user) createBatch(ctx context.Context, random *rand.Rand) []*record {
	b := &batch{}
	var items []object
	for range 2 + random.IntN(20) {
		t := u.newRecord(random)
		b.records, items = append(b.records, t), append(items, t.body(t.states[0]))
	}
	u.lock.Lock()
	u.batches = append(u.batches, b)
	u.lock.Unlock()
	// Without a key, a batch with an unknown outcome must exist completely or not at all;
	// checkBatches checks that.
	var headers []string
	if random.IntN(10) < 7 {
		headers = []string{"Idempotency-Key", "batch " + b.records[0].mark}
	}
	try := func(ctx context.Context) bool {
		a, result := u.write(ctx, http.MethodPost, "/api/v1/transaction/batch",
			object{"transactions": items}, headers...)
		switch result {
		case accepted:
			b.acknowledged = true
			for i, made := range a.list("transactions") {
				t := b.records[i]
				t.id = response{body: object{"t": made}}.text("t.id")
				t.maybeAbsent, t.frozen = false, false
			}
		case rejected:
			// One invalid item rejects the whole batch.
			explains := func(t *record) bool { return u.mayReject(a, t.states[0]) }
			if !slices.ContainsFunc(b.records, explains) {
				u.reportf("a valid batch was rejected: %s", a.raw)
			}
			for _, t := range b.records {
				t.states = nil
			}
		case unknown:
			return false
		}
		return true
	}
	if headers == nil {
		try(ctx)
	} else {
		u.retry(ctx, try)
	}
	return b.records
}

// signIn starts a session and sends its refresh token several times with one key. All responses
// must have the same new token.
func (u *user) signIn(ctx context.Context, random *rand.Rand) {
	a := u.call(ctx, http.MethodPost, "/api/v1/auth/login",
		object{"email": u.email, "password": password})
	if a.status != http.StatusOK {
		if a.status >= 400 && a.status < 500 {
			u.reportf("the right password was rejected: %s", a.raw)
		}
		return
	}
	// A client without a response must be able to repeat the refresh. Without the key, the
	// repetition would look like a stolen token and end the session.
	key, refresh, first := fmt.Sprint("refresh ", random.Uint64()), a.text("refreshToken"), ""
	// Three attempts, because a fault may hide the response of one.
	for range 3 {
		a = u.call(ctx, http.MethodPost, "/api/v1/auth/refresh", object{"refreshToken": refresh},
			"Idempotency-Key", key)
		switch {
		case a.status == http.StatusOK && first == "":
			first = a.text("refreshToken")
		case a.status == http.StatusOK && first != a.text("refreshToken"):
			u.reportf("a refresh token was exchanged for two different tokens")
		case a.status >= 400 && a.status < 500:
			u.reportf("a valid refresh token was rejected: %s", a.raw)
		}
	}
}

// retry tries up to three times. If the result is still unknown, the request is repeated after the
// last fault. It must have an idempotency key, or be idempotent.
func (u *user) retry(ctx context.Context, try func(ctx context.Context) bool) {
	for range 3 {
		if try(ctx) {
			return
		}
		pause(ctx, 500*time.Millisecond)
	}
	u.retryAtEnd(try)
}

// uploadReceipt uploads a receipt over 6.00 with a key, until the result is known. Its wallet and
// category are never deleted, so it may not be rejected.
func (u *user) uploadReceipt(ctx context.Context) {
	u.scanned++
	file, kind, err := receiptForm(u.receipts.id, u.budget.category, u.mark, u.scanned)
	if err != nil {
		u.reportf("%v", err)
		return
	}
	key := fmt.Sprintf("receipt %d", u.scanned)
	try := func(ctx context.Context) bool {
		a, result := u.write(ctx, http.MethodPost, "/api/v1/transaction/receipt", file,
			"Content-Type", kind, "Idempotency-Key", key)
		// A stalled engine causes a 500 (OCR_RESPONSE_FAILED), so the outcome is unknown.
		if result == rejected {
			u.reportf("a valid receipt was rejected: %s", a.raw)
		}
		return result != unknown
	}
	u.retry(ctx, try)
}

// receiptForm returns the multipart body of an upload and its content type. The same form is sent
// in each repetition, because the service compares the request with the first one of the key.
func receiptForm(
	wallet, category, mark string, n int,
) (form []byte, contentType string, err error) {
	img, err := receiptImage(mark, n)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("receipt", "receipt.png")
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(img); err != nil {
		return nil, "", err
	}
	for name, value := range map[string]string{"walletId": wallet, "categoryId": category} {
		if err := w.WriteField(name, value); err != nil {
			return nil, "", err
		}
	}
	err = w.Close()
	return b.Bytes(), w.FormDataContentType(), err
}

// receiptText is the content of every receipt. The checks depend on its total of 6.00.
const receiptText = `CORNER SHOP

Date: 2026-03-14

Bread        2.50
Milk         3.50

TOTAL EUR    6.00
`

// receiptImage returns the image of a receipt over 6.00. Each mark and number gives a different
// file: the ocr service caches results by the hash of the file, and a cached receipt would not use
// the engine.
func receiptImage(mark string, n int) ([]byte, error) {
	f, err := opentype.Parse(gomonobold.TTF)
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: 40, DPI: 72})
	if err != nil {
		return nil, err
	}
	// Dark gray on light gray, as on a photo, but large and straight, so that the engine reads it
	// quickly and without errors.
	lines := strings.Split(receiptText, "\n")
	paper := image.NewGray(image.Rect(0, 0, 600, 100+60*len(lines)))
	draw.Draw(paper, paper.Bounds(), image.NewUniform(color.Gray{Y: 245}), image.Point{}, draw.Src)
	pen := font.Drawer{Dst: paper, Src: image.NewUniform(color.Gray{Y: 30}), Face: face}
	for i, line := range lines {
		pen.Dot = fixed.P(60, 80+60*i)
		pen.DrawString(line)
	}
	// The mark and the number are in the first pixels, outside of the text.
	for i, c := range []byte(mark) {
		paper.Pix[i] = c
	}
	paper.Pix[len(mark)], paper.Pix[len(mark)+1] = uint8(n>>8), uint8(n)
	var b bytes.Buffer
	err = png.Encode(&b, paper)
	return b.Bytes(), err
}
