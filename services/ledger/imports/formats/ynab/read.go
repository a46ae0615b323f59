package ynab

import (
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Read fills a record from its cells. The cells of a split are the rows of its parts one after the
// other, each of the mapping's width.
func Read(reader *mapping.Reader, record *statement.Record) {
	cells, width := record.Cells, reader.Mapping.Width
	if width <= 0 || len(cells) <= width {
		reader.Row(record)
		readMeaning(record)
		return
	}
	// A split: each row is a part.
	var total written.Sum
	var parts []statement.Split
	for start := 0; start+width <= len(cells); start += width {
		row := statement.Record{N: record.N, Cells: cells[start : start+width]}
		reader.Row(&row)
		if row.Problem != "" {
			record.Problem = row.Problem
			return
		}
		readMeaning(&row)
		part := statement.Split{
			Amount: row.Amount, Category: statement.Text(row.Category, statement.MaxName),
			Description: statement.Text(row.Description, statement.MaxText),
		}
		if start == 0 {
			n, line := record.N, record.Line
			*record = row
			record.N = n
			record.Line = line
			record.Cells = cells
			record.Transfer = nil
			record.Category = ""
		}
		total.Add(row.Amount)
		parts = append(parts, part)
	}
	var ok bool
	if record.Amount, ok = total.Text(); !ok {
		record.Problem = "the parts of the split cannot be added up"
		return
	}
	record.Splits = parts
	record.Description = ""
}

// transferPayee begins the payee of a transfer. The name of the other account follows.
const transferPayee = "Transfer : "

// readMeaning reads transfers, opening balances and parts of splits from the texts of a row.
func readMeaning(record *statement.Record) {
	if record.Skip || record.Problem != "" {
		return
	}
	record.Description = splitMemo.ReplaceAllString(record.Description, "")
	if name, ok := strings.CutPrefix(record.Payee, transferPayee); ok {
		name = statement.Text(name, statement.MaxName)
		record.Transfer = &statement.Transfer{Account: name, Paired: true}
		record.Payee, record.Category = "", ""
	}
	if record.Payee == "Starting Balance" {
		record.Opening, record.Category = true, ""
	}
}
