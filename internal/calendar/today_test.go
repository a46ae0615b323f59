package calendar

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestToday(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ now, zone, want string }{
		{"2026-01-31T10:59:59Z", "Pacific/Auckland", "2026-01-31"},
		{"2026-01-31T11:00:00Z", "Pacific/Auckland", "2026-02-01"},
		{"2026-06-30T11:59:59Z", "Pacific/Auckland", "2026-06-30"},
		{"2026-06-30T12:00:00Z", "Pacific/Auckland", "2026-07-01"},
		{"2026-02-01T07:59:59Z", "America/Los_Angeles", "2026-01-31"},
		{"2026-02-01T08:00:00Z", "America/Los_Angeles", "2026-02-01"},
		{"2026-07-01T06:59:59Z", "America/Los_Angeles", "2026-06-30"},
		{"2026-07-01T07:00:00Z", "America/Los_Angeles", "2026-07-01"},
		{"2026-01-31T23:59:59Z", "UTC", "2026-01-31"},
		{"2026-01-31T23:59:59Z", "", "2026-01-31"},
		{"2026-01-31T23:59:59Z", "Mars/Olympus", "2026-01-31"},
		{"2026-01-31T11:59:59Z", "Etc/GMT+12", "2026-01-30"},
		{"2026-01-31T10:00:00Z", "Pacific/Kiritimati", "2026-02-01"},
	} {
		now, err := time.Parse(time.RFC3339, tc.now)
		require.NoError(t, err)
		require.Equal(t, at(tc.want), Today(now, tc.zone), "%s in %s", tc.now, tc.zone)
	}
}

// TestTodays requires that each zone has one of the days, and that the first and the last occur.
func TestTodays(t *testing.T) {
	t.Parallel()
	zones := []string{
		"UTC", "Etc/GMT+12", "Pacific/Kiritimati", "Pacific/Auckland", "America/Los_Angeles",
		"Asia/Kathmandu", "Europe/Berlin",
	}
	rapid.Check(t, func(r *rapid.T) {
		passed := rapid.Int64Range(0, int64(366*24*time.Hour)).Draw(r, "time")
		now := at("2026-01-01").Add(time.Duration(passed))
		days := Todays(now)
		require.Equal(r, days[0], Today(now, "Etc/GMT+12"))
		require.Equal(r, days[len(days)-1], Today(now, "Pacific/Kiritimati"))
		require.Contains(r, days, Today(now, rapid.SampledFrom(zones).Draw(r, "zone")))
	})
}
