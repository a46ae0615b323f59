package camt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestParse(t *testing.T) {
	t.Parallel()
	entry := func(amount, sign, status, inner string) string {
		return `<Ntry><Amt Ccy="EUR">` + amount + `</Amt><CdtDbtInd>` + sign + `</CdtDbtInd><Sts>` +
			status + `</Sts><BookgDt><Dt>2024-01-31</Dt></BookgDt>
<ValDt><Dt>2024-02-01</Dt></ValDt>` + inner + `</Ntry>`
	}
	balance := func(code, amount string) string {
		return `<Bal><Tp><CdOrPrtry><Cd>` + code + `</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">` +
			amount + `</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2024-01-31</Dt></Dt></Bal>`
	}
	file := func(closing string) string {
		return `<?xml version="1.0"?><c:Document xmlns:c="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><c:BkToCstmrStmt><Stmt><Acct><Id><IBAN>DE00 1234</IBAN></Id></Acct>` +
			balance("OPBD", "10.00") + balance("CLBD", closing) + `<!-- <Ntry> -->` +
			entry("3.00", "DBIT", "BOOK",
				`<AcctSvcrRef>REF1</AcctSvcrRef><NtryDtls><TxDtls><RltdPties><Cdtr><Pty><Nm>Shop &amp; Co</Nm></Pty></Cdtr></RltdPties><RmtInf><Ustrd>a</Ustrd><Ustrd>b</Ustrd></RmtInf></TxDtls></NtryDtls>`) +
			entry("4.00", "CRDT", "<Cd>BOOK</Cd>",
				`<RvslInd>true</RvslInd><NtryDtls><TxDtls><Amt Ccy="EUR">1.50</Amt></TxDtls><TxDtls><Amt Ccy="EUR">2.50</Amt></TxDtls></NtryDtls>`) +
			entry("9.00", "CRDT", "PDNG", "") + `</Stmt></c:BkToCstmrStmt></c:Document>`
	}
	records, facts := fixture.ReadAll(t, file("11.00"), statement.Options{})
	require.Equal(t, []string{
		"2024-01-31|-3.00|EUR|Shop & Co|a b", "2024-01-31|1.50|EUR||", "2024-01-31|2.50|EUR||",
		"2024-01-31|9.00|EUR|||pending",
	}, fixture.Lines(records))
	require.Empty(t, facts.Warnings)
	require.Equal(t, "camt:REF1", records[0].ExternalID)
	require.Equal(t, "1234", facts.Accounts[0].Last4)
	_, facts = fixture.ReadAll(t, file("12.00"), statement.Options{})
	require.Equal(t, []string{statement.BalanceMismatch}, facts.Warnings)
	require.Len(t, facts.Assumptions, 1)
	_, err := fixture.Count(strings.NewReader(file("11.00")[:900]))
	var failed *scan.ParseError
	require.ErrorAs(t, err, &failed)
}

// TestParseDialects reads what banks write although it is not in the standard of the format.
func TestParseDialects(t *testing.T) {
	t.Parallel()
	const (
		entry   = `<Ntry><Amt Ccy="EUR">12.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><BookgDt><Dt>2024-01-31</Dt></BookgDt></Ntry>`
		message = `<BkToCstmrStmt><Stmt><Acct><Id><IBAN>DE1</IBAN></Id></Acct>` + entry +
			`</Stmt></BkToCstmrStmt>`
		schema = `xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"`
	)
	for name, tc := range map[string]struct {
		file string
		want []string
	}{
		"envelope":              {`<?xml version="1.0"?><s:Envelope xmlns:s="x"><s:Body><Document ` + schema + `>` + message + `</Document></s:Body></s:Envelope>`, []string{"2024-01-31|-12.50|EUR||"}},
		"pending without a day": {`<Document ` + schema + `><BkToCstmrAcctRpt><Rpt><Ntry><Amt Ccy="EUR">1</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>PDNG</Cd></Sts></Ntry>` + entry + `</Rpt></BkToCstmrAcctRpt></Document>`, []string{"0001-01-01|-1|EUR|||pending", "2024-01-31|-12.50|EUR||"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, _ := fixture.ReadAll(t, tc.file, statement.Options{})
			require.Equal(t, tc.want, fixture.Lines(records))
		})
	}
}

func FuzzCAMT(f *testing.F) { fixture.Fuzz(f, statement.CAMT) }
