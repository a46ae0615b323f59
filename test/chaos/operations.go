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
	batch := &batch{}
	var items []object
	for range 2 + random.IntN(20) {
		t := u.newRecord(random)
		batch.records, items = append(batch.records, t), append(items, t.body(t.states[0]))
	}
	u.lock.Lock()
	u.batches = append(u.batches, batch)
	u.lock.Unlock()
	// Without a key, a batch with an unknown outcome must exist completely or not at all;
	// checkBatches checks that.
	var headers []string
	if random.IntN(10) < 7 {
		headers = []string{"Idempotency-Key", "batch " + batch.records[0].mark}
	}
	try := func(ctx context.Context) bool {
		reply, result := u.write(ctx, http.MethodPost, "/api/v1/transaction/batch",
			object{"transactions": items}, headers...)
		switch result {
		case accepted:
			batch.acknowledged = true
			for i, made := range reply.list("transactions") {
				t := batch.records[i]
				t.id = response{body: object{"t": made}}.text("t.id")
				t.maybeAbsent, t.frozen = false, false
			}
		case rejected:
			// One invalid item rejects the whole batch.
			explains := func(t *record) bool { return u.mayReject(reply, t.states[0]) }
			if !slices.ContainsFunc(batch.records, explains) {
				u.reportf("a valid batch was rejected: %s", reply.raw)
			}
			for _, t := range batch.records {
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
	return batch.records
}

// signIn starts a session and sends its refresh token several times with one key. All responses
// must have the same new token.
func (u *user) signIn(ctx context.Context, random *rand.Rand) {
	reply := u.call(ctx, http.MethodPost, "/api/v1/auth/login",
		object{"email": u.email, "password": password})
	if reply.status != http.StatusOK {
		if reply.status >= 400 && reply.status < 500 {
			u.reportf("the right password was rejected: %s", reply.raw)
		}
		return
	}
	// A client without a response must be able to repeat the refresh. Without the key, the
	// repetition would look like a stolen token and end the session.
	key, refresh, first := fmt.Sprint("refresh ", random.Uint64()), reply.text("refreshToken"), ""
	// Three attempts, because a fault may hide the response of one.
	for range 3 {
		reply = u.call(ctx, http.MethodPost, "/api/v1/auth/refresh",
			object{"refreshToken": refresh}, "Idempotency-Key", key)
		switch {
		case reply.status == http.StatusOK && first == "":
			first = reply.text("refreshToken")
		case reply.status == http.StatusOK && first != reply.text("refreshToken"):
			u.reportf("a refresh token was exchanged for two different tokens")
		case reply.status >= 400 && reply.status < 500:
			u.reportf("a valid refresh token was rejected: %s", reply.raw)
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
	var buffer bytes.Buffer
	writer := multipart.NewWriter(&buffer)
	part, err := writer.CreateFormFile("receipt", "receipt.png")
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(img); err != nil {
		return nil, "", err
	}
	for name, value := range map[string]string{"walletId": wallet, "categoryId": category} {
		if err := writer.WriteField(name, value); err != nil {
			return nil, "", err
		}
	}
	err = writer.Close()
	return buffer.Bytes(), writer.FormDataContentType(), err
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
func receiptImage(mark string, number int) ([]byte, error) {
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
	paper.Pix[len(mark)], paper.Pix[len(mark)+1] = uint8(number>>8), uint8(number)
	var b bytes.Buffer
	err = png.Encode(&b, paper)
	return b.Bytes(), err
}
