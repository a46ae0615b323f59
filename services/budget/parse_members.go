package budget

import (
	"net/mail"
	"strings"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// parseShare returns the e-mail and terms of an invitation. The role is viewer by default.
func parseShare(req *budgetv1.ShareBudgetRequest) (invitee, error) {
	var p apierr.Problems
	invited := invitee{email: strings.ToLower(strings.TrimSpace(req.GetEmail())), role: string(viewer)}
	if invited.email == "" {
		p.Field(&apierr.Field{Name: "email", Message: "is required"})
	} else if a, err := mail.ParseAddress(invited.email); err != nil || a.Address != invited.email || len(invited.email) > maxEmail {
		// The parsed address differs from the text if that has a display name or a comment.
		p.Field(&apierr.Field{Name: "email", Message: "must be an e-mail address"})
	}
	if req.Role != nil {
		invited.role = parseRole(&p, req.GetRole())
	}
	if req.SharePercent != nil {
		invited.share = parsePercent(&p, req.GetSharePercent())
	}
	return invited, p.Err()
}

// parseRole adds a problem if the role is not one that a member may have.
func parseRole(p *apierr.Problems, role string) string {
	if role != string(viewer) && role != string(editor) {
		p.Field(&apierr.Field{Name: "role", Message: "must be viewer or editor"})
	}
	return role
}

// parsePercent returns a share in hundredths of a percent.
func parsePercent(p *apierr.Problems, percent string) *int32 {
	bp, err := money.ParseDecimal(percent, 2)
	if err != nil || bp <= 0 || bp > maxShareBP {
		p.Field(&apierr.Field{Name: "sharePercent", Message: "must be greater than 0, at most 100, with at most two decimals"})
		return nil
	}
	return new(int32(bp))
}

// memberChange is a request to change a membership: an answer, or terms (role and share).
type memberChange struct {
	// answer is absent when the request has none.
	answer status
	role   *string
	// share replaces the member's share if setShare is true; nil removes it.
	share    *int32
	setShare bool
}

// hasTerms reports whether the request changes role or share, which only the owner may do.
func (c memberChange) hasTerms() bool { return c.role != nil || c.setShare }

// apply returns the member with the new terms.
func (c memberChange) apply(m member) member {
	if c.role != nil {
		m.Role = *c.role
	}
	if c.setShare {
		m.ShareBP = c.share
	}
	return m
}

// equalShares reports whether both shares are absent, or equal.
func equalShares(a, b *int32) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// parseMemberChange returns the change of a request. A request must have a role, a share or an
// answer to the invitation.
func parseMemberChange(req *budgetv1.RespondToInvitationRequest) (memberChange, error) {
	var p apierr.Problems
	var c memberChange
	if req.Role != nil {
		c.role = new(parseRole(&p, req.GetRole()))
	}
	if req.SharePercent != nil {
		c.setShare = true
		// An empty value is the JSON null that removes the share.
		if req.GetSharePercent() != "" {
			c.share = parsePercent(&p, req.GetSharePercent())
		}
	}
	if !c.hasTerms() || req.Status != nil || req.Response != nil {
		var problem *apierr.Error
		if c.answer, problem = parseAnswer(req); problem != nil {
			p.Add(problem)
		}
	}
	return c, p.Err()
}

// parseAnswer returns the answer from status or response, or from both if they are equal.
func parseAnswer(req *budgetv1.RespondToInvitationRequest) (status, *apierr.Error) {
	answer := req.Status
	if answer == nil {
		answer = req.Response
	}
	if answer == nil || req.Response != nil && *req.Response != *answer {
		return absent, errInvalidInviteResponse
	}
	if s := status(*answer); s == accepted || s == rejected {
		return s, nil
	}
	return absent, errInvalidInviteResponse
}
