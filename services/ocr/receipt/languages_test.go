package receipt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJoinReadsLanguages reads a receipt in each language without words in English. The texts have
// the words and the formats of dates and amounts that tills of the country print.
func TestJoinReadsLanguages(t *testing.T) {
	t.Parallel()
	for language, tc := range map[string]struct{ text, total, currency string }{
		"Swedish": {"SOLROSEN AB\nDatum 2026-03-12\nMjölk 12,00\nBröd 28,50\nTotalt 2 varor\n" +
			"Att betala 40,50\nVarav moms 12% 4,34\nKort 40,50", "40.50", "SEK"},
		"Danish": {"SOLSIKKEN APS\nDato 12.03.2026\nMælk 12,00\nBrød 28,50\nI ALT 40,50\n" +
			"Heraf moms 8,10\nDankort 40,50", "40.50", "DKK"},
		"Norwegian": {"SOLSIKKEN AS\nDato 12.03.2026\nMelk 12,00\nBrød 28,50\nSum 40,50\n" +
			"Herav mva 15% 5,28\nBankAxept 40,50", "40.50", "NOK"},
		"Finnish": {"KUKKA OY\n12.3.2026 14:05\nMaito 1,20\nLeipä 2,85\nYHTEENSÄ 4,05\n" +
			"ALV 14% 0,50\nKÄTEINEN 5,05\nTAKAISIN 1,00", "4.05", "EUR"},
		"Czech": {"KVETINA s.r.o.\nDatum 12.03.2026\nMléko 12,00\nChléb 28,50\nCelkem 40,50\n" +
			"DPH 12% 4,34\nHotovost 50,50\nVráceno 10,00", "40.50", "CZK"},
		"Hungarian": {"VIRAG KFT\n2026.03.12.\nTej 400,00\nKenyér 650,00\n" +
			"ÖSSZESEN 1.050,00\nKÉSZPÉNZ 1.100,00\nVISSZAJÁRÓ 50,00\nÁFA 5%", "1050.00", "HUF"},
		"Turkish": {"CICEK MARKET\nTARİH 12.03.2026\nSÜT *12,00\nEKMEK *28,50\nTOPKDV *0,40\n" +
			"TOPLAM *40,50\nNAKİT *50,50\nPARA ÜSTÜ *10,00", "40.50", "TRY"},
		"Russian": {"РОМАШКА\nДата 12.03.2026\nМолоко 80.00\nХлеб 45.50\nИТОГО 125.50\n" +
			"НДС 10% 11.41\nНАЛИЧНЫМИ 200.00\nСДАЧА 74.50", "125.50", "RUB"},
		"Japanese": {"ひまわり商店\n2026年3月12日\n牛乳 ¥220\nパン ¥330\n小計 ¥550\n合計 ¥550\n" +
			"(内消費税 ¥40)\nお預り ¥1,000\nお釣り ¥450", "550.00", "JPY"},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			for _, r := range []Receipt{
				readText(tc.text), Join(today, Read(recognized(tc.text))),
			} {
				require.Equal(t, tc.total, r.Total)
				require.Equal(t, "2026-03-12", r.Date)
				require.Equal(t, tc.currency, r.Currency)
				require.Len(t, r.Items, 2, "%v", r.Items)
				require.NotContains(t, r.Warnings, LinesNotReconciled)
			}
		})
	}
}

// TestJoinOfUnknownLanguage requires that a receipt in a language of no vocabulary is a draft
// without a confident total.
func TestJoinOfUnknownLanguage(t *testing.T) {
	t.Parallel()
	text := "ΗΛΙΟΣ\n12/03/2026\nΓάλα 1,20\nΨωμί 2,85\nΣΥΝΟΛΟ 4,05\nΜΕΤΡΗΤΑ 5,05\nΡΕΣΤΑ 1,00"
	r := Join(today, Read(recognized(text)))
	require.True(t, r.Legible)
	require.Equal(t, "2026-03-12", r.Date)
	require.Less(t, r.Confidence["total"], confidentTotal)
}
