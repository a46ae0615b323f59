package dates

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// now is the time at which the receipts of the tests are read.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// pick returns the date of a text that was recognized, or "" if it has none.
func pick(text, currency string) (day string, confidence float64, ambiguous bool) {
	pages := printed.FromText(text)
	for i := range pages {
		pages[i].Exact = false
	}
	lines := printed.Lines(pages)
	printed.Classify(lines)
	f, ambiguous := Pick(Find(lines, false), lines, currency, now)
	return f.Value, f.Confidence, ambiguous
}

func TestPick(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Date: 25/12/2023":                  "2023-12-25",
		"12/25/2023":                        "2023-12-25",
		"2023-12-25 18:00":                  "2023-12-25",
		"Dat.25.12.2023 Zeit19:22:02":       "2023-12-25",
		"25.12.23 18:00 Uhr":                "2023-12-25",
		"25-Dec-2023":                       "2023-12-25",
		"December 25, 2023":                 "2023-12-25",
		"25 décembre 2023":                  "2023-12-25",
		"25 de diciembre de 2023":           "2023-12-25",
		"25 dicembre 2023":                  "2023-12-25",
		"25. Dezember 2023":                 "2023-12-25",
		"2023/12/25":                        "2023-12-25",
		"Date 2S/12/2O23":                   "2023-12-25",
		"No 07- 25/12/2023 19:50":           "2023-12-25",
		"Date: 2512/2023":                   "2023-12-25",
		"Date: 04/99/2017":                  "2017-09-04",
		"Date: 25/Fen/2017":                 "2017-02-25",
		"Date: 25/12/20t9":                  "2019-12-25",
		"Date: 25/Dee/20t9":                 "",
		"2023-12-25T18:00":                  "2023-12-25",
		"25,12,23 18:00 Uhr":                "2023-12-25",
		"5,12,23 18:00 Uhr":                 "",
		"25\\12|2023":                       "2023-12-25",
		"25/1 2/202 3":                      "2023-12-25",
		"25/12/'23":                         "2023-12-25",
		"25/12/023":                         "2023-12-25",
		"Date 25 12 2023":                   "2023-12-25",
		"25 12 2023":                        "",
		"25/12/2078":                        "2018-12-25",
		"Dates2i/05/17":                     "2017-05-21",
		"Dec 25 18:00":                      "",
		"25-Dec-18:12:05":                   "2018-12-25",
		"1 SET 12.90":                       "",
		"NASI SET 12.90":                    "",
		"Time 12.10.15":                     "",
		"05.01.12.PM":                       "",
		"Mon 25/12/2023 at 25/11/2023":      "2023-12-25",
		"Samstag 25.12.2023, 25.11.2023":    "2023-11-25",
		"Expires 01/01/2024\nDate 25/12/23": "2023-12-25",
		"Date: 31/02/2023":                  "",
		"25/12/2099":                        "",
		"Tel 03-8888 7777":                  "",
		"1234 25.12:23 18:00":               "2023-12-25",
		"1234 25:12.23 18:00":               "2023-12-25",
		"1234 15:12:23 18:00":               "",
		"Date: 25/12/202318:00":             "2023-12-25",
		"25/12/20236:00:05PM":               "2023-12-25",
		"25-12-2318:00:00":                  "2023-12-25",
		"2023-12-2518:00":                   "2023-12-25",
		"25 Dec 202318:00":                  "2023-12-25",
		"Date:25/12/2018:12:05":             "2018-12-25",
	} {
		got, _, _ := pick(text, "")
		require.Equal(t, want, got, text)
	}
}

// TestPickLimits reads the first and the last dates that are accepted, and their neighbors.
func TestPickLimits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1995-01-01":  "", // The notation requires a year of this century.
		"01.01.1995":  "1995-01-01",
		"31.12.1994":  "",
		"2026-11-22":  "2026-11-22",
		"2026-11-23":  "",
		"23 Nov 2026": "",
		// Years of two digits belong to this century.
		"01/02/00": "2000-02-01",
		"22.11.26": "2026-11-22",
		"13.13.26": "",
		"25.12.99": "",
		// The year comes first if the other order is in the future.
		"23.11.26": "2023-11-26",
		"32/01/05": "",
		// Only one order of day and month is not in the future.
		"12/10/2026": "2026-10-12",
		"10/12/2026": "2026-10-12",
		"29/02/2024": "2024-02-29",
		"29/02/2023": "",
		"31/04/2023": "",
		"00/04/2023": "",
		"13/13/2023": "",
	} {
		got, _, _ := pick("Date "+text, "")
		require.Equal(t, want, got, text)
	}
}

// TestPickMonthNames reads the names of months in each language that the engines have a model for,
// in full and abbreviated.
func TestPickMonthNames(t *testing.T) {
	t.Parallel()
	for language, names := range map[string]string{
		"English": "January February March April May June July August September October November " +
			"December",
		"German": "Januar Februar März April Mai Juni Juli August September Oktober November " +
			"Dezember",
		"French": "janvier février mars avril mai juin juillet août septembre octobre novembre " +
			"décembre",
		"Spanish": "enero febrero marzo abril mayo junio julio agosto septiembre octubre " +
			"noviembre diciembre",
		"Italian": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre " +
			"novembre dicembre",
		"short":        "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
		"German short": "Jan Feb Mrz Apr Mai Jun Jul Aug Sept Okt Nov Dez",
	} {
		for i, name := range strings.Fields(names) {
			for _, format := range []string{"7 %s 2023", "07-%s-23", "%s 7, 2023", "2023-%s-07"} {
				text := fmt.Sprintf(format, name)
				got, _, ambiguous := pick(text, "")
				require.Equal(t, fmt.Sprintf("2023-%02d-07", i+1), got, "%s: %s", language, text)
				require.False(t, ambiguous, text)
			}
		}
	}
}

// notations are the formats in which receipts print dates, with the first year that each must read.
// Before 2011, the year may come first in three numbers of two digits.
var notations = []struct {
	layout, currency string
	first            int
}{
	{"02/01/2006", "EUR", 1995},
	{"2/1/2006", "EUR", 1995},
	{"02-01-2006", "EUR", 1995},
	{"02.01.2006", "", 1995},
	{"2.1.2006", "", 1995},
	{"2. 1. 2006", "", 1995},
	{"02/01/06", "EUR", 2011},
	{"02-01-06", "EUR", 2011},
	{"02.01.06", "EUR", 2011},
	{"02/01/'06", "EUR", 2011},
	{"2006-01-02", "", 2000},
	{"2006/01/02", "", 2000},
	{"2006.1.2", "", 2000},
	{"2006年1月2日", "", 2000},
	{"2006-01-02T15:04:05", "", 2000},
	{"20060102", "", 2000},
	{"2 Jan 2006", "", 1995},
	{"02-Jan-06", "", 2000},
	{"2. January 2006", "", 1995},
	{"2nd January 2006", "", 1995},
	{"Jan 2, 2006", "", 1995},
	{"January 2, 2006", "", 1995},
	{"2006-Jan-02", "", 1995},
	{"Mon, 02/01/2006", "EUR", 1995},
}

// randomDay returns a day from the first of January of a year to the last day that Pick accepts.
func randomDay(random *rand.Rand, first int) time.Time {
	start := time.Date(first, 1, 1, 0, 0, 0, 0, time.UTC)
	days := int(now.AddDate(0, 0, 2).Sub(start).Hours()/24) + 1
	return start.AddDate(0, 0, random.IntN(days))
}

// TestPickRandomDays reads random days in each notation, alone and with a label, a time of day and
// other lines.
func TestPickRandomDays(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 0))
		for _, n := range notations {
			day := randomDay(random, n.first)
			text := day.Format(n.layout)
			for _, text := range []string{
				text, "Date: " + text, "Date " + text + " 18:05",
				"SHOP\nTotal 12.30\n" + text + "\nThank you",
			} {
				got, confidence, ambiguous := pick(text, n.currency)
				require.Equal(t, day.Format(time.DateOnly), got, "%s, %s", n.layout, text)
				require.False(t, ambiguous, text)
				require.True(t, confidence >= 0.1 && confidence <= 0.98, text)
			}
		}
	}
}

// TestPickMonthFirst reads random days in the American order, which a ZIP code shows.
func TestPickMonthFirst(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		day := randomDay(random, 2011)
		for _, layout := range []string{"01/02/2006", "1/2/2006", "01-02-06", "01/02/06"} {
			text := "Portland, OR 97201\nDate " + day.Format(layout)
			got, _, ambiguous := pick(text, "USD")
			require.Equal(t, day.Format(time.DateOnly), got, text)
			require.False(t, ambiguous, text)
		}
	}
}

// TestPickRandomText requires that each date of a random text is a day of the calendar, from 1995
// to two days after now. Without a date, everything is empty.
func TestPickRandomText(t *testing.T) {
	t.Parallel()
	const separators = "//--..,: "
	parts := []string{
		"Date", "Jan", "31", "0", "l2", "O5", "2S", "19", "2023", "20t9", "2099", "1994", "'24",
		"18:05",
	}
	found := 0
	for seed := range uint64(1500) {
		random := rand.New(rand.NewPCG(seed, 2))
		var data []byte
		for range 3 + random.IntN(3) {
			part := parts[random.IntN(len(parts))]
			if random.IntN(2) == 0 {
				part = strconv.Itoa(random.IntN(35))
			}
			data = append(append(data, part...), separators[random.IntN(len(separators))])
		}
		got, confidence, ambiguous := pick(string(data), []string{"", "EUR", "USD"}[random.IntN(3)])
		if got == "" {
			require.Zero(t, confidence, string(data))
			require.False(t, ambiguous, string(data))
			continue
		}
		found++
		day, err := time.Parse(time.DateOnly, got)
		require.NoError(t, err, string(data))
		require.False(t, day.Year() < 1995 || day.After(now.AddDate(0, 0, 2)), "%s: %s", data, got)
		require.True(t, confidence >= 0.1 && confidence <= 0.98, string(data))
	}
	require.Greater(t, found, 100, "texts with a date")
}
