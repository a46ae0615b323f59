package mt940

import (
	"regexp"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// details holds the texts of a field 86.
type details struct{ payee, text, notes string }

// structured begins a field 86 of German banks: a code of three digits and the separator of its
// subfields.
var structured = regexp.MustCompile(`^\s*\d{3}([^\w\s])\d\d`)

// joinDetails joins the lines of a field 86. Lines of structured fields break anywhere, also inside
// of words, so they are joined without a space.
func joinDetails(lines []string) string {
	separator := " "
	if structured.MatchString(lines[0]) || strings.Contains(lines[0], "?20") ||
		strings.Contains(lines[0], "?00") || strings.HasPrefix(lines[0], "/") {
		separator = ""
	}
	return strings.Join(lines, separator)
}

// parseDetails reads a field 86 in one of its forms.
func parseDetails(s string) details {
	if m := structured.FindStringSubmatch(s); m != nil {
		return subfields(s, m[1])
	}
	if strings.Contains(s, "?20") || strings.Contains(s, "?00") {
		return subfields(s, "?")
	}
	if d := slashes(s); d.payee != "" || d.text != "" {
		return d
	}
	d := details{text: purpose(s)}
	return d
}

// subfields reads the subfields ?00 to ?63 of German banks.
func subfields(s, separator string) details {
	var text, name joiner
	booking := ""
	for _, part := range strings.Split(s, separator)[1:] {
		if len(part) < 2 || !written.IsDigitsOnly(part[:2]) {
			// The separator is part of a text.
			text.add(separator + part)
			continue
		}
		code, value := part[:2], part[2:]
		switch {
		case code == "00":
			booking = statement.OneLine(value)
		case code >= "20" && code <= "29" || code >= "60" && code <= "63":
			text.add(value)
		case code == "32" || code == "33":
			name.add(value)
		}
	}
	d := details{
		payee: statement.OneLine(name.String()), text: purpose(text.String()), notes: booking,
	}
	if d.text == "" {
		d.text, d.notes = booking, ""
	}
	return d
}

// subfieldWidth is the length of a full subfield. A word that does not fit continues in the next
// subfield, so a full one is joined without a space.
const subfieldWidth = 27

// joiner joins subfields of fixed width.
type joiner struct {
	b    strings.Builder
	last int
}

func (j *joiner) add(s string) {
	if n := len([]rune(s)); n > 0 {
		if j.last > 0 && j.last < subfieldWidth {
			j.b.WriteByte(' ')
		}
		j.b.WriteString(s)
		j.last = n
	}
}

// String returns the joined text.
func (j *joiner) String() string { return j.b.String() }

// sepaKeys are the keys of a SEPA transfer in a text.
var sepaKeys = regexp.MustCompile(`\b(EREF|KREF|MREF|CRED|DEBT|COAM|OAMT|SVWZ|ABWA|ABWE|BREF|` +
	`RREF|RTRN|IBAN|BIC|PURP|DDAT|ANAM)[+:]`)

// purpose returns the purpose of a SEPA transfer (SVWZ) in a text. Without that key it returns the
// whole text: references are better than an empty description.
func purpose(value string) string {
	found := sepaKeys.FindAllStringSubmatchIndex(value, -1)
	for i, m := range found {
		if value[m[2]:m[3]] != "SVWZ" {
			continue
		}
		end := len(value)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		if text := statement.OneLine(value[m[1]:end]); text != "" {
			return text
		}
	}
	return statement.OneLine(value)
}

// slashKey is a key of the Dutch form /NAME/.../REMI/...
var slashKey = regexp.MustCompile(
	`/(TRTP|IBAN|BIC|NAME|REMI|EREF|ORDP|BENM|CNTP|MARF|CSID|PREF|RTRN|TRCD|NRTX|ULTC|ULTD|` +
		`PURP|ISDT|ADDR|ID|ACCW|SWOC|OCMT|CHGS|EXCH|BUSP|SVCL|OPRP|RCMT)/`)

// slashes reads the form /TRTP/.../NAME/.../REMI/... of Dutch banks. Other texts have no payee and
// text.
func slashes(s string) details {
	found := slashKey.FindAllStringSubmatchIndex(s, -1)
	var details details
	for i, m := range found {
		end := len(s)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		value := s[m[1]:end]
		switch s[m[2]:m[3]] {
		case "NAME":
			details.payee = statement.OneLine(strings.Trim(value, "/"))
		case "REMI":
			value = strings.TrimPrefix(strings.TrimPrefix(value, "USTD//"), "STRD/")
			details.text = statement.OneLine(strings.Trim(value, "/"))
		case "CNTP":
			if parts := strings.Split(value, "/"); len(parts) > 2 {
				details.payee = statement.OneLine(parts[2])
			}
		}
	}
	return details
}
