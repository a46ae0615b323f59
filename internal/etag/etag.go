// Package etag turns the version of a row into an entity tag, and judges If-Match by it (RFC 9110).
package etag

import (
	"strconv"
	"strings"
)

// Format is the strong entity tag of a version: "7", with the quotes.
func Format(version int64) string {
	return strconv.Quote(strconv.FormatInt(version, 10))
}

// Matches reports whether an If-Match header lets a change of this version through: it is empty, `*`, or a list that has
// the version's tag. A weak tag never matches.
func Matches(ifMatch string, version int64) bool {
	ifMatch = strings.TrimSpace(ifMatch)
	if ifMatch == "" || ifMatch == "*" {
		return true
	}
	want := Format(version)
	for tag := range strings.SplitSeq(ifMatch, ",") {
		if strings.TrimSpace(tag) == want {
			return true
		}
	}
	return false
}
