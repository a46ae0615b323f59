package learning

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// maxHeldOut is the maximum number of keys that calibrate a classifier.
const maxHeldOut = 2000

// calibration maps margins to confidences. The steps are ordered by their margins, and their
// confidences increase.
type calibration []step

// step has the confidence of all margins from margin to the next step.
type step struct {
	margin, confidence float64
}

func (c calibration) confidence(margin float64) float64 {
	i, found := slices.BinarySearchFunc(c, margin, func(s step, m float64) int {
		return cmp.Compare(s.margin, m)
	})
	if !found {
		i--
	}
	if i < 0 {
		return 0
	}
	return c[i].confidence
}

// trial is the classification of a key that the classifier has not seen.
type trial struct {
	margin  float64
	correct bool
}

// calibrate classifies each key without its own transactions, as if its payee were new.
func (c *classifier) calibrate(
	keys map[string]map[uuid.UUID]int, words map[string][]string, index map[uuid.UUID]int,
) {
	ordered := make([]string, 0, len(keys))
	for key := range keys {
		ordered = append(ordered, key)
	}
	slices.SortFunc(ordered, strings.Compare)
	var trials [novelties][]trial
	for _, key := range ordered[:min(len(ordered), maxHeldOut)] {
		uses := keys[key]
		for category, n := range uses {
			c.add(words[key], index[category], -float64(n))
		}
		ranked, margin, known, novelty := c.rank(words[key])
		for category, n := range uses {
			c.add(words[key], index[category], float64(n))
		}
		if known > 0 {
			trials[novelty] = append(trials[novelty],
				trial{margin, c.categories[ranked[0]] == ranking(uses)[0]})
		}
	}
	for i := range trials {
		c.calibrations[i] = fit(trials[i])
	}
}

// fit returns the isotonic regression of the trials: the confidences that increase with the margin
// and fit the results best. Adjacent trials form a block. The confidence of a block is its share of
// successes after adding one success and one failure, so that few trials give little confidence.
func fit(trials []trial) calibration {
	slices.SortFunc(trials, func(a, b trial) int { return cmp.Compare(a.margin, b.margin) })
	type block struct{ margin, correct, n float64 }
	var blocks []block
	for _, t := range trials {
		group := block{margin: t.margin, n: 1}
		if t.correct {
			group.correct = 1
		}
		// A block joins the previous one if its share of successes is not greater.
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.correct*group.n < group.correct*last.n {
				break
			}
			group = block{
				margin: last.margin, correct: last.correct + group.correct, n: last.n + group.n,
			}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, group)
	}
	var c calibration
	highest := 0.0
	for _, b := range blocks {
		highest = max(highest, (b.correct+1)/(b.n+2))
		c = append(c, step{margin: b.margin, confidence: highest})
	}
	return c
}
