package formats

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// cofferLine is a line of Coffer's own export. Each line is a JSON object with one member, which names the kind of the
// object: {"wallet": {...}}, {"category": {...}}, {"rate": {...}} or {"transaction": {...}}. The values are the objects of
// the API. Wallets and categories come before the transactions that refer to them. Both legs of a transfer are
// transactions. Other kinds are skipped, so that later exports may have more.
type cofferLine struct {
	Wallet      *cofferWallet      `json:"wallet"`
	Category    *cofferCategory    `json:"category"`
	Transaction *cofferTransaction `json:"transaction"`
}

// cofferWallet is a wallet of the API.
type cofferWallet struct {
	ID             string      `json:"id"`
	Name           string      `json:"name"`
	Currency       string      `json:"currency"`
	Balance        json.Number `json:"balance"`
	InitialBalance json.Number `json:"initialBalance"`
	Archived       bool        `json:"archived"`
	Color          string      `json:"color"`
	Icon           string      `json:"icon"`
	Position       *int32      `json:"position"`
}

// cofferCategory is a category of the API.
type cofferCategory struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Color string `json:"color"`
	Icon  string `json:"icon"`
	Kind  string `json:"kind"`
}

// cofferTransaction is a transaction of the API.
type cofferTransaction struct {
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
	Splits      []struct {
		CategoryID  string      `json:"categoryId"`
		Amount      json.Number `json:"amount"`
		Description string      `json:"description"`
	} `json:"splits"`
}

const (
	// maxCategories is the maximum number of categories in an export.
	maxCategories = 20_000
	// maxLine is the maximum size of a line: a transaction with maxParts parts and the longest texts.
	maxLine = 512 << 10
	// maxID is the maximum length of an external id.
	maxID = 255
)

// cofferParser is the state of an export: its wallets and categories. Package export writes the file, so both must change together; a
// test imports what the export wrote (ADR 91).
type cofferParser struct {
	in         *input
	wallets    map[string]string // Account keys by id.
	categories map[string]string // Names by id.
}

// parseCoffer parses Coffer's own export.
func parseCoffer(in *input) iter.Seq2[Record, error] {
	in.exact = true
	return func(yield func(Record, error) bool) {
		p := &cofferParser{in: in, wallets: make(map[string]string), categories: make(map[string]string)}
		source := scan.NewLines(in.text)
		source.Limit = maxLine
		for {
			text, err := source.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			var record *Record
			if err == nil && len(text) > 0 {
				record, err = p.line(text, source.Line)
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			if record != nil && !yield(*record, nil) {
				return
			}
		}
	}
}

// line processes an object. It returns the record of a transaction.
func (p *cofferParser) line(text []byte, line int) (*Record, error) {
	var object cofferLine
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, &scan.ParseError{Line: line, Message: "the line is not a JSON object of an export"}
	}
	switch {
	case object.Wallet != nil:
		w := object.Wallet
		account, err := p.in.account(p.key(cmp.Or(w.Name, w.ID)))
		if err != nil {
			return nil, err
		}
		account.Name, account.Currency, account.Last4 = cmp.Or(keep(w.Name, maxName), account.Key), w.Currency, ""
		account.Color, account.Icon, account.Archived, account.Position = w.Color, w.Icon, w.Archived, w.Position
		account.Opening, account.Closing = w.InitialBalance.String(), w.Balance.String()
		p.wallets[w.ID] = account.Key
	case object.Category != nil:
		if len(p.categories) == maxCategories {
			return nil, &scan.ParseError{Line: line, Message: fmt.Sprintf("the file has more than %d categories", maxCategories)}
		}
		c := object.Category
		name := keep(c.Name, maxName)
		p.categories[c.ID] = name
		p.in.facts.Categories = append(p.in.facts.Categories, Category{Name: name, Color: c.Color, Icon: c.Icon, Kind: c.Kind})
	case object.Transaction != nil:
		r := p.transaction(object.Transaction)
		r.Line = line
		return &r, nil
	}
	return nil, nil
}

// key returns the key of the account of a new wallet: its name, with a number if another wallet has the same name.
func (p *cofferParser) key(name string) string {
	key := cut(spaces(name), maxName)
	for n := 2; ; n++ {
		if _, taken := p.in.keys[key]; !taken {
			return key
		}
		// The number must fit into the key.
		key = fmt.Sprintf("%s (%d)", cut(spaces(name), maxName-8), n)
	}
}

// transaction converts a transaction.
func (p *cofferParser) transaction(t *cofferTransaction) Record {
	r := Record{
		Currency: t.Currency, Payee: keep(t.Payee, maxPayee), Description: keep(t.Description, maxText), Notes: keep(t.Notes, maxNotes),
		Tags: t.Tags[:min(len(t.Tags), maxTags)], Account: p.wallets[t.WalletID], Category: p.categories[t.CategoryID],
		ExternalID: ownID(t.ExternalID, t.ID),
	}
	if t.TransferID != "" {
		r.Transfer = &Transfer{ID: t.TransferID, Paired: true}
	}
	var ok bool
	at, err := time.Parse(time.RFC3339, t.Date)
	r.Date = at.UTC()
	switch {
	case err != nil:
		r.Problem = "the date is missing or cannot be read"
		return r
	case r.Account == "":
		r.Problem = "the wallet is not in the file"
		return r
	}
	if r.Amount, _, ok = written.ParseAmount(t.Amount.String(), written.Dot); !ok {
		r.Problem = "the amount is missing or cannot be read"
		return r
	}
	var total written.Sum
	for _, s := range t.Splits {
		amount, _, ok := written.ParseAmount(s.Amount.String(), written.Dot)
		if !ok || len(r.Splits) == maxParts {
			r.Problem = "a part of the split cannot be read"
			return r
		}
		// The API's parts are positive in an expense.
		if t.Type == "expense" {
			amount = written.Negate(amount)
		}
		total.Add(amount)
		r.Splits = append(r.Splits, Split{Amount: amount, Category: p.categories[s.CategoryID], Description: keep(s.Description, maxText)})
	}
	if len(r.Splits) > 0 && total.Differs(written.SumOf(r.Amount)) {
		r.Problem = "the parts do not add up to the amount"
	}
	return r
}

// ownID returns the external id of a transaction of an export: the one that it has from its bank, by which files of the bank recognize
// it, or otherwise its own id.
func ownID(external, id string) string {
	switch {
	case external != "":
		return cut(spaces(external), maxID)
	case id != "":
		return "coffer:" + cut(spaces(id), maxName)
	}
	return ""
}

// keep returns a text of an export as it is. Only a text that Coffer does not accept is cleaned.
func keep(s string, limit int) string {
	if utf8.ValidString(s) && !strings.ContainsRune(s, 0) && strings.TrimSpace(s) == s && utf8.RuneCountInString(s) <= limit {
		return s
	}
	return cut(spaces(s), limit)
}
