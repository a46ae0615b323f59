// Package learning suggests categories from the categorized transactions of an owner.
//
// It is pure, and keeps no state besides a Memory that the caller fills with transactions. So a
// correction counts at once, and no longer after an undo. Learn prepares the Memory, and Suggest
// then answers with a confidence between 0 and 1:
//
//   - exact: the transactions with the same payee, or description without a payee, nearly all have
//     one category. A choice of the owner replaces the categories that the owner only accepted, and
//     one choice is enough
//   - similar: a multinomial naive Bayes classifier over words (bayes.go). Its confidence is
//     calibrated on the owner's own transactions (calibration.go): it is the share of payees that
//     the classifier would have categorized correctly without having seen them
//
// A payment service such as PayPal is not the payee: intermediaries.go finds the merchant.
package learning

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/uuid"
)

const (
	// MinConfidence is the confidence from which a suggestion is returned, and assigns the category
	// in an import.
	MinConfidence = 0.6
	// minShare is the share of the transactions of a key that must have one category, and minUses
	// their number. A choice of the owner counts like choiceUses transactions.
	minShare        = 0.66
	minUses         = 2
	choiceUses      = 2
	maxAlternatives = 2
)

const (
	Exact   = "exact"
	Similar = "similar"
	None    = "none"
)

// Suggestion is a category for a transaction. Without one, Reason is None.
type Suggestion struct {
	Category     uuid.UUID
	Confidence   float64
	Reason       string
	Alternatives []uuid.UUID
}

// Memory holds the categorized transactions of an owner. Expenses and income are separate. It is
// not safe for concurrent use before Learn.
type Memory struct{ kinds [2]kind }

type kind struct {
	// keys has the uses of each key by category. Those of a key in chosen are choices of the owner.
	keys   map[string]map[uuid.UUID]int
	chosen map[string]bool
	words  map[string][]string
	model  *classifier
}

// Example is a transaction to learn from.
type Example struct {
	Payee, Description string
	Expense            bool
	CategoryID         uuid.UUID `db:"category_id"`
	// Chosen means that the owner chose the category. Otherwise a rule, a file or a suggestion set
	// it, and the owner accepted it.
	Chosen bool
}

// Add remembers a transaction. The first choice for a payee discards the accepted categories of its
// transactions, and later ones are ignored.
func (m *Memory) Add(example Example) {
	key := keyOf(example.Payee, example.Description)
	if key == "" {
		return
	}
	kind := m.of(example.Expense)
	if kind.keys == nil {
		kind.keys, kind.words = map[string]map[uuid.UUID]int{}, map[string][]string{}
		kind.chosen = map[string]bool{}
	}
	switch {
	case kind.keys[key] == nil:
		kind.keys[key], kind.words[key] = map[uuid.UUID]int{}, wordsOf(key)
		kind.chosen[key] = example.Chosen
	case example.Chosen && !kind.chosen[key]:
		kind.keys[key], kind.chosen[key] = map[uuid.UUID]int{}, true
	case !example.Chosen && kind.chosen[key]:
		return
	}
	kind.keys[key][example.CategoryID]++
}

func (m *Memory) of(expense bool) *kind {
	if expense {
		return &m.kinds[0]
	}
	return &m.kinds[1]
}

// Learn prepares the classifiers. Call it after the last Add.
func (m *Memory) Learn() {
	for i := range m.kinds {
		m.kinds[i].model = train(m.kinds[i].keys, m.kinds[i].words)
	}
}

// Suggest returns the category that a transaction probably has.
func (m *Memory) Suggest(payee, description string, expense bool) Suggestion {
	key := keyOf(payee, description)
	kind := m.of(expense)
	weight := 1
	if kind.chosen[key] {
		weight = choiceUses
	}
	if s, ok := exact(kind.keys[key], weight); ok {
		return s
	}
	if key == "" || kind.model == nil {
		return Suggestion{Reason: None}
	}
	return kind.model.suggest(wordsOf(key))
}

// exact returns the category of nearly all uses of a key. Each of them counts weight times.
func exact(uses map[uuid.UUID]int, weight int) (Suggestion, bool) {
	all := 0
	for _, n := range uses {
		all += n
	}
	ranked := ranking(uses)
	if all*weight < minUses || float64(uses[ranked[0]]) < minShare*float64(all) {
		return Suggestion{}, false
	}
	share := float64(uses[ranked[0]]) / float64(all)
	return Suggestion{
		Category: ranked[0], Confidence: share * (1 - 1/(1+float64(all*weight))), Reason: Exact,
		Alternatives: ranked[1:min(len(ranked), 1+maxAlternatives)],
	}, true
}

func ranking(uses map[uuid.UUID]int) []uuid.UUID {
	ranked := make([]uuid.UUID, 0, len(uses))
	for category := range uses {
		ranked = append(ranked, category)
	}
	slices.SortFunc(ranked, func(a, b uuid.UUID) int {
		return cmp.Or(cmp.Compare(uses[b], uses[a]), strings.Compare(a.String(), b.String()))
	})
	return ranked
}

// keyOf returns the payee, or otherwise the description, without case, digits and punctuation. Of a
// payment service, it returns the merchant.
func keyOf(payee, description string) string {
	if strings.TrimSpace(payee) == "" {
		payee, description = description, ""
	}
	if key := Merchant(payee, description); key != "" {
		return key
	}
	return lettersOf(payee)
}

// startMark precedes the first word of a key among its words. No key has this character.
const startMark = "^"

// wordsOf returns the distinct words of a key with at least two letters, and the first of them
// again with startMark. A statement usually starts with the name of the payee, so its first word
// says more than the same word elsewhere, such as a city.
func wordsOf(key string) []string {
	words := slices.DeleteFunc(strings.Fields(key), func(w string) bool {
		return len([]rune(w)) < 2
	})
	if len(words) == 0 {
		return nil
	}
	words = append(words, startMark+words[0])
	slices.Sort(words)
	return slices.Compact(words)
}
