package recognition

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
)

// TestReadDrawnLanguages reads images in languages of which no engine has a model. Amounts and date
// are read, because words without accents are similar enough. In another script, no wrong total may
// be confident.
func TestReadDrawnLanguages(t *testing.T) {
	t.Parallel()
	r := neuralReader(t)
	for language, text := range map[string]string{
		"Swedish": "SOLROSEN AB\nDatum 2026-03-12\nMjölk 12,00\nBröd 28,50\nAtt betala 40,50\n" +
			"Varav moms 12% 4,34\nKort 40,50",
		"Danish": "SOLSIKKEN APS\nDato 12.03.2026\nMælk 12,00\nBrød 28,50\nI ALT 40,50\n" +
			"Heraf moms 8,10\nDankort 40,50",
		"Norwegian": "SOLSIKKEN AS\nDato 12.03.2026\nMelk 12,00\nBrød 28,50\nSum 40,50\n" +
			"Herav mva 15% 5,28\nBankAxept 40,50",
		"Finnish": "KUKKA OY\n12.3.2026 14:05\nMaito 12,00\nLeipä 28,50\nYHTEENSÄ 40,50\n" +
			"ALV 14% 4,97\nKÄTEINEN 50,50\nTAKAISIN 10,00",
		"Hungarian": "VIRAG KFT\n2026.03.12.\nTej 12,00\nKenyér 28,50\nÖSSZESEN 40,50\n" +
			"KÉSZPÉNZ 50,50\nVISSZAJÁRÓ 10,00",
		"Czech": "KVETINA s.r.o.\nDatum 12.03.2026\nMléko 12,00\nChléb 28,50\nCelkem 40,50\n" +
			"DPH 12% 4,34\nHotovost 50,50\nVráceno 10,00",
		"Turkish": "CICEK MARKET\nTARİH 12.03.2026\nSÜT 12,00\nEKMEK 28,50\nTOPLAM 40,50\n" +
			"NAKİT 50,50\nPARA ÜSTÜ 10,00",
		"Russian": "РОМАШКА\nДата 12.03.2026\nМолоко 12.00\nХлеб 28.50\nИТОГО 40.50\n" +
			"НАЛИЧНЫМИ 50.50\nСДАЧА 10.00",
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			got, err := r.Read(t.Context(), fixture.JPEG(t, fixture.Printed(t, text, 26)))
			require.NoError(t, err)
			require.Equal(t, "2026-03-12", got.Date)
			if language == "Russian" {
				require.True(t, got.Total == "40.50" || got.Confidence["total"] < 0.9, got.Receipt)
				return
			}
			require.Equal(t, "40.50", got.Total)
		})
	}
}
