package written

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStatusOf(t *testing.T) {
	t.Parallel()
	for want, cells := range map[string]string{
		Booked: "|Completed|POSTED|Umsatz gebucht|Gebucht|Partially Refunded|OK|" +
			"Contabilizzato|Udført|交易成功|已退款(￥12.00)|已全额退款|Проведён|Zaksięgowano|-",
		Pending: "Pending|vorgemerkt|Umsatz vorgemerkt|In attesa|Autorizzato|Venter|Reserveret|" +
			"WAITING|等待付款|In process|in_process|Not completed|noch nicht gebucht|Ожидает|" +
			"Pending - 12/05|Pending review",
		Void: "Denied|Canceled|CANCELLED|FAILED|Declined by issuer|REVERTED|Slettet|交易关闭|" +
			"Отменён|Abgelehnt|non eseguita|Echoué",
		"": "Refunded|Reversed|Active|no longer pending|Pending, then denied|" +
			"completed with errors|payment of a pending invoice|Shop|NY|not denied|Not cleared",
	} {
		for cell := range strings.SplitSeq(cells, "|") {
			status, known := StatusOf(cell)
			require.Equal(t, want, status, cell)
			require.Equal(t, want != "", known, cell)
		}
	}
}

// TestStatusesVocabulary requires that no phrase means two statuses.
func TestStatusesVocabulary(t *testing.T) {
	t.Parallel()
	sections := make(map[string]string)
	for section, phrase := range Phrases(statusPhrases) {
		key := statusKey(phrase)
		require.NotEmpty(t, key, phrase)
		require.Contains(t, []string{"", section}, sections[key], phrase)
		sections[key] = section
	}
}
