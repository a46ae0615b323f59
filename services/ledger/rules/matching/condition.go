package matching

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/money"
)

const (
	// MaxSteps is the maximum number of steps of all patterns on one transaction. A pattern takes
	// as many steps as its program has instructions, times the characters of the text, and a step
	// takes up to 10 ns. Steps computes them for the longest texts, so rules within the maximum
	// never exceed it. Run counts them for the real texts, because older rules were stored without
	// this limit.
	MaxSteps = 2_000_000
	// maxPattern is the maximum length of a pattern in bytes.
	maxPattern = 200
	// maxProgram is the maximum number of instructions of a compiled pattern. Repetitions such as
	// (a{50}){20} are short but expensive.
	maxProgram = 300
)

const (
	expense = "expense"
	income  = "income"
)

// errPattern is returned for a pattern that is too long or too complex.
var errPattern = errors.New("the pattern is too long or too complex")

type condition struct {
	test func(*subject) bool
	not  bool
	// program is the number of instructions of the pattern, or 0. texts are the texts that it
	// reads.
	program int
	texts   []int
}

// met reports whether a transaction meets the condition. A pattern that would exceed the steps of
// the subject does not run.
func (c condition) met(sub *subject) bool {
	if c.program > 0 && !sub.take(c.program, c.texts) {
		return false
	}
	return c.test(sub) != c.not
}

// compileCondition prepares a condition. The API has validated the condition before, so an error
// means that a stored rule is broken.
func compileCondition(cond Condition) (condition, error) {
	if !slices.Contains(Ops[cond.Field], cond.Op) {
		return condition{}, fmt.Errorf("%s does not fit %s", cond.Op, cond.Field)
	}
	if least, most := Count(cond.Op); len(cond.Values) < least || len(cond.Values) > most {
		return condition{}, fmt.Errorf("%s has %d values", cond.Op, len(cond.Values))
	}
	if cond.Op == Matches {
		return compilePattern(cond)
	}
	var test func(*subject) bool
	var err error
	switch cond.Field {
	case Amount:
		test, err = compileAmount(cond)
	case WalletID:
		test, err = compileWallets(cond.Values)
	case Currency:
		codes := upper(cond.Values)
		test = func(sub *subject) bool { return slices.Contains(codes, sub.Currency) }
	case Type:
		values := slices.Clone(cond.Values)
		test = func(sub *subject) bool { return slices.Contains(values, sub.kind()) }
	case Tag:
		values := foldAll(cond.Values)
		test = func(sub *subject) bool {
			return slices.ContainsFunc(sub.tags, func(tag string) bool {
				return slices.Contains(values, tag)
			})
		}
	default:
		test, err = compileText(cond)
	}
	return condition{test: test, not: cond.Not}, err
}

// Count returns the minimum and the maximum number of values of an operator. in compares with each
// of its values, and all operators except between and in have one value.
func Count(op string) (least, most int) {
	switch op {
	case Between:
		return 2, 2
	case In:
		return 1, 50
	}
	return 1, 1
}

// compileText prepares a comparison of one of the three texts, or of any of them.
func compileText(c Condition) (func(*subject) bool, error) {
	compare, err := compileComparison(c)
	if err != nil {
		return nil, err
	}
	return anyText(textsOf[c.Field], compare), nil
}

// anyText returns a test that is true if one of the texts meets a comparison.
func anyText(texts []int, compare func(*folded) bool) func(*subject) bool {
	return func(sub *subject) bool {
		for _, i := range texts {
			if compare(&sub.texts[i]) {
				return true
			}
		}
		return false
	}
}

func compileComparison(condition Condition) (func(*folded) bool, error) {
	values := foldAll(condition.Values)
	if slices.Contains(values, "") {
		return nil, errors.New("an empty text is no value")
	}
	value := values[0]
	switch condition.Op {
	case Contains:
		return func(t *folded) bool { return strings.Contains(t.folded, value) }, nil
	case StartsWith:
		return func(t *folded) bool { return strings.HasPrefix(t.folded, value) }, nil
	case EndsWith:
		return func(t *folded) bool { return strings.HasSuffix(t.folded, value) }, nil
	case In:
		return func(t *folded) bool { return slices.Contains(values, t.folded) }, nil
	}
	return func(t *folded) bool { return t.folded == value }, nil
}

// CompilePattern compiles a pattern, which ignores case. A pattern matches the text before it is
// folded, with single spaces. It returns errPattern, or the error of the syntax. The size is
// checked before the expression is compiled for use.
func CompilePattern(pattern string) (*regexp.Regexp, error) {
	if _, err := programSize(pattern); err != nil {
		return nil, err
	}
	return regexp.Compile("(?i)" + pattern)
}

// programSize returns the number of instructions of a pattern. Its errors are those of
// CompilePattern.
func programSize(pattern string) (int, error) {
	if pattern == "" || len(pattern) > maxPattern {
		return 0, errPattern
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, err
	}
	if len(program.Inst) > maxProgram {
		return 0, errPattern
	}
	return len(program.Inst), nil
}

func compilePattern(cond Condition) (condition, error) {
	size, err := programSize(cond.Values[0])
	if err != nil {
		return condition{}, err
	}
	pattern, err := CompilePattern(cond.Values[0])
	if err != nil {
		return condition{}, err
	}
	texts := textsOf[cond.Field]
	test := anyText(texts, func(t *folded) bool { return pattern.MatchString(t.plain) })
	return condition{test: test, not: cond.Not, program: size, texts: texts}, nil
}

// Steps returns the number of steps that the patterns of some conditions take on a transaction with
// texts of the maximum length. The conditions are valid.
func Steps(conditions []Condition) int64 {
	var steps int64
	for _, condition := range conditions {
		if condition.Op != Matches || len(condition.Values) == 0 {
			continue
		}
		size, err := programSize(condition.Values[0])
		if err != nil {
			continue
		}
		for _, i := range textsOf[condition.Field] {
			steps += stepsOn(size, maxTexts[i])
		}
	}
	return steps
}

// stepsOn returns the number of steps of a program on a text. The program also runs at the end of
// the text.
func stepsOn(program, length int) int64 { return int64(program) * int64(length+1) }

// ParseAmount parses a value of an amount condition. It returns ten-thousandths of the major unit.
func ParseAmount(s string) (int64, error) {
	n, err := money.ParseDecimal(s, money.MaxDecimals)
	if err == nil && n < 0 {
		return 0, errors.New("must not be negative")
	}
	return n, err
}

// compileAmount prepares a comparison of the amount. Values are not negative, so UnknownAmount
// needs a check for less only.
func compileAmount(condition Condition) (func(*subject) bool, error) {
	var values [2]int64
	for i, s := range condition.Values {
		n, err := ParseAmount(s)
		if err != nil {
			return nil, err
		}
		values[i] = n
	}
	first, second := values[0], values[1]
	switch condition.Op {
	case Less:
		return func(sub *subject) bool {
			return sub.AmountE4 != UnknownAmount && sub.AmountE4 < first
		}, nil
	case Greater:
		return func(sub *subject) bool { return sub.AmountE4 > first }, nil
	case Between:
		return func(sub *subject) bool {
			return sub.AmountE4 >= first && sub.AmountE4 <= second
		}, nil
	}
	return func(sub *subject) bool { return sub.AmountE4 == first }, nil
}

func compileWallets(values []string) (func(*subject) bool, error) {
	var ids []uuid.UUID
	for _, s := range values {
		id, err := uuid.Parse(s)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return func(sub *subject) bool { return slices.Contains(ids, sub.Wallet) }, nil
}

func upper(values []string) []string {
	out := make([]string, len(values))
	for i, s := range values {
		out[i] = strings.ToUpper(s)
	}
	return out
}
