package statement

import (
	"bufio"
	"slices"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
)

const maxAccounts = 1000

// Input is the text of a file and the facts that its parser collects.
type Input struct {
	Text    *bufio.Reader // UTF-8 without a byte order mark.
	Options Options
	Facts   Facts
	// Exact is set by a parser that limits the texts of its records itself, and keeps their spaces.
	Exact bool

	accounts map[string]int // Positions in Facts.Accounts by key.
	valid    int            // Records without a problem.
	problem  *Record        // The first record with a problem.
}

// NewInput returns the input of a file.
func NewInput(text *bufio.Reader, options Options) *Input {
	return &Input{Text: text, Options: options, accounts: make(map[string]int)}
}

// Warn adds a warning once.
func (in *Input) Warn(code string) {
	if !slices.Contains(in.Facts.Warnings, code) {
		in.Facts.Warnings = append(in.Facts.Warnings, code)
	}
}

// maxExamples is the maximum number of records of an assumption.
const maxExamples = 3

// Assume adds a warning with its evidence, once for each code. The records are examples.
func (in *Input) Assume(code string, evidence Evidence, records ...int) {
	in.Warn(code)
	for _, a := range in.Facts.Assumptions {
		if a.Code == code {
			return
		}
	}
	in.Facts.Assumptions = append(in.Facts.Assumptions, Assumption{
		Code: code, Evidence: evidence, Rows: records[:min(len(records), maxExamples)],
	})
}

// Account returns the account with a key, valid until the next call. It adds the account if it is
// new.
func (in *Input) Account(key string) (*Account, error) {
	key = Text(key, MaxName)
	i, ok := in.accounts[key]
	if !ok {
		if len(in.accounts) == maxAccounts {
			return nil, scan.Errorf(0, "the file has more than %d accounts", maxAccounts)
		}
		i = len(in.Facts.Accounts)
		in.accounts[key] = i
		in.Facts.Accounts = append(in.Facts.Accounts, Account{Key: key, Last4: Last4(key)})
	}
	return &in.Facts.Accounts[i], nil
}

// HasAccount reports whether the file has an account with a key.
func (in *Input) HasAccount(key string) bool {
	_, ok := in.accounts[key]
	return ok
}

// Note cleans a complete record and counts it.
func (in *Input) Note(record *Record) {
	if !in.Exact && record.Clean() {
		in.Warn(TruncatedDescription)
	}
	if i, ok := in.accounts[record.Account]; ok && !record.Opening {
		in.Facts.Accounts[i].Count++
	}
	switch {
	case record.Problem == "":
		in.valid++
		if record.Currency == "" {
			in.Warn(CurrencyAssumed)
		}
	case in.problem == nil:
		in.problem = &Record{N: record.N, Line: record.Line, Problem: record.Problem}
	}
}

// Unreadable returns an error if the file has records, but none that can be read. A file in which
// some records can be read is accepted, and the user sees the problems of the others.
func (in *Input) Unreadable() error {
	if in.valid > 0 || in.problem == nil {
		return nil
	}
	return scan.Errorf(in.problem.Line, "no transaction can be read; the first one: %s",
		in.problem.Problem)
}
