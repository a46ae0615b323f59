package merchant

import (
	"regexp"
	"strings"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// wordPattern returns a pattern that matches any of the parts as a whole word, in any case.
func wordPattern(parts ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(parts, "|") + `)\b`)
}

// sdnBhd matches the Malaysian legal form "Sdn Bhd", also misread.
const sdnBhd = `s[do0][nm]\.?\s*\.?[b8][hni1][do0]|s/b|berhad|bhd`

const forms = sdnBhd + `|gmbh|mbh|ohg|gbr|e\.?\s?k|ltd|limited|llc|inc|corp|plc|pte|pvt|pty|` +
	`s\.?a\.?r\.?l|sarl|eurl|sasu?|s\.?p\.?a|s\.?r\.?l|` +
	`s\.?n\.?c|s\.l|b\.?v|n\.?v|enterprises?|trading`

var (
	// legal matches a legal form. company also matches forms that may be other words, and kinds of
	// business.
	legal   = regexp.MustCompile(`(?i)\b(?:` + forms + `)\b|[\s,]s\.\s?a\.`)
	company = wordPattern(forms, `ag|kg|ug|co|oy|ab|cash\s*(?:&|and|n)\s*carry|holdings?|`+
		`industries|services?`,
		`restaurants?|restoran|cafe|café|coffee|kopitiam|bistro|pizzeria|trattoria|osteria|`+
			`ristorante|restaurante|gasthaus|brasserie|hotel`,
		`bakery|bakeries|bäckerei|boulangerie|panader[ií]a|panificio|pasticceria|gelateria|`+
			`metzgerei|boucherie|alimentari`,
		`stores?|shop|mart|market|kedai|pasaraya|hypermarket|supermarket|supermarkt|supermarché|`+
			`supermercado|warenhaus|kaufhaus|baumarkt`,
		`pharmacy|pharmacie|apotheke|farmacia|farmasi|drogerie|drogeriemarkt|klinik|syarikat|`+
			`perniagaan`,
		`hardware|ferreter[ií]a|book|stationery|librairie|librer[ií]a|tankstelle|petrol|station`)
	address = regexp.MustCompile(`(?i)\b(?:jalan|jln|lot|no\.?\s*\d|lorong|taman|jl|street|road|` +
		`avenue|ave|floor|level|str\.?|straße|strasse|stra[sß]e|` +
		`platz|rue|calle|via|piazza|plaza|p\.?o\.?\s?box|kuala lumpur|selangor|johor|bandar|` +
		`kawasan|seksyen|batu)\b|\b\d{5}\b|stra(?:ss|ß|B)e\s*\d`)
	// streetNumber matches a street with a number. It is never a name.
	streetNumber = regexp.MustCompile(`(?i)(?:stra(?:ss|ß|b)e|str\.?|weg|allee|platz|gasse|` +
		`\bring|damm|ufer)\s*\d{1,4}\s?[a-z]?\W*$|` +
		`^\W*(?:\d+\s?[a-z]?,?\s+)?(?:rue|avenue|av\.|boulevard|bd|calle|avda|via|viale|piazza|` +
		`corso|jalan|jln)\s.*\d|` +
		`^\W*\d+[a-z]?,?\s.*\s(?:street|st|road|rd|avenue|ave|lane|drive|blvd)\b`)
	// contact matches words of the other lines of a head: how to reach the shop, the title of the
	// document, the cashier.
	contact = regexp.MustCompile(wordPattern(
		`tel|fax|phone|telefon|hp|www|http|e-?mail|add?ress?e?|factuuradres|afleveradres`,
		`gst|vat|reg|co\.?\s*no|company no|roc|ust|steuer|siret`,
		`tax invoice|invoice|receipt|bill|rechnung|quittung|beleg|bon|kassenbon|kassenbeleg|`+
			`kundenbeleg|facture|ticket|factura|fattura|scontrino|`+
			`documento commerciale|factuur|document no|document|doc|copy|kopie|copie|copia`,
		`cash|date|datum|fecha|time|page|order|table|tisch|pos|terminal|cashier|kasse|served by|`+
			`es bediente|bedienung|kellner|serveur|operator[ei]?|inh(?:aber)?`,
		`customer|member|ship to|bill to|sold to|formerly|licen[sc]ee of`,
		`t\.a\.v|z\.\s?hd|attn|c/o`,
		`welcome|willkommen|bienvenue|thank|please|goods|sold|returnable|refund|exchange|`+
			`vouchers?|points?|redeem|expiry|survey|promotions?`,
	).String() + `|@`)
	// otherParty matches the end of a line above the name of another party: the customer, or a
	// former name of the shop.
	otherParty = regexp.MustCompile(`(?i)(?:\b(?:bill(?:ed)?|ship(?:ped)?|sold|invoiced?|` +
		`deliver(?:ed)?) to|customer|client|\bkunde|adresse|address|` +
		`rechnung an|lieferung an|factur[ée]e? (?:à|a)|cliente|destinatari[oa]|factuuradres|` +
		`afleveradres|formerly(?: known as)?|` +
		`licen[sc]ee of)\W*$|\(\s?formerly[^)]*$`)
	// fuzzyContact are words of contact that are long enough to be recognized with a wrong letter.
	fuzzyContact = printed.PhraseList(`invoice,simplified,receipt,cashier,telephone,telefon,
		rechnung,quittung,company no,company reg,steuernummer,uid nr,ust id`)
	// continuation matches words that follow a name and never begin one.
	continuation = regexp.MustCompile(`(?i)^\W*(?:enterprises?|trading|holdings|industries|sdn|` +
		`gmbh|mbh|vertriebs?|handels(?:gesellschaft)?|` +
		`betriebs(?:gesellschaft)?|s\.?a\.?r\.?l|s\.?r\.?l|s\.?p\.?a|ltd|limited)\b`)
	// nameEnd matches the beginning of a line with the end of a name: a company, or a place in
	// brackets. openName matches the end of a line that a name does not end with.
	nameEnd  = regexp.MustCompile(`(?i)^\W*(?:(?:co|company|and|und|et|y|e)\b|&)|^\s*\(`)
	openName = regexp.MustCompile(`(?i)(?:&|\band|\bund|\(|-)\s*$`)
	// continuationWords are those words of continuation that are long enough to be recognized with
	// wrong letters.
	continuationWords = printed.PhraseList(`enterprise,enterprises,holdings,industries,trading`)
	// postalCode matches a line that starts with a postal code before the name of a town.
	postalCode   = regexp.MustCompile(`^\W*(?:[A-Z]{1,2}-)?\d{5}\s+\p{Lu}\p{L}+\W*$`)
	slogan       = regexp.MustCompile(`\p{Ll}{2,}\s?[.!?]\W*$`)
	openingHours = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:öf+nungszeiten|opening hours?|` +
		`business hours?|operating hours?|geöf+net|horaires?|horarios?|orari[oa]?|waktu operasi|` +
		`open (?:daily|from|24|every)|24 hours|24 jam)\b|` +
		`\b(?:mo|mon|montag|monday|isnin|lun|lundi|lunes|lunedì)\.?\s*(?:-|–|to|bis|au|a|al|` +
		`hingga)\s*(?:do|fr|fri|friday|freitag|sa|sat|saturday|samstag|so|sun|sunday|sonntag|ven|` +
		`sam|dim|dom|jumaat|ahad)\b|` +
		`\b\d{1,2}(?:[:.]\d{2})?\s*(?:am|pm|uhr|h)?\s*(?:-|–|to|bis|till)\s*` +
		`\d{1,2}(?:[:.]\d{2})?\s*(?:am|pm|uhr|h)\b`)
	// sentence matches two sentences, or the start of one that only a slogan has.
	sentence = regexp.MustCompile(`\p{Ll}{2,}[.!?]\s+\p{Lu}\p{Ll}+`)
	// cashAndCarry is a kind of shop, although "cash" is a word of contact.
	cashAndCarry = wordPattern(`cash\s*(?:&|and|n)\s*carry`)
	// registrationLine matches a line with the registration number of the company above it, either
	// alone or at its start.
	registrationLine = regexp.MustCompile(`(?i)^\W*(?:co(?:mp(?:any)?)?\W{0,2}\s?)?` +
		`(?:(?:reg(?:istration)?|roc|ssm|no)\W{0,3}\s?){0,2}` +
		`(?:\(\s?\d[\d\s-]{4,}|\d[\d-]{4,}\s?-\s?[A-Z])\s?[A-Z]?\W*$|` +
		`^\W*(?:co|comp|company|roc|business)\W{0,3}(?:reg(?:istration)?\W{0,3})?(?:no|number)\b`)
	domain = regexp.MustCompile(`(?i)(?:www\.|https?://|@)\s?([a-z0-9-]{3,40})\.(?:com|de|fr|es|` +
		`it|net|org|eu|nl|co\.uk|my|com\.my|at|ch|be|in|sg|co)\b`)
	// otherDomains belong to mail providers and makers of card terminals.
	otherDomains = strings.Fields(
		"gmail hotmail yahoo outlook facebook web gmx ingenico verifone payone sumup adyen")
	tradingAs = regexp.MustCompile(`(?i)\b(?:trading as|t/a|d/?b/?a|doing business as|` +
		`handelnd (?:als|unter)|nom commercial|nombre comercial|insegna)\b[\s:.]*(.*\pL{3}.*)`)
	// ownedBy matches the text before the name of the owner, and thanks the text before the name of
	// the shop.
	ownedBy = regexp.MustCompile(`(?i)\b(?:(?:owned|operated|managed)(?: and operated)? by|` +
		`dimiliki oleh|betrieben von|exploité par|gestito da|explotado por)\b\W*(.*)`)
	thanks = regexp.MustCompile(`(?i)\b(?:(?:thank you|thanks) for (?:shopping|dining|eating|` +
		`buying|coming|visiting|your visit|your purchase)` +
		`(?: (?:at|with|to|in))?|(?:einkauf|besuch) (?:bei|im|in der)|(?:visite|achat) chez|` +
		`(?:compra|visita) en|` +
		`(?:acquistato|visita) (?:da|presso))\s+((?-i:\p{Lu})[\p{L}'’&. -]{2,30})`)
)
