package xlsx_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

// FuzzXLSX reads sheets, texts and styles of any contents, and checks that no row exceeds the
// limits.
func FuzzXLSX(f *testing.F) {
	// Short seeds are minimized quickly.
	styles := strings.ReplaceAll(styles, strings.Repeat("a", 8<<10), "")
	f.Add(list, texts, styles)
	f.Add(fixture.Sheet([]string{"Date", "Amount"},
		[]string{`<c s="1"><v>45322</v></c>`, `<c r="AB3" t="s"><v>0</v></c>`}), texts, styles)
	f.Fuzz(func(t *testing.T, sheet, texts, styles string) {
		if max(len(sheet), len(texts), len(styles)) > 1<<16 || sheet == "" {
			return
		}
		file, err := formats.Open(bytes.NewReader(fixture.Workbook(t, map[string]string{
			firstSheet: sheet, textsPart: texts, stylesPart: styles,
		})), statement.Options{})
		require.NoError(t, err)
		var records []statement.Record
		for record, err := range file.Records() {
			if err != nil {
				return
			}
			size := 0
			for _, cell := range record.Cells {
				size += len(cell)
			}
			require.LessOrEqual(t, size, scan.MaxRow)
			require.LessOrEqual(t, len(record.Cells), scan.MaxColumns)
			records = append(records, record)
		}
		if reader, _ := formats.NewReader(file.Facts().Mapping); reader != nil {
			for _, record := range records {
				reader.Record(record)
			}
		}
	})
}
