package firefly_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const head = "user_id,group_id,journal_id,group_title,type,currency_code,amount,foreign_currency_code,foreign_amount,description,date,source_name,destination_name,source_type,destination_type,category,budget,tags,notes\n"
	records, facts := fixture.ReadAll(t, head+
		`1,1,11,Both,Withdrawal,EUR,-1.500000000000,,,A,2024-01-31T00:00:00+01:00,Giro,Shop,Asset account,Expense account,Food,Month,"a,b",n`+"\n"+
		`1,1,12,Both,Withdrawal,EUR,-2.250000000000,,,B,2024-01-31T00:00:00+01:00,Giro,Shop,Asset account,Expense account,Home,,,`+"\n"+
		`1,2,13,,Deposit,EUR,1000.000000000000,,,Pay,2024-01-30T00:00:00+01:00,Firm,Giro,Revenue account,Asset account,,,,`+"\n"+
		`1,3,14,,Transfer,EUR,-10.000000000000,USD,11.000000000000,Move,2024-01-29T00:00:00+01:00,Giro,Dollars,Asset account,Asset account,,,,`+"\n"+
		`1,4,15,,Opening balance,EUR,-50.000000000000,,,Start,2024-01-01T00:00:00+01:00,Initial balance for Giro,Giro,Initial balance account,Asset account,,,,`+"\n", statement.Options{})
	require.Equal(t, []string{
		"2024-01-31|-3.75|EUR|Shop|Both", "2024-01-30|1000.00|EUR|Firm|Pay",
		"2024-01-29|-10.00|EUR||Move", "2024-01-01|50.00|EUR||Start",
	}, fixture.Lines(records))
	require.Equal(t, []string{statement.BudgetsSkipped}, facts.Warnings)
	require.Equal(t, []statement.Split{{
		Amount: "-1.50", Category: "Food", Description: "A",
	}, {Amount: "-2.25", Category: "Home", Description: "B"}}, records[0].Splits)
	require.Equal(t, "firefly:11", records[0].ExternalID)
	require.Equal(t, &statement.Transfer{Account: "Dollars", Amount: "11.00", Currency: "USD"},
		records[2].Transfer)
	require.True(t, records[3].Opening)
}

func FuzzFirefly(f *testing.F) { fixture.Fuzz(f, statement.Firefly) }
