package duplicates

import (
	"bytes"
	"time"

	"github.com/google/uuid"
)

const (
	// maxDays is the maximum number of days between a row and its transaction.
	maxDays = 4
	// stretchDays is the maximum length of a stretch, so that a step reads about a month of a
	// wallet.
	stretchDays = 31
	day         = 24 * time.Hour
)

// walletDay is a day with rows of a wallet.
type walletDay struct {
	WalletID uuid.UUID `db:"wallet_id"`
	Day      time.Time
}

// stretch is a period of a wallet, from first to before end, both at midnight UTC.
type stretch struct {
	wallet     uuid.UUID
	first, end time.Time
}

// stretches returns the periods that contain all transactions at most maxDays from days, each day
// of a wallet once. The days are in the order of wallets and days.
func stretches(days []walletDay) []stretch {
	var all []stretch
	for _, walletDay := range days {
		first, end := walletDay.Day.Add(-maxDays*day), walletDay.Day.Add((maxDays+1)*day)
		if n := len(all); n > 0 && bytes.Equal(all[n-1].wallet[:], walletDay.WalletID[:]) {
			last := &all[n-1]
			if first.Before(last.end) {
				first = last.end
			}
			if end.Sub(last.first) <= stretchDays*day && first.Equal(last.end) {
				last.end = end
				continue
			}
		}
		if first.Before(end) {
			all = append(all, stretch{walletDay.WalletID, first, end})
		}
	}
	return all
}
