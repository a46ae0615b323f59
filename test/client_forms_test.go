package test

import (
	"bytes"
	"mime/multipart"
	"net/http"

	"github.com/stretchr/testify/require"
)

// upload sends a receipt with form fields, given as alternating names and values.
func (u *user) upload(query string, file []byte, fields ...string) response {
	form, contentType := u.form(file, fields...)
	return u.call(http.MethodPost, "/api/v1/transaction/receipt"+query, form,
		"Content-Type", contentType)
}

// attach uploads a file to a transaction.
func (u *user) attach(transaction, name, content string, headers ...string) response {
	form, contentType := u.fileForm(name, content)
	return u.call(http.MethodPost, "/api/v1/transaction/"+transaction+"/attachments", form,
		append(headers, "Content-Type", contentType)...)
}

// fileForm encodes the form of an upload: pairs of fields and values, and then the file.
func (u *user) fileForm(name, content string, fields ...string) (body []byte, contentType string) {
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for i := 0; i+1 < len(fields); i += 2 {
		require.NoError(u.t, writer.WriteField(fields[i], fields[i+1]))
	}
	part, err := writer.CreateFormFile("file", name)
	require.NoError(u.t, err)
	_, err = part.Write([]byte(content))
	require.NoError(u.t, err)
	require.NoError(u.t, writer.Close())
	return form.Bytes(), writer.FormDataContentType()
}

// form encodes a receipt and pairs of fields and values. Without a file, the form has none.
func (u *user) form(file []byte, fields ...string) (body []byte, contentType string) {
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	if file != nil {
		part, err := writer.CreateFormFile("receipt", "receipt")
		require.NoError(u.t, err)
		_, err = part.Write(file)
		require.NoError(u.t, err)
	}
	for i := 0; i+1 < len(fields); i += 2 {
		require.NoError(u.t, writer.WriteField(fields[i], fields[i+1]))
	}
	require.NoError(u.t, writer.Close())
	return form.Bytes(), writer.FormDataContentType()
}
