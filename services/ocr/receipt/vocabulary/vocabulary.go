// Package vocabulary has the words that receipts print, as data: one file per language. A new
// language is a new file. Rules never name a language; they ask for the words of a kind in all
// languages, because receipts mix them.
//
// Each line of a file is a kind, a colon and phrases separated by commas. Case and accents do not
// matter, because package printed folds phrases and receipts in the same way. Kinds are the
// exported constants. Of months and weekdays, the list has an element for each in the order of the
// calendar, Sunday first, with all its names and abbreviations.
package vocabulary

import (
	"embed"
	"strings"
)

//go:embed *.txt
var files embed.FS

// The kinds of words that a file may have.
const (
	// Total names an amount to pay.
	Total = "total"
	// TotalOnly has those phrases of Total that name nothing else.
	TotalOnly = "total only"
	// TotalOfMoney marks a total of money on a line that also has the number of articles: "Qty: 6
	// Total Amount".
	TotalOfMoney = "total of money"
	// Subtotal names an amount before taxes or charges.
	Subtotal = "subtotal"
	// Supplies marks the total of all goods with one tax rate.
	Supplies = "supplies"
	// Tax names a tax or a charge that receipts add like one.
	Tax = "tax"
	// TaxIncluded marks the tax that a total includes: "total includes 5 % VAT 0.40".
	TaxIncluded = "tax included"
	// Inclusive marks a total with the tax.
	Inclusive = "inclusive"
	// AfterTax marks a total with the tax, but also a tax that is added.
	AfterTax = "after tax"
	// Exclusive marks a total without the tax.
	Exclusive = "exclusive"
	// Cash names a payment.
	Cash = "cash"
	// Paid marks a total that was paid, not requested.
	Paid = "paid"
	// Owed contains a word of Paid, but marks the amount requested.
	Owed = "owed"
	// Change names the returned part of a payment.
	Change = "change"
	// Tip names a voluntary charge.
	Tip = "tip"
	// Suggested marks a heading of tips that the customer may choose.
	Suggested = "suggested"
	// Discount names an amount that is subtracted.
	Discount = "discount"
	// Discounted marks an amount from which a discount was subtracted.
	Discounted = "discounted"
	// Saved marks an amount that the customer has saved. The prices of the goods already contain
	// it.
	Saved = "saved"
	// Rounding names the difference to the amount that coins can pay.
	Rounding = "rounding"
	// Count names numbers of articles, points or savings. These are not amounts to pay.
	Count = "count"
	// Column is the title of a column.
	Column = "column"
	// Spaced has words that only languages print that separate thousands by a space.
	Spaced = "spaced thousands"
	// Date marks the date of the purchase.
	Date = "date"
	// OtherDate marks another date.
	OtherDate = "other date"
	// Months has the names of the months.
	Months = "months"
	// Weekdays has the names of the weekdays, Sunday first.
	Weekdays = "weekdays"
	// Frequent has words that are frequent on the receipts of a language of Engine.
	Frequent = "frequent"
	// Engine is Tesseract's code for a language of which it has a model.
	Engine = "engine"
	// Currency is the beginning of kinds such as "currency SEK": words that only the countries of a
	// currency print.
	Currency = "currency "
)

var languages = parse()

func parse() []map[string][]string {
	var out []map[string][]string
	entries, _ := files.ReadDir(".")
	for _, e := range entries {
		text, _ := files.ReadFile(e.Name())
		language := map[string][]string{}
		for line := range strings.Lines(string(text)) {
			kind, list, found := strings.Cut(line, ":")
			if !found || strings.HasPrefix(line, "#") {
				continue
			}
			for phrase := range strings.SplitSeq(list, ",") {
				language[kind] = append(language[kind], strings.TrimSpace(phrase))
			}
		}
		out = append(out, language)
	}
	return out
}

// Words returns the phrases of a kind in all languages.
func Words(kind string) []string {
	var out []string
	for _, l := range languages {
		out = append(out, l[kind]...)
	}
	return out
}

// Named returns the names of each month or weekday in all languages.
func Named(kind string, number int) [][]string {
	out := make([][]string, number)
	for _, l := range languages {
		for i, names := range l[kind] {
			out[i] = append(out[i], strings.Fields(names)...)
		}
	}
	return out
}

// Recognizable returns the words of Frequent for each language of Engine.
func Recognizable() map[string][]string {
	out := map[string][]string{}
	for _, l := range languages {
		for _, code := range l[Engine] {
			out[code] = l[Frequent]
		}
	}
	return out
}

// Currencies returns the words of Currency by currency.
func Currencies() map[string][]string {
	out := map[string][]string{}
	for _, l := range languages {
		for kind, words := range l {
			if code, found := strings.CutPrefix(kind, Currency); found {
				out[code] = append(out[code], words...)
			}
		}
	}
	return out
}
