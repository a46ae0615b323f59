// Package text holds the rules for what people and clients type: names, descriptions and ids.
package text

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	maxName        = 100
	maxDescription = 1000
)

// Name trims a name and refuses one that is not 1..100 characters of UTF-8 without NUL.
func Name(field, s string) (string, *apierr.Field) {
	s, problem := plain(field, s, maxName)
	if problem == nil && s == "" {
		problem = &apierr.Field{Name: field, Message: "is required"}
	}
	return s, problem
}

// Description trims a description and refuses one that is not up to 1000 characters of UTF-8 without NUL.
func Description(field, s string) (string, *apierr.Field) {
	return plain(field, s, maxDescription)
}

func plain(field, s string, limit int) (string, *apierr.Field) {
	s = strings.TrimSpace(s)
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return "", &apierr.Field{Name: field, Message: "must be UTF-8 text without NUL"}
	}
	if utf8.RuneCountInString(s) > limit {
		return "", &apierr.Field{Name: field, Message: fmt.Sprintf("must be at most %d characters", limit)}
	}
	return s, nil
}

// ID takes the 36 characters of a UUID in any case; uuid.Parse alone would also take braces and urn: forms.
func ID(s string) (uuid.UUID, bool) {
	if len(s) != 36 {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(s)
	return id, err == nil
}
