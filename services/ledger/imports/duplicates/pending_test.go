package duplicates

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestRelate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first, second string
		want          relation
	}{
		{"Shell", "SHELL STATION 1234 BERLIN", agrees},
		{"STARBUC", "Starbucks Coffee", agrees},
		{"Card payment", "Netflix", agrees},
		{"", "Netflix", agrees},
		{"Pending 1234", "Netflix", agrees},
		{"Café Müller", "CAFE MULLER GMBH", agrees},
		{"Card payment Shell", "Card payment Rewe", differs},
		{"Netflix", "Disney Plus", differs},
		{"美团外卖", "美团外卖", agrees},
		{"美团", "滴滴", differs},
		{"Art", "Artisan Bakery", differs},
		{"Öko", "Ökologie", differs},
		{"美团", "美团外卖", agrees},
		{"Rewe Berlin", "Lidl Berlin", shares},
		{"REWE SAGT DANKE BERLIN DE", "Lidl Berlin", shares},
		{"Shell Station Berlin", "SHELL 1234 Hamburg", agrees},
		{"STARBUCKS 1234 Munich", "Muenchen Starbucks Coffee", agrees},
		{"SumUp *Bakery Berlin", "SUMUP *KIOSK BERLIN", shares},
		{"PayPal *Rewe", "PAYPAL *SPOTIFY", differs},
		{"PayPal *Rewe", "PAYPAL *REWE BERLIN", agrees},
		{"PayPal Europe", "PAYPAL *REWE", agrees},
		{"Klarna Berlin", "Rewe Berlin", shares},
	} {
		require.Equal(t, c.want, relate(c.first, c.second), "%s, %s", c.first, c.second)
		require.Equal(t, c.want, relate(c.second, c.first), "%s, %s", c.second, c.first)
	}
}

// TestAssign compares random payments of a few days, amounts and texts.
func TestAssign(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(30, 4))
	texts := []string{"Shell Berlin", "SHELL 123", "Rewe Berlin", "", "Card payment"}
	wallets := []uuid.UUID{{1}, {2}}
	pay := func(mark string, i int) payment {
		return payment{
			WalletID: wallets[random.IntN(2)], Currency: []string{"EUR", "USD"}[random.IntN(2)],
			AmountMinor: int64(random.IntN(41)-20) * 100, Day: int32(random.IntN(20)),
			ExternalID: fmt.Sprint(mark, i),
		}
	}
	replaced := 0
	for range 300 {
		var c replacements
		var pending []pendingTransaction
		rowTexts, transactionTexts := map[int32]string{}, map[uuid.UUID]string{}
		for i := range 6 {
			p := pendingTransaction{
				ID: uuid.UUID{byte(i)}, payment: pay("pending:", i), Fixed: random.IntN(4) == 0,
			}
			transactionTexts[p.ID] = texts[random.IntN(len(texts))]
			pending = append(pending, p)
		}
		booked := map[int32]bookedRow{}
		for i := range 6 {
			r := bookedRow{int32(i), pay("", i+random.IntN(2)*6)}
			booked[r.N], rowTexts[r.N] = r, texts[random.IntN(len(texts))]
		}
		for page := range slices.Chunk(pending, 4) {
			c.load(page)
			for i := range 6 {
				c.add(booked[int32(i)])
			}
		}
		c.compare(rowTexts, transactionTexts)
		rows, transactions := map[int32]bool{}, map[uuid.UUID]bool{}
		for _, found := range c.assign() {
			replaced++
			r, p := booked[found.n], found.transaction
			require.False(t, rows[r.N] || transactions[p.ID])
			rows[r.N], transactions[p.ID] = true, true
			require.Equal(t, []any{p.WalletID, p.Currency, p.AmountMinor < 0},
				[]any{r.WalletID, r.Currency, r.AmountMinor < 0})
			difference := magnitude(r.AmountMinor - p.AmountMinor)
			require.False(t, p.Fixed && difference > 0)
			if "pending:"+r.ExternalID == p.ExternalID {
				continue
			}
			require.LessOrEqual(t, difference*5, magnitude(p.AmountMinor))
			require.LessOrEqual(t, max(r.Day-p.Day, p.Day-r.Day), int32(7))
			require.Equal(t, agrees, relate(rowTexts[r.N], transactionTexts[p.ID]))
		}
		// A transaction that stays has no row left that could replace it.
		for i, p := range pending {
			for _, r := range booked {
				found, ok := r.near(&pending[i])
				ok = ok && (found.same ||
					relate(rowTexts[r.N], transactionTexts[p.ID]) == agrees)
				require.False(t, ok && !rows[r.N] && !transactions[p.ID])
			}
		}
	}
	require.Greater(t, replaced, 50)
}

func TestReplacementsLimit(t *testing.T) {
	t.Parallel()
	c := replacements{compared: maxCompared}
	p := payment{AmountMinor: -100, ExternalID: "pending:a"}
	c.load([]pendingTransaction{
		{ID: uuid.UUID{1}, payment: p},
		{ID: uuid.UUID{2}, payment: p, Fixed: true},
		{ID: uuid.UUID{3}, payment: payment{AmountMinor: -104, ExternalID: "pending:d"}},
	})
	c.add(bookedRow{1, payment{AmountMinor: -101, ExternalID: "b"}})
	c.add(bookedRow{2, payment{AmountMinor: -200, ExternalID: "c"}})
	c.compare(nil, nil)
	require.Empty(t, c.assign())
	require.Equal(t, []result{{1, uuid.UUID{1}, possible}}, c.possible(nil))
	c.add(bookedRow{3, payment{AmountMinor: -100, ExternalID: "d"}})
	booked := c.assign()
	require.Len(t, booked, 1)
	require.Len(t, c.possible(booked), 1)
	booked[0].transaction = &pendingTransaction{ID: uuid.UUID{1}}
	require.Empty(t, c.possible(booked), "the transaction has its row")
}

// TestReplacementsWorstCase compares 20 000 rows with as many pending transactions of one day,
// which all have near amounts. Each row beyond the limit names one.
func TestReplacementsWorstCase(t *testing.T) {
	t.Parallel()
	const n = 20_000
	var c replacements
	page := make([]pendingTransaction, n)
	for i := range page {
		page[i] = pendingTransaction{
			ID:      uuid.UUID{byte(i), byte(i >> 8)},
			payment: payment{AmountMinor: int64(-n*10 - i), ExternalID: fmt.Sprint("pending:", i)},
		}
	}
	c.load(page)
	began := time.Now()
	for i := range n {
		c.add(bookedRow{int32(i), payment{AmountMinor: int64(-n*10 - i), Day: int32(i % 15)}})
	}
	require.Less(t, time.Since(began), 20*time.Second)
	require.Len(t, c.found, maxCompared)
	named := map[int32]bool{}
	for _, r := range c.found {
		named[r.n] = true
	}
	for n := range c.rest {
		named[n] = true
	}
	for i := range n {
		require.Equal(t, i%15 <= 7, named[int32(i)], i)
	}
}
