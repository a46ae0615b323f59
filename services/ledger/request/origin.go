package request

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/text"
)

// maxExternalID is the maximum number of characters of an external id.
const maxExternalID = 255

// Origin holds the filters of lists and exports by what created a transaction and by what belongs
// to it. Absent filters are zero. An id that is unknown or another user's matches nothing.
type Origin struct {
	ExternalID          string
	ImportID, ReceiptID *uuid.UUID
	Attached            *bool
}

// ParseOrigin validates these filters.
func ParseOrigin(
	problems *apierr.Problems, externalID, importID, receiptID *string, attached *bool,
) Origin {
	origin := Origin{Attached: attached}
	if externalID != nil {
		id, problem := ParseExternalID(*externalID)
		problems.Field(problem)
		origin.ExternalID = id
	}
	if importID != nil {
		origin.ImportID = ParseReference(problems, "importId", *importID, ErrInvalidImportID)
	}
	if receiptID != nil {
		origin.ReceiptID = ParseReference(problems, "receiptId", *receiptID, ErrInvalidReceiptID)
	}
	return origin
}

// ParseExternalID accepts 1 to maxExternalID characters.
func ParseExternalID(s string) (string, *apierr.Field) {
	id, problem := text.Description("externalId", s)
	switch {
	case problem != nil:
	case id == "":
		problem = &apierr.Field{Name: "externalId", Message: "must not be blank"}
	case len([]rune(id)) > maxExternalID:
		message := fmt.Sprintf("must be at most %d characters", maxExternalID)
		problem = &apierr.Field{Name: "externalId", Message: message}
	}
	return id, problem
}
