package printed

import "strings"

// languages lists words that are frequent on the receipts of a language, under the engine's code
// for it. English is the default.
var languages = []struct {
	language string
	words    Phrases
}{
	{"deu", PhraseList(`summe,mwst,ust,datum,uhr,steuer,rechnung,gmbh,bar,ruckgeld,gegeben,vielen,
		dank,einkauf,zu zahlen,betrag,filiale,kasse,bon,straße,strasse,und,tel,brutto,netto,stk,
		kundenbeleg,fur,ihren,beleg,karte,girocard,markt,offnungszeiten,nr`)},
	{"fra", PhraseList(`tva,total ttc,montant,merci,especes,carte bancaire,siret,caisse,a payer,
		rendu,votre,visite,le,du,prix,ticket,client,rue,vous,achats,bonne,journee`)},
	{"spa", PhraseList(`iva,importe,efectivo,gracias,factura,fecha,cambio,por su,compra,nif,cif,
		simplificada,calle,telefono,tarjeta,hora,entregado,caja,visita,articulos`)},
	{"ita", PhraseList(`iva,totale,contante,contanti,resto,scontrino,grazie,importo,pagamento,
		documento commerciale,via,euro,arrivederci,complessivo,reparto,cassa,vendita,operatore`)},
	{"eng", PhraseList(`total,cash,change,tax,invoice,thank,you,date,qty,amount,receipt,gst,tel,no,
		item,price,rounding,please,goods,and,the,cashier`)},
}

// Language returns the engine's code for the language of a receipt: the language whose words occur
// on the most lines.
func Language(pages []Page) string {
	counts := make([]int, len(languages))
	for _, l := range Lines(pages) {
		for i, s := range languages {
			if s.words.Has(l.Tokens) {
				counts[i]++
			}
		}
	}
	best := len(languages) - 1
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	return languages[best].language
}

// Blank reports whether the pages have fewer than three words with some confidence, too few for a
// receipt in any language.
func Blank(pages []Page) bool {
	words := 0
	for _, p := range pages {
		for _, w := range p.Words {
			if w.Confidence > 0.3 && len(strings.TrimSpace(w.Text)) >= 2 {
				words++
			}
		}
	}
	return words < 3
}
