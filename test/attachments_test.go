package test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// smallPDF begins like a PDF.
const smallPDF = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"

// withTransaction returns a user with a transaction.
func withTransaction(t *testing.T) (u *user, transaction string) {
	t.Helper()
	u = newUser(t)
	return u, u.spend(u.wallet("EUR", "100"), u.category("Food"), "12.30")
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	me, transaction := withTransaction(t)
	content := smallPDF + strings.Repeat("invoice", 200_000)
	created := me.attach(transaction, "März <b>.html", content).created("ATTACHMENT_CREATED")
	id := created.text("attachment.id")
	require.Equal(t, "application/pdf", created.text("attachment.mediaType"))
	require.Equal(t, fmt.Sprint(len(content)), created.text("attachment.size"))
	require.Equal(t, transaction, created.text("attachment.transactionId"))

	list := me.get("/api/v1/transaction/" + transaction + "/attachments").ok("ATTACHMENTS_FETCHED")
	require.Equal(t, created.at("attachment"), list.at("attachments.0"))
	require.Equal(t, "1", me.get("/api/v1/transaction/"+transaction).ok("TRANSACTION_FETCHED").
		text("transaction.attachmentCount"))
	require.Equal(t, "1", me.get("/api/v1/transaction").ok("TRANSACTIONS_FETCHED").
		text("transactions.0.attachmentCount"))

	// A browser saves the file, and never runs it.
	file := me.get("/api/v1/attachments/" + id)
	require.Equal(t, http.StatusOK, file.status)
	require.Equal(t, content, string(file.raw))
	require.Equal(t, "application/pdf", file.header.Get("Content-Type"))
	const disposition = `attachment; filename="M_rz <b>.html"; ` +
		`filename*=utf-8''M%C3%A4rz%20%3Cb%3E.html`
	require.Equal(t, disposition, file.header.Get("Content-Disposition"))
	require.Equal(t, "nosniff", file.header.Get("X-Content-Type-Options"))
	require.Equal(t, "no-store", file.header.Get("Cache-Control"))
	require.Equal(t, "default-src 'none'; frame-ancestors 'none'; sandbox",
		file.header.Get("Content-Security-Policy"))

	again := me.attach(transaction, "other.pdf", content).ok("ATTACHMENT_FETCHED")
	require.Equal(t, created.at("attachment"), again.at("attachment"))

	deleted := me.del("/api/v1/attachments/" + id).ok("ATTACHMENT_DELETED")
	require.Equal(t, id, deleted.text("id"))
	me.get("/api/v1/attachments/"+id).fails(404, "ATTACHMENT_NOT_FOUND")
	me.del("/api/v1/attachments/"+id).fails(404, "ATTACHMENT_NOT_FOUND")
	require.Equal(t, "0", me.get("/api/v1/transaction/"+transaction).ok("TRANSACTION_FETCHED").
		text("transaction.attachmentCount"))
}

// TestAttachmentsReachOtherDevices follows an attachment by the live stream and by GET /changes, as
// another device does.
func TestAttachmentsReachOtherDevices(t *testing.T) {
	t.Parallel()
	me, transaction := withTransaction(t)
	cursor := me.get("/api/v1/changes").ok("CHANGES_FETCHED").text("pagination.nextCursor")
	stream := me.listen(t.Context(), "")
	defer stream.close()
	created := me.attach(transaction, "a.txt", "x").created("ATTACHMENT_CREATED")
	me.attach(transaction, "b.txt", "x").ok("ATTACHMENT_FETCHED")
	requireChange := func(kind, count string) {
		t.Helper()
		var event liveEvent
		for event.kind != kind {
			event = stream.next()
			require.NotEqual(t, "ledger.v1.transaction.updated", event.kind,
				"the transaction keeps its version")
		}
		require.Equal(t, created.at("attachment"), event.data["data"].(object)["attachment"])
		news := me.get("/api/v1/changes?cursor=" + cursor).ok("CHANGES_FETCHED")
		require.Len(t, news.list("changes.transactions"), 1)
		require.Equal(t, transaction, news.text("changes.transactions.0.id"))
		require.Equal(t, count, news.text("changes.transactions.0.attachmentCount"))
		cursor = news.text("pagination.nextCursor")
	}
	requireChange("ledger.v1.attachment.created", "1")
	me.del("/api/v1/attachments/" + created.text("attachment.id")).ok("ATTACHMENT_DELETED")
	requireChange("ledger.v1.attachment.deleted", "0")
}

func TestAttachmentsReferences(t *testing.T) {
	t.Parallel()
	me, transaction := withTransaction(t)
	other, _ := withTransaction(t)
	id := me.attach(transaction, "a", "x").created("ATTACHMENT_CREATED").text("attachment.id")
	for wrong, want := range map[string]string{
		"x": "400 INVALID_TRANSACTION_ID", uuid.NewString(): "404 TRANSACTION_NOT_FOUND",
		transaction: "403 TRANSACTION_OWNER_MISMATCH",
	} {
		list := other.get("/api/v1/transaction/" + wrong + "/attachments")
		for _, a := range []response{other.attach(wrong, "a", "x"), list} {
			require.Equal(t, want, fmt.Sprint(a.status, " ", a.code()))
		}
	}
	for wrong, want := range map[string]string{
		"x": "400 INVALID_ATTACHMENT_ID", uuid.NewString(): "404 ATTACHMENT_NOT_FOUND",
		id: "404 ATTACHMENT_NOT_FOUND",
	} {
		for _, a := range []response{
			other.get("/api/v1/attachments/" + wrong), other.del("/api/v1/attachments/" + wrong),
		} {
			require.Equal(t, want, fmt.Sprint(a.status, " ", a.code()))
		}
	}
	require.Len(t, me.get("/api/v1/transaction/"+transaction+"/attachments").list("attachments"), 1)
}

func TestCreateAttachmentRejects(t *testing.T) {
	t.Parallel()
	me, transaction := withTransaction(t)
	path := "/api/v1/transaction/" + transaction + "/attachments"
	me.attach(transaction, "a.exe", "MZ\x90\x00").fails(400, "UNSUPPORTED_ATTACHMENT_TYPE").
		blames("file")
	me.attach(transaction, "a.txt", "").invalid("file")
	me.attach(transaction, "a.pdf", smallPDF+strings.Repeat("x", 10<<20)).
		fails(413, "PAYLOAD_TOO_LARGE")
	me.attach(transaction, "a.pdf", strings.Repeat("x", 70<<20)).fails(413, "PAYLOAD_TOO_LARGE")
	me.post(path, object{"file": "x"}).fails(415, "UNSUPPORTED_MEDIA_TYPE")
	me.post(path, nil).invalid("file")

	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, err := writer.CreateFormFile("file", "a.txt")
	require.NoError(t, err)
	_, err = part.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, writer.WriteField("note", "after the file"))
	require.NoError(t, writer.Close())
	me.call(http.MethodPost, path, form.Bytes(), "Content-Type", writer.FormDataContentType()).
		invalid("file")
	require.Empty(t, me.get(path).list("attachments"))
}

func TestCreateAttachmentCompressed(t *testing.T) {
	t.Parallel()
	me, transaction := withTransaction(t)
	form, contentType := me.fileForm("a.txt", strings.Repeat("text ", 10_000))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(form)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	a := me.call(http.MethodPost, "/api/v1/transaction/"+transaction+"/attachments", packed.Bytes(),
		"Content-Type", contentType, "Content-Encoding", "gzip")
	require.Equal(t, "50000", a.created("ATTACHMENT_CREATED").text("attachment.size"))
}

func TestCreateAttachmentIdempotencyKey(t *testing.T) {
	t.Parallel()
	u, transaction := withTransaction(t)
	key := []string{"Idempotency-Key", uuid.NewString()}
	first := u.attach(transaction, "a.txt", "x", key...).created("ATTACHMENT_CREATED")
	again := u.attach(transaction, "a.txt", "x", key...).created("ATTACHMENT_CREATED")
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	require.Equal(t, first.at("attachment"), again.at("attachment"))
	u.attach(transaction, "a.txt", "y", key...).fails(409, "IDEMPOTENCY_KEY_CONFLICT")
}

func TestCreateAttachmentLimit(t *testing.T) {
	t.Parallel()
	me, transaction := withTransaction(t)
	var wg sync.WaitGroup
	responses := make([]response, 15)
	for i := range responses {
		wg.Go(func() { responses[i] = me.attach(transaction, "a.txt", fmt.Sprint(i)) })
	}
	wg.Wait()
	created := 0
	for _, a := range responses {
		if a.status == http.StatusCreated {
			created++
			continue
		}
		a.fails(409, "LIMIT_REACHED").blames("file")
		require.Contains(t, string(a.raw), "at most 10 attachments")
	}
	require.Equal(t, 10, created)
	require.Equal(t, "10", me.get("/api/v1/transaction/"+transaction).
		text("transaction.attachmentCount"))
}

// TestCreateAttachmentDuringRestart ends the ledger in the middle of an upload. Nothing of the file
// becomes visible, and the next upload succeeds.
func TestCreateAttachmentDuringRestart(t *testing.T) {
	t.Parallel()
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"), map[string]string{"RATE_LIMIT": "0"})
	me := newUserAt(t, own.URL, "Ada")
	transaction := me.spend(me.wallet("EUR", "100"), me.category("Food"), "1")
	path := "/api/v1/transaction/" + transaction + "/attachments"
	read, write := io.Pipe()
	form := multipart.NewWriter(write)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, own.URL+path, read)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+me.token)
	req.Header.Set("Content-Type", form.FormDataContentType())
	status := make(chan int, 1)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			status <- 0
			return
		}
		_ = resp.Body.Close()
		status <- resp.StatusCode
	}()
	part, err := form.CreateFormFile("file", "a.pdf")
	require.NoError(t, err)
	_, err = part.Write([]byte(smallPDF + strings.Repeat("x", 2<<20)))
	require.NoError(t, err)
	// The ledger waits for the upload until the client gives up.
	halted := make(chan error, 1)
	go func() { halted <- own.Halt("ledger") }()
	_ = read.CloseWithError(io.ErrClosedPipe)
	require.NoError(t, <-halted)
	require.Contains(t, []int{0, http.StatusServiceUnavailable}, <-status)
	require.NoError(t, own.Resume(t.Context(), "ledger"))
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, http.StatusOK, me.get(path).status)
	}, time.Minute, 50*time.Millisecond)
	require.Empty(t, me.get(path).ok("ATTACHMENTS_FETCHED").list("attachments"))
	me.attach(transaction, "a.pdf", smallPDF).created("ATTACHMENT_CREATED")
}
