package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/outbox"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
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

// checkScope returns errAccountEvents if the webhook subscribes to events of the account, and the
// caller has a personal access token. These events contain the name and the e-mail of the user, and
// no scope opens the operations that return them (ADR 130).
func (w webhook) checkScope(ctx context.Context) error {
	ofAccount := func(pattern string) bool {
		service, _, _ := strings.Cut(pattern, ".")
		return service == "*" || service == "auth"
	}
	id, _ := caller.From(ctx)
	if id.Scope != "" && (len(w.Events) == 0 || slices.ContainsFunc(w.Events, ofAccount)) {
		return errAccountEvents
	}
	return nil
}

// checkUpdate is checkScope after a change of the events, or of the URL, to which they are sent.
func (w webhook) checkUpdate(ctx context.Context, req *budgetv1.UpdateWebhookRequest) error {
	if req.Url == nil && req.GetEvents() == nil {
		return nil
	}
	return w.checkScope(ctx)
}

func (w webhook) subscribes(eventType string) bool {
	matching := func(pattern string) bool { return matches(pattern, eventType) }
	return len(w.Events) == 0 || slices.ContainsFunc(w.Events, matching)
}
