// Bench-import reads a folder of labeled statements with the parsers of the importer and scores the
// results.
//
// The folder has a manifest.jsonl. Each of its lines is a label: file, format, expect (rows or
// error), currency, rows with date and signed amount, and perhaps other lists of rows that count as
// right (also). The program opens each file without any hint from the label, except the order of
// day and month of QIF files, because that format does not define it: a user would see it in the
// preview. The parsers of CSV files get no columns, delimiter, encoding or decimal mark.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

type label struct {
	// File is the path in the folder, and Format a format of package formats.
	File   string `json:"file"`
	Format string `json:"format"`
	// Expect is rows, or error for a file that must be rejected.
	Expect string `json:"expect"`
	// Currency is the currency of rows without one.
	Currency string `json:"currency"`
	// Rows holds the right rows. Also holds other lists that count as right, for example with the
	// value date instead of the booking date.
	Rows    []row   `json:"rows"`
	Also    [][]row `json:"also"`
	Mapping struct {
		DateOrder string `json:"date_order"`
	} `json:"mapping"`
}

// row is a transaction. Date is YYYY-MM-DD, and Amount a signed decimal.
type row struct {
	Date     string `json:"date"`
	Amount   string `json:"amount"`
	Currency string `json:"currency,omitempty"`
	Payee    string `json:"payee,omitempty"`
}

// prediction is the result of reading a file, in the form that the folder's own score program
// reads.
type prediction struct {
	File  string `json:"file"`
	Rows  []row  `json:"rows"`
	Error string `json:"error,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-import:", err)
		os.Exit(1)
	}
}

func run() error {
	data := flag.String("data", "", "folder with manifest.jsonl")
	out := flag.String("out", "", "file for the predictions, as JSON lines")
	verbose := flag.Bool("v", false, "also list the wrong files")
	useLocale := flag.Bool("locale", true,
		"pass the locale of QIF files, which determines the order of day and month, "+
			"as a browser does")
	flag.Parse()
	manifest, err := os.Open(filepath.Join(*data, "manifest.jsonl"))
	if err != nil {
		return err
	}
	defer manifest.Close()
	var predictions strings.Builder
	scores := make(map[string]*score)
	lines := bufio.NewScanner(manifest)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var label label
		if err := json.Unmarshal(lines.Bytes(), &label); err != nil {
			return err
		}
		locale := map[string]string{"dmy": "en-GB", "mdy": "en-US"}[label.Mapping.DateOrder]
		if !*useLocale {
			locale = ""
		}
		prediction, proposed := read(filepath.Join(*data, label.File), locale)
		prediction.File = label.File
		encoded, err := json.Marshal(prediction)
		if err != nil {
			return err
		}
		predictions.Write(append(encoded, '\n'))
		result := judge(label, prediction)
		for _, name := range []string{label.Format, "all"} {
			if scores[name] == nil {
				scores[name] = &score{}
			}
			scores[name].add(result)
		}
		if *verbose && (!result.right || result.currencyRight < result.currencies) {
			report(label, prediction, result, proposed)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if *out != "" {
		if err := os.WriteFile(*out, []byte(predictions.String()), 0o600); err != nil {
			return err
		}
	}
	return table(os.Stdout, scores)
}

func read(path, locale string) (prediction, *mapping.Mapping) {
	prediction := prediction{Rows: []row{}}
	file, err := os.Open(path)
	if err != nil {
		prediction.Error = err.Error()
		return prediction, nil
	}
	defer file.Close()
	records, proposed, err := convert(file, locale)
	if err != nil {
		prediction.Error = err.Error()
		return prediction, proposed
	}
	line := 0 // Of the last row.
	for _, record := range records {
		switch {
		case record.Skip, record.Status != "": // A pending or void payment is not booked.
		case record.Problem != "":
			prediction.Error = fmt.Sprintf("record %d: %s", record.N, record.Problem)
		case len(prediction.Rows) > 0 && record.Line == line && proposed != nil &&
			proposed.Format == statement.QIF:
			// The label has one row for an entry, whose transfers are records of their own.
			whole := &prediction.Rows[len(prediction.Rows)-1]
			whole.Amount, _ = written.SumOf(whole.Amount, record.Amount).Text()
		default:
			line = record.Line
			prediction.Rows = append(prediction.Rows,
				row{record.Date.Format("2006-01-02"), record.Amount, record.Currency, record.Payee})
		}
	}
	// Invalid records are listed in the preview. Only a file without any other cannot be imported.
	if len(prediction.Rows) > 0 {
		prediction.Error = ""
	}
	return prediction, proposed
}

// convert returns the records of a file, by the proposed mapping if it needs one.
func convert(r io.Reader, locale string) ([]statement.Record, *mapping.Mapping, error) {
	file, err := formats.Open(r, statement.Options{Locale: locale})
	if err != nil {
		return nil, nil, err
	}
	var records []statement.Record
	for record, err := range file.Records() {
		if err != nil {
			return nil, nil, err
		}
		records = append(records, record)
	}
	proposed := file.Facts().Mapping
	if proposed == nil {
		return records, nil, nil
	}
	records, err = formats.Apply(proposed, records)
	var invalid *mapping.Error
	if errors.As(err, &invalid) {
		return nil, proposed, fmt.Errorf("no mapping can be proposed: %w", err)
	}
	return records, proposed, err
}

func report(l label, p prediction, s result, proposed *mapping.Mapping) {
	fmt.Printf("WRONG %s: expected %s, %d of %d rows, %d returned, currency %d of %d, error: %s\n",
		l.File, l.Expect, s.hit, s.rows, len(p.Rows), s.currencyRight, s.currencies, p.Error)
	if proposed != nil {
		encoded, err := json.Marshal(proposed)
		if err == nil {
			fmt.Printf("      mapping %s\n", encoded)
		}
	}
}

func table(w io.Writer, scores map[string]*score) error {
	writer := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(writer,
		"format\tfiles exact\trows right\trows extra\tcurrency right\trefused\tpayee (info)")
	names := []string{statement.OFX, statement.QIF, statement.CAMT, statement.MT940, statement.CSV}
	for name := range scores {
		if !slices.Contains(names, name) && name != "all" {
			names = append(names, name)
		}
	}
	for _, name := range append(names, "all") {
		if s := scores[name]; s != nil {
			_, _ = fmt.Fprintf(writer, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", name,
				share(s.exact, s.files), share(s.hit, s.rows), share(s.got-s.hit, s.got),
				share(s.currencyRight, s.currencies), share(s.rejected, s.broken),
				share(s.payeeRight, s.payees))
		}
	}
	return writer.Flush()
}

func share(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d %.1f%%", part, whole, 100*float64(part)/float64(whole))
}
