package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/coffer-budget/coffer/gateway/internal/admission"
	"github.com/coffer-budget/coffer/internal/rpc"
)

const filePath = "/api/v1/files/f1"

// collect returns an upload RPC that keeps what it receives.
func collect(first **dynamicpb.Message, content *bytes.Buffer) func(*fileStream) error {
	return func(stream *fileStream) error {
		var err error
		if *first, err = stream.receive(); err != nil {
			return err
		}
		field := (*first).Descriptor().Fields().ByName("file")
		_, err = io.Copy(content, rpc.NewFileReader(1<<30, func() ([]byte, error) {
			m, err := stream.receive()
			if err != nil {
				return nil, err
			}
			return m.Get(field).Bytes(), nil
		}))
		if err != nil {
			return err
		}
		return stream.reply(int64(content.Len()))
	}
}

func (b *fileBackend) uploadForm(parts ...part) reply {
	b.Helper()
	body, contentType := encodeForm(parts...)
	return b.send("POST", filePath, string(body), "Content-Type", contentType)
}

func TestUpload(t *testing.T) {
	t.Parallel()
	files := newFiles(t, admission.UsualTransfers)
	for _, size := range []int{1, rpc.MaxPiece - 1, rpc.MaxPiece, rpc.MaxPiece + 1, 5<<20 + 3} {
		var first *dynamicpb.Message
		var content bytes.Buffer
		files.upload = collect(&first, &content)
		sent := strings.Repeat("\x00\xff\r\n--", size/6+1)[:size]
		body, contentType := encodeForm(text("format", "csv"),
			text("unknown", "x"), text("count", "7"), file("file", `C:\bank\März.csv`, sent))
		r := files.send("POST", filePath, string(body), "Content-Type", contentType,
			"Idempotency-Key", "k")
		require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
		require.Equal(t, "FILE_CREATED", r.code())
		require.Contains(t, r.text, fmt.Sprintf(`"size":%d`, size))
		require.Equal(t, sent, content.String())
		fields := first.Descriptor().Fields()
		require.Equal(t, "f1", first.Get(fields.ByName("id")).String())
		require.Equal(t, "k", first.Get(fields.ByName("idempotency_key")).String())
		require.Equal(t, "csv", first.Get(fields.ByName("format")).String())
		require.EqualValues(t, 7, first.Get(fields.ByName("count")).Int())
		require.Equal(t, `media_type:"application/octet-stream" file_name:"März.csv"`,
			strings.ReplaceAll(fmt.Sprint(first.Get(fields.ByName("header"))), "  ", " "))
		require.NoError(t, <-files.ended)
	}
}

func TestUploadCompressed(t *testing.T) {
	t.Parallel()
	files := newFiles(t, admission.UsualTransfers)
	var first *dynamicpb.Message
	var content bytes.Buffer
	files.upload = collect(&first, &content)
	sent := strings.Repeat("line of a statement\n", 500_000)
	body, contentType := encodeForm(file("file", "a.csv", sent))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(body)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	got := files.send("POST", filePath, packed.String(), "Content-Type", contentType,
		"Content-Encoding", "gzip")
	require.Equal(t, http.StatusCreated, got.StatusCode, got.text)
	require.Equal(t, sent, content.String())
	require.NoError(t, <-files.ended)

	got = files.send("POST", filePath, packed.String()[:packed.Len()-4],
		"Content-Type", contentType, "Content-Encoding", "gzip")
	files.requireFailure(got, http.StatusBadRequest, "VALIDATION_ERROR")
	require.Equal(t, codes.Canceled, status.Code(<-files.ended), "the checksum is incomplete")
	got = files.send("POST", filePath, "no gzip", "Content-Type", contentType, "Content-Encoding",
		"gzip")
	files.requireFailure(got, http.StatusBadRequest, "VALIDATION_ERROR")
	for _, encoding := range []string{"br", "gzip, gzip"} {
		got = files.send("POST", filePath, packed.String(), "Content-Type", contentType,
			"Content-Encoding", encoding)
		files.requireFailure(got, http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE")
	}
}

// TestUploadLimitsDecompressedSize sends a few hundred kilobytes that decompress to more than the
// limit of every upload.
func TestUploadLimitsDecompressedSize(t *testing.T) {
	t.Parallel()
	files := newFiles(t, admission.UsualTransfers)
	var first *dynamicpb.Message
	files.upload = collect(&first, &bytes.Buffer{})
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	head, contentType := encodeForm(file("file", "a.csv", "x"))
	head = head[:bytes.IndexByte(head, 'x')+1]
	_, err := writer.Write(head)
	require.NoError(t, err)
	for range 70 {
		_, err = writer.Write(make([]byte, 1<<20))
		require.NoError(t, err)
	}
	require.NoError(t, writer.Close())
	r := files.send("POST", filePath, packed.String(), "Content-Type", contentType,
		"Content-Encoding", "gzip")
	files.requireFailure(r, http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE")
	require.Error(t, <-files.ended)
}

func TestUploadRejectsMalformedForms(t *testing.T) {
	t.Parallel()
	files := newFiles(t, admission.UsualTransfers)
	var first *dynamicpb.Message
	files.upload = collect(&first, &bytes.Buffer{})
	for name, tc := range map[string]struct {
		parts   []part
		details map[string]string
		// begun is set if the service has received a part of the file before the error.
		begun bool
	}{
		"no file": {
			[]part{text("format", "csv")},
			map[string]string{"file": "must be exactly one non-empty file"},
			false,
		},
		"an empty file": {
			[]part{file("file", "a", "")},
			map[string]string{"file": "must be exactly one non-empty file"},
			false,
		},
		"text as file": {
			[]part{text("file", "a")},
			map[string]string{"file": "must be exactly one non-empty file"},
			false,
		},
		"text after the file": {
			[]part{file("file", "a", "x"), text("format", "csv")},
			map[string]string{"file": "must be the last part"},
			true,
		},
		"two files": {
			[]part{file("file", "a", "x"), file("file", "a", "x")},
			map[string]string{"file": "must be the last part"},
			true,
		},
		"bad fields": {
			[]part{text("count", "x"), text("format", "a"), text("format", "b")},
			map[string]string{
				"count": "must be an integer", "format": "must be given only once",
				"file": "must be exactly one non-empty file",
			},
			false,
		},
		"a bad field and a file": {
			[]part{text("count", "x"), file("file", "a", "x")},
			map[string]string{"count": "must be an integer"},
			false,
		},
	} {
		r := files.uploadForm(tc.parts...)
		files.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
		require.Equal(t, tc.details, r.details(), name)
		if tc.begun {
			require.Equal(t, codes.Canceled, status.Code(<-files.ended), name)
		}
	}
	form, contentType := encodeForm(file("file", "a", strings.Repeat("x", 200_000)))
	got := files.send("POST", filePath, string(form[:len(form)-10]), "Content-Type", contentType)
	files.requireFailure(got, http.StatusBadRequest, "VALIDATION_ERROR")
	require.Equal(t, codes.Canceled, status.Code(<-files.ended),
		"the service sees no end of a form that was cut off")
	got = files.send("POST", filePath, "{}", "Content-Type", "application/json")
	files.requireFailure(got, http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE")
	require.Contains(t, got.json["message"], "multipart/form-data for a file")
	got = files.send("POST", filePath, "")
	files.requireFailure(got, http.StatusBadRequest, "VALIDATION_ERROR")
	require.Empty(t, files.ended)
}

// openUpload begins a request whose body the test writes piece by piece. The status is 0 if the
// connection broke.
func (b *fileBackend) openUpload(
	ctx context.Context,
) (body *io.PipeWriter, form *multipart.Writer, status chan int) {
	b.Helper()
	read, write := io.Pipe()
	form = multipart.NewWriter(write)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+filePath, read)
	require.NoError(b, err)
	req.Header.Set("Authorization", "Bearer "+b.token)
	req.Header.Set("Content-Type", form.FormDataContentType())
	status = make(chan int, 1)
	go func() {
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			status <- 0
			return
		}
		_ = resp.Body.Close()
		status <- resp.StatusCode
	}()
	return write, form, status
}

// TestUploadForwardsPiecesAsTheyArrive waits for a piece in the service before it sends the next
// one, for longer than the read deadline of other requests.
func TestUploadForwardsPiecesAsTheyArrive(t *testing.T) {
	t.Parallel()
	files := newFiles(t, admission.UsualTransfers)
	var first *dynamicpb.Message
	var content bytes.Buffer
	files.upload = collect(&first, &content)
	body, form, answer := files.openUpload(t.Context())
	writer, err := form.CreateFormFile("file", "a.pdf")
	require.NoError(t, err)
	began := time.Now()
	for n := int64(1); n <= 5; n++ {
		// multipart holds back bytes that may begin a boundary.
		_, err = writer.Write(make([]byte, rpc.MaxPiece+5000))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return files.received.Load() >= n*rpc.MaxPiece },
			time.Minute, time.Millisecond)
	}
	require.Eventually(t, func() bool { return time.Since(began) > 2500*time.Millisecond },
		time.Minute, 10*time.Millisecond)
	require.NoError(t, form.Close())
	require.NoError(t, body.Close())
	require.Equal(t, http.StatusCreated, <-answer)
}
