package xlsx_test

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

const (
	firstSheet  = "xl/worksheets/sheet1.xml"
	secondSheet = "xl/worksheets/sheet2.xml"
	stylesPart  = "xl/styles.xml"
	textsPart   = "xl/sharedStrings.xml"
	mainPart    = "xl/workbook.xml"
)

// styles has a tag with many namespaces, as some programs write it, and the styles 0: general, 1:
// day, 2: day and time, 3: amount, 4: time of day.
var styles = `<styleSheet xmlns="` + strings.Repeat("a", 8<<10) + `"><numFmts>` +
	`<numFmt numFmtId="164" formatCode="[$-407]d/\ mmm\ yyyy;@"/>` +
	`<numFmt numFmtId="165" formatCode="#,##0.00\ &quot;day&quot;;[Red]\-#,##0.00"/></numFmts>` +
	`<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>` +
	`<xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="165"/><xf numFmtId="20"/>` +
	`</cellXfs></styleSheet>`

// texts are the shared texts of the tests.
const texts = `<sst><si><t>Café &amp; Bar</t></si>` +
	`<si><r><t xml:space="preserve">Big </t></r><r><t>Shop</t></r>` +
	`<rPh sb="0" eb="1"><t>guide</t></rPh></si></sst>`

// list is a sheet with one transaction.
var list = fixture.Sheet([]string{"Date", "Payee", "Amount"},
	[]string{"2024-01-31", "Shop", `<c><v>-5</v></c>`})

func TestParse(t *testing.T) {
	t.Parallel()
	records, facts := fixture.ReadAll(t, string(fixture.Workbook(t, map[string]string{
		firstSheet: fixture.Sheet(
			[]string{"Account", "DE001234"},
			[]string{"Date", "Payee", "Purpose", "Amount", "Currency"},
			[]string{
				`<c s="1"><v>45322</v></c>`, `<c t="s"><v>0</v></c>`, "lunch",
				`<c s="3"><v>-12.300000000000001</v></c>`, "EUR",
			},
			[]string{
				`<c s="2"><v>45323.604166666664</v></c>`, `<c t="s"><v>1</v></c>`,
				`<c t="str"><f>A1</f><v>a_x000D_ b</v></c>`,
				`<c><f>SUM(A1:A2)</f><v>1.5E3</v></c>`, "EUR",
			},
			[]string{
				"2024-02-02", "Anna", `<c t="b"><v>1</v></c>`, `<c><v>7</v></c>`, "EUR",
			},
		),
		stylesPart: styles, textsPart: texts,
	})), statement.Options{})
	require.Equal(t, []string{
		"2024-01-31|-12.3|EUR|Café & Bar|lunch", "2024-02-01|1500|EUR|Big Shop|a b",
		"2024-02-02|7|EUR|Anna|TRUE",
	}, fixture.Lines(records))
	require.Equal(t, statement.XLSX, facts.Format)
	require.Equal(t, []any{statement.XLSX, "", 1, "YYYY-MM-DD", "."}, []any{
		facts.Mapping.Format, facts.Mapping.Delimiter, facts.Mapping.SkipRows,
		facts.Mapping.DateLayout, facts.Mapping.DecimalMark,
	})
	require.Equal(t, "2024-02-01 14:30:00", records[3].Cells[0])
	require.Equal(t, 4, records[3].Line)
	require.Len(t, records[0].Cells, 2)
	// The dates of a column are numbers and text.
	require.Contains(t, facts.Warnings, statement.DateOrderAssumed)
}

// cellsOf returns the cells of the second of two rows, with the given XML.
func cellsOf(t *testing.T, parts map[string]string, xml string) []string {
	t.Helper()
	parts[firstSheet] = fixture.Sheet([]string{"Date", "Amount"}, []string{xml})
	file, err := formats.Open(bytes.NewReader(fixture.Workbook(t, parts)), statement.Options{})
	require.NoError(t, err)
	var cells []string
	for record, err := range file.Records() {
		require.NoError(t, err)
		cells = record.Cells
	}
	return cells
}

func TestParseValues(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ cell, want string }{
		"noise":                 {`<c><v>0.30000000000000004</v></c>`, "0.3"},
		"noise_of_large":        {`<c><v>1234567.8899999999</v></c>`, "1234567.89"},
		"not_rounded":           {`<c s="3"><v>12.345678</v></c>`, "12.345678"},
		"three_decimals":        {`<c><v>-1.234</v></c>`, "-1.2340"},
		"long_reference":        {`<c><v>20240131123456789</v></c>`, "20240131123456789"},
		"exponent":              {`<c><v>-1.25E-2</v></c>`, "-0.0125"},
		"huge":                  {`<c><v>1E300</v></c>`, "1E300"},
		"day_of_1900":           {`<c s="1"><v>1</v></c>`, "1900-01-01"},
		"day_after_leap_day":    {`<c s="1"><v>61</v></c>`, "1900-03-01"},
		"no_leap_day":           {`<c s="1"><v>60</v></c>`, "60"},
		"day_with_hidden_time":  {`<c s="1"><v>45322.75</v></c>`, "2024-01-31"},
		"end_of_day_by_noise":   {`<c s="2"><v>45321.999999999</v></c>`, "2024-01-31"},
		"time_of_day":           {`<c s="4"><v>0.5</v></c>`, "12:00:00"},
		"negative_day":          {`<c s="1"><v>-5</v></c>`, "-5"},
		"iso_date":              {`<c t="d"><v>2024-01-31T00:00:00</v></c>`, "2024-01-31"},
		"error":                 {`<c t="e"><v>#N/A</v></c>`, "#N/A"},
		"formula_without_value": {`<c t="str"><f>A1*2</f></c>`, "=A1*2"},
		"escaped_underscore":    {`<c t="str"><v>a_x005F_b</v></c>`, "a_b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := cellsOf(t, map[string]string{stylesPart: styles}, tc.cell)
			require.Equal(t, []string{tc.want, ""}, got)
		})
	}
	t.Run("days_from_1904", func(t *testing.T) {
		t.Parallel()
		got := cellsOf(t, map[string]string{
			stylesPart: styles, mainPart: `<workbook><workbookPr date1904="1"/>` +
				`<sheets><sheet name="A" r:id="rId3"/></sheets></workbook>`,
		}, `<c s="1"><v>43860</v></c>`)
		require.Equal(t, "2024-01-31", got[0])
	})
	t.Run("position", func(t *testing.T) {
		t.Parallel()
		got := cellsOf(t, map[string]string{}, `<c r="C2"><v>5</v></c>`)
		require.Equal(t, []string{"", "", "5"}, got)
	})
}

func TestParseChoosesSheet(t *testing.T) {
	t.Parallel()
	summary := fixture.Sheet([]string{"Period", "January"}, []string{"Balance", `<c><v>5</v></c>`})
	old := strings.ReplaceAll(list, "2024", "2023")
	for name, tc := range map[string]struct {
		parts map[string]string
		warns bool
	}{
		"table_after_summary": {map[string]string{firstSheet: summary, secondSheet: list}, true},
		"first_of_two_tables": {map[string]string{firstSheet: list, secondSheet: old}, true},
		"empty_second_sheet": {
			map[string]string{firstSheet: list, secondSheet: fixture.Sheet()}, false,
		},
		"hidden_first_sheet": {map[string]string{
			firstSheet: old, secondSheet: list,
			mainPart: `<workbook><sheets><sheet name="A" state="hidden" r:id="rId3"/>` +
				`<sheet name="B" r:id="rId4"/></sheets></workbook>`,
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := string(fixture.Workbook(t, tc.parts))
			records, facts := fixture.ReadAll(t, file, statement.Options{})
			require.Equal(t, []string{"2024-01-31|-5||Shop|"}, fixture.Lines(records))
			if tc.warns {
				require.Contains(t, facts.Warnings, statement.SheetsSkipped)
				evidence := facts.Assumptions[0].Evidence.Sentence()
				require.Contains(t, evidence, `Of the sheets "Sheet 1", "Sheet 2"`)
			} else {
				require.NotContains(t, facts.Warnings, statement.SheetsSkipped)
			}
		})
	}
}

func TestParseCutsNamesOfSheets(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("a", 3*statement.MaxName)
	_, facts := fixture.ReadAll(t, string(fixture.Workbook(t, map[string]string{
		firstSheet: list, secondSheet: list,
		mainPart: `<workbook><sheets><sheet name="` + name + `" r:id="rId3"/>` +
			`<sheet name="B" r:id="rId4"/></sheets></workbook>`,
	})), statement.Options{})
	require.NotContains(t, facts.Assumptions[0].Evidence.Sentence(), name[:statement.MaxName+1])
}

func TestParseDamaged(t *testing.T) {
	t.Parallel()
	whole := fixture.Workbook(t, map[string]string{firstSheet: list})
	changed := bytes.Clone(whole)
	changed[bytes.Index(changed, []byte(firstSheet))+len(firstSheet)+20] ^= 0xff
	unknown := fixture.Sheet([]string{`<c t="s"><v>7</v></c>`})
	for name, file := range map[string][]byte{
		"half":         whole[:len(whole)/2],
		"changed_byte": changed,
		"no_end": fixture.Workbook(t, map[string]string{
			firstSheet: strings.Split(list, "</sheetData>")[0],
		}),
		"missing_text": fixture.Workbook(t, map[string]string{firstSheet: unknown}),
		"binary": fixture.Workbook(t, map[string]string{
			"xl/workbook.bin": "x", firstSheet: list,
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := fixture.Count(bytes.NewReader(file))
			var failed *scan.ParseError
			require.ErrorAs(t, err, &failed)
		})
	}
	t.Run("no_sheets", func(t *testing.T) {
		t.Parallel()
		file := fixture.Workbook(t, map[string]string{mainPart: "<document/>"})
		_, err := fixture.Count(bytes.NewReader(file))
		require.ErrorIs(t, err, scan.ErrEmpty)
	})
}

// filled returns a text of a number of bytes between two others.
func filled(before, text, after string, bytes int) string {
	return before + strings.Repeat(text, bytes/len(text)) + after
}

func TestParseLimits(t *testing.T) {
	t.Parallel()
	const begin, end = "<worksheet><sheetData>", "</sheetData></worksheet>"
	const aSheet = `<sheet name="A" r:id="rId3"/>`
	sheets := func(bytes int) string {
		return filled("<workbook><sheets>", aSheet, "</sheets></workbook>", bytes)
	}
	// Parts that hardly compress raise the limit of decompressed bytes.
	var noise strings.Builder
	random := rand.New(rand.NewPCG(1, 1))
	for noise.Len() < 64<<10 {
		noise.WriteByte(byte(random.Uint32()))
	}
	long := `<c r="A1" t="str"><v>` + strings.Repeat("a", 48) + `</v></c>`
	for name, parts := range map[string]map[string]string{
		"columns": {firstSheet: fixture.Sheet([]string{`<c r="GS1"><v>1</v></c>`})},
		"row":     {firstSheet: filled(begin+"<row>", long, "</row>"+end, 256<<10)},
		"cell": {
			firstSheet: filled(begin+`<row><c t="str"><v>`, "a", "</v></c></row>"+end, 128<<10),
		},
		"inline": {firstSheet: filled(begin+`<row><c t="inlineStr"><is>`,
			"<t>aaaaaaaaaaaaaaaa</t>", "</is></c></row>"+end, 256<<10)},
		"shared_texts": {
			firstSheet: list, textsPart: filled("<sst>", "<si/>", "</sst>", 6<<20),
			"xl/media/a": noise.String(),
		},
		"sheets": {firstSheet: list, mainPart: sheets(16 << 10)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := fixture.Count(bytes.NewReader(fixture.Workbook(t, parts)))
			var failed *scan.ParseError
			require.ErrorAs(t, err, &failed)
		})
	}
	for name, parts := range map[string]map[string]string{
		"blank_rows": {firstSheet: filled(begin, "<row/>", end, 8<<20)},
		"opened_often": {
			firstSheet: filled("<worksheet>", "<a/>", "<sheetData/></worksheet>", 512<<10),
			mainPart:   sheets(7 << 10),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := fixture.Count(bytes.NewReader(fixture.Workbook(t, parts)))
			require.ErrorIs(t, err, scan.ErrTooLarge)
		})
	}
	for want, rest := range map[string]string{
		"more than 12 MiB":     strings.Repeat("a", 13<<20),
		"more than 2000 files": strings.Repeat("PK\x01\x02", 3000),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			start := fixture.Workbook(t, map[string]string{firstSheet: list})
			_, err := fixture.Count(bytes.NewReader(append(start, rest...)))
			require.ErrorContains(t, err, want)
		})
	}
}

func TestParseCompressed(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(fixture.Workbook(t, map[string]string{firstSheet: list}))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	n, err := fixture.Count(&b)
	require.NoError(t, err)
	require.Equal(t, 2, n)
}
