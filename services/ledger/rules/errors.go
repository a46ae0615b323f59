package rules

import (
	"fmt"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// The public errors of the package.
var (
	errInvalidID      = apierr.New(restv1.Reason_INVALID_RULE_ID)
	errInvalidPattern = apierr.New(restv1.Reason_INVALID_RULE_PATTERN)
	errNotFound       = apierr.New(restv1.Reason_RULE_NOT_FOUND)
	errRunning        = apierr.New(restv1.Reason_RULE_RUNNING)
	errLimitReached   = apierr.New(restv1.Reason_LIMIT_REACHED).With("rule", fmt.Sprintf("a user may have at most %d rules", maxRules))
)
