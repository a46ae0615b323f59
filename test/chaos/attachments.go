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
func (u *user) attach(ctx context.Context, t *record) {
	switch {
	case t.frozen:
	case t.file == nil:
		t.upload(ctx)
	case t.file.id != "" && !t.file.deleted && !t.file.uncertain:
		a, result := u.write(ctx, http.MethodDelete, "/api/v1/attachments/"+t.file.id, nil)
		t.file.deleted, t.file.uncertain = result == accepted, result == unknown
		if result == rejected {
			u.reportf("the deletion of attachment %s was rejected: %s", t.file.id, a.raw)
		}
	}
}

func (t *record) upload(ctx context.Context) {
	t.file = &attachment{content: strings.Repeat(t.mark, 1000)}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "note.txt")
	if err == nil {
		_, err = part.Write([]byte(t.file.content))
	}
	if err != nil || w.Close() != nil {
		t.owner.reportf("encoding an attachment: %v", err)
		return
	}
	t.owner.retry(ctx, func(ctx context.Context) bool {
		a, result := t.owner.write(ctx, http.MethodPost, "/api/v1/transaction/"+t.id+"/attachments",
			form.Bytes(),
			"Content-Type", w.FormDataContentType(), "Idempotency-Key", "file "+t.mark)
		switch {
		case result == accepted:
			t.file.id = a.text("attachment.id")
		// The session may have deleted the transaction before the repetition.
		case result == rejected && !t.maybeAbsent:
			t.owner.reportf("a valid attachment was rejected: %s", a.raw)
		}
		return result != unknown
	})
}

func (u *user) checkAttachments(ctx context.Context, is transactions) {
	for _, t := range u.records {
		if _, exists := is[t.id]; !exists || t.file == nil || t.maybeAbsent {
			continue
		}
		files := u.call(ctx, http.MethodGet, "/api/v1/transaction/"+t.id+"/attachments", nil).
			list("attachments")
		count := u.call(ctx, http.MethodGet, "/api/v1/transaction/"+t.id, nil).
			text("transaction.attachmentCount")
		n := len(files)
		lost := n == 0 && !t.file.deleted && !t.file.uncertain
		if count != fmt.Sprint(n) || n > 1 || lost || n == 1 && t.file.deleted {
			u.reportf(
				"transaction %s %s has %d attachments and the count %s, after the upload of one, "+
					"deleted: %t",
				t.id, t.mark, n, count, t.file.deleted,
			)
			continue
		}
		if n == 1 {
			a := u.call(ctx, http.MethodGet, "/api/v1/attachments/"+t.file.id, nil)
			if string(a.raw) != t.file.content {
				u.reportf("attachment %s has another content: %d", t.file.id, a.status)
			}
		}
	}
}
