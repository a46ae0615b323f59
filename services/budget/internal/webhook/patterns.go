package webhook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/outbox"
)

// parsePatterns rejects a pattern that matches no type of event, because it would be a silent
// mistake.
func parsePatterns(problems *apierr.Problems, patterns []string) []string {
	if len(patterns) > maxPatterns {
		problems.Invalid("events", "must be at most 50 types of events")
		return nil
	}
	for i, pattern := range patterns {
		matching := func(t string) bool { return matches(pattern, t) }
		if !slices.ContainsFunc(outbox.Types(), matching) {
			problems.Invalid(fmt.Sprintf("events[%d]", i),
				"must be a type of event, in which * may stand for one part")
		}
	}
	return append([]string{}, patterns...)
}

func matches(pattern, eventType string) bool {
	wanted, parts := strings.Split(pattern, "."), strings.Split(eventType, ".")
	return slices.EqualFunc(wanted, parts,
		func(want, part string) bool { return want == "*" || want == part })
}

func (w webhook) subscribes(eventType string) bool {
	matching := func(pattern string) bool { return matches(pattern, eventType) }
	return len(w.Events) == 0 || slices.ContainsFunc(w.Events, matching)
}
