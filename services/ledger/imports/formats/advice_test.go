package formats_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
)

// TestOpenAdvice checks that files of known formats that cannot be imported are rejected with what
// the user can do instead.
func TestOpenAdvice(t *testing.T) {
	t.Parallel()
	const ods = "application/vnd.oasis.opendocument.spreadsheet"
	for name, tc := range map[string]struct{ file, want string }{
		"pdf":             {"%PDF-1.7\n1;2\n", "the file is a PDF: download CSV"},
		"xls":             {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00", "save it as .xlsx without a password"},
		"ods":             {string(packed(t, "zip", strings.NewReader(ods), "mimetype", "content.xml")), "(.ods): save it as .xlsx"},
		"html_as_xls":     {"\xef\xbb\xbf <HTML><table><tr><td>Date</td></tr></table>", "save it as .xlsx or CSV"},
		"xml_spreadsheet": {"<?xml version=\"1.0\"?><?mso-application progid=\"Excel.Sheet\"?><Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\">", "save it as .xlsx or CSV"},
		"ynab_plan":       {"\"Month\",\"Category Group/Category\",\"Category Group\",\"Category\",\"Assigned\",\"Activity\",\"Available\"\n\"Apr 2026\",\"A: B\",\"A\",\"B\",€1.00,€0.00,€1.00\n", "choose the register"},
		"ynab4_budget":    {"\"Month\",\"Category\",\"Master Category\",\"Sub Category\",\"Budgeted\",\"Outflows\",\"Category Balance\"\n", "choose the register"},
		"zip_of_plan":     {string(packed(t, "zip", strings.NewReader(smallCSV), "My Plan - Plan.csv")), "but not its register"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := fixture.Count(bytes.NewReader([]byte(tc.file)))
			require.ErrorIs(t, err, formats.ErrUnknownFormat)
			require.ErrorContains(t, err, tc.want)
		})
	}
}
