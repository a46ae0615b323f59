package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
)

// File is an opened file. It is read once: call Records, read to the end, and then call Facts.
type File struct {
	in    *input
	parse func(*input) iter.Seq2[Record, error]
	// assumed reports whether the encoding was guessed and the guess mattered. It is known after the last record.
	assumed func() bool
	// failed is the error that ended Records.
	failed error
}

// input is the text of a file and the facts that its parser collects.
type input struct {
	text    *bufio.Reader // UTF-8 without a byte order mark.
	options Options
	facts   Facts
	keys    map[string]int // Positions in facts.Accounts by key.
	mapped  bool           // Records only have cells.
	exact   bool           // The parser has cleaned the records.
	valid   int            // Records without a problem.
	problem *Record        // The first record with a problem.
}

// Open recognizes the file in r: compression, encoding and format. It reads only the start of the file, so it also accepts a file whose
// rest is damaged; Records then returns the error. The name of the file is not used, because banks name files as they like.
//
// Errors: scan.ErrEmpty, scan.ErrUnknownFormat, scan.ErrTooLarge, *scan.ParseError for a damaged archive, and errors of r.
func Open(r io.Reader, options Options) (*File, error) {
	plain, err := scan.Decompress(r)
	if err != nil {
		return nil, err
	}
	raw := bufio.NewReaderSize(plain, scan.PeekBytes)
	start, err := raw.Peek(scan.PeekBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(bytes.TrimSpace(start)) == 0 {
		return nil, scan.ErrEmpty
	}
	text, assumed, err := scan.ToUTF8(start, raw, options.Encoding, plausible)
	if err != nil {
		return nil, err
	}
	in := &input{text: bufio.NewReaderSize(text, scan.PeekBytes), options: options, keys: make(map[string]int)}
	if r, _, err := in.text.ReadRune(); err == nil && r != '\ufeff' {
		_ = in.text.UnreadRune() // Follows a successful ReadRune.
	}
	head, err := in.text.Peek(scan.PeekBytes / 2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	f := &File{in: in, assumed: assumed}
	if f.in.facts.Format, f.parse = sniff(string(head), options); f.parse == nil || options.Format != "" && options.Format != f.in.facts.Format {
		if options.Format != "" {
			return nil, fmt.Errorf("%w; the file is not %s", scan.ErrUnknownFormat, options.Format)
		}
		return nil, scan.ErrUnknownFormat
	}
	return f, nil
}

// Patterns of the formats. Each is searched in the start of the text.
var (
	ofxStart   = regexp.MustCompile(`(?i)OFXHEADER\s*[:=]|<OFX>`)
	camtStart  = regexp.MustCompile(`(?s)^\s*<.*?(?:camt\.05[234]|<(?:\w+:)?BkToCstmr(?:Stmt|AcctRpt|DbtCdtNtfctn)\b)`)
	mt940Start = regexp.MustCompile(`(?m)(?:^[ \t\x01]*|\{4:[ \t]*):(20|25P?|28C?|60[FM]|61|62[FM]|34F|13D?):`)
	// The first line of Coffer's export is a wallet, a category or a rate, or a transaction's, if the rest is cut off.
	cofferStart = regexp.MustCompile(`^\{\s*"(?:wallet|category|rate|transaction|export)"\s*:\s*\{`)
	qifStart    = regexp.MustCompile(`(?im)^[ \t]*!(?:type|account|option|clear)\b`)
)

// sniff returns the format of a text and its parser, or nil. It tries the formats with an unmistakable start first, and CSV last, because
// almost every text can be read as CSV.
func sniff(head string, options Options) (string, func(*input) iter.Seq2[Record, error]) {
	first := head[:min(len(head), 4096)]
	switch {
	case strings.ContainsRune(first, 0) || strings.HasPrefix(first, "%PDF"):
		return "", nil
	case ofxStart.MatchString(first):
		return OFX, parseOFX
	}
	trimmed := strings.TrimSpace(first)
	switch {
	case strings.HasPrefix(trimmed, "<"):
		if camtStart.MatchString(first) {
			return CAMT, parseCAMT
		}
		return "", nil
	case cofferStart.MatchString(trimmed):
		return Coffer, parseCoffer
	case strings.HasPrefix(trimmed, "{\""):
		return "", nil
	case isMT940(first):
		return MT940, parseMT940
	case qifStart.MatchString(first), qifBare.MatchString(trimmed):
		return QIF, parseQIF
	}
	return sniffCSV(head, options)
}

// isMT940 reports whether a text has at least two different fields of MT940 at the starts of lines.
func isMT940(text string) bool {
	tags := make(map[string]bool)
	for _, m := range mt940Start.FindAllStringSubmatch(text, -1) {
		tags[m[1]] = true
	}
	return len(tags) >= 2
}

// Format returns the recognized format.
func (f *File) Format() string { return f.in.facts.Format }

// Mapped reports whether the records only have cells, which Facts.Mapping converts.
func (f *File) Mapped() bool { return f.in.mapped }

// Records yields the records in file order. An error is the last element.
func (f *File) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		n := 0
		for record, err := range f.parse(f.in) {
			if err == nil {
				if n++; n > MaxRows {
					err = ErrTooManyRows
				}
			}
			if err != nil {
				f.failed = err
				yield(Record{}, err)
				return
			}
			record.N = n
			f.in.note(&record)
			if !yield(record, nil) {
				return
			}
		}
		if err := f.in.unreadable(); err != nil {
			f.failed = err
			yield(Record{}, err)
		}
	}
}

// Facts returns the facts of the file after the last record.
func (f *File) Facts() Facts {
	if f.assumed() {
		f.in.warn(EncodingAssumed)
	}
	slices.Sort(f.in.facts.Warnings)
	return f.in.facts
}

// note cleans a complete record and counts it.
func (in *input) note(r *Record) {
	if in.mapped {
		return
	}
	if !in.exact && r.clean() {
		in.warn(TruncatedDescription)
	}
	if i, ok := in.keys[r.Account]; ok && !r.Opening {
		in.facts.Accounts[i].Count++
	}
	switch {
	case r.Problem == "":
		in.valid++
		if r.Currency == "" {
			in.warn(CurrencyAssumed)
		}
	case in.problem == nil:
		in.problem = &Record{N: r.N, Line: r.Line, Problem: r.Problem}
	}
}

// unreadable returns an error if the file has records, but none that can be read. A file in which some records can be read is accepted, and
// the user sees the problems of the others.
func (in *input) unreadable() error {
	if in.valid > 0 || in.problem == nil {
		return nil
	}
	return &scan.ParseError{Line: in.problem.Line, Message: "no transaction can be read; the first one: " + in.problem.Problem}
}

// warn adds a warning once.
func (in *input) warn(code string) {
	if !slices.Contains(in.facts.Warnings, code) {
		in.facts.Warnings = append(in.facts.Warnings, code)
	}
}

// maxAccounts is the maximum number of accounts in a file.
const maxAccounts = 1000

// account returns the account with a key, valid until the next call. It adds the account if it is new.
func (in *input) account(key string) (*Account, error) {
	key = cut(spaces(key), maxName)
	i, ok := in.keys[key]
	if !ok {
		if len(in.keys) == maxAccounts {
			return nil, &scan.ParseError{Message: fmt.Sprintf("the file has more than %d accounts", maxAccounts)}
		}
		i = len(in.facts.Accounts)
		in.keys[key] = i
		in.facts.Accounts = append(in.facts.Accounts, Account{Key: key, Last4: Last4(key)})
	}
	return &in.facts.Accounts[i], nil
}

// Last4 returns the last four letters and digits of an account number, or "" for shorter texts and texts without digits.
func Last4(number string) string {
	var kept []rune
	digits := 0
	for _, r := range number {
		if r >= '0' && r <= '9' {
			digits++
		}
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			kept = append(kept, r)
		}
	}
	if digits < 4 {
		return ""
	}
	return string(kept[len(kept)-4:])
}

// clean trims the texts of a record and cuts them to their limits. It reports whether the description was cut.
func (r *Record) clean() bool {
	full := spaces(r.Description)
	r.Description = cut(full, maxText)
	r.Payee = cut(spaces(r.Payee), maxPayee)
	r.Notes = cut(strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(r.Notes, "\ufffd"), "\x00", "")), maxNotes)
	r.Category = cut(spaces(r.Category), maxName)
	r.Account = cut(spaces(r.Account), maxName)
	r.ExternalID = cut(spaces(r.ExternalID), maxName*2)
	if len(r.Tags) > maxTags {
		r.Tags = r.Tags[:maxTags]
	}
	return len(r.Description) < len(full)
}

// spaces returns valid text with single spaces and without control characters.
func spaces(s string) string {
	clean := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == ' ' && (i == 0 || s[i-1] == ' ' || i == len(s)-1) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == ' ' || r == '\u00a0' || r == '\u0085' || r == '\ufeff'
	}), " ")
}

// cut returns at most n characters of s.
func cut(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := 0
	for i := range s {
		if runes == n {
			return strings.TrimSpace(s[:i])
		}
		runes++
	}
	return s
}
