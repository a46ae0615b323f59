// Package coffer parses Coffer's own export, as JSON lines and as CSV, so that users can move their
// data to another installation.
//
// Package export writes both forms. It and this package must change together; a test of export
// imports what the export wrote (ADR 91). The JSON lines are complete: a transaction has its splits
// and its time of day, and its wallet and categories keep their looks. The CSV file has one row of
// each part of a split, and no opening balances.
//
// Texts are kept exactly as they are if Coffer accepts them, including repeated spaces. A
// transaction keeps the external id from its bank, so that a later file of the bank recognizes it.
//
//   - coffer.go: the JSON lines. Start reading at Parse
//   - reconciliations.go: the reconciliations in them
//   - csv.go: the CSV file
package coffer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// object is a line of Coffer's own export. Each line is a JSON object with a member that names the
// kind of the object: {"wallet": {...}}, {"category": {...}}, {"rate": {...}}, {"reconciliation":
// {...}} or {"transaction": {...}}. The values are the objects of the API. The line of a
// reconciled transaction also has the id of its reconciliation. Objects come before those that
// refer to them. Both legs of a transfer are transactions. Other kinds are skipped, so that later
// exports may have more.
type object struct {
	Wallet           *wallet         `json:"wallet"`
	Category         *category       `json:"category"`
	Reconciliation   *reconciliation `json:"reconciliation"`
	Transaction      *transaction    `json:"transaction"`
	ReconciliationID string          `json:"reconciliationId"`
}

type wallet struct {
	ID             string      `json:"id"`
	Name           string      `json:"name"`
	Currency       string      `json:"currency"`
	Balance        json.Number `json:"balance"`
	InitialBalance json.Number `json:"initialBalance"`
	OpeningDate    string      `json:"openingDate"`
	Archived       bool        `json:"archived"`
	Color          string      `json:"color"`
	Icon           string      `json:"icon"`
	Position       *int32      `json:"position"`
	Kind           string      `json:"kind"`
}

type category struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Color string `json:"color"`
	Icon  string `json:"icon"`
	Kind  string `json:"kind"`
}

type transaction struct {
	ID          string      `json:"id"`
	Amount      json.Number `json:"amount"`
	Currency    string      `json:"currency"`
	Type        string      `json:"type"`
	Date        string      `json:"date"`
	WalletID    string      `json:"walletId"`
	CategoryID  string      `json:"categoryId"`
	Description string      `json:"description"`
	Payee       string      `json:"payee"`
	Notes       string      `json:"notes"`
	Tags        []string    `json:"tags"`
	TransferID  string      `json:"transferId"`
	ExternalID  string      `json:"externalId"`
	Cleared     *bool       `json:"cleared"`
	Splits      []struct {
		CategoryID  string      `json:"categoryId"`
		Amount      json.Number `json:"amount"`
		Description string      `json:"description"`
	} `json:"splits"`
}

const (
	// maxCategories is the maximum number of categories in an export.
	maxCategories = 20_000
	// maxLine is the maximum size of a line: a transaction with maxParts parts and the longest
	// texts.
	maxLine = 512 << 10
	// maxID is the maximum length of an external id.
	maxID = 255
)

// start begins a file. The first line is a wallet, a category or a rate. It is a transaction if the
// start of the file is cut off.
var start = regexp.MustCompile(`^\{\s*"(?:wallet|category|rate|transaction|export)"\s*:\s*\{`)

// Detect reports whether a text begins like Coffer's own export.
func Detect(head string) bool { return start.MatchString(head) }

// parser is the state of an export: its wallets and categories. Package export writes the file, so
// both must change together; a test imports what the export wrote (ADR 91).
type parser struct {
	in         *statement.Input
	wallets    map[string]string // Account keys by id.
	categories map[string]string // Names by id.
	// reconciliations holds positions in Facts.Reconciliations by id.
	reconciliations map[string]int
	records         int32
}

// Parse parses Coffer's own export.
func Parse(in *statement.Input) iter.Seq2[statement.Record, error] {
	in.Exact = true
	return func(yield func(statement.Record, error) bool) {
		parser := &parser{
			in: in, wallets: make(map[string]string), categories: make(map[string]string),
			reconciliations: make(map[string]int),
		}
		source := scan.NewLines(in.Text)
		source.Limit = maxLine
		for {
			text, err := source.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			var record *statement.Record
			if err == nil && len(text) > 0 {
				record, err = parser.line(text, source.Line)
			}
			if err != nil {
				yield(statement.Record{}, err)
				return
			}
			if record != nil && !yield(*record, nil) {
				return
			}
		}
	}
}

// line processes a line. It returns the record of a transaction.
func (p *parser) line(text []byte, line int) (*statement.Record, error) {
	var object object
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, scan.Errorf(line, "the line is not a JSON object of an export")
	}
	switch {
	case object.Wallet != nil:
		wallet := object.Wallet
		account, err := p.in.Account(p.key(cmp.Or(wallet.Name, wallet.ID)))
		if err != nil {
			return nil, err
		}
		account.Name = cmp.Or(keep(wallet.Name, statement.MaxName), account.Key)
		account.Currency = wallet.Currency
		account.Last4 = ""
		account.Color = wallet.Color
		account.Icon = wallet.Icon
		account.Archived = wallet.Archived
		account.Position = wallet.Position
		account.Kind = wallet.Kind
		account.Opening, account.Closing = wallet.InitialBalance.String(), wallet.Balance.String()
		account.OpeningDate, _ = time.Parse(time.DateOnly, wallet.OpeningDate)
		p.wallets[wallet.ID] = account.Key
	case object.Category != nil:
		if len(p.categories) == maxCategories {
			return nil, scan.Errorf(line, "the file has more than %d categories", maxCategories)
		}
		c := object.Category
		name := keep(c.Name, statement.MaxName)
		p.categories[c.ID] = name
		p.in.Facts.Categories = append(p.in.Facts.Categories,
			statement.Category{Name: name, Color: c.Color, Icon: c.Icon, Kind: c.Kind})
	case object.Reconciliation != nil:
		return nil, p.reconciliation(object.Reconciliation, line)
	case object.Transaction != nil:
		r := p.transaction(object.Transaction)
		r.Line = line
		p.records++
		return &r, p.lock(object.ReconciliationID, line)
	}
	return nil, nil
}

// key returns the key of the account of a new wallet: its name, with a number if another wallet has
// the same name.
func (p *parser) key(name string) string {
	key := statement.Text(name, statement.MaxName)
	for n := 2; ; n++ {
		if !p.in.HasAccount(key) {
			return key
		}
		// The number must fit into the key.
		key = fmt.Sprintf("%s (%d)", statement.Text(name, statement.MaxName-8), n)
	}
}

func (p *parser) transaction(transaction *transaction) statement.Record {
	record := statement.Record{
		Currency: transaction.Currency, Payee: keep(transaction.Payee, statement.MaxPayee),
		Description: keep(transaction.Description, statement.MaxText),
		Notes:       keep(transaction.Notes, statement.MaxNotes),
		Tags:        transaction.Tags[:min(len(transaction.Tags), statement.MaxTags)],
		Account:     p.wallets[transaction.WalletID],
		Category:    p.categories[transaction.CategoryID],
		ExternalID:  ownID(transaction.ExternalID, transaction.ID),
		Adjustment:  transaction.Type == "adjustment",
		Uncleared:   transaction.Cleared != nil && !*transaction.Cleared,
	}
	if transaction.TransferID != "" {
		record.Transfer = &statement.Transfer{ID: transaction.TransferID, Paired: true}
	}
	var ok bool
	at, err := time.Parse(time.RFC3339, transaction.Date)
	record.Date = at.UTC()
	switch {
	case err != nil:
		record.Problem = "the date is missing or cannot be read"
		return record
	case record.Account == "":
		record.Problem = "the wallet is not in the file"
		return record
	}
	if record.Amount, _, ok = written.ParseAmount(transaction.Amount.String(), written.Dot); !ok {
		record.Problem = "the amount is missing or cannot be read"
		return record
	}
	var total written.Sum
	for _, part := range transaction.Splits {
		amount, _, ok := written.ParseAmount(part.Amount.String(), written.Dot)
		if !ok || len(record.Splits) == statement.MaxParts {
			record.Problem = "a part of the split cannot be read"
			return record
		}
		// The API's parts are positive in an expense.
		if transaction.Type == "expense" {
			amount = written.Negate(amount)
		}
		total.Add(amount)
		record.Splits = append(record.Splits, statement.Split{
			Amount: amount, Category: p.categories[part.CategoryID],
			Description: keep(part.Description, statement.MaxText),
		})
	}
	if len(record.Splits) > 0 && total.Differs(written.SumOf(record.Amount)) {
		record.Problem = "the parts do not add up to the amount"
	}
	return record
}

// ownID returns the external id of a transaction of an export: the one that it has from its bank,
// by which files of the bank recognize it, or otherwise its own id.
func ownID(external, id string) string {
	switch {
	case external != "":
		return statement.Text(external, maxID)
	case id != "":
		return "coffer:" + statement.Text(id, statement.MaxName)
	}
	return ""
}

// keep returns a text of an export as it is. Only a text that Coffer does not accept is cleaned.
func keep(s string, limit int) string {
	if utf8.ValidString(s) && !strings.ContainsRune(s, 0) && strings.TrimSpace(s) == s &&
		norm.NFC.IsNormalString(s) && utf8.RuneCountInString(s) <= limit {
		return s
	}
	return statement.Text(s, limit)
}
