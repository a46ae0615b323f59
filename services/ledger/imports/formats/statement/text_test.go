package statement_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestRecordClean(t *testing.T) {
	t.Parallel()
	t.Run("composes characters", func(t *testing.T) {
		t.Parallel()
		const decomposed, composed = "Cafe\u0301", "Caf\u00e9"
		r := statement.Record{Payee: decomposed, Description: decomposed, Notes: decomposed + "\n" +
			decomposed, Category: decomposed, Account: decomposed}
		require.False(t, r.Clean())
		require.Equal(t, statement.Record{Payee: composed, Description: composed, Notes: composed +
			"\n" + composed, Category: composed, Account: composed}, r)
	})
	t.Run("removes texts without a visible character", func(t *testing.T) {
		t.Parallel()
		r := statement.Record{
			Payee: "\u200b", Category: " \u00ad", Account: "\u2060", Description: "\u3164 \u2800",
		}
		require.False(t, r.Clean())
		require.Equal(t, statement.Record{}, r)
	})
}
