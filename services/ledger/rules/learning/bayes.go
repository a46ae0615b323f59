package learning

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// maxWords is the size of the vocabulary: the most frequent words.
const maxWords = 5000

// classifier is a multinomial naive Bayes classifier with add-one smoothing.
type classifier struct {
	categories []uuid.UUID
	// vocabulary numbers the words. counts has the uses of a word in each category, and totals
	// those of all words.
	vocabulary map[string]int
	counts     [][]float64
	totals     []float64
	uses       []float64
	// calibrations holds one calibration per novelty.
	calibrations [novelties]calibration
}

// The novelties of a text: all of its words are known, a word after the first one is new, or the
// first word is new. A new first word is often the name of a new payee, about which the classifier
// knows less.
const (
	allKnown = iota
	newWord
	newStart
	novelties
)

// train returns a classifier, or nil if there are no two categories to distinguish.
func train(keys map[string]map[uuid.UUID]int, words map[string][]string) *classifier {
	classifier := &classifier{vocabulary: vocabularyOf(keys, words)}
	index := map[uuid.UUID]int{}
	for _, uses := range keys {
		for category := range uses {
			if _, ok := index[category]; !ok {
				index[category] = len(classifier.categories)
				classifier.categories = append(classifier.categories, category)
			}
		}
	}
	if len(classifier.categories) < 2 {
		return nil
	}
	// The order of a map is random, and equal scores must always give the same answer.
	slices.SortFunc(classifier.categories, func(a, b uuid.UUID) int {
		return strings.Compare(a.String(), b.String())
	})
	for i, category := range classifier.categories {
		index[category] = i
	}
	classifier.totals, classifier.uses = make([]float64,
		len(classifier.categories)), make([]float64, len(classifier.categories))
	classifier.counts = make([][]float64, len(classifier.vocabulary))
	for i := range classifier.counts {
		classifier.counts[i] = make([]float64, len(classifier.categories))
	}
	for key, uses := range keys {
		for category, n := range uses {
			classifier.add(words[key], index[category], float64(n))
		}
	}
	classifier.calibrate(keys, words, index)
	return classifier
}

func vocabularyOf(keys map[string]map[uuid.UUID]int, words map[string][]string) map[string]int {
	frequency := map[string]int{}
	for key, uses := range keys {
		for _, n := range uses {
			for _, w := range words[key] {
				frequency[w] += n
			}
		}
	}
	ranked := make([]string, 0, len(frequency))
	for w := range frequency {
		ranked = append(ranked, w)
	}
	slices.SortFunc(ranked, func(a, b string) int {
		return cmp.Or(cmp.Compare(frequency[b], frequency[a]), strings.Compare(a, b))
	})
	vocabulary := map[string]int{}
	for i, w := range ranked[:min(len(ranked), maxWords)] {
		vocabulary[w] = i
	}
	return vocabulary
}

// add counts n transactions of a category with some words. A negative n takes them back.
func (c *classifier) add(words []string, category int, n float64) {
	c.uses[category] += n
	for _, w := range words {
		if i, ok := c.vocabulary[w]; ok {
			c.counts[i][category] += n
			c.totals[category] += n
		}
	}
}

// rank returns the categories from the most to the least probable one, the logarithm of the ratio
// of the first two probabilities, the number of known words, and the novelty of the text. All
// categories have the same prior probability, because the frequency of a category says nothing
// about a new payee: a frequent category would win by the name of a city.
func (c *classifier) rank(words []string) (ranked []int, margin float64, known, novelty int) {
	scores := make([]float64, len(c.categories))
	for _, w := range words {
		number, found := c.vocabulary[w]
		if !found || !slices.ContainsFunc(c.counts[number], func(n float64) bool { return n > 0 }) {
			novelty = max(novelty, newWord)
			if strings.HasPrefix(w, startMark) {
				novelty = newStart
			}
			continue
		}
		known++
		for i, n := range c.counts[number] {
			scores[i] += math.Log((n + 1) / (c.totals[i] + float64(len(c.vocabulary))))
		}
	}
	ranked = make([]int, len(scores))
	for i := range ranked {
		ranked[i] = i
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return ranked, scores[ranked[0]] - scores[ranked[1]], known, novelty
}

func (c *classifier) suggest(words []string) Suggestion {
	ranked, margin, known, novelty := c.rank(words)
	if known == 0 {
		return Suggestion{Reason: None}
	}
	confidence := c.calibrations[novelty].confidence(margin)
	if confidence < MinConfidence {
		return Suggestion{Reason: None}
	}
	s := Suggestion{Category: c.categories[ranked[0]], Confidence: confidence, Reason: Similar}
	for _, i := range ranked[1:min(len(ranked), 1+maxAlternatives)] {
		s.Alternatives = append(s.Alternatives, c.categories[i])
	}
	return s
}
