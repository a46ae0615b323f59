// Package printed has the vocabulary of the rules: the words that an engine has recognized, the
// lines of a receipt made from them, and the kind and the amounts of each line. It decides nothing
// about the receipt.
//
// Lines converts pages to lines from top to bottom. Classify then sets the kind of each line, and
// MarkPrices the amounts that are prices in the currency of FindCurrency. All functions are pure.
// Amounts are counts of thousandths. Engines and decoders import this package for words and pages,
// and no rules.
package printed

// Word is a recognized word. Confidence is the engine's, from 0 to 1.
type Word struct {
	Text       string
	Box        Box
	Confidence float64
}

// Box is a rectangle in pixels of the upright page.
type Box struct{ X, Y, W, H int }

// Page holds the words of one page. Width and Height are in pixels, or zero for plain text. Words
// may come in any order.
type Page struct {
	Width, Height int
	Words         []Word
	// Exact is set if the words were text in the file. No digit of them is treated as misread.
	Exact bool
}

// Evidence is the place where a field was read. Page counts from 1. Box is zero for plain text.
type Evidence struct {
	Field string
	Page  int
	Box   Box
	Text  string
}

// Field is a text with the line where it was read. Before Join, confidence is a score that may
// exceed 1.
type Field struct {
	Value      string
	Confidence float64
	At         *Line
}
