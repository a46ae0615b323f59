package imports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// TestCommitImportNames imports texts that were typed on another system. They are normalized as
// the API normalizes them.
func TestCommitImportNames(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const decomposed, composed, invisible = "Cafe\u0301", "Caf\u00e9", "\u200b"
	p := newPerson(t, s)
	known := p.MakeCategory(p.Ctx, t, composed)
	m := p.mustUpload(t, "Date,Amount,Currency,Payee,Description,Category,Tags\n"+
		"2026-02-03,-1.00,EUR,"+decomposed+","+decomposed+","+decomposed+",\""+decomposed+","+composed+"\"\n"+
		"2026-02-04,-2.00,EUR,"+invisible+",x,"+invisible+","+invisible+"\n")
	rows := p.rows(t, m)
	require.Equal(t, []string{composed, composed, composed},
		[]string{rows[0].GetPayee(), rows[0].GetDescription(), rows[0].GetCategory()})
	require.Equal(t, known.String(), rows[0].GetCategoryId())
	require.Len(t, m.GetCategories(), 1)
	require.Equal(t, staging.Done, p.commit(t, m).GetStatus(),
		"an invisible name must not prevent the import of a payment")

	var payee, description string
	var tags []string
	const selected = `SELECT payee, description, ARRAY(SELECT name FROM tags g WHERE g.owner_id = t.owner_id AND g.key = ANY (t.tags))
		FROM transactions t WHERE owner_id = $1 AND amount_minor = $2`
	require.NoError(t,
		s.DB.QueryRow(t.Context(), selected, p.ID, -100).Scan(&payee, &description, &tags))
	require.Equal(t, []string{composed, composed}, []string{payee, description})
	require.Equal(t, []string{composed}, tags)
	require.NoError(t,
		s.DB.QueryRow(t.Context(), selected, p.ID, -200).Scan(&payee, &description, &tags))
	require.Empty(t, payee)
	require.Empty(t, tags)
}

func TestBaseName(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"\u200b": "", "C:\\Bank\\Ma\u0308rz.csv": "M\u00e4rz.csv", "a/b\x00\n.csv": "b.csv", strings.Repeat("u\u0308", 300): strings.Repeat("\u00fc", 255),
	} {
		require.Equal(t, want, baseName(given), "%q", given)
	}
}
