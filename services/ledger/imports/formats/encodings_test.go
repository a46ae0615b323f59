package formats_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

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
			records, facts := fixture.ReadAll(t, tc.file, statement.Options{})
			last := records[len(records)-1]
			require.Empty(t, last.Problem)
			require.Equal(t, "-12.30", last.Amount)
			if name != "cut_utf8" {
				require.Equal(t, tc.text, last.Payee+last.Description)
			}
			require.Equal(t, tc.assumed, slices.Contains(facts.Warnings, statement.EncodingAssumed))
		})
	}
}

// TestOpenLegacyEncodings reads CSV files whose headings only one encoding explains.
func TestOpenLegacyEncodings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		encoding encoding.Encoding
		file     string
		want     []string
	}{
		"utf16":       {unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "Datum;Text;Betrag\r\n31.01.2024;Café;-12,50\r\n", []string{"2024-01-31|-12.50||Café|"}},
		"iso_8859_15": {charmap.ISO8859_15, "Datum;Empfänger;Betrag\n31.01.2024;Bäckerei;-12,50\n", []string{"2024-01-31|-12.50||Bäckerei|"}},
		"mac_roman":   {charmap.Macintosh, "Datum;Empfänger;Betrag\r31.01.2024;Bäckerei;-12,50\r", []string{"2024-01-31|-12.50||Bäckerei|"}},
		"turkish":     {charmap.Windows1254, "Tarih;Açıklama;Tutar\n31.01.2024;Maaş;1.100,00 TL\n", []string{"2024-01-31|1100.00|TRY|Maaş|"}},
		"greek":       {charmap.Windows1253, "Ημερομηνία;Περιγραφή;Ποσό;Πρόσημο\n31/01/2024;Καφές;12,50;Χ\n01/02/2024;Μισθός;100,00;Π\n", []string{"2024-01-31|-12.50||Καφές|", "2024-02-01|100.00||Μισθός|"}},
		"hebrew":      {charmap.Windows1255, "תאריך,תיאור,חובה,זכות\n31/01/2024,קפה,12.50,\n", []string{"2024-01-31|-12.50||קפה|"}},
		"japanese":    {japanese.ShiftJIS, "日付,摘要,お支払金額,お預り金額\n2024/01/31,コーヒー,\"1,250\",\n", []string{"2024-01-31|-1250||コーヒー|"}},
		// One heading is known.
		"japanese words": {japanese.ShiftJIS, "番号,取引日,（内容）,ご返済額\n１,2024/01/31,カフェ（東京）,-1250\n", []string{"2024-01-31|-1250||カフェ（東京）|"}},
		"bulgarian":      {charmap.Windows1251, "Ден;Бележка;Стойност\n31.01.2024;Кафе;-12,50\n", []string{"2024-01-31|-12.50||Кафе|"}},
		"thai":           {charmap.Windows874, "วันที่,รายละเอียด,ถอน,ฝาก\n31/01/2024,กาแฟ,12.50,\n", []string{"2024-01-31|-12.50||กาแฟ|"}},
		"arabic":         {charmap.Windows1256, "التاريخ,الوصف,مدين,دائن\n31/01/2024,قهوة,12.50,\n", []string{"2024-01-31|-12.50||قهوة|"}},
		"korean":         {korean.EUCKR, "거래일시,적요,출금액,입금액\n2024.01.31 10:00:00,커피,\"12,500\",0\n", []string{"2024-01-31|-12500||커피|"}},
		// The sign means yen or yuan.
		"chinese": {simplifiedchinese.GB18030, "交易时间,交易类型,收/支,金额(元)\n2024-01-31 10:00:00,消费,支出,¥12.50\n2024-02-01 10:00:00,转账,收入,¥100.00\n", []string{"2024-01-31|-12.50||消费|", "2024-02-01|100.00||转账|"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := tc.encoding.NewEncoder().String(tc.file)
			require.NoError(t, err)
			records, facts := fixture.ReadAll(t, file, statement.Options{})
			require.Equal(t, tc.want, fixture.Lines(records))
			require.Equal(t, name != "utf16",
				slices.Contains(facts.Warnings, statement.EncodingAssumed))
		})
	}
}
