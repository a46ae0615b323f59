package formats

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
)

// endless repeats a text after a prefix, up to a number of bytes.
func endless(prefix, text string, n int64) io.Reader {
	return io.LimitReader(io.MultiReader(strings.NewReader(prefix), &repeater{text: []byte(text)}), n)
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

// consume reads a file to its end and returns the number of records and the error.
func consume(r io.Reader) (n int, err error) {
	file, err := Open(r, Options{})
	if err != nil {
		return 0, err
	}
	for _, err := range file.Records() {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// requireBounded runs f and checks that it allocates less than a number of bytes in all, so no input is kept.
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
				_, err := consume(source())
				var failed *scan.ParseError
				require.ErrorAs(t, err, &failed)
			})
		})
	}
}

func TestOpenTooManyRows(t *testing.T) {
	t.Parallel()
	n, err := consume(endless("Date;Amount\n", "2024-01-31;1.00\n", 16*250_000))
	require.ErrorIs(t, err, ErrTooManyRows)
	require.Equal(t, MaxRows, n)
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
			bomb := packed(t, archive, endless("Date;Amount\n", "2024-01-31;1.00\n", 40<<20), "a.csv")
			requireBounded(t, 128<<20, func() {
				_, err := consume(bytes.NewReader(bomb))
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
		"zip_of_two":        {packed(t, "zip", strings.NewReader(smallCSV), "a.csv", "b.csv"), scan.ErrUnknownFormat},
		"empty":             {nil, scan.ErrEmpty},
		"blank":             {[]byte(" \n\n"), scan.ErrEmpty},
		"pdf":               {[]byte("%PDF-1.7\n1;2\n"), scan.ErrUnknownFormat},
		"text":              {[]byte("just a line\nand another\n"), scan.ErrUnknownFormat},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := consume(bytes.NewReader(tc.file))
			require.ErrorIs(t, err, tc.want)
			if tc.want == nil {
				require.Equal(t, 2, n)
			}
		})
	}
	t.Run("damaged", func(t *testing.T) {
		t.Parallel()
		for _, archive := range []string{"gzip", "zip"} {
			file := packed(t, archive, strings.NewReader(smallCSV), "a.csv")
			for _, n := range []int{10, len(file) / 2} {
				_, err := consume(bytes.NewReader(file[:n]))
				var failed *scan.ParseError
				require.ErrorAs(t, err, &failed, "%s %d", archive, n)
			}
		}
	})
}

func TestOpenEncodings(t *testing.T) {
	t.Parallel()
	wide := func(order int) string {
		b := []byte{}
		for _, u := range utf16.Encode([]rune(smallCSV)) {
			pair := []byte{byte(u), byte(u >> 8)}
			b = append(b, pair[order], pair[1-order])
		}
		return string(b)
	}
	for name, tc := range map[string]struct {
		file, text string
		assumed    bool
	}{
		"utf8":         {smallCSV, "Café", false},
		"utf8_bom":     {"\ufeff" + smallCSV, "Café", false},
		"utf16_le":     {wide(0), "Café", false},
		"utf16_be":     {wide(1), "Café", false},
		"utf16_le_bom": {"\xff\xfe" + wide(0), "Café", false},
		"windows_1252": {strings.ReplaceAll(smallCSV, "é", "\xe9"), "Café", true},
		"cp850":        {strings.ReplaceAll(smallCSV, "é", "\x82"), "Café", true},
		"windows_1250": {"Datum proveden\xed;Zpr\xe1va;\xc8\xe1stka\n31.01.2024;\x8elu\x9d;-12,30\n", "Žluť", true},
		"cut_utf8":     {"Date,Payee,Amount\n2024-01-31,Caf\xe9 in Zür,-12.30\n", "Café in Zür", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, facts := readAll(t, tc.file, Options{})
			last := records[len(records)-1]
			require.Empty(t, last.Problem)
			require.Equal(t, "-12.30", last.Amount)
			if name != "cut_utf8" {
				require.Equal(t, tc.text, last.Payee+last.Description)
			}
			require.Equal(t, tc.assumed, contains(facts.Warnings, EncodingAssumed))
		})
	}
}

// contains reports whether a list has a text.
func contains(list []string, s string) bool { return strings.Contains(strings.Join(list, " "), s) }
