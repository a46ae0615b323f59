package rules

import (
	"fmt"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

var (
	errInvalidID      = apierr.New(restv1.Reason_INVALID_RULE_ID)
	errInvalidPattern = apierr.New(restv1.Reason_INVALID_RULE_PATTERN)
	errNotFound       = apierr.New(restv1.Reason_RULE_NOT_FOUND)
	errRunning        = apierr.New(restv1.Reason_RULE_RUNNING)
	errNotUndoable    = apierr.New(restv1.Reason_RULE_NOT_UNDOABLE)
	errTooManySteps   = apierr.New(restv1.Reason_LIMIT_REACHED).With("conditions", fmt.Sprintf(
		"the patterns of all rules may take at most %d steps on a transaction: "+
			"the sizes of their programs times the lengths of the texts",
		matching.MaxSteps))
	errTooLong = apierr.New(restv1.Reason_LIMIT_REACHED).With("rules",
		"the patterns of the rules take too long on these transactions: "+
			"simplify or switch off rules, or send fewer transactions")
	errLimitReached = apierr.New(restv1.Reason_LIMIT_REACHED).
			With("rule", fmt.Sprintf("a user may have at most %d rules", maxRules))
)
