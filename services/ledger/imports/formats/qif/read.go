package qif

import (
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Read fills a record from its cells.
func Read(r *mapping.Reader, record *statement.Record) {
	cells := record.Cells
	if len(cells) < cellParts {
		record.Problem = "the record is incomplete"
		return
	}
	record.Account, record.Currency = cells[cellAccount], r.Mapping.Currency
	var ok bool
	if record.Date, ok = r.Date(cells[cellDate]); !ok {
		record.Problem = "the date is missing or cannot be read"
		return
	}
	if record.Amount, _, ok = r.Amount(cells[cellAmount]); !ok {
		record.Problem = "the amount is missing or cannot be read"
		return
	}
	record.Payee, record.Description = cells[cellPayee], cells[cellMemo]
	record.Category, record.Transfer, record.Tags = meaningOf(cells[cellCategory])
	if number := cells[cellNumber]; strings.ContainsAny(number, "123456789") {
		record.Notes = number
	}
	if payee := written.Fold(record.Payee); payee == "opening balance" || payee == "anfangssaldo" ||
		payee == "solde initial" {
		record.Opening, record.Transfer = true, nil
	}
	if len(cells) >= cellParts+6 {
		readParts(r, record, cells[cellParts:])
	} else if len(cells) == cellParts+3 && record.Category == "" && record.Transfer == nil {
		record.Category, record.Transfer, _ = meaningOf(cells[cellParts])
	}
	if r.Mapping.Invert {
		invert(record)
	}
}

// meaningOf reads a category: "Food:Groceries/Class", or "[Account]" for a transfer.
func meaningOf(s string) (category string, transfer *statement.Transfer, tags []string) {
	s, class, _ := strings.Cut(s, "/")
	if class = statement.Text(class, statement.MaxName); class != "" {
		tags = []string{class}
	}
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		account := statement.Text(s[1:len(s)-1], statement.MaxName)
		return "", &statement.Transfer{Account: account}, tags
	}
	if strings.HasPrefix(s, "--Split") {
		s = ""
	}
	return s, nil, tags
}

// readParts reads the parts of a split. If they do not add up to the amount, it omits them and
// states that in the notes, because the amount of the whole changed the balance.
func readParts(r *mapping.Reader, record *statement.Record, cells []string) {
	var total written.Sum
	var parts []statement.Split
	for i := 0; i+2 < len(cells); i += 3 {
		amount, _, ok := r.Amount(cells[i+2])
		if !ok {
			record.Notes = "The file has parts of this transaction without an amount."
			return
		}
		part := statement.Split{
			Amount: amount, Description: statement.Text(cells[i+1], statement.MaxText),
		}
		var transfer *statement.Transfer
		if part.Category, transfer, _ = meaningOf(cells[i]); transfer != nil {
			part.Account = transfer.Account
		}
		total.Add(amount)
		parts = append(parts, part)
	}
	if total.Unknown || total.Differs(written.SumOf(record.Amount)) {
		record.Notes = "The file has parts of this transaction that do not add up to its amount."
		return
	}
	record.Splits, record.Category, record.Transfer = parts, "", nil
}

// invert changes the signs of a record and its parts.
func invert(r *statement.Record) {
	r.Amount = written.Negate(r.Amount)
	for i := range r.Splits {
		r.Splits[i].Amount = written.Negate(r.Splits[i].Amount)
	}
}
