package formats_test

import (
	"testing"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
)

// FuzzOpenStatement reads files of any format, also compressed ones.
func FuzzOpenStatement(f *testing.F) { fixture.Fuzz(f, "") }
