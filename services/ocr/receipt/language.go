package receipt

import "strings"

// speech is what a language's receipts are full of.
var speech = []struct {
	language string
	words    phrases
}{
	{"deu", phraseList(`summe,mwst,ust,datum,uhr,steuer,rechnung,gmbh,bar,ruckgeld,gegeben,vielen,dank,einkauf,zu zahlen,betrag,filiale,kasse,bon,straße,strasse,und,tel,brutto,netto,stk,kundenbeleg,fur,ihren,beleg,karte,girocard,markt,offnungszeiten,nr`)},
	{"fra", phraseList(`tva,total ttc,montant,merci,especes,carte bancaire,siret,caisse,a payer,rendu,votre,visite,le,du,prix,ticket,client,rue,vous,achats,bonne,journee`)},
	{"spa", phraseList(`iva,importe,efectivo,gracias,factura,fecha,cambio,por su,compra,nif,cif,simplificada,calle,telefono,tarjeta,hora,entregado,caja,visita,articulos`)},
	{"ita", phraseList(`iva,totale,contante,contanti,resto,scontrino,grazie,importo,pagamento,documento commerciale,via,euro,arrivederci,complessivo,reparto,cassa,vendita,operatore`)},
	{"eng", phraseList(`total,cash,change,tax,invoice,thank,you,date,qty,amount,receipt,gst,tel,no,item,price,rounding,please,goods,and,the,cashier`)},
}

// Language guesses what language a receipt is in, by the engine's name for it.
func Language(pages []Page) string {
	counts := make([]int, len(speech))
	for _, l := range layout(pages) {
		for i, s := range speech {
			if s.words.has(l.tokens) {
				counts[i]++
			}
		}
	}
	best := len(speech) - 1
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	return speech[best].language
}

// Blank reports whether there is nothing on the pages that could become a receipt, however it is looked at.
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
