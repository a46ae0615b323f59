package statement

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Evidence is what a file shows about a warning, for users in any language.
type Evidence struct {
	Code       string            // One of evidence.txt.
	Parameters map[string]string // Those of its sentence. Numbers are canonical.
}

// UnitShared is the evidence of a unit that several currencies have. A change of the currency
// changes it.
const UnitShared = "UNIT_SHARED"

// YearsPrefix begins the codes of the evidence about the years of dates without one.
const YearsPrefix = "YEARS_"

// Shows returns the evidence with a code. parameters holds names and values in turn.
func Shows(code string, parameters ...string) Evidence {
	e := Evidence{Code: code, Parameters: make(map[string]string)}
	for i := 0; i+1 < len(parameters); i += 2 {
		e.Parameters[parameters[i]] = parameters[i+1]
	}
	return e
}

// With returns the evidence with one more parameter.
func (e Evidence) With(name, value string) Evidence {
	e.Parameters = maps.Clone(e.Parameters)
	e.Parameters[name] = value
	return e
}

// Mismatch returns the evidence of two balances between which the records do not add up.
func Mismatch(opening string, total written.Sum, closing string) Evidence {
	expected, _ := total.Text()
	return Shows("BALANCES_OF_FILE", "opening", opening, "expected", expected, "closing", closing)
}

//go:embed evidence.txt
var evidenceText string

var sentences = parseSentences(evidenceText)

// EvidenceCodes are the codes of all evidence, sorted.
var EvidenceCodes = slices.Sorted(maps.Keys(sentences))

// Sentence returns the evidence in English. It is empty for an unknown code.
func (e Evidence) Sentence() string {
	sentence, ok := sentences[e.Code]
	if !ok {
		return ""
	}
	var text strings.Builder
	// Neither a map of texts nor a strings.Builder returns an error.
	_ = sentence.Execute(&text, e.Parameters)
	return text.String()
}

// parseSentences returns the templates of evidence.txt by code.
func parseSentences(lines string) map[string]*template.Template {
	parsed := make(map[string]*template.Template)
	for line := range strings.Lines(lines) {
		code, sentence, found := strings.Cut(strings.TrimSpace(line), " ")
		if found && code != "#" {
			parsed[code] = template.Must(template.New(code).Parse(sentence))
		}
	}
	return parsed
}
