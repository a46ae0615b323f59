package formats_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

// endless repeats a text after a prefix, up to a number of bytes.
func endless(prefix, text string, n int64) io.Reader {
	all := io.MultiReader(strings.NewReader(prefix), &repeater{text: []byte(text)})
	return io.LimitReader(all, n)
}

// repeater repeats a text without end.
type repeater struct {
	text []byte
	at   int
}

// Read fills p with the text.
func (r *repeater) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[r.at]
		r.at = (r.at + 1) % len(r.text)
	}
	return len(p), nil
}

// requireBounded runs f and checks that it allocates less than a number of bytes in all, so no
// input is kept.
func requireBounded(t *testing.T, limit uint64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, limit)
}

//nolint:paralleltest // The subtests measure the allocations of the process.
func TestOpenLimits(t *testing.T) {
	const size = 64 << 20
	for name, source := range map[string]func() io.Reader{
		"one_row":              func() io.Reader { return endless("Date;Amount\n", "1;2 ", size) },
		"one_row_many_columns": func() io.Reader { return endless("Date;Amount\n", ";", size) },
		"one_quoted_cell":      func() io.Reader { return endless("Date;Amount\n\"", "a\n", size) },
		"ofx_text":             func() io.Reader { return endless("<OFX><STMTRS><STMTTRN><MEMO>", "a", size) },
		"ofx_tag":              func() io.Reader { return endless("<OFX><STMTRS><", "A", size) },
		"ofx_depth":            func() io.Reader { return endless("<OFX>", "<A>", size) },
		"camt_depth":           func() io.Reader { return endless(`<Document xmlns="camt.053.001.02">`, "<a>", size) },
		"camt_text": func() io.Reader {
			return endless(`<Document xmlns="camt.053.001.02"><BkToCstmrStmt><Stmt><Id>`, "a", size)
		},
		"camt_section": func() io.Reader { return endless(`<Document xmlns="camt.053.001.02"><Id><![CDATA[`, "<", size) },
		"camt_comment": func() io.Reader { return endless(`<Document xmlns="camt.053.001.02"><!--`, "-<", size) },
		"mt940_field":  func() io.Reader { return endless(":20:A\n:25:1\n:60F:C200101EUR0,\n:86:", "a\n", size) },
		"mt940_line":   func() io.Reader { return endless(":20:A\n:25:1\n:60F:C200101EUR0,\n:61:", "1", size) },
		"qif_record":   func() io.Reader { return endless("!Type:Bank\n", "Ma\n", size) },
		"qif_parts":    func() io.Reader { return endless("!Type:Bank\n", "S\n", size) },
		"coffer_line":  func() io.Reader { return endless(`{"wallet":{"id":"`, "a", size) },
	} {
		t.Run(name, func(t *testing.T) {
			requireBounded(t, 16<<20, func() {
				_, err := fixture.Count(source())
				var failed *scan.ParseError
				require.ErrorAs(t, err, &failed)
			})
		})
	}
}

// TestOpenBrokenRows reads lines that may be the rest of the row before them. Few lines are joined
// with a row, so the work does not grow with the square of their number.
//
//nolint:paralleltest // It measures the allocations of the process.
func TestOpenBrokenRows(t *testing.T) {
	const heading = "Date;Text;Amount;Balance" // The first row has a date and too few cells.
	requireBounded(t, 256<<20, func() {
		n, err := fixture.Count(endless(heading+"\n2024-01-31;a\n", "b\n", 256<<10))
		require.NoError(t, err)
		require.Greater(t, n, 100_000)
	})
}

func TestOpenTooManyRows(t *testing.T) {
	t.Parallel()
	n, err := fixture.Count(endless("Date;Amount\n", "2024-01-31;1.00\n", 16*250_000))
	require.ErrorIs(t, err, formats.ErrTooManyRows)
	require.Equal(t, statement.MaxRecords, n)
	n, err = fixture.Count(endless("Date;Amount\n", "2024-01-31;1.00\n", 12+16*statement.MaxRows))
	require.NoError(t, err, "the heading is no transaction")
	require.Equal(t, statement.MaxRows+1, n)
}

// packed returns a gzip or zip file with zeros or other text.
func packed(t *testing.T, archive string, contents io.Reader, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	if archive == "gzip" {
		w := gzip.NewWriter(&b)
		_, err := io.Copy(w, contents)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return b.Bytes()
	}
	w := zip.NewWriter(&b)
	for i, name := range names {
		f, err := w.Create(name)
		require.NoError(t, err)
		if i == 0 {
			_, err = io.Copy(f, contents)
		} else {
			_, err = f.Write([]byte("other"))
		}
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

const smallCSV = "Date,Payee,Amount\n2024-01-31,Café,-12.30\n"

//nolint:paralleltest // The subtests measure the allocations of the process.
func TestOpenBombs(t *testing.T) {
	for _, archive := range []string{"gzip", "zip"} {
		t.Run(archive, func(t *testing.T) {
			bomb := packed(t, archive,
				endless("Date;Amount\n", "2024-01-31;1.00\n", 40<<20), "a.csv")
			requireBounded(t, 128<<20, func() {
				_, err := fixture.Count(bytes.NewReader(bomb))
				require.ErrorIs(t, err, scan.ErrTooLarge)
			})
		})
	}
}

func TestOpenCompressed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file []byte
		want error
	}{
		"gzip":              {packed(t, "gzip", strings.NewReader(smallCSV)), nil},
		"zip":               {packed(t, "zip", strings.NewReader(smallCSV), "a.csv"), nil},
		"zip_with_metadata": {packed(t, "zip", strings.NewReader(smallCSV), "a.csv", "__MACOSX/a.csv"), nil},
		"zip_of_ynab":       {packed(t, "zip", strings.NewReader(smallCSV), "My Budget - Register.csv", "My Budget - Budget.csv"), nil},
		"zip_of_two":        {packed(t, "zip", strings.NewReader(smallCSV), "a.csv", "b.csv"), formats.ErrUnknownFormat},
		"empty":             {nil, scan.ErrEmpty},
		"blank":             {[]byte(" \n\n"), scan.ErrEmpty},
		"pdf":               {[]byte("%PDF-1.7\n1;2\n"), formats.ErrUnknownFormat},
		"text":              {[]byte("just a line\nand another\n"), formats.ErrUnknownFormat},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := fixture.Count(bytes.NewReader(tc.file))
			require.ErrorIs(t, err, tc.want)
			if tc.want == nil {
				require.Equal(t, 2, n)
			}
		})
	}
	t.Run("two_large_files", func(t *testing.T) {
		t.Parallel()
		file := packed(t, "zip", endless("Date;Amount\n", "2024-01-31;1.00\n", 1<<20),
			"a.csv", "b.csv")
		n, err := fixture.Count(bytes.NewReader(file))
		require.ErrorIs(t, err, formats.ErrUnknownFormat)
		require.ErrorContains(t, err, "; the zip file has more than one file")
		require.Positive(t, n)
	})
	t.Run("damaged", func(t *testing.T) {
		t.Parallel()
		for _, archive := range []string{"gzip", "zip"} {
			file := packed(t, archive, strings.NewReader(smallCSV), "a.csv")
			for _, n := range []int{10, len(file) / 2} {
				_, err := fixture.Count(bytes.NewReader(file[:n]))
				var failed *scan.ParseError
				require.ErrorAs(t, err, &failed, "%s %d", archive, n)
			}
		}
	})
}
