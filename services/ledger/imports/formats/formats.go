// Package formats reads the files of banks and other finance applications into records.
//
// Open recognizes the compression, the encoding and the format of a file. File.Records then yields
// its records in file order, and File.Facts returns what only the end of the file decides:
// accounts, balances, warnings and the mapping.
//
//	file, err := formats.Open(r, statement.Options{Locale: "de-DE"})
//	for record, err := range file.Records() { ... stage the record ... }
//	facts := file.Facts()
//
// There are two kinds of formats. OFX, CAMT, MT940, Firefly III and Coffer define what each value
// means, so their records are complete. CSV, XLSX, QIF and YNAB do not: whether 03/04 is in March
// or April, and whether 1.234 has a decimal mark, needs all rows. Their records only have N, Line
// and Cells, and Facts.Mapping proposes how to read them. The importer stages the cells and then
// converts each of them with a Reader, again after each change of the mapping.
//
// All functions are pure. Every input has limits (statement.MaxRecords, and those of package scan),
// so that the cost of a file is linear in its bytes (ADR 80). A format has a package with its
// parser, which holds one record and the accounts of the file, and with the start by which the file
// is recognized. A new format is a new package and a line in detect.go. Parsers do not register
// themselves, because the order of detection matters. Tests of a format read files with Open, as
// the importer does. The packages:
//
//   - ofx, camt, mt940: the statements of banks. firefly, coffer: exports of applications. Their
//     records are complete
//   - csv, xlsx, qif, ynab: the formats with a mapping. qif and ynab also convert their cells,
//     because both halves of such a format share the meaning of the cells. xlsx yields those of csv
//   - mapping: describes a mapping and converts the cells of csv and xlsx. proposal proposes a
//     mapping, and headings has the words in the headings of columns
//   - statement: records, accounts, facts and external ids, which all formats share. Start reading
//     there, and here at Open
//   - scan: gzip and zip, the conversion to UTF-8, and the lines, rows and tags of limited length
//   - written: amounts, dates and words as written, in many languages, and exact sums. balances
//     compares the balances of a file with its amounts
package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/xlsx"
)

// The errors of this package, besides those of package scan and of the reader.
var (
	// ErrUnknownFormat is returned for a file without one of the formats, and for an archive with
	// several files.
	ErrUnknownFormat = errors.New("unknown format: expected CSV, XLSX, OFX, QFX, QIF, CAMT.052, " +
		"CAMT.053, CAMT.054, MT940, MT942, Firefly III, YNAB or Coffer JSON lines")
	// ErrTooManyRows is returned by File.Records, and by callers if too many of the records are
	// transactions.
	ErrTooManyRows = errors.New("the file has more than 200000 rows")
)

// File is an opened file. It is read once: call Records, read to the end, and then call Facts.
type File struct {
	in     *statement.Input
	parsed parsed
	// assumed reports whether the encoding was guessed and the guess mattered. It is known after
	// the last record.
	assumed func() bool
}

// Facts are the facts of a file.
type Facts struct {
	statement.Facts

	Mapping *mapping.Mapping // The proposal for formats with a mapping, otherwise nil.
}

// Open recognizes the file in r: compression, encoding and format. It reads only the start of the
// file, so it also accepts a file whose rest is damaged; Records then returns the error. The name
// of the file is not used, because banks name files as they like.
//
// Errors: ErrUnknownFormat, scan.ErrEmpty, scan.ErrTooLarge, *scan.ParseError for a damaged
// archive, and errors of r.
func Open(r io.Reader, options statement.Options) (*File, error) {
	plain, err := scan.Decompress(r)
	if err != nil {
		return nil, readError(err)
	}
	raw := bufio.NewReaderSize(plain, scan.PeekBytes)
	start, err := raw.Peek(scan.PeekBytes)
	if advice := unsupported(start); advice != "" {
		return nil, fmt.Errorf("%w; %s", ErrUnknownFormat, advice)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, readError(err)
	}
	if len(bytes.TrimSpace(start)) == 0 {
		return nil, scan.ErrEmpty
	}
	file, err := recognize(start, raw, options)
	switch {
	case err != nil:
		return nil, err
	case options.Format != "" && options.Format != file.parsed.format:
		return nil, fmt.Errorf("%w; the file is not %s", ErrUnknownFormat, options.Format)
	case file.parsed.advice != "":
		return nil, fmt.Errorf("%w; %s", ErrUnknownFormat, file.parsed.advice)
	case file.parsed.records == nil:
		return nil, ErrUnknownFormat
	}
	file.in.Facts.Format = file.parsed.format
	return file, nil
}

// recognize returns the file in raw with its format, which is empty if it is unknown. start is the
// start of the file.
func recognize(start []byte, raw *bufio.Reader, options statement.Options) (*File, error) {
	if scan.IsWorkbook(start) {
		in := statement.NewInput(raw, options)
		records, proposed := xlsx.Parse(in)
		return &File{
			in: in, parsed: parsed{format: statement.XLSX, records: records, mapping: proposed},
			assumed: func() bool { return false },
		}, nil
	}
	utf8, assumed, err := scan.ToUTF8(start, raw, options.Encoding, headings.Plausible)
	if err != nil {
		return nil, err
	}
	text := bufio.NewReaderSize(utf8, scan.PeekBytes)
	if r, _, err := text.ReadRune(); err == nil && r != '\ufeff' {
		_ = text.UnreadRune() // Follows a successful ReadRune.
	}
	head, err := text.Peek(scan.PeekBytes / 2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, readError(err)
	}
	in := statement.NewInput(text, options)
	return &File{in: in, parsed: detect(string(head), in), assumed: assumed}, nil
}

// readError returns the error for a file that cannot be read. No format is an archive with several
// files. Only its end shows them, so the error may follow any record.
func readError(err error) error {
	if errors.Is(err, scan.ErrSeveralFiles) || errors.Is(err, scan.ErrOnlyPlan) {
		return fmt.Errorf("%w; %w", ErrUnknownFormat, err)
	}
	return err
}

// Format returns the recognized format.
func (f *File) Format() string { return f.parsed.format }

// Mapped reports whether the records only have cells, which Facts.Mapping converts.
func (f *File) Mapped() bool { return f.parsed.mapping != nil }

// Records yields the records in file order. An error is the last element.
func (f *File) Records() iter.Seq2[statement.Record, error] {
	return func(yield func(statement.Record, error) bool) {
		records := 0
		for record, err := range f.parsed.records {
			if err == nil {
				if records++; records > statement.MaxRecords {
					err = ErrTooManyRows
				}
			}
			if err != nil {
				yield(statement.Record{}, readError(err))
				return
			}
			record.N = records
			if !f.Mapped() {
				f.in.Note(&record)
			}
			if !yield(record, nil) {
				return
			}
		}
		if err := f.in.Unreadable(); err != nil {
			yield(statement.Record{}, err)
		}
	}
}

// Facts returns the facts of the file after the last record.
func (f *File) Facts() Facts {
	if f.assumed() {
		f.in.Warn(statement.EncodingAssumed)
	}
	slices.Sort(f.in.Facts.Warnings)
	return Facts{f.in.Facts, f.parsed.mapping}
}
