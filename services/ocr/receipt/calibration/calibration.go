// Package calibration converts the scores of the rules to confidences. A confidence of 0.9 means
// that at least nine of ten values with this score are right.
//
// scores.txt has the points of a curve for each field: a score, and the expected share of right
// values near it. "make calibrate-receipts DATA=folder" fits the curves to labeled receipts.
package calibration

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

//go:embed scores.txt
var scores string

var curves = parse(scores)

// Confidences returns the confidences for the scores of fields. Fields without labels keep their
// scores.
func Confidences(scores map[string]float64) map[string]float64 {
	out := maps.Clone(scores)
	for field, score := range scores {
		if c, ok := curves[field]; ok {
			out[field] = c.At(score)
		}
	}
	return out
}

// Curve is a monotone function through points, with straight lines between them. It is constant
// above the last point, and leads from zero to the first one.
type Curve []Point

// Point is the confidence at a score.
type Point struct{ Score, Confidence float64 }

// At returns the confidence at a score, in hundredths.
func (c Curve) At(score float64) float64 {
	var before Point
	for _, p := range c {
		if score < p.Score {
			share := (score - before.Score) / (p.Score - before.Score)
			value := before.Confidence + share*(p.Confidence-before.Confidence)
			return math.Round(100*value) / 100
		}
		before = p
	}
	return before.Confidence
}

// Result is the score of a value, and whether it is right.
type Result struct {
	Score float64
	Right bool
}

// blockSize is the number of results with similar scores of which the share is taken.
const blockSize = 20

// Fit returns the curve of results. A block with a lower share than its predecessor is joined with
// it, because a higher score must not mean less.
func Fit(results []Result) Curve {
	results = slices.Clone(results)
	slices.SortFunc(results, func(a, b Result) int { return cmp.Compare(a.Score, b.Score) })
	var blocks [][]Result
	for len(results) > 0 {
		n := blockEnd(results)
		blocks, results = append(blocks, results[:n:n]), results[n:]
		for i := len(blocks) - 1; i > 0 && expected(blocks[i]) <= expected(blocks[i-1]); i-- {
			blocks = append(blocks[:i-1], append(blocks[i-1], blocks[i]...))
		}
	}
	var out Curve
	for _, b := range blocks {
		out = append(out, Point{b[len(b)/2].Score, math.Round(100*expected(b)) / 100})
	}
	return out
}

// blockEnd returns the length of the first block. Equal scores are in one block, which begins with
// them if enough results precede them.
func blockEnd(results []Result) int {
	if len(results) < 3*blockSize/2 {
		return len(results)
	}
	last := results[blockSize-1].Score
	equal := func(r Result) bool { return r.Score == last }
	if first := slices.IndexFunc(results, equal); first >= blockSize/2 {
		return first
	}
	above := slices.IndexFunc(results, func(r Result) bool { return r.Score > last })
	if above < 0 {
		return len(results)
	}
	return above
}

// expected returns the expected share of right results (Laplace's rule of succession, which is
// below 1 also if all are right).
func expected(of []Result) float64 {
	right := 0
	for _, r := range of {
		if r.Right {
			right++
		}
	}
	return float64(right+1) / float64(len(of)+2)
}

// String returns the points as a line of scores.txt has them.
func (c Curve) String() string {
	var points []string
	for _, p := range c {
		points = append(points, fmt.Sprintf("%.2f %.2f", p.Score, p.Confidence))
	}
	return strings.Join(points, ", ")
}

// parse reads lines of a field, a colon and points separated by commas.
func parse(text string) map[string]Curve {
	out := map[string]Curve{}
	for line := range strings.Lines(text) {
		field, points, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		for point := range strings.SplitSeq(points, ", ") {
			var p Point
			if _, err := fmt.Sscan(point, &p.Score, &p.Confidence); err == nil {
				out[field] = append(out[field], p)
			}
		}
	}
	return out
}
