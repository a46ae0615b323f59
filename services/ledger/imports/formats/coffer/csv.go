package coffer

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// heading is the heading of Coffer's own export as CSV.
var heading = strings.Split("id,date,type,amount,currency,wallet,category,payee,description,"+
	"notes,tags,transfer_id,external_id,split_of", ",")

// ParseCSV parses Coffer's own export as CSV. The rows of a split follow each other and become a
// record. The file has no opening balances.
func ParseCSV(in *statement.Input) iter.Seq2[statement.Record, error] {
	in.Exact = true
	return func(yield func(statement.Record, error) bool) {
		source := &scan.Rows{Lines: scan.NewLines(in.Text), Delimiter: ','}
		_, _, err := source.Next()
		var whole *statement.Record
		of := ""
		for err == nil {
			var cells []string
			var line int
			if cells, line, err = source.Next(); err != nil {
				break
			}
			record := parseRow(cells)
			record.Line = line
			account, unknown := in.Account(record.Account)
			if err = unknown; err != nil {
				break
			}
			account.Name = cmp.Or(unguarded(cells, 5, statement.MaxName), account.Key)
			account.Last4 = ""
			part := cell(cells, 13)
			if whole != nil && part != "" && part == of && len(whole.Splits) < statement.MaxParts {
				join(whole, record)
				continue
			}
			if whole != nil && !yield(joined(whole), nil) {
				return
			}
			if whole, of = &record, part; part != "" {
				whole.Splits = []statement.Split{{
					Amount: record.Amount, Category: record.Category,
					Description: record.Description,
				}}
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(statement.Record{}, err)
			return
		}
		if whole != nil {
			yield(joined(whole), nil)
		}
	}
}

func parseRow(cells []string) statement.Record {
	record := statement.Record{
		Currency:    cell(cells, 4),
		Account:     statement.Text(written.UnguardParts(cell(cells, 5)), statement.MaxName),
		Category:    unguarded(cells, 6, statement.MaxName),
		Payee:       unguarded(cells, 7, statement.MaxPayee),
		Description: unguarded(cells, 8, statement.MaxText),
		Notes:       unguarded(cells, 9, statement.MaxNotes),
	}
	record.Adjustment = cell(cells, 2) == "adjustment"
	if tags := written.UnguardParts(cell(cells, 10)); tags != "" {
		record.Tags = strings.Split(tags, ",")
		record.Tags = record.Tags[:min(len(record.Tags), statement.MaxTags)]
	}
	id := cell(cells, 13)
	if id == "" {
		id = cell(cells, 0)
	}
	record.ExternalID = ownID(written.UnguardParts(cell(cells, 12)), id)
	if id := cell(cells, 11); id != "" {
		record.Transfer = &statement.Transfer{
			ID: statement.Text(id, statement.MaxName), Paired: true,
		}
	}
	at, err := time.Parse(time.RFC3339, cell(cells, 1))
	if err != nil {
		// A spreadsheet may have changed the form of the date.
		day, ok := written.ScanDate(cell(cells, 1))
		if ok {
			at, ok = day.Date(written.YMD)
		}
		if !ok {
			record.Problem = "the date is missing or cannot be read"
		}
	}
	record.Date = at.UTC()
	var ok bool
	if record.Amount, _, ok = written.ParseAmount(cell(cells, 3), written.Dot); !ok &&
		record.Problem == "" {
		record.Problem = "the amount is missing or cannot be read"
	}
	return record
}

// unguarded returns a text that the export may have guarded against spreadsheets.
func unguarded(cells []string, column, limit int) string {
	return keep(written.UnguardParts(cell(cells, column)), limit)
}

// join adds the row of another part of a split.
func join(r *statement.Record, part statement.Record) {
	r.Splits = append(r.Splits, statement.Split{
		Amount: part.Amount, Category: part.Category, Description: part.Description,
	})
	if r.Problem == "" {
		r.Problem = part.Problem
	}
}

// joined returns a record whose parts are complete: its amount is their sum, because each row of a
// split has only the amount of its part.
func joined(record *statement.Record) statement.Record {
	if len(record.Splits) == 0 || record.Problem != "" {
		return *record
	}
	total := written.SumOf(record.Splits[0].Amount)
	for _, s := range record.Splits[1:] {
		total.Add(s.Amount)
	}
	amount, ok := total.Text()
	if !ok {
		record.Problem = "the parts of the split cannot be added up"
		return *record
	}
	if record.Amount = amount; len(record.Splits) == 1 {
		record.Splits = nil
		return *record
	}
	record.Category = ""
	// A row has the description of its part. If the part has none, the row has the description of
	// the transaction.
	if slices.ContainsFunc(record.Splits,
		func(s statement.Split) bool { return s.Description == "" }) {
		record.Description = ""
	}
	return *record
}

// cell returns the cell of a column, or "" if the row has fewer.
func cell(cells []string, column int) string {
	if column >= len(cells) {
		return ""
	}
	return cells[column]
}

// DetectHeading reports whether a row is the heading of Coffer's own export.
func DetectHeading(cells []string) bool { return slices.Equal(cells, heading) }
