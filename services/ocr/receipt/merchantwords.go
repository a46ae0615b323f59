package receipt

import (
	"regexp"
	"strings"
)

// word makes a pattern of words and of parts of patterns, any of which may stand as a word, in upper or lower case.
func word(parts ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(parts, "|") + `)\b`)
}

// sdnBhd is Malaysia's private company, as it is printed and misread.
const sdnBhd = `s[do0][nm]\.?\s*\.?[b8][hni1][do0]|s/b|berhad|bhd`

// forms are legal forms that can stand for nothing else.
const forms = sdnBhd + `|gmbh|mbh|ohg|gbr|e\.?\s?k|ltd|limited|llc|inc|corp|plc|pte|pvt|pty|s\.?a\.?r\.?l|sarl|eurl|sasu?|s\.?p\.?a|s\.?r\.?l|` +
	`s\.?n\.?c|s\.l|b\.?v|n\.?v|enterprises?|trading`

var (
	legal   = regexp.MustCompile(`(?i)\b(?:` + forms + `)\b|[\s,]s\.\s?a\.`)
	company = word(forms, `ag|kg|ug|co|oy|ab|cash\s*(?:&|and|n)\s*carry|holdings?|industries|services?`,
		`restaurants?|restoran|cafe|café|coffee|kopitiam|bistro|pizzeria|trattoria|osteria|ristorante|restaurante|gasthaus|brasserie|hotel`,
		`bakery|bakeries|bäckerei|boulangerie|panader[ií]a|panificio|pasticceria|gelateria|metzgerei|boucherie|alimentari`,
		`stores?|shop|mart|market|kedai|pasaraya|hypermarket|supermarket|supermarkt|supermarché|supermercado|warenhaus|kaufhaus|baumarkt`,
		`pharmacy|pharmacie|apotheke|farmacia|farmasi|drogerie|drogeriemarkt|klinik|syarikat|perniagaan`,
		`hardware|ferreter[ií]a|book|stationery|librairie|librer[ií]a|tankstelle|petrol|station`)
	address = regexp.MustCompile(`(?i)\b(?:jalan|jln|lot|no\.?\s*\d|lorong|taman|jl|street|road|avenue|ave|floor|level|str\.?|straße|strasse|stra[sß]e|` +
		`platz|rue|calle|via|piazza|plaza|p\.?o\.?\s?box|kuala lumpur|selangor|johor|bandar|kawasan|seksyen|batu)\b|\b\d{5}\b|stra(?:ss|ß|B)e\s*\d`)
	// house is a street with a number, which is nobody's name.
	house = regexp.MustCompile(`(?i)(?:stra(?:ss|ß|b)e|str\.?|weg|allee|platz|gasse|\bring|damm|ufer)\s*\d{1,4}\s?[a-z]?\W*$|` +
		`^\W*(?:\d+\s?[a-z]?,?\s+)?(?:rue|avenue|av\.|boulevard|bd|calle|avda|via|viale|piazza|corso|jalan|jln)\s.*\d|` +
		`^\W*\d+[a-z]?,?\s.*\s(?:street|st|road|rd|avenue|ave|lane|drive|blvd)\b`)
	// contact are words of a head's other lines: how to reach the shop, what the paper is, who served.
	contact = regexp.MustCompile(word(
		`tel|fax|phone|telefon|hp|www|http|e-?mail|adress?e?|factuuradres|afleveradres`,
		`gst|vat|reg|co\.?\s*no|company no|roc|ust|steuer|siret`,
		`tax invoice|invoice|receipt|bill|rechnung|quittung|beleg|bon|kassenbon|kassenbeleg|kundenbeleg|facture|ticket|factura|fattura|scontrino|`+
			`documento commerciale|factuur|document no|document|doc|copy|kopie|copie|copia`,
		`cash|date|datum|fecha|time|page|order|table|tisch|pos|terminal|cashier|kasse|served by|es bediente|bedienung|kellner|serveur|operator[ei]?|inh(?:aber)?`,
		`customer|member|ship to|bill to|sold to|formerly|licen[sc]ee of`,
		`welcome|willkommen|bienvenue|thank|please|goods|sold|returnable|refund|exchange|vouchers?|points?|redeem|expiry|survey|promotions?`,
	).String() + `|@`)
	// ofOthers comes before the name of somebody else: the customer, or what the shop was called once.
	ofOthers = regexp.MustCompile(`(?i)(?:\b(?:bill(?:ed)?|ship(?:ped)?|sold|invoiced?|deliver(?:ed)?) to|customer|client|\bkunde|adresse|address|` +
		`rechnung an|lieferung an|factur[ée]e? (?:à|a)|cliente|destinatari[oa]|factuuradres|afleveradres|formerly(?: known as)?|` +
		`licen[sc]ee of)\W*$|\(\s?formerly[^)]*$`)
	// misprinted are words of a head that are told even where a letter is wrong.
	misprinted = phraseList(`invoice,simplified,receipt,cashier,telephone,telefon,rechnung,quittung,company no,company reg,steuernummer,uid nr,ust id`)
	// neverFirst are words that follow a name and begin none.
	neverFirst = regexp.MustCompile(`(?i)^\W*(?:enterprises?|trading|holdings|industries|sdn|gmbh|mbh|vertriebs?|handels(?:gesellschaft)?|` +
		`betriebs(?:gesellschaft)?|s\.?a\.?r\.?l|s\.?r\.?l|s\.?p\.?a|ltd|limited)\b`)
	// sentence is what slogans end like.
	sentence = regexp.MustCompile(`\p{Ll}{2,}\s?[.!?]\W*$`)
	// cashAndCarry is a kind of shop, not a way to pay.
	cashAndCarry = word(`cash\s*(?:&|and|n)\s*carry`)
	// numberBelow is a line with the number under which the name above it is registered: nothing else, or it first.
	numberBelow = regexp.MustCompile(`(?i)^\W*(?:co(?:mp(?:any)?)?\W{0,2}\s?)?(?:(?:reg(?:istration)?|roc|ssm|no)\W{0,3}\s?){0,2}` +
		`(?:\(\s?\d[\d\s-]{4,}|\d[\d-]{4,}\s?-\s?[A-Z])\s?[A-Z]?\W*$|` +
		`^\W*(?:co|comp|company|roc|business)\W{0,3}(?:reg(?:istration)?\W{0,3})?(?:no|number)\b`)
	domain = regexp.MustCompile(`(?i)(?:www\.|https?://|@)\s?([a-z0-9-]{3,40})\.(?:com|de|fr|es|it|net|org|eu|nl|co\.uk|my|com\.my|at|ch|be|in|sg|co)\b`)
	// mailers are the addresses of others than shops: of mail, and of who makes card terminals.
	mailers = []string{"gmail", "hotmail", "yahoo", "outlook", "facebook", "web", "gmx", "ingenico", "verifone", "payone", "sumup", "adyen"}
	// ownedBy comes before the name of who runs the shop, and thanks before that of the shop.
	ownedBy = regexp.MustCompile(`(?i)\b(?:(?:owned|operated|managed)(?: and operated)? by|dimiliki oleh|betrieben von|exploité par|gestito da|explotado por)\b\W*(.*)`)
	thanks  = regexp.MustCompile(`(?i)\b(?:(?:thank you|thanks) for (?:shopping|dining|eating|buying|coming|visiting|your visit|your purchase)` +
		`(?: (?:at|with|to|in))?|(?:einkauf|besuch) (?:bei|im|in der)|(?:visite|achat) chez|(?:compra|visita) en|` +
		`(?:acquistato|visita) (?:da|presso))\s+((?-i:\p{Lu})[\p{L}'’&. -]{2,30})`)
)
