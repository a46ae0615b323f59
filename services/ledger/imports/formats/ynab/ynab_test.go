package ynab_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestParse(t *testing.T) {
	t.Parallel()
	records, facts := fixture.ReadAll(t,
		`"Account","Flag","Date","Payee","Category Group/Category","Category Group","Category","Memo","Outflow","Inflow","Cleared"
"Giro","Red","31/01/2024","Shop","Life: Food","Life","Food","Split (1/2) x",€1.50,€0.00,"Cleared"
"Giro","Red","31/01/2024","Shop","Life: Home","Life","Home","Split (2/2) y",€2.25,€0.00,"Cleared"
"Giro","","30/01/2024","Transfer : Savings","","","","",€10.00,€0.00,"Cleared"
"Giro","","01/01/2024","Starting Balance","Inflow: Ready to Assign","Inflow","Ready to Assign","",€0.00,€50.00,"Cleared"
`, statement.Options{})
	require.Equal(t, []string{
		"2024-01-31|-3.75|EUR|Shop|", "2024-01-30|-10.00|EUR||",
		"2024-01-01|50.00|EUR|Starting Balance|",
	}, fixture.Lines(records))
	require.Equal(t, statement.YNAB, facts.Format)
	require.Empty(t, facts.Warnings)
	require.Equal(t, []statement.Split{{
		Amount: "-1.50", Category: "Life: Food", Description: "x",
	}, {Amount: "-2.25", Category: "Life: Home", Description: "y"}}, records[1].Splits)
	require.Equal(t, []string{"Red"}, records[1].Tags)
	require.Equal(t, &statement.Transfer{Account: "Savings", Paired: true}, records[2].Transfer)
	require.True(t, records[3].Opening)
}

// TestParseTransfersInSplits reads splits of which parts are transfers. Each transfer is a record.
func TestParseTransfersInSplits(t *testing.T) {
	t.Parallel()
	const heading = `"Account","Flag","Date","Payee","Category Group/Category","Category Group","Category","Memo","Outflow","Inflow","Cleared"` + "\n"
	records, _ := fixture.ReadAll(t, heading+
		`"Giro","","31/01/2024","Transfer : Cash","","","","Split (1/4) a",€5.00,€0.00,""
"Giro","","31/01/2024","Transfer : Cash","","","","Split (2/4) b",€6.00,€0.00,""
"Giro","","31/01/2024","Shop","Food","","","Split (3/4) c",€1.50,€0.00,""
"Giro","","31/01/2024","Shop","Home","","","Split (4/4) d",€2.25,€0.00,""
`, statement.Options{})
	require.Equal(t, []string{
		"2024-01-31|-5.00|EUR||a", "2024-01-31|-6.00|EUR||b", "2024-01-31|-3.75|EUR|Shop|",
	}, fixture.Lines(records))
	for _, r := range records[1:3] {
		require.Equal(t, &statement.Transfer{Account: "Cash", Paired: true}, r.Transfer)
	}
	require.Len(t, records[3].Splits, 2)
}

func FuzzYNAB(f *testing.F) { fixture.Fuzz(f, statement.YNAB) }
