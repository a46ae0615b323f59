package chaos

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
)

type attachment struct {
	// id is empty until a response contains it.
	id, content string
	// deleted is set after an acknowledged deletion, and uncertain after one with an unknown
	// result.
	deleted, uncertain bool
}

// attach uploads the file of a transaction with a key. If the transaction has one, attach deletes
// it.
func (u *user) attach(ctx context.Context, record *record) {
	switch {
	case record.frozen:
	case record.file == nil:
		record.upload(ctx)
	case record.file.id != "" && !record.file.deleted && !record.file.uncertain:
		a, result := u.write(ctx, http.MethodDelete, "/api/v1/attachments/"+record.file.id, nil)
		record.file.deleted, record.file.uncertain = result == accepted, result == unknown
		if result == rejected {
			u.reportf("the deletion of attachment %s was rejected: %s", record.file.id, a.raw)
		}
	}
}

func (t *record) upload(ctx context.Context) {
	t.file = &attachment{content: strings.Repeat(t.mark, 1000)}
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, err := writer.CreateFormFile("file", "note.txt")
	if err == nil {
		_, err = part.Write([]byte(t.file.content))
	}
	if err != nil || writer.Close() != nil {
		t.owner.reportf("encoding an attachment: %v", err)
		return
	}
	t.owner.retry(ctx, func(ctx context.Context) bool {
		reply, result := t.owner.write(ctx, http.MethodPost,
			"/api/v1/transaction/"+t.id+"/attachments", form.Bytes(),
			"Content-Type", writer.FormDataContentType(), "Idempotency-Key", "file "+t.mark)
		switch {
		case result == accepted:
			t.file.id = reply.text("attachment.id")
		// The session may have deleted the transaction before the repetition.
		case result == rejected && !t.maybeAbsent:
			t.owner.reportf("a valid attachment was rejected: %s", reply.raw)
		}
		return result != unknown
	})
}

func (u *user) checkAttachments(ctx context.Context, is transactions) {
	for _, record := range u.records {
		if _, exists := is[record.id]; !exists || record.file == nil || record.maybeAbsent {
			continue
		}
		files := u.call(ctx, http.MethodGet, "/api/v1/transaction/"+record.id+"/attachments", nil).
			list("attachments")
		count := u.call(ctx, http.MethodGet, "/api/v1/transaction/"+record.id, nil).
			text("transaction.attachmentCount")
		n := len(files)
		lost := n == 0 && !record.file.deleted && !record.file.uncertain
		if count != fmt.Sprint(n) || n > 1 || lost || n == 1 && record.file.deleted {
			u.reportf(
				"transaction %s %s has %d attachments and the count %s, after the upload of one, "+
					"deleted: %t",
				record.id, record.mark, n, count, record.file.deleted,
			)
			continue
		}
		if n == 1 {
			a := u.call(ctx, http.MethodGet, "/api/v1/attachments/"+record.file.id, nil)
			if string(a.raw) != record.file.content {
				u.reportf("attachment %s has another content: %d", record.file.id, a.status)
			}
		}
	}
}
