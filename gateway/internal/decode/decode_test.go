package decode

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/coffer-budget/coffer/internal/apierr"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// operation is an RPC with its plan.
type operation struct {
	name string
	*Plan
}

// operations returns all RPCs that have a path.
func operations(tb testing.TB) []operation {
	tb.Helper()
	var all []operation
	for _, service := range []protoreflect.FileDescriptor{
		authv1.File_coffer_auth_v1_auth_proto, ledgerv1.File_coffer_ledger_v1_ledger_proto,
		budgetv1.File_coffer_budget_v1_budget_proto,
	} {
		add := func(file protoreflect.FileDescriptor) bool {
			for i := range file.Services().Len() {
				all = append(all, operationsOf(tb, file.Services().Get(i))...)
			}
			return true
		}
		protoregistry.GlobalFiles.RangeFilesByPackage(service.Package(), add)
	}
	require.Greater(tb, len(all), 80)
	slices.SortFunc(all, func(a, b operation) int { return cmp.Compare(a.name, b.name) })
	return all
}

// operationsOf returns the RPCs of a service that have a path.
func operationsOf(tb testing.TB, service protoreflect.ServiceDescriptor) []operation {
	tb.Helper()
	var all []operation
	for i := range service.Methods().Len() {
		method := service.Methods().Get(i)
		rule := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
		if rule == nil {
			continue
		}
		plan, err := NewPlan(method,
			cmp.Or(rule.GetGet(), rule.GetPost(), rule.GetPatch(), rule.GetDelete()))
		require.NoError(tb, err)
		all = append(all, operation{string(method.Name()), plan})
	}
	return all
}

// isForm reports whether the body of the operation is a form.
func (o operation) isForm() bool { return o.multipart || o.file != nil }

// decode decodes a request, and reads an upload to its end. Headers are pairs. The media type is
// JSON unless they contain another one.
func (o operation) decode(
	ctx context.Context, body []byte, query string, headers ...string,
) (proto.Message, error) {
	r := httptest.NewRequestWithContext(ctx, "POST", "http://coffer/", bytes.NewReader(body))
	r.URL.RawQuery = query
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if o.file == nil {
		return o.Decode(r, nil)
	}
	upload, err := o.DecodeUpload(r, nil)
	if err != nil {
		return nil, err
	}
	for err == nil {
		_, err = upload.Next()
	}
	if err == io.EOF { //nolint:errorlint // Next documents this very value
		return upload.First, nil
	}
	return nil, err
}

func TestDecodeStopsWhenRequestEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	message := &ledgerv1.CreateTransactionsRequest{}
	fields := fieldsOf(message.ProtoReflect().Descriptor())
	require.NoError(t, (&Plan{body: fields}).decodeJSON(ctx,
		[]byte(`{"transactions":[{}]}`), message.ProtoReflect(), &problems{}))
	require.Len(t, message.GetTransactions(), 1)
	cancel()
	require.ErrorIs(t, (&Plan{body: fields}).decodeJSON(ctx,
		[]byte(`{"transactions":[{}]}`), message.ProtoReflect(), &problems{}), context.Canceled)

	ended := 0
	many := `{"transactions":[{}` + strings.Repeat(`,{}`, 2*interruptEvery) + `]}`
	d := &jsonDecoder{rest: []byte(many), bad: &problems{}, interrupted: func() error {
		ended++
		return context.DeadlineExceeded
	}}
	proto.Reset(message)
	d.object(fields, message.ProtoReflect())
	require.ErrorIs(t, d.err, context.DeadlineExceeded)
	require.Equal(t, 1, ended)
	require.Less(t, len(message.GetTransactions()), interruptEvery)
}

// TestDecodeUploadLimitsRatio sends a compressed form with a long unknown part, and one with a long
// file. Both are within the maximum size.
func TestDecodeUploadLimitsRatio(t *testing.T) {
	t.Parallel()
	all := operations(t)
	operation := all[slices.IndexFunc(all, func(o operation) bool { return o.file != nil })]
	for disposition, want := range map[string]error{
		`name="x"`: apierr.PayloadTooLarge,
		`name="` + operation.file.JSONName() + `"; filename="r"`: nil,
	} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, err := w.Write([]byte(fill(uploadLimit-100, "--b\r\nContent-Disposition: "+
			"form-data; "+disposition+"\r\n\r\n", "x", "\r\n--b--\r\n")))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		_, err = operation.decode(t.Context(), packed.Bytes(), "",
			"Content-Type", "multipart/form-data; boundary=b", "Content-Encoding", "gzip")
		require.ErrorIs(t, err, want)
	}
}

func TestDecodeStatesLimits(t *testing.T) {
	t.Parallel()
	amount := fieldsOf((&ledgerv1.CreateTransactionRequest{}).ProtoReflect().Descriptor())["amount"]
	_, problem := parseLiteral(amount, []byte(strings.Repeat("1", maxNumberLength)))
	require.Empty(t, problem)
	_, problem = parseLiteral(amount, []byte(strings.Repeat("1", maxNumberLength+1)))
	require.Equal(t, problemRange, problem)
	require.Contains(t, errTooManyValues.Message, fmt.Sprint(maxValues))
	require.Contains(t, errNameTooLong.Message, fmt.Sprint(maxNameLength-len(`""`)))
	require.Contains(t, errTooManyParameters.Message, fmt.Sprint(maxParameters))
	require.Contains(t, errTooManyParts.Message, fmt.Sprint(maxParts))
}

// FuzzJSON compares the decoder with encoding/json: it accepts only JSON, never panics, keeps a
// decimal as written, and reports problems of limited number and length.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, ``, `{"amount":1.50,"description":"x"}`, `{"amount":1e400}`, `[]`, `{"a":{"a":[{}]}}`,
		`{"amount":"\ud800"}`, `{"a":1,"a":2}`, "{\"\x00\":\"\xff\"}",
		`{"categoryIds":["a",null]}`, `{"description":"\\\ud83d\ude00"}`,
	} {
		f.Add([]byte(seed))
	}
	fields := fieldsOf((&ledgerv1.CreateTransactionRequest{}).ProtoReflect().Descriptor())
	nested := fieldsOf((&ledgerv1.CreateTransactionsRequest{}).ProtoReflect().Descriptor())
	f.Fuzz(func(t *testing.T, body []byte) {
		batch := []byte(`{"transactions":[` + string(body) + `,{}]}`)
		into := (&ledgerv1.CreateTransactionsRequest{}).ProtoReflect()
		err := (&Plan{body: nested}).decodeJSON(t.Context(), batch, into, &problems{})
		if err != nil {
			require.NotNil(t, apierr.From(err))
		}
		message := &ledgerv1.CreateTransactionRequest{}
		bad := &problems{}
		defer func() { require.LessOrEqual(t, len(bad.fields), maxProblems) }()
		err = (&Plan{body: fields}).decodeJSON(t.Context(), body, message.ProtoReflect(), bad)
		if err != nil {
			require.NotNil(t, apierr.From(err))
			return
		}
		if len(strings.Trim(string(body), " \t\r\n")) == 0 {
			return
		}
		var oracle map[string]any
		decoder := json.NewDecoder(strings.NewReader(string(body)))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&oracle))
		require.False(t, decoder.More())
		if len(bad.fields) > 0 {
			return
		}
		if n, ok := oracle["amount"].(json.Number); ok {
			require.Equal(t, n.String(), message.GetAmount())
		}
		if s, ok := oracle["description"].(string); ok {
			require.Equal(t, s, message.GetDescription())
		}
		_, err = proto.Marshal(message)
		require.NoError(t, err, "%q", body)
	})
}

// FuzzQuery checks that every query string and every form is decoded or rejected with public errors
// of limited size.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"limit=1&q=a%20b", "walletId=a&walletId=%ff", "&&==&a;b", "%zz", "--b\r\n\r\n\r\n--b--\r\n",
	} {
		f.Add(seed)
	}
	all := operations(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, o := range all {
			_, err := o.decode(t.Context(), nil, text)
			requireSmall(t, err)
			if o.isForm() {
				_, err := o.decode(t.Context(), []byte(text), "",
					"Content-Type", "multipart/form-data; boundary=b")
				requireSmall(t, err)
			}
		}
	})
}

// FuzzMultipart checks that every form is decoded or rejected with public errors of limited size.
func FuzzMultipart(f *testing.F) {
	var good bytes.Buffer
	form := multipart.NewWriter(&good)
	part, err := form.CreateFormFile("receipt", "r.jpg")
	require.NoError(f, err)
	_, err = part.Write([]byte("content"))
	require.NoError(f, err)
	require.NoError(f, form.WriteField("walletId", "w"))
	require.NoError(f, form.Close())
	f.Add(good.Bytes(), form.FormDataContentType())
	f.Add([]byte("--x\r\n\r\n--x--"), "multipart/form-data; boundary=x")
	forms := slices.DeleteFunc(operations(f), func(o operation) bool { return !o.isForm() })
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		for _, o := range forms {
			_, err := o.decode(t.Context(), body, "", "Content-Type", contentType)
			requireSmall(t, err)
		}
	})
}
