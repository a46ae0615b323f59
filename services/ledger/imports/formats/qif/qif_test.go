package qif_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const file = "!Account\nNGiro\nTBank\n^\n!Type:Bank\nD1/ 2'24\nT-1,012.30\nPShop\nMmemo\nLFood:Out/trip\n^\nD1/31'24\nT5.00\nL[Savings]\n^\n" +
		"D1/30'24\nT-3.00\nSA\n$-1.00\nSB\n$-2.00\nD2/1'24\n^\n!Type:Cat\nNFood\n^\n!Type:Invst\nD1/1'24\n^\n"
	records, facts := fixture.ReadAll(t, file, statement.Options{})
	require.Equal(t, []string{
		"2024-01-02|-1012.30||Shop|memo", "2024-01-31|5.00|||", "2024-01-30|-3.00|||",
	}, fixture.Lines(records))
	require.Equal(t, []string{statement.CurrencyAssumed, statement.InvestmentsSkipped},
		facts.Warnings)
	require.Equal(t, "MM/DD/YY", facts.Mapping.DateLayout)
	require.Equal(t, []any{"Giro", "Food:Out", []string{"trip"}},
		[]any{records[0].Account, records[0].Category, records[0].Tags})
	require.Equal(t, &statement.Transfer{Account: "Savings", Paired: true}, records[1].Transfer)
	require.Equal(t, []statement.Split{
		{Amount: "-1.00", Category: "A"}, {Amount: "-2.00", Category: "B"},
	}, records[2].Splits)
}

// TestParseDividedSplits reads splits whose parts are transfers. Each transfer is a record, and the
// parts of one account are one transfer.
func TestParseDividedSplits(t *testing.T) {
	t.Parallel()
	const entry = "!Account\nNGiro\n^\n!Type:Bank\nD1/30'24\nPShop\nMmemo\nN7\n"
	for name, tc := range map[string]struct {
		file  string
		want  []string
		notes string
	}{
		"parts_and_a_transfer": {
			file: "T-6.00\nSA\n$-1.00\nS[Visa]\nEcard\n$-3.00\nSB\n$-2.00\n^\n",
			want: []string{
				"2024-01-30|-3||Shop|memo A -1.00, B -2.00", "2024-01-30|-3.00||Shop|card to Visa",
			},
		},
		"one_part_and_two_transfers": {
			file: "T-4.00\nS[Visa]\n$-1.00\nSA\nEfood\n$-5.00\nS[Cash]\n$2.00\n^\n",
			want: []string{
				"2024-01-30|-5.00||Shop|food in A", "2024-01-30|-1.00||Shop|memo to Visa", "2024-01-30|2.00||Shop|memo to Cash",
			},
		},
		"parts_of_one_account": {
			file: "T-6.00\nSA\n$-1.00\nS[Visa]\nEone\n$-3.00\nS[Visa]/x\n$-1.00\nS[Visa]\nEtwo\n$-1.00\n^\n",
			want: []string{
				"2024-01-30|-1.00||Shop|memo in A", "2024-01-30|-5||Shop|one; two to Visa Visa -3.00, Visa -1.00, Visa -1.00",
			},
		},
		"transfers_only": {
			file: "T-3.00\nS[Visa]\n$-1.00\nS[Cash]\n$-2.00\n^\n",
			want: []string{"2024-01-30|-1.00||Shop|memo to Visa", "2024-01-30|-2.00||Shop|memo to Cash"},
		},
		"a_part_of_the_account_itself": {
			file: "T-3.00\nS[Giro]\n$-1.00\nSA\n$-2.00\n^\n",
			want: []string{"2024-01-30|-3.00||Shop|memo  -1.00, A -2.00"},
		},
		"parts_that_do_not_add_up": {
			file:  "T-9.00\nSA\n$-1.00\nS[Visa]\n$-3.00\n^\n",
			want:  []string{"2024-01-30|-9.00||Shop|memo"},
			notes: "The file has parts of this transaction that do not add up to its amount.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, _ := fixture.ReadAll(t, entry+tc.file+"D1/31'24\nT1.00\n^\n", statement.Options{})
			records = slices.DeleteFunc(records[:len(records)-1],
				func(r statement.Record) bool { return r.Skip })
			var lines []string
			for i, line := range fixture.Lines(records) {
				lines = append(lines, line+meaning(records[i]))
			}
			require.Equal(t, tc.want, lines)
			if tc.notes != "" {
				require.Equal(t, tc.notes, records[0].Notes)
			}
		})
	}
}

// meaning returns the category, the other account and the parts of a record.
func meaning(r statement.Record) string {
	var parts []string
	for _, s := range r.Splits {
		parts = append(parts, s.Category+s.Account+" "+s.Amount)
	}
	text := ""
	if r.Category != "" {
		text += " in " + r.Category
	}
	if r.Transfer != nil {
		text += " to " + r.Transfer.Account
	}
	if len(parts) > 0 {
		text += " " + strings.Join(parts, ", ")
	}
	return text
}

// TestParseLimitsDividedSplits reads entries whose records are 50 times as large as the file.
func TestParseLimitsDividedSplits(t *testing.T) {
	t.Parallel()
	var entry strings.Builder
	entry.WriteString("D31/01/2024\nT-50.00\n")
	for i := range statement.MaxParts {
		_, _ = fmt.Fprintf(&entry, "S[Account %d]\nE%s\n$-1.00\n", i, strings.Repeat("x", 1200))
	}
	entry.WriteString("^\n")
	_, err := fixture.Count(strings.NewReader("!Type:Bank\n" + strings.Repeat(entry.String(), 100)))
	require.ErrorContains(t, err, "256 MiB")
}

func TestParseWithoutHeader(t *testing.T) {
	t.Parallel()
	records, _ := fixture.ReadAll(t, "D31/01/2024\nT-1.00\nPShop\n^\nD01/02/2024\nT2.00\n^\n",
		statement.Options{})
	require.Equal(t, []string{"2024-01-31|-1.00||Shop|", "2024-02-01|2.00|||"},
		fixture.Lines(records))
}

func TestParseAmbiguousDates(t *testing.T) {
	t.Parallel()
	const file = "!Type:Bank\nD03/04/2024\nT-1.00\n^\nD02/05/2024\nT-1.00\n^\nD04/06/2024\nT1.00\n^\n"
	for locale, want := range map[string]string{
		"de-DE": "2024-04-03", "en-US": "2024-03-04", "": "2024-04-03",
	} {
		records, facts := fixture.ReadAll(t, file, statement.Options{Locale: locale})
		// The dates rise only if the day is first. This evidence is stronger than the locale.
		if locale == "en-US" {
			want = "2024-04-03"
		}
		require.Equal(t, want, records[0].Date.Format("2006-01-02"), locale)
		require.Contains(t, facts.Warnings, statement.DateOrderAssumed)
	}
}

// TestParseDialects reads what banks write although it is not in the standard of the format.
func TestParseDialects(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file string
		want []string
	}{
		"apostrophe":   {"!Type:Bank\nD1/ 2'09\nT-12.50\nPA\n^\nD12/31'09\nT-1.00\n^\n", []string{"2009-01-02|-12.50||A|", "2009-12-31|-1.00|||"}},
		"account_list": {"!Option:AutoSwitch\n!Account\nNChecking\n^\nNCard\n^\n!Clear:AutoSwitch\n!Account\nNCard\n^\n!Type:CCard\nD30/01/2024\nT-1.50\nPB\n^\n!Type:Invst\nD31/01/2024\nNBuy\nT10.00\n^\n", []string{"2024-01-30|-1.50||B|"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, _ := fixture.ReadAll(t, tc.file, statement.Options{})
			require.Equal(t, tc.want, fixture.Lines(records))
		})
	}
}

func FuzzQIF(f *testing.F) { fixture.Fuzz(f, statement.QIF) }
