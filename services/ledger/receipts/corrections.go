package receipts

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// maxBadLines limits the lines whose problems an error lists, so that a response to 500 invalid
// lines stays small.
const maxBadLines = 10

// corrections are the user's corrections of a receipt. The zero value corrects nothing.
type corrections struct {
	// ReceiptCorrections is nil if the request has none. Texts are normalized.
	*ledgerv1.ReceiptCorrections
	// categories has the category of each line, uuid.Nil for the category of the request.
	categories []uuid.UUID
}

// parseCorrections validates the corrections of a request without a query. It checks amounts with
// the decimals that any currency allows, because the receipt's currency may be unknown before the
// recognition; applyAmounts checks the decimals of that currency.
func parseCorrections(problems *apierr.Problems, message *ledgerv1.ReceiptCorrections) corrections {
	if message == nil {
		return corrections{}
	}
	corrections := corrections{ReceiptCorrections: proto.CloneOf(message)}
	if corrections.Merchant != nil {
		corrections.Merchant = new(correctedText(problems, "corrections.merchant",
			message.GetMerchant()))
	}
	if _, ok := calendar.ParseDate(message.GetDate()); corrections.Date != nil && !ok {
		problems.Invalid("corrections.date",
			"must be a date of the years 1900 to 2200, such as 2026-03-14")
	}
	if _, ok := money.ParseCurrency(message.GetCurrency()); corrections.Currency != nil && !ok {
		problems.Invalid("corrections.currency", "must be an active ISO 4217 code, such as EUR")
	}
	for _, a := range corrections.amounts(&ocrv1.Receipt{}) {
		n := correctedAmount(problems, a.field, *a.corrected)
		if a.field == "corrections.discount" && n < 0 {
			problems.Invalid(a.field, "must not be negative")
		}
	}
	if corrections.Lines != nil {
		corrections.parseLines(problems)
	}
	return corrections
}

func (c *corrections) parseLines(lineProblems *apierr.Problems) {
	lines := c.GetLines().GetValues()
	if len(lines) == 0 || len(lines) > maxLines {
		lineProblems.Invalid("corrections.lines", fmt.Sprintf("must be 1 to %d lines", maxLines))
		return
	}
	c.categories = make([]uuid.UUID, len(lines))
	bad := 0
	for i, line := range lines {
		var problems apierr.Problems
		line.Description = correctedText(&problems, "description", line.GetDescription())
		correctedAmount(&problems, "amount", line.GetAmount())
		if line.CategoryId != nil {
			c.categories[i] = request.ParseID(&problems, "categoryId", line.GetCategoryId(),
				request.ErrInvalidCategoryID)
		}
		if e := apierr.From(problems.Err()); e != nil && bad < maxBadLines {
			lineProblems.Include(e.Under(fmt.Sprintf("corrections.lines[%d]", i)))
			bad++
		}
	}
}

func correctedText(p *apierr.Problems, field, s string) string {
	parsed, problem := text.Description(field, s)
	if problem == nil && parsed == "" {
		problem = &apierr.Field{Name: field, Message: "is required"}
	}
	p.Field(problem)
	return parsed
}

// correctedAmount returns an amount in ten-thousandths of the major unit.
func correctedAmount(problems *apierr.Problems, field, s string) int64 {
	if s == "" {
		problems.Invalid(field, "is required")
		return 0
	}
	n, err := money.ParseDecimal(s, money.MaxDecimals)
	if err != nil {
		problems.Invalid(field, err.Error())
	}
	return n
}

func (c corrections) references() []request.References {
	var named []request.References
	for _, id := range c.categories {
		if id != uuid.Nil {
			named = append(named, request.References{Category: &id})
		}
	}
	return named
}

// checkOwned adds a problem for each line whose category does not belong to the owner, for at most
// maxBadLines lines.
func (c corrections) checkOwned(p *apierr.Problems, owned request.Owned) {
	bad := 0
	for i, id := range c.categories {
		if id != uuid.Nil && !slices.Contains(owned.Categories, id) && bad < maxBadLines {
			path := fmt.Sprintf("corrections.lines[%d].categoryId", i)
			p.Add(request.ErrCategoryNotFound.With(path, "is unknown"))
			bad++
		}
	}
}

// amount is a corrected amount of a receipt. field is its name in problems, corrected the decimal
// of the request, and read points to the recognized decimal in the receipt, which applyAmounts
// replaces.
type amount struct {
	field     string
	corrected *string
	read      *string
}

func (c corrections) amounts(recognized *ocrv1.Receipt) []amount {
	if c.ReceiptCorrections == nil {
		return nil
	}
	all := []amount{
		{"corrections.total", c.Total, &recognized.Total},
		{"corrections.tax", c.Tax, &recognized.Tax},
		{"corrections.tip", c.Tip, &recognized.Tip},
		{"corrections.discount", c.Discount, &recognized.Discount},
		{"corrections.rounding", c.Rounding, &recognized.Rounding},
	}
	return slices.DeleteFunc(all, func(a amount) bool { return a.corrected == nil })
}

// applyTexts replaces merchant, date and currency of a receipt. A corrected date is not ambiguous.
func (c corrections) applyTexts(recognized *ocrv1.Receipt) {
	if c.ReceiptCorrections == nil {
		return
	}
	if c.Merchant != nil {
		recognized.Merchant = c.GetMerchant()
	}
	if c.Currency != nil {
		recognized.Currency = money.CurrencyOf(c.GetCurrency()).Code()
	}
	if c.Date != nil {
		recognized.Date = c.GetDate()
		unwarn(recognized, "DATE_AMBIGUOUS")
	}
}

func (c corrections) hasTotal() bool { return c.ReceiptCorrections != nil && c.Total != nil }

// applyAmounts replaces the amounts and lines of a receipt in its currency. It returns a validation
// error if an amount has more decimals than the currency. An amount that equals the one that was
// read stays as it was read, and so does a line, because a corrected line has no quantity.
func (c corrections) applyAmounts(recognized *ocrv1.Receipt, currency money.Currency) error {
	var problems apierr.Problems
	format := func(field, s string) string {
		n, err := currency.Parse(s)
		if err != nil {
			problems.Invalid(field, fmt.Sprintf("must have at most %d decimals: the currency is %s",
				currency.Decimals(), currency.Code()))
		}
		return currency.Format(n)
	}
	for _, a := range c.amounts(recognized) {
		if !equalAmounts(*a.read, *a.corrected) {
			*a.read = format(a.field, *a.corrected)
		}
	}
	if c.ReceiptCorrections != nil && c.Lines != nil {
		lines := make([]*ocrv1.Line, len(c.GetLines().GetValues()))
		for i, l := range c.GetLines().GetValues() {
			if i < len(recognized.GetLines()) && sameLine(recognized.GetLines()[i], l) {
				lines[i] = recognized.GetLines()[i]
				continue
			}
			lines[i] = &ocrv1.Line{
				Description: l.GetDescription(),
				Amount:      format(fmt.Sprintf("corrections.lines[%d].amount", i), l.GetAmount()),
			}
		}
		recognized.Lines = lines
		// The sum is checked after the corrections, so a warning about the lines that were read
		// does not apply.
		unwarn(recognized, "LINES_NOT_RECONCILED")
	}
	return problems.Err()
}

// sameLine reports whether a correction leaves a line as it was read.
func sameLine(read *ocrv1.Line, corrected *ledgerv1.CorrectedLine) bool {
	description, _ := text.Description("", describe(read.GetDescription(), "Item"))
	return description == corrected.GetDescription() &&
		equalAmounts(read.GetAmount(), corrected.GetAmount())
}

func equalAmounts(a, b string) bool {
	x, err := money.ParseDecimal(a, money.MaxDecimals)
	y, err2 := money.ParseDecimal(b, money.MaxDecimals)
	return cmp.Or(err, err2) == nil && x == y
}

// changed returns the names of the fields that the corrections changed. recognized is the corrected
// receipt. A correction that equals the recognized value is no change: clients send the whole form,
// and the metric ocr.corrections counts errors of the recognition.
func (c corrections) changed(before *ocrv1.RecognizedFields, recognized *ocrv1.Receipt) []string {
	if c.ReceiptCorrections == nil {
		return nil
	}
	var fields []string
	add := func(name string, differs bool) {
		if differs {
			fields = append(fields, name)
		}
	}
	add("merchant", c.Merchant != nil && before.GetMerchant() != recognized.GetMerchant())
	add("date", c.Date != nil && before.GetDate() != recognized.GetDate())
	add("currency", c.Currency != nil && before.GetCurrency() != recognized.GetCurrency())
	add("total", before.GetTotal() != recognized.GetTotal())
	add("tax", before.GetTax() != recognized.GetTax())
	add("tip", before.GetTip() != recognized.GetTip())
	add("discount", before.GetDiscount() != recognized.GetDiscount())
	add("rounding", before.GetRounding() != recognized.GetRounding())
	add("lines", !slices.Equal(before.GetLines(), recognized.GetLines()))
	return fields
}

// recognizedFields returns the fields of a receipt that corrections can change. It shares the
// lines, which corrections replace and do not modify.
func recognizedFields(r *ocrv1.Receipt) *ocrv1.RecognizedFields {
	return &ocrv1.RecognizedFields{
		Merchant: r.GetMerchant(), Date: r.GetDate(), Currency: r.GetCurrency(), Tax: r.GetTax(),
		Tip: r.GetTip(), Discount: r.GetDiscount(), Rounding: r.GetRounding(), Total: r.GetTotal(),
		Lines: r.GetLines(),
	}
}
