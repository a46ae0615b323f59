package formats

import (
	"bytes"
	"iter"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/camt"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/coffer"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/csv"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/firefly"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mt940"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/ofx"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/qif"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/ynab"
)

type parsed struct {
	format  string
	records iter.Seq2[statement.Record, error] // nil if the format is unknown.
	// mapping is nil if the records are complete. Otherwise it is the proposal, after the last
	// record.
	mapping *mapping.Mapping
	advice  string // What the user can do instead, for known files that cannot be imported.
}

// detect recognizes a file by its start. It tries the formats with an unmistakable start first, and
// CSV last, because almost every text can be read as CSV.
func detect(head string, in *statement.Input) parsed {
	first := head[:min(len(head), 4096)]
	trimmed := strings.TrimSpace(first)
	switch {
	case strings.ContainsRune(first, 0):
		return parsed{}
	case ofx.Detect(first):
		return parsed{format: statement.OFX, records: ofx.Parse(in)}
	case camt.Detect(first):
		return parsed{format: statement.CAMT, records: camt.Parse(in)}
	case strings.HasPrefix(trimmed, "<"):
		return parsed{}
	case coffer.Detect(trimmed):
		return parsed{format: statement.Coffer, records: coffer.Parse(in)}
	case strings.HasPrefix(trimmed, "{\""):
		return parsed{}
	case mt940.Detect(first):
		return parsed{format: statement.MT940, records: mt940.Parse(in)}
	case qif.Detect(first):
		records, proposed := qif.Parse(in)
		return parsed{format: statement.QIF, records: records, mapping: proposed}
	}
	return detectRows(head, in)
}

// detectRows recognizes a file with columns: the exports of Firefly III, YNAB and Coffer by their
// headings, and otherwise CSV.
func detectRows(head string, in *statement.Input) parsed {
	form := csv.Detect(head, in.Options.Delimiter)
	if form.Delimiter == "" {
		return parsed{}
	}
	heading, _, err := csv.Form{Delimiter: form.Delimiter}.Rows(strings.NewReader(head)).Next()
	switch {
	case err == nil && ynab.DetectHeading(heading):
		records, proposed := ynab.Parse(in, form.Delimiter[0])
		return parsed{format: statement.YNAB, records: records, mapping: proposed}
	case err == nil && ynab.DetectPlan(heading):
		return parsed{advice: "the file is the plan of YNAB: choose the register of its export, " +
			"whose name ends with Register.csv"}
	case err == nil && firefly.DetectHeading(heading):
		return parsed{format: statement.Firefly, records: firefly.Parse(in, form.Delimiter[0])}
	case err == nil && form.Delimiter == "," && coffer.DetectHeading(heading):
		return parsed{format: statement.Coffer, records: coffer.ParseCSV(in)}
	}
	records, proposed := csv.Parse(in, form)
	return parsed{format: statement.CSV, records: records, mapping: proposed}
}

// unsupported returns what the user can do with a file whose format is known but not supported, or
// "". Banks give files of HTML and XML the ending .xls.
func unsupported(start []byte) string {
	has := func(text string) bool { return bytes.HasPrefix(start, []byte(text)) }
	lower := strings.ToLower(string(start[:min(len(start), 1024)]))
	lower = strings.TrimSpace(strings.TrimPrefix(lower, "\ufeff"))
	switch {
	case has("%PDF"):
		return "the file is a PDF: download CSV, XLSX, OFX, CAMT or MT940 from the bank"
	case has("\xd0\xcf\x11\xe0"):
		return "the file is a workbook of Excel before 2007 (.xls), or has a password: " +
			"save it as .xlsx without a password, or as CSV"
	case has("application/vnd.oasis.opendocument"):
		return "the file is an OpenDocument spreadsheet (.ods): save it as .xlsx or CSV"
	case strings.HasPrefix(lower, "<html"), strings.HasPrefix(lower, "<!doctype html"),
		strings.HasPrefix(lower, "<table"),
		strings.Contains(lower, "urn:schemas-microsoft-com:office:"):
		return "the file is a web page or an XML spreadsheet, often named .xls: " +
			"open it with a spreadsheet program, and save it as .xlsx or CSV"
	}
	return ""
}
