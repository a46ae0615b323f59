package daymonth_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/daymonth"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

func TestInfer(t *testing.T) {
	t.Parallel()
	today := time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC)
	week := []string{"01/05/2026", "02/05/2026", "05/05/2026", "06/05/2026", "08/05/2026"}
	for _, c := range []struct {
		name string
		file daymonth.File
		code string // Of the evidence, or "" if nothing is inferred.
		want written.Orders
	}{
		{"two rows", daymonth.File{Dates: dates("01/05/2026", "02/05/2026")}, "", 0},
		{
			"another column has a day above 12",
			daymonth.File{
				Dates:  dates("05/01/2026"),
				Others: []daymonth.Other{{Name: "2", Example: scan("05/13/2026"), Orders: written.MDY}},
			},
			"DATES_BY_COLUMN", written.MDY,
		},
		{
			"another column in another form",
			daymonth.File{
				Dates:  dates("05/01/2026"),
				Others: []daymonth.Other{{Name: "2", Example: scan("13.05.2026"), Orders: written.DMY}},
			},
			"", 0,
		},
		{
			"the period has a day above 12",
			daymonth.File{
				Dates: dates("01/05/2026"), Around: lines("Period: 01/05/2026-31/05/2026"),
			},
			"DATES_BY_EXAMPLE", written.DMY,
		},
		{
			"the period in words",
			daymonth.File{
				Dates: dates("05/02/2026"), Around: lines("from 1 May 2026", "to 31 May 2026"),
			},
			"DATES_BY_PERIOD", written.MDY,
		},
		{
			"the period in a cell without words",
			daymonth.File{Dates: dates("05/02/2026"), Around: lines("1 May 2026 - 31 May 2026")},
			"DATES_BY_PERIOD", written.MDY,
		},
		{
			"the period in the cells of a line",
			daymonth.File{
				Dates:  dates("05/02/2026"),
				Around: [][]string{{"Period", "1 May 2026", "31 May 2026"}},
			},
			"DATES_BY_PERIOD", written.MDY,
		},
		{
			"days of a statement are no period",
			daymonth.File{
				Dates: dates("05/02/2026"), Around: lines("Statement date 1 May 2026", "Due 31 May 2026"),
			},
			"", 0,
		},
		{
			"days of a statement in one line are no period",
			daymonth.File{
				Dates: dates("05/02/2026"),
				Around: [][]string{
					{"Statement", "1 May 2026", "Due", "31 May 2026"},
					{"1 May 2026", "31 May 2026"},
				},
			},
			"", 0,
		},
		{
			"a period of both orders",
			daymonth.File{
				Dates: dates("05/02/2026"), Around: lines("from 1 Jan 2026 to 31 May 2026"),
			},
			"", 0,
		},
		{
			"a day long after the upload",
			daymonth.File{Dates: dates("05/08/2026"), Today: today},
			"DATES_BY_FUTURE", written.MDY,
		},
		{
			"a planned payment",
			daymonth.File{Dates: dates("05/06/2026"), Today: today},
			"", 0,
		},
		{
			"rows in order",
			daymonth.File{
				Dates: dates("10/02/2026", "03/03/2026", "11/03/2026", "01/04/2026", "12/04/2026"),
			},
			"DATES_BY_SEQUENCE", written.DMY,
		},
		{
			"rows in the order of their texts",
			daymonth.File{
				Dates: dates("01/02/2026", "01/04/2026", "02/01/2026", "03/03/2026", "04/12/2026",
					"05/01/2026"),
			},
			"", 0,
		},
		{
			"rows in the reverse order of their texts",
			daymonth.File{
				Dates: dates("5/1/2026", "4/12/2026", "3/3/2026", "2/1/2026", "1/4/2026", "1/2/2026"),
			},
			"", 0,
		},
		{
			"days of one week",
			daymonth.File{
				Dates: dates("01/05/2026", "02/05/2026", "05/05/2026", "06/05/2026", "06/05/2026",
					"09/05/2026"),
			},
			"DATES_BY_DISTANCE", written.DMY,
		},
		{
			"payments of each month but one",
			daymonth.File{Dates: dates(week[0], week[1], "03/05/2026", "05/05/2026", "06/05/2026")},
			"", 0,
		},
		{
			"headings in German",
			daymonth.File{Dates: dates(week[0]), Headings: []string{"Datum", "Betrag", "Text"}},
			"DATES_BY_LANGUAGE", written.DMY,
		},
		{
			"one word is no language",
			daymonth.File{Dates: dates(week[0]), Headings: []string{"Date", "Café", "Amount"}},
			"", 0,
		},
		{
			"headings in Spanish and dollars",
			daymonth.File{
				Dates: dates(week[0]), Headings: []string{"Fecha", "Monto"}, Currencies: []string{"USD"},
			},
			"", 0,
		},
		{
			"headings in French and Canadian dollars",
			daymonth.File{
				Dates: dates(week[0]), Headings: []string{"Libellé", "Montant"},
				Currencies: []string{"CAD", "USD"},
			},
			"", 0,
		},
		{
			"a currency",
			daymonth.File{Dates: dates(week[0]), Currencies: []string{"GBP"}},
			"DATES_BY_CURRENCY", written.DMY,
		},
		{
			"a currency of programs in English",
			daymonth.File{Dates: dates(week[0]), Currencies: []string{"EUR"}},
			"", 0,
		},
		{
			"an IBAN",
			daymonth.File{Dates: dates(week[0]), Account: "DE02120300000000202051"},
			"DATES_BY_ACCOUNT", written.DMY,
		},
		{
			"contradictory evidence",
			daymonth.File{
				Dates: dates(week[0]), Around: lines("12/31/2026"), Currencies: []string{"GBP"},
			},
			"", 0,
		},
		{
			"contradictory dates around the rows",
			daymonth.File{
				Dates: dates(week[0]), Around: lines("Printed 12/31/2026", "Until 31/05/2026"),
				Currencies: []string{"GBP"},
			},
			"", 0,
		},
		{
			"contradictory columns",
			daymonth.File{
				Dates: dates(week[0]),
				Others: []daymonth.Other{
					{Name: "2", Example: scan("05/13/2026"), Orders: written.MDY},
					{Name: "3", Example: scan("13/05/2026"), Orders: written.DMY},
				},
				Currencies: []string{"GBP"},
			},
			"", 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.file.Orders = []written.Orders{written.DMY, written.MDY}
			got, evidence, ok := daymonth.Infer(&c.file)
			require.Equal(t, c.code != "", ok, "%v", evidence)
			if ok {
				require.Equal(t, c.code, evidence.Code)
				require.Equal(t, c.want, got)
			}
		})
	}
}

// TestInferRandom writes payments of a few days, and payments of each month or quarter, of which
// some are missing, with the month or the day first. No order is inferred wrongly.
func TestInferRandom(t *testing.T) {
	t.Parallel()
	inferred := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		order, layout := written.DMY, "02/01/2006"
		if r.IntN(2) == 0 {
			order, layout = written.MDY, "01/02/2006"
		}
		day := time.Date(2025, time.Month(1+r.IntN(12)), 1+r.IntN(12), 0, 0, 0, 0, time.UTC)
		months := r.IntN(3) // 0: days; otherwise, payments of each month or of each second one.
		times := 0          // Several payments on some days, or of each month.
		if months == 0 {
			times = 1
		}
		f := daymonth.File{Orders: []written.Orders{written.DMY, written.MDY}}
		for range 2 + r.IntN(14) {
			switch {
			case months > 0 && r.IntN(6) == 0:
				day = day.AddDate(0, 2*months, 0)
			case months > 0:
				day = day.AddDate(0, months, 0)
			default:
				day = day.AddDate(0, 0, r.IntN(4))
			}
			if day.Day() > 12 {
				day = day.AddDate(0, 1, 1-day.Day())
			}
			for range 1 + r.IntN(2)*times {
				f.Dates = append(f.Dates, scan(day.Format(layout)))
			}
		}
		if r.IntN(2) == 0 {
			f.Today = day.AddDate(0, 0, r.IntN(60))
		}
		if got, evidence, ok := daymonth.Infer(&f); ok {
			inferred++
			if got != order {
				t.Errorf("seed %d: %v is read as %v: %v", seed, f.Dates, got, evidence)
			}
		}
	}
	t.Logf("inferred %d of 20000", inferred)
	require.Greater(t, inferred, 5_000)
}

func scan(text string) written.DateText {
	date, ok := written.ScanDate(text)
	if !ok {
		panic(text)
	}
	return date
}

func dates(texts ...string) (all []written.DateText) {
	for _, text := range texts {
		all = append(all, scan(text))
	}
	return all
}

// lines returns lines of one cell each.
func lines(cells ...string) (all [][]string) {
	for _, cell := range cells {
		all = append(all, []string{cell})
	}
	return all
}
