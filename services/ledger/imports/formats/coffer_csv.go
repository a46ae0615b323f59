package formats

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// cofferColumns is the heading of Coffer's own export as CSV.
var cofferColumns = strings.Split("id,date,type,amount,currency,wallet,category,payee,description,notes,tags,transfer_id,external_id,split_of", ",")

// parseCofferCSV parses Coffer's own export as CSV. The rows of a split follow each other and become a record. The file has no opening
// balances.
func parseCofferCSV(in *input) iter.Seq2[Record, error] {
	in.exact = true
	return func(yield func(Record, error) bool) {
		source := &scan.Rows{Lines: scan.NewLines(in.text), Delimiter: ','}
		_, _, err := source.Next()
		var whole *Record
		of := ""
		for err == nil {
			var cells []string
			var line int
			if cells, line, err = source.Next(); err != nil {
				break
			}
			r := cofferRow(cells)
			r.Line = line
			account, unknown := in.account(r.Account)
			if err = unknown; err != nil {
				break
			}
			account.Name, account.Last4 = cmp.Or(keep(unguard(cell(cells, 5)), maxName), account.Key), ""
			part := cell(cells, 13)
			if whole != nil && part != "" && part == of && len(whole.Splits) < maxParts {
				whole.join(r)
				continue
			}
			if whole != nil && !yield(whole.joined(), nil) {
				return
			}
			if whole, of = &r, part; part != "" {
				whole.Splits = []Split{{Amount: r.Amount, Category: r.Category, Description: r.Description}}
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(Record{}, err)
			return
		}
		if whole != nil {
			yield(whole.joined(), nil)
		}
	}
}

// cofferRow returns the record of a row.
func cofferRow(cells []string) Record {
	r := Record{
		Currency: cell(cells, 4), Account: cut(spaces(unguard(cell(cells, 5))), maxName), Category: keep(unguard(cell(cells, 6)), maxName),
		Payee: keep(unguard(cell(cells, 7)), maxPayee), Description: keep(unguard(cell(cells, 8)), maxText), Notes: keep(unguard(cell(cells, 9)), maxNotes),
	}
	if tags := unguard(cell(cells, 10)); tags != "" {
		r.Tags = strings.Split(tags, ",")
		r.Tags = r.Tags[:min(len(r.Tags), maxTags)]
	}
	id := cell(cells, 13)
	if id == "" {
		id = cell(cells, 0)
	}
	r.ExternalID = ownID(unguard(cell(cells, 12)), id)
	if id := cell(cells, 11); id != "" {
		r.Transfer = &Transfer{ID: cut(spaces(id), maxName), Paired: true}
	}
	at, err := time.Parse(time.RFC3339, cell(cells, 1))
	if err != nil {
		// A spreadsheet may have changed the form of the date.
		day, ok := written.ScanDate(cell(cells, 1))
		if ok {
			at, ok = day.Date(written.YMD)
		}
		if !ok {
			r.Problem = "the date is missing or cannot be read"
		}
	}
	r.Date = at.UTC()
	var ok bool
	if r.Amount, _, ok = written.ParseAmount(cell(cells, 3), written.Dot); !ok && r.Problem == "" {
		r.Problem = "the amount is missing or cannot be read"
	}
	return r
}

// join adds the row of another part of a split.
func (r *Record) join(part Record) {
	r.Splits = append(r.Splits, Split{Amount: part.Amount, Category: part.Category, Description: part.Description})
	if r.Problem == "" {
		r.Problem = part.Problem
	}
}

// joined returns a record whose parts are complete: its amount is their sum, because each row of a split has only the amount of its part.
func (r *Record) joined() Record {
	if len(r.Splits) == 0 || r.Problem != "" {
		return *r
	}
	total := written.SumOf(r.Splits[0].Amount)
	for _, s := range r.Splits[1:] {
		total.Add(s.Amount)
	}
	amount, ok := total.Text()
	if !ok {
		r.Problem = "the parts of the split cannot be added up"
		return *r
	}
	if r.Amount = amount; len(r.Splits) == 1 {
		r.Splits = nil
		return *r
	}
	r.Category = ""
	// A row has the description of its part. If the part has none, the row has the description of the transaction.
	if slices.ContainsFunc(r.Splits, func(s Split) bool { return s.Description == "" }) {
		r.Description = ""
	}
	return *r
}

// unguard removes the apostrophe that an export puts before a text that begins like a formula, and only that one: it is the inverse of
// guard in package export.
func unguard(s string) string {
	if rest := strings.TrimLeft(s, "'"); len(rest) < len(s) && rest != "" && strings.ContainsRune("=+-@\t\r", rune(rest[0])) {
		return s[1:]
	}
	return s
}

// cell returns the cell of a column, or "" if the row has fewer.
func cell(cells []string, column int) string {
	if column >= len(cells) {
		return ""
	}
	return cells[column]
}

// isCofferCSV reports whether a row is the heading of Coffer's own export.
func isCofferCSV(cells []string) bool { return slices.Equal(cells, cofferColumns) }
