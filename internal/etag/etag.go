// Package etag implements optimistic concurrency with entity tags and If-Match (RFC 9110).
//
// The tag of a resource is the version of its row, which each update increments. A handler sends
// Format in the ETag header and rejects a change with VERSION_MISMATCH if Matches returns false. It
// must check the version in the transaction of the change, with the row locked.
package etag

import (
	"strconv"
	"strings"
)

// Format returns the strong entity tag of a version: "7", with the quotes.
func Format(version int64) string {
	return strconv.Quote(strconv.FormatInt(version, 10))
}

// Matches reports whether an If-Match header permits a change of this version. The header must be
// empty, `*`, or a list with the version's tag. A weak tag never matches.
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
