package formats

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// TestOpenLegacyEncodings reads CSV files whose headings only one encoding explains.
func TestOpenLegacyEncodings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		encoding encoding.Encoding
		file     string
		want     []string
	}{
		"utf16":       {unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "Datum;Text;Betrag\r\n31.01.2024;Café;-12,50\r\n", []string{"2024-01-31|-12.50|||Café"}},
		"iso_8859_15": {charmap.ISO8859_15, "Datum;Empfänger;Betrag\n31.01.2024;Bäckerei;-12,50\n", []string{"2024-01-31|-12.50||Bäckerei|"}},
		"mac_roman":   {charmap.Macintosh, "Datum;Empfänger;Betrag\r31.01.2024;Bäckerei;-12,50\r", []string{"2024-01-31|-12.50||Bäckerei|"}},
		"turkish":     {charmap.Windows1254, "Tarih;Açıklama;Tutar\n31.01.2024;Maaş;1.100,00 TL\n", []string{"2024-01-31|1100.00|TRY||Maaş"}},
		"greek":       {charmap.Windows1253, "Ημερομηνία;Περιγραφή;Ποσό;Πρόσημο\n31/01/2024;Καφές;12,50;Χ\n01/02/2024;Μισθός;100,00;Π\n", []string{"2024-01-31|-12.50|||Καφές", "2024-02-01|100.00|||Μισθός"}},
		"hebrew":      {charmap.Windows1255, "תאריך,תיאור,חובה,זכות\n31/01/2024,קפה,12.50,\n", []string{"2024-01-31|-12.50|||קפה"}},
		"japanese":    {japanese.ShiftJIS, "日付,摘要,お支払金額,お預り金額\n2024/01/31,コーヒー,\"1,250\",\n", []string{"2024-01-31|-1250|||コーヒー"}},
		"korean":      {korean.EUCKR, "거래일시,적요,출금액,입금액\n2024.01.31 10:00:00,커피,\"12,500\",0\n", []string{"2024-01-31|-12500|||커피"}},
		// The sign means yen or yuan.
		"chinese": {simplifiedchinese.GB18030, "交易时间,交易类型,收/支,金额(元)\n2024-01-31 10:00:00,消费,支出,¥12.50\n2024-02-01 10:00:00,转账,收入,¥100.00\n", []string{"2024-01-31|-12.50|||消费", "2024-02-01|100.00|||转账"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := tc.encoding.NewEncoder().String(tc.file)
			require.NoError(t, err)
			records, facts := readAll(t, file, Options{})
			require.Equal(t, tc.want, linesOf(records))
			require.Equal(t, name != "utf16", contains(facts.Warnings, EncodingAssumed))
		})
	}
}

// TestOpenDialects reads what banks write although it is not in the standard of the format.
func TestOpenDialects(t *testing.T) {
	t.Parallel()
	const (
		ofxStatement = "OFXHEADER:100\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD<BANKACCTFROM><ACCTID>1234</BANKACCTFROM><BANKTRANLIST>"
		ofxEnd       = "</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"
		entry        = `<Ntry><Amt Ccy="EUR">12.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><BookgDt><Dt>2024-01-31</Dt></BookgDt></Ntry>`
		message      = `<BkToCstmrStmt><Stmt><Acct><Id><IBAN>DE1</IBAN></Id></Acct>` + entry + `</Stmt></BkToCstmrStmt>`
		camtSchema   = `xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"`
	)
	for name, tc := range map[string]struct {
		file string
		want []string
	}{
		"ofx_no_end_tags":    {ofxStatement + "\n<STMTTRN>\n<DTPOSTED>20240131120000.000[-5:EST]\n<TRNAMT>-12,50\n<NAME>Coffee\n<STMTTRN>\n<DTPOSTED>20240201\n<TRNAMT>1.100,00\n<NAME>Pay\n" + ofxEnd, []string{"2024-01-31|-12.50|USD|Coffee|", "2024-02-01|1100.00|USD|Pay|"}},
		"ofx_dates":          {ofxStatement + "<STMTTRN><DTPOSTED>2024-01-31<TRNAMT>- 12.50<NAME>A</STMTTRN><STMTTRN><DTPOSTED>31/01/2024<TRNAMT>+1,234.50<NAME>B</STMTTRN>" + ofxEnd, []string{"2024-01-31|-12.50|USD|A|", "2024-01-31|1234.50|USD|B|"}},
		"camt_envelope":      {`<?xml version="1.0"?><s:Envelope xmlns:s="x"><s:Body><Document ` + camtSchema + `>` + message + `</Document></s:Body></s:Envelope>`, []string{"2024-01-31|-12.50|EUR||"}},
		"camt_pending":       {`<Document ` + camtSchema + `><BkToCstmrAcctRpt><Rpt><Ntry><Amt Ccy="EUR">1</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>PDNG</Cd></Sts></Ntry>` + entry + `</Rpt></BkToCstmrAcctRpt></Document>`, []string{"2024-01-31|-12.50|EUR||"}},
		"mt940_envelope":     {"{1:F01ABNANL2AXXXX}{2:O940}{3:}{4:\r\n:20:ABN\r\n:25:123456789\r\n:28:1/1\r\n:60F:C240101EUR100,00\r\n:61:2401310131D12,50N426NONREF\r\n:86:/TRTP/SEPA OVERBOEKING/NAME/AH\r\n/REMI/Coffee/EREF/NOTPROVIDED\r\n:62F:C240131EUR87,50\r\n-}\r\n", []string{"2024-01-31|-12.50|EUR|AH|Coffee"}},
		"mt940_blank_lines":  {"\n:20:X\n:25:1/2\n:28C:0\n\n:60F:C240130EUR100,00\n:61:240131 0131 D 12,50 NMSCNONREF\n:86:105?00FOLGE?20EREF+123?21SVWZ+Kaffee?32Baecker\n\n", []string{"2024-01-31|-12.50|EUR|Baecker|Kaffee"}},
		"mt940_year_change":  {":20:X\n:25:1\n:28C:1\n:60F:C231230CHF100.00\n:61:2401021231RC12.50NMSCNONREF\n:62F:C240102CHF87.50\n", []string{"2023-12-31|-12.50|CHF||"}},
		"qif_apostrophe":     {"!Type:Bank\nD1/ 2'09\nT-12.50\nPA\n^\nD12/31'09\nT-1.00\n^\n", []string{"2009-01-02|-12.50||A|", "2009-12-31|-1.00|||"}},
		"qif_account_list":   {"!Option:AutoSwitch\n!Account\nNChecking\n^\nNCard\n^\n!Clear:AutoSwitch\n!Account\nNCard\n^\n!Type:CCard\nD30/01/2024\nT-1.50\nPB\n^\n!Type:Invst\nD31/01/2024\nNBuy\nT10.00\n^\n", []string{"2024-01-30|-1.50||B|"}},
		"csv_formulas":       {"Date,Description,Amount\n=\"01/31/2024\",=\"0012\",=\"-1,012.50\"\n", []string{"2024-01-31|-1012.50|||0012"}},
		"csv_quoted_formula": {"\"Date\",\"Description\",\"Amount\"\n\"=\"\"01/31/2024\"\"\",\"=\"\"Coffee\"\"\",\"-12.50\"\n", []string{"2024-01-31|-12.50|||Coffee"}},
		"csv_quoted_rows":    {"\"Date,Description,Amount\"\n\"2024-01-31,\"\"Coffee, big\"\",-12.50\"\n\"2024-02-01,Pay,100.00\"\n", []string{"2024-01-31|-12.50|||Coffee, big", "2024-02-01|100.00|||Pay"}},
		"csv_stars":          {"Account,:,123\n\nDate,Narration,Value Date,Withdrawal Amount,Deposit Amount,Closing Balance\n****,****,****,****,****,****\n31/01/24,UPI,31/01/24,12.50,,987.50\n01/02/24,NEFT,01/02/24,,100.00,1087.50\n\nSUMMARY\nOpening Balance,,Debits,Credits,Closing Bal\n1000.00,,12.50,100.00,1087.50\n", []string{"2024-01-31|-12.50|||UPI", "2024-02-01|100.00|||NEFT"}},
		"csv_sections":       {"Konto: 111\nDatum;Text;Betrag\n31.01.2024;Kaffee;-12,50\n\nKonto: 222\nDatum;Text;Betrag\n01.02.2024;Lohn;100,00\n", []string{"2024-01-31|-12.50|||Kaffee", "2024-02-01|100.00|||Lohn"}},
		"csv_month_names":    {"Datum;Text;Betrag\n31. Jänner 2024;a;-1,50\n1. Feber 2024;b;2,00\n15 août 2024;c;3,00-\n", []string{"2024-01-31|-1.50|||a", "2024-02-01|2.00|||b", "2024-08-15|-3.00|||c"}},
		"csv_sign_in_text":   {"Date,Narration,Amount\n31/01/2024,ATM,500.00 Dr\n01/02/2024,Salary,\"1,00,000.00 Cr\"\n", []string{"2024-01-31|-500.00|||ATM", "2024-02-01|100000.00|||Salary"}},
		"csv_type_in_detail": {"Details,Posting Date,Description,Amount\nDEBIT,01/31/2024,COFFEE,-12.50\nCREDIT,02/01/2024,PAY,100.00\n", []string{"2024-01-31|-12.50|||COFFEE", "2024-02-01|100.00|||PAY"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, _ := readAll(t, tc.file, Options{})
			require.Equal(t, tc.want, linesOf(records))
		})
	}
}

func TestProposeWarnsOfAmountsWithoutSign(t *testing.T) {
	t.Parallel()
	const heading = "Date,Description,Amount,Balance\n"
	_, facts := readAll(t, heading+"01/31/2024,Coffee,12.50,87.50\n02/01/2024,Pay,100.00,187.50\n02/03/2024,Rent,50.00,137.50\n", Options{})
	require.Contains(t, facts.Warnings, BalanceMismatch)
	_, facts = readAll(t, heading+"01/31/2024,Pay,12.50,112.50\n02/01/2024,Pay,100.00,212.50\n02/03/2024,Pay,50.00,262.50\n", Options{})
	require.NotContains(t, facts.Warnings, BalanceMismatch)
}
