package decode

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// hostileForm is a form and its boundary.
type hostileForm struct{ boundary, body string }

// hostileForms returns forms of the maximum size of a receipt, by the resource that they try to
// exhaust. text and file are the names of a text and of the file of the operation.
func hostileForms(text, file string) map[string]hostileForm {
	fill := func(head, unit, tail string) string { return fill(fileLimit, head, unit, tail) }
	long := strings.Repeat("b", 60<<10)
	part := "--b\r\nContent-Disposition: form-data; name=\"" + file + "\"; filename=\"r\"\r\n\r\n"
	field := "--b\r\nContent-Disposition: form-data; name=\"" + text + "\"\r\n\r\n"
	return map[string]hostileForm{
		"empty parts": {"b", fill("", "--b\r\n\r\n\r\n", "--b--\r\n")},
		"text parts":  {"b", fill("", field+"x\r\n", "--b--\r\n")},
		"unknown parts": {
			"b",
			fill("", "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nx\r\n", "--b--\r\n"),
		},
		"a long unknown part": {
			"b",
			fill("--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n", "x", "\r\n--b--\r\n"),
		},
		"a header of many lines": {"b", fill("--b\r\n", "A: b\r\n", "\r\n\r\n--b--\r\n")},
		"a long header":          {"b", fill("--b\r\nA: ", "b", "\r\n\r\n\r\n--b--\r\n")},
		"a long file":            {"b", fill(part, "x", "\r\n--b--\r\n")},
		"almost boundaries": {
			"bb", fill(strings.ReplaceAll(part, "--b", "--bb"), "\r\n--b", "\r\n--bb--\r\n"),
		},
		"a long boundary": {
			long, fill("--"+long+"\r\n\r\n", "\r\n--"+long[:len(long)-1], "\r\n--"+long+"--\r\n"),
		},
		"no boundary":           {"b", fill("", "x", "")},
		"line ends":             {"b", fill(part, "\r\n", "\r\n--b--\r\n")},
		"a long preamble":       {"b", fill("", "x\r\n", "--b--\r\n")},
		"a boundary and no end": {"b", fill("--b\r\n", "\r\n", "")},
		"a long text":           {"b", fill(field, "x", "\r\n--b--\r\n")},
		"a long name": {
			"b",
			fill("--b\r\nContent-Disposition: form-data; name=\"", "x", "\"\r\n\r\n\r\n--b--\r\n"),
		},
		"a long file name": {"b", fill("--b\r\nContent-Disposition: form-data; "+
			"name=\""+file+"\"; filename=\"", "x", "\"\r\n\r\nx\r\n--b--\r\n")},
		"a header of many params": {"b", fill("--b\r\nContent-Disposition: form-data; name=\"x\"",
			"; a*0=b", "\r\n\r\n\r\n--b--\r\n")},
	}
}

// formFields returns the names of a text and of the file of an operation, and the names of its JSON
// objects.
func (o operation) formFields() (text, file string, objects []string) {
	if o.file != nil {
		file = o.file.JSONName()
	}
	for _, name := range o.body.names() {
		switch o.body[name].Kind() {
		case protoreflect.BytesKind:
			file = name
		case protoreflect.MessageKind:
			objects = append(objects, name)
		default:
			text = name
		}
	}
	return text, file, objects
}

//nolint:paralleltest // It measures the process's memory and CPU time.
func TestDecodeMultipartCostIsLinear(t *testing.T) {
	scan := plainScan(t)
	var covered []string
	for _, operation := range operations(t) {
		if !operation.isForm() {
			continue
		}
		covered = append(covered, operation.name)
		text, file, objects := operation.formFields()
		forms := hostileForms(text, file)
		for _, object := range objects {
			for _, name := range operation.body[object].fields.names() {
				for kind, json := range hostileBodies(name, maxFormJSON) {
					head := "--b\r\nContent-Disposition: form-data; name=\"" + object + "\"\r\n\r\n"
					forms[object+"/"+name+"/"+kind] = hostileForm{
						"b", head + json + "\r\n--b--\r\n",
					}
				}
			}
		}
		for kind, form := range forms {
			t.Run(operation.name+"/"+kind, func(t *testing.T) {
				var err error
				// A form is up to ten times as long as the body of the scan.
				requireCheap(t, cost{
					cpu: max(scan.cpu, scan.cpu*time.Duration(len(form.body))/jsonLimit),
				}, len(form.body), func() {
					_, err = operation.decode(t.Context(), []byte(form.body),
						"", "Content-Type", "multipart/form-data; boundary="+form.boundary)
				})
				requireSmall(t, err)
			})
		}
	}
	require.Equal(t,
		[]string{"CreateAttachment", "CreateImport", "CreateTransactionsFromReceipt"}, covered)
}

// TestDecodeUploadCostOfCompressedForm sends forms that decompression makes a thousand times as
// long.
//
//nolint:paralleltest // It measures the process's memory and CPU time.
func TestDecodeUploadCostOfCompressedForm(t *testing.T) {
	scan := plainScan(t)
	for _, operation := range operations(t) {
		if operation.file == nil {
			continue
		}
		for name, head := range map[string]string{
			"file": "--b\r\nContent-Disposition: form-data; " +
				"name=\"" + operation.file.JSONName() + "\"; filename=\"r\"\r\n\r\n",
			"unknown": "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n",
		} {
			t.Run(operation.name+"/"+name, func(t *testing.T) {
				var body bytes.Buffer
				w := gzip.NewWriter(&body)
				_, err := w.Write([]byte(fill(uploadLimit*2, head, "x", "\r\n--b--\r\n")))
				require.NoError(t, err)
				require.NoError(t, w.Close())
				requireCheap(t, cost{cpu: scan.cpu * uploadLimit / jsonLimit}, uploadLimit, func() {
					_, err = operation.decode(t.Context(), body.Bytes(), "", "Content-Type",
						"multipart/form-data; boundary=b", "Content-Encoding", "gzip")
				})
				require.ErrorIs(t, err, apierr.PayloadTooLarge)
			})
		}
	}
}
