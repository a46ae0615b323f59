package receipt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

func TestBestTotalConfidenceNeedsOtherFigures(t *testing.T) {
	t.Parallel()
	confident := func(texts ...string) bool {
		var readings []Reading
		for _, text := range texts {
			readings = append(readings, Read(recognized(text)))
		}
		return Join(today, readings...).Confidence["total"] >= confidentTotal
	}
	const (
		lines = "SHOP\nBread 2.50\nMilk 1.20\nTotal 3.70"
		paid  = "SHOP\nTotal 3.70\nCash 5.00\nChange 1.30"
		both  = lines + "\nCash 5.00\nChange 1.30"
	)
	require.True(t, confident(both), "two sums")
	require.False(t, confident(lines), "one sum")
	require.True(t, confident(lines, lines), "one sum, read twice")
	require.True(t, confident(lines+"\nVisa 3.70"), "one sum and a copy")
	require.True(t, confident(paid, paid))
	require.False(t, confident("SHOP\nTotal 3.70", "SHOP\nTotal 3.70", "SHOP\nTotal 3.70"),
		"no other figure")
	require.False(t, confident("SHOP\nTea 3.70\nSubtotal 3.70\nTotal 3.70\nVisa 3.70\nVisa 3.70"),
		"copies of one figure may repeat an error")
	require.False(t, confident("SHOP\nBread 2.50\nMilk 1.20\nVisa 3.70\n",
		"SHOP\nBread 2.50\nMilk 1.20\nVisa 3.70"), "no line has a total label")
	require.GreaterOrEqual(t, Join(today, Read(printed.FromText(lines))).Confidence["total"],
		confidentTotal, "digits of text are not misread")
}

func TestBestTotalIgnoresRoundingOfPayment(t *testing.T) {
	t.Parallel()
	const lines = "GREEN SDN BHD\nTea 3.02\nBread 4.70\nSubtotal 7.72\nTotal RM 7.72\nCash RM 10.00"
	rounded := readText(lines + "\nRounding Adj 0.02-\nChange RM 2.30")
	require.Equal(t, "7.72", rounded.Total)
	require.GreaterOrEqual(t, rounded.Confidence["total"], confidentTotal, "7.70 is not printed")
}

func TestReadSplitsLabelFromAmount(t *testing.T) {
	t.Parallel()
	r := readText(
		"SHOP\nBread 2.50\nMilk 1.20\nTOTAL13.70\nCASH15.00\nCHANGE11.30\nTOTAL3.70\nCHANGE1.30",
	)
	require.Equal(t, "3.70", r.Total)
	r = readText("SHOP\nBread 12.50\nMilk 1.20\nTOTAL13.70\nCASH50.00\nCHANGE36.30")
	require.Equal(t, "13.70", r.Total)
	require.GreaterOrEqual(t, r.Confidence["total"], confidentTotal,
		"cash minus change and the lines prove it")
}

func TestBestTotalCountsRowReadingsOnce(t *testing.T) {
	t.Parallel()
	const lines = "SHOP\nBread 2.50\nMilk 1.20\n"
	row := ReadSumRows(recognized("Total 3.70"))
	require.GreaterOrEqual(t, Join(today,
		Read(recognized(lines+"Total 3.70")), row, row).Confidence["total"], confidentTotal)
	require.Less(t, Join(today, Read(recognized(lines+"Total 3.7")), row, row).Confidence["total"],
		confidentTotal)
}

func TestConfidentIfLinesAddUp(t *testing.T) {
	t.Parallel()
	once := func(text string) Receipt { return Join(today, Read(recognized(text))) }
	settled := once("CORNER SHOP LTD\n12/03/2024 10:15\nBread 2.50\nMilk 1.20\nTotal 3.70")
	require.True(t, settled.Confident(), "%v", settled.Confidence)
	require.Less(t, settled.Confidence["total"], confidentTotal, "the total is only likely")
	for _, uncertain := range []string{
		"CORNER SHOP LTD\n12/03/2024 10:15\nBread 2.50\nMilk 1.30\nTotal 3.70",
		"CORNER SHOP LTD\nBread 2.50\nMilk 1.20\nTotal 3.70",
		"12/03/2024 10:15\nBread 2.50\nMilk 1.20\nTotal 3.70",
	} {
		require.False(t, once(uncertain).Confident(), uncertain)
	}
}

func TestJoinIgnoresSuggestedTips(t *testing.T) {
	t.Parallel()
	const (
		lines = "DINER LLC\nBurger 10.00\nCoffee 5.00\n"
		total = lines + "Total 15.00\n"
	)
	for name, tc := range map[string]struct{ text, total string }{
		"tip and total in a row": {
			total + "Suggested tips\n18 %: 2.70, total 17.70\n20 %: 3.00, total 18.00", "15.00",
		},
		"tip above the total": {
			total + "Suggested Gratuity\n18% 2.70\nTotal 17.70\n20% 3.00\nTotal 18.00", "15.00",
		},
		"below a payment": {
			total + "Visa 15.00\nTip suggestions:\n18 % 2.70\nTotal 17.70", "15.00",
		},
		"in Spanish": {
			"CASA\nTacos 10.00\nSopa 5.00\nTotal 15.00\nPropina sugerida\n10 % 1.50\nTotal 16.50",
			"15.00",
		},
		"in German": {
			"GASTHAUS\nBraten 10,00\nBier 5,00\nSumme 15,00\nTrinkgeldvorschlag\n10 % 1,50\n" +
				"Gesamt 16,50",
			"15.00",
		},
		"in Dutch, each on its row": {
			"EETCAFE\nSoep 10,00\nBier 5,00\nTotaal 15,00\nFooi suggestie 10% 1,50\n" +
				"Fooi suggestie 15% 2,25",
			"15.00",
		},
		"in Turkish": {
			"LOKANTA\nKebap 10,00\nAyran 5,00\nToplam 15,00\nÖnerilen bahşiş\n%10 1,50\n" +
				"Toplam 16,50",
			"15.00",
		},
		"in Russian": {
			"КАФЕ\nСуп 10.00\nЧай 5.00\nИтого 15.00\nРекомендуемые чаевые\n10% 1.50\nИтого 16.50",
			"15.00",
		},
		"in Czech": {
			"HOSPODA\nGuláš 10,00\nPivo 5,00\nCelkem 15,00\nDoporučené spropitné\n10 % 1,50\n" +
				"Celkem 16,50",
			"15.00",
		},
		"in Swedish, with one word": {
			"KROG\nSoppa 10,00\nBulle 5,00\nTotalt 15,00\nDricksförslag\n10 % 1,50\nTotalt 16,50",
			"15.00",
		},
		"above a tip of the same amount": {
			total + "Suggested tips\n18 % 2.70\nTip 2.70\nTotal 17.70\nVisa 17.70", "17.70",
		},
		"above the only total": {
			lines + "Subtotal 15.00\nTax 1.20\nSuggested tips\n18 % 2.70\nTotal 16.20", "16.20",
		},
		"above a total with its tax": {
			lines + "Suggested tips\n18 % 2.70\nThank you\nTotal incl. 8 % GST 15.00\n8 % GST 1.11",
			"15.00",
		},
		"tip that is added": {total + "Tip 18 % 2.70\nTotal 17.70\nVisa 17.70", "17.70"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, pages := range [][]printed.Page{recognized(tc.text), printed.FromText(tc.text)} {
				require.Equal(t, tc.total, Join(today, Read(pages)).Total)
				require.Equal(t, tc.total, Join(today, Read(pages), Read(pages)).Total)
			}
		})
	}
}
