package calendar

import (
	"sync"
	"time"
	// The images of the services have no time zone database.
	_ "time/tzdata"
)

// Offsets of time zones are between -12 and +14 hours.
const (
	latestZone   = -12 * time.Hour
	earliestZone = 14 * time.Hour
)

// Today returns the civil day of a moment in a time zone. It is the only place where a time zone
// decides: windows, months and stored dates are civil days, whose bounds are in UTC (ADR 104). UTC
// is the zone of an empty or an unknown name.
func Today(now time.Time, zone string) time.Time {
	if zone == "" || zone == "UTC" {
		return DayOf(now)
	}
	location, err := locationOf(zone)
	if err != nil {
		return DayOf(now)
	}
	year, month, day := now.In(location).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// Todays returns the two or three civil days that a moment has in the time zones of the world, in
// order. A caller that does not know the zone yet prepares for each of them.
func Todays(now time.Time) []time.Time {
	days := []time.Time{DayOf(now.Add(latestZone))}
	for last := DayOf(now.Add(earliestZone)); days[len(days)-1].Before(last); {
		days = append(days, days[len(days)-1].AddDate(0, 0, 1))
	}
	return days
}

// locations holds the loaded zones by name, because loading one reads and parses a file. It has at
// most one for each name of the database.
var locations sync.Map

func locationOf(zone string) (*time.Location, error) {
	if known, ok := locations.Load(zone); ok {
		return known.(*time.Location), nil //nolint:forcetypeassert // Stored below.
	}
	location, err := time.LoadLocation(zone)
	if err == nil {
		locations.Store(zone, location)
	}
	return location, err
}
