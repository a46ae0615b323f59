package calendar

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-11-20":                       "2026-11-20T00:00:00.000Z",
		"20261120":                         "2026-11-20T00:00:00.000Z",
		"20261120T101500Z":                 "2026-11-20T10:15:00.000Z",
		"20261120t101500z":                 "2026-11-20T10:15:00.000Z",
		"20261120T1015":                    "2026-11-20T10:15:00.000Z",
		"20261120T101500.25+0200":          "2026-11-20T08:15:00.250Z",
		"20261120T101500,25+02":            "2026-11-20T08:15:00.250Z",
		"20261120T101500+02:00":            "2026-11-20T08:15:00.000Z",
		"20261120T1015-0530":               "2026-11-20T15:45:00.000Z",
		"2026-11-20T10:15:00+0200":         "2026-11-20T08:15:00.000Z",
		"2026-11-20T10:15:00-02":           "2026-11-20T12:15:00.000Z",
		"2026-11-20T10:15":                 "2026-11-20T10:15:00.000Z",
		"2026-11-20T10:15:00.123456789012": "2026-11-20T10:15:00.123Z",
	} {
		got, bare, ok := ParseTime(text)
		require.True(t, ok, text)
		require.Equal(t, want, FormatTime(got), text)
		require.Equal(t, len(text) <= len(DateLayout), bare, text)
	}
	for _, s := range []string{
		"", "2026", "202611", "2026-11", "2026-1120", "202611-20", "2026-324", "2026324",
		"2026-W47-5", "2026W475", "261120", "+0020261120", "20261320", "20260229", "20261120T",
		"20261120T10", "20261120T1", "20261120T10150", "20261120T1015000", "20261120T241500Z",
		"20261120T106000Z", "20261120T101560Z", "20261120T10:15:00Z", "2026-11-20T101500Z",
		"2026-11-20T10:1500Z", "20261120T101500+2", "20261120T101500+020", "20261120T101500+02000",
		"20261120T101500+2400", "20261120T101500+0260", "20261120T101500ZZ", "20261120Z",
		"20261120+0200", "20261120 101500Z", "20261120T101500.Z", "20261120T101500Z\n", "２０２６1120",
	} {
		_, _, ok := ParseTime(s)
		require.False(t, ok, s)
	}
}

// FuzzParseTime checks that a valid date survives formatting, and that the extended form is read as
// the standard library reads it.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{
		"2026-11-20", "20261120", "20261120T101500Z", "20261120T1015-05",
		"2026-11-20T10:15:00+0200", "2026-11-20T10:15:00.5+02:00", "2026-11-20T24:00:00Z",
		"1900-01-01T00:00:00+12:00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, bare, ok := ParseTime(text)
		if want, err := time.Parse("2006-01-02T15:04:05Z07:00", text); err == nil &&
			want.UTC().Year() >= MinYear && want.UTC().Year() <= MaxYear {
			// The standard library also accepts offsets of 24 hours and of 60 minutes.
			require.True(t, !ok || got.Equal(want.Truncate(time.Millisecond)), text)
		}
		if !ok {
			return
		}
		again, _, ok := ParseTime(FormatTime(got))
		require.True(t, ok, text)
		require.True(t, got.Equal(again), text)
		if bare {
			require.Equal(t, got.Truncate(24*time.Hour), got, text)
		}
	})
}

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{
		"2026-01-31", "2026-02-30", "1899-12-31", "2201-01-01", "2026-1-1", "2026-01-01T00:00:00Z",
		"", "٢٠٢٦-٠١-٠١",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, ok := ParseDate(s); ok {
			require.Equal(t, s, d.Format(DateLayout))
			require.GreaterOrEqual(t, d.Year(), MinYear)
			require.LessOrEqual(t, d.Year(), MaxYear)
		}
	})
}
