package qif

import (
	"cmp"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Read fills a record from its cells.
func Read(reader *mapping.Reader, record *statement.Record) {
	cells := record.Cells
	if len(cells) < cellParts {
		record.Problem = "the record is incomplete"
		return
	}
	last := len(cells) - 1
	divided := (len(cells)-cellParts)%3 == 1
	if divided {
		cells = cells[:last]
	}
	readEntry(reader, record, cells)
	if divided {
		takeShare(record, record.Cells[last])
	}
	if reader.Mapping.Invert {
		invert(record)
	}
}

// readEntry fills a record from the cells of its entry.
func readEntry(reader *mapping.Reader, record *statement.Record, cells []string) {
	record.Account, record.Currency = cells[cellAccount], reader.Mapping.Currency
	var ok bool
	if record.Date, ok = reader.Date(cells[cellDate]); !ok {
		record.Problem = "the date is missing or cannot be read"
		return
	}
	if record.Amount, _, ok = reader.Amount(cells[cellAmount]); !ok {
		record.Problem = "the amount is missing or cannot be read"
		return
	}
	record.Payee, record.Description = cells[cellPayee], cells[cellMemo]
	record.Category, record.Transfer, record.Tags = meaningOf(cells[cellCategory])
	if number := cells[cellNumber]; written.HasNonzero(number) {
		record.Notes = number
	}
	if payee := written.Fold(record.Payee); payee == "opening balance" || payee == "anfangssaldo" ||
		payee == "solde initial" {
		record.Opening, record.Transfer = true, nil
	}
	if len(cells) >= cellParts+6 {
		readParts(reader, record, cells[cellParts:])
	} else if len(cells) == cellParts+3 && record.Category == "" && record.Transfer == nil {
		record.Category, record.Transfer, _ = meaningOf(cells[cellParts])
	}
}

// transferAccounts returns the other accounts of the parts of a split that are transfers.
func transferAccounts(cells []string) []string {
	if len(cells) < cellParts+6 {
		return nil
	}
	var accounts []string
	for i := cellParts; i < len(cells); i += 3 {
		_, transfer, _ := meaningOf(cells[i])
		if transfer != nil && transfer.Account != "" && transfer.Account != cells[cellAccount] &&
			!slices.Contains(accounts, transfer.Account) {
			accounts = append(accounts, transfer.Account)
		}
	}
	return accounts
}

// takeShare reduces the record of an entry to its transfer to or from an account, or for the empty
// account to all other parts. The parts of one account become one transfer, because Quicken writes
// one record for them in that account. An entry that cannot be divided is only the record of the
// empty account, so that its amount counts once.
func takeShare(record *statement.Record, account string) {
	if record.Problem != "" || len(record.Splits) == 0 {
		record.Skip = account != ""
		return
	}
	var total written.Sum
	var memos []string
	parts := slices.DeleteFunc(record.Splits, func(part statement.Split) bool {
		return part.Account != account
	})
	for _, part := range parts {
		total.Add(part.Amount)
		if part.Description != "" && !slices.Contains(memos, part.Description) {
			memos = append(memos, part.Description)
		}
	}
	record.Skip = len(parts) == 0
	record.Amount, _ = total.Text() // The sum of the whole entry is known.
	record.Splits = parts
	if account != "" {
		record.Transfer = &statement.Transfer{Account: account, Paired: true}
		record.Description = cmp.Or(strings.Join(memos, "; "), record.Description)
	}
	if len(parts) == 1 {
		record.Amount = parts[0].Amount
		record.Category, record.Splits = parts[0].Category, nil
		record.Description = cmp.Or(parts[0].Description, record.Description)
	}
}

// meaningOf reads a category: "Food:Groceries/Class", or "[Account]" for a transfer.
func meaningOf(text string) (category string, transfer *statement.Transfer, tags []string) {
	text, class, _ := strings.Cut(text, "/")
	if class = statement.Text(class, statement.MaxName); class != "" {
		tags = []string{class}
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		account := statement.Text(text[1:len(text)-1], statement.MaxName)
		return "", &statement.Transfer{Account: account, Paired: true}, tags
	}
	if strings.HasPrefix(text, "--Split") {
		text = ""
	}
	return text, nil, tags
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
		part.Category, transfer, _ = meaningOf(cells[i])
		if transfer != nil && transfer.Account != record.Account {
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
