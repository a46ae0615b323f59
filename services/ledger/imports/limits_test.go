package imports

import (
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// repeated returns n bytes: a prefix, and then a text again and again.
func repeated(n int64, prefix, text string) io.Reader {
	return io.LimitReader(io.MultiReader(strings.NewReader(prefix), &repeater{text: text}), n)
}

// repeater repeats a text without end.
type repeater struct {
	text string
	at   int
}

// Read implements io.Reader.
func (r *repeater) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[r.at]
		r.at = (r.at + 1) % len(r.text)
	}
	return len(p), nil
}

// packed returns a compressed file. Its contents are generated while it is read, so a file of any
// size needs no memory.
func packed(t *testing.T, pack func(w io.Writer) io.Writer, contents io.Reader) io.Reader {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	go func() {
		z := pack(w)
		_, err := io.Copy(z, contents)
		if c, ok := z.(io.Closer); ok && err == nil {
			err = c.Close()
		}
		_ = w.CloseWithError(err)
	}()
	return r
}

//nolint:paralleltest // The subtests measure the heap of the process.
func TestCreateImportLimits(t *testing.T) {
	const (
		gigabyte = 1 << 30
		maxHeap  = 64 << 20
	)
	zipped := func(w io.Writer) io.Writer {
		f, err := zip.NewWriter(w).Create("a.csv")
		require.NoError(t, err)
		return f
	}
	s := setup(t)
	for name, c := range map[string]struct {
		file   func(t *testing.T) io.Reader
		reason restv1.Reason
	}{
		"zip_bomb": {func(t *testing.T) io.Reader {
			t.Helper()
			return packed(t, zipped, repeated(gigabyte, "Date;Amount\n", "2024-01-31;1.00\n"))
		}, restv1.Reason_PAYLOAD_TOO_LARGE},
		"gzip_bomb": {func(t *testing.T) io.Reader {
			t.Helper()
			return packed(t, func(w io.Writer) io.Writer {
				return gzip.NewWriter(w)
			}, repeated(gigabyte, "Date;Amount\n", "2024-01-31;1.00\n"))
		}, restv1.Reason_PAYLOAD_TOO_LARGE},
		"xml_of_100000_levels": {func(*testing.T) io.Reader {
			return repeated(3*100_000,
				`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02">`, "<a>")
		}, restv1.Reason_IMPORT_PARSE_FAILED},
		"endless_line": {func(*testing.T) io.Reader {
			return repeated(gigabyte, "Date;Amount\n", "1")
		}, restv1.Reason_IMPORT_PARSE_FAILED},
		"one_row_of_64_mebibytes": {func(*testing.T) io.Reader {
			return repeated(maxFile, "Date;Amount\n", ";")
		}, restv1.Reason_IMPORT_PARSE_FAILED},
		"more_than_64_mebibytes": {func(*testing.T) io.Reader {
			return repeated(maxFile+1, "", `{"rate":{"note":"`+strings.Repeat("a", 8000)+"\"}}\n")
		}, restv1.Reason_PAYLOAD_TOO_LARGE},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, s)
			file, piece := c.file(t), make([]byte, 64<<10)
			form := &ledgerv1.CreateImportRequest{Header: &restv1.FileHeader{FileName: name}}
			u := &fixture.UploadStream[ledgerv1.CreateImportRequest, ledgerv1.CreateImportResponse]{
				Ctx: p.Ctx, Next: func() (*ledgerv1.CreateImportRequest, error) {
					if m := form; m != nil {
						form = nil
						return m, nil
					}
					n, err := io.ReadFull(file, piece)
					if errors.Is(err, io.ErrUnexpectedEOF) {
						err = nil
					}
					return &ledgerv1.CreateImportRequest{File: piece[:n]}, err
				},
			}
			var err error
			heap := heapOf(func() { err = p.CreateImport(u) })
			e := apierr.From(err)
			require.NotNil(t, e, "%v", err)
			require.Equal(t, c.reason.String(), e.Reason)
			require.Less(t, heap, int64(maxHeap))
			left := pgtest.Value[int](t, s.DB, `SELECT count(*) FROM imports WHERE owner_id = $1`,
				p.ID)
			require.Zero(t, left)
		})
	}
}

// TestCreateImportMaxRows uploads as many transactions as a file may have. Its heading does not
// count.
func TestCreateImportMaxRows(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.maxRows = 3
	p := newPerson(t, s)
	const file = "Bank\nDate;Payee;Amount\n2026-02-03;A;-1\n2026-02-03;B;-2\n2026-02-03;C;-3\n"
	_, err := p.upload(&ledgerv1.CreateImportRequest{}, file)
	require.NoError(t, err)
	_, err = p.upload(&ledgerv1.CreateImportRequest{}, file+"2026-02-03;D;-4\n")
	fixture.RequireReason(t, err, codes.InvalidArgument, "IMPORT_TOO_MANY_ROWS")
	list, err := p.ListImports(p.Ctx, &ledgerv1.ListImportsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetImports(), 1)
}
