package learning

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestSuggest(t *testing.T) {
	t.Parallel()
	food, fun := uuid.UUID{1}, uuid.UUID{2}
	example := func(category uuid.UUID, chosen bool) Example {
		return Example{
			Payee: "Bakery Sun 12", Expense: true, CategoryID: category, Chosen: chosen,
		}
	}
	var accepted []Example
	for range 50 {
		accepted = append(accepted, example(fun, false))
	}
	for name, tc := range map[string]struct {
		examples   []Example
		category   uuid.UUID
		confidence float64
	}{
		"no example":                           {nil, uuid.Nil, 0},
		"an accepted category":                 {accepted[:1], uuid.Nil, 0},
		"two accepted categories":              {accepted[:2], fun, 2.0 / 3},
		"a choice":                             {[]Example{example(food, true)}, food, 2.0 / 3},
		"a choice after accepted categories":   {append(accepted[:50:50], example(food, true)), food, 2.0 / 3},
		"a choice before accepted categories":  {append([]Example{example(food, true)}, accepted...), food, 2.0 / 3},
		"two choices that disagree":            {[]Example{example(food, true), example(fun, true)}, uuid.Nil, 0},
		"three choices of which one disagrees": {[]Example{example(food, true), example(fun, true), example(food, true)}, food, 2.0 / 3 * 6 / 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &Memory{}
			for _, e := range tc.examples {
				m.Add(e)
			}
			m.Learn()
			got := m.Suggest("BAKERY SUN", "", true)
			require.Equal(t, tc.category, got.Category)
			require.InDelta(t, tc.confidence, got.Confidence, 0.0001)
		})
	}
}

func TestKeyOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ payee, description, want string }{
		{"REWE 4711", "card 12", "rewe"},
		{"", "REWE 4711", "rewe"},
		{"PAYPAL *SPOTIFY 35314369001", "", "spotify"},
		{"", "PAYPAL *SPOTIFY 35314369001", "spotify"},
		{"PP*Spotify", "", "spotify"},
		{"PP Electronics", "", "pp electronics"},
		{"PayPal Europe S.a.r.l. et Cie S.C.A", "1031234567890/PP.7364.PP/. SPOTIFY, Ihr Einkauf bei Spotify", "spotify"},
		{"PayPal (Europe) S.à r.l. et Cie, S.C.A.", "PP.7364.PP Spotify AB", "spotify ab"},
		{"PayPal", "1031234567890 PAYPAL", "paypal"},
		{"PayPal", "SEPA Lastschrift", "paypal"},
		{"PayPal Lastschrift", "Ihr Einkauf bei Spotify", "spotify"},
		{"Klarna Bank AB (publ)", "Zalando SE 10101234567890", "zalando se"},
		{"KLARNA*ZALANDO", "", "zalando"},
		{"SumUp  *Cafe Sonne", "", "cafe sonne"},
		{"SQ *COFFEE BAR", "", "coffee bar"},
		{"SQ COFFEE", "", "sq coffee"},
		{"Square Bar", "", "square bar"},
		{"AMAZON PAYMENTS EUROPE S.C.A.", "306-1234567-1234567 Thomann GmbH", "thomann gmbh"},
		{"Amazon EU Sarl", "306-1234567-1234567", "amazon eu sarl"},
		{"APPLE PAY Bakery Sun", "", "bakery sun"},
		{"Stripe Payments Europe", "Newspaper 12/2026", "newspaper"},
		{"12 34", "Bakery", ""},
	} {
		require.Equal(t, tc.want, keyOf(tc.payee, tc.description), "%s, %s", tc.payee,
			tc.description)
	}
}
