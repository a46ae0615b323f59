package formats

import (
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
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/ynab"
)

type parsed struct {
	format  string
	records iter.Seq2[statement.Record, error] // nil if the format is unknown.
	// mapping is nil if the records are complete. Otherwise it is the proposal, after the last record.
	mapping *mapping.Mapping
}

// detect recognizes a file by its start. It tries the formats with an unmistakable start first, and
// CSV last, because almost every text can be read as CSV.
func detect(head string, in *statement.Input) parsed {
	first := head[:min(len(head), 4096)]
	trimmed := strings.TrimSpace(first)
	switch {
	case strings.ContainsRune(first, 0) || strings.HasPrefix(first, "%PDF"):
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
		return parsed{statement.QIF, records, proposed}
	}
	return detectRows(head, in)
}

// detectRows recognizes a file with columns: the exports of Firefly III, YNAB and Coffer by their
// headings, and otherwise CSV.
func detectRows(head string, in *statement.Input) parsed {
	delimiter, wrapped := csv.Delimiter(head, in.Options.Delimiter)
	if delimiter == 0 {
		return parsed{}
	}
	heading, _, err := (&scan.Rows{
		Lines: scan.NewLines(strings.NewReader(head)), Delimiter: delimiter,
	}).Next()
	switch {
	case err == nil && ynab.DetectHeading(heading):
		records, proposed := ynab.Parse(in, delimiter)
		return parsed{statement.YNAB, records, proposed}
	case err == nil && firefly.DetectHeading(heading):
		return parsed{format: statement.Firefly, records: firefly.Parse(in, delimiter)}
	case err == nil && delimiter == ',' && coffer.DetectHeading(heading):
		return parsed{format: statement.Coffer, records: coffer.ParseCSV(in)}
	}
	records, proposed := csv.Parse(in, delimiter, wrapped)
	return parsed{statement.CSV, records, proposed}
}
