package formats

import "strings"

// Fields that the proposal recognizes, but no column has.
const (
	fieldBalance = "balance"
	fieldOther   = "other" // The heading of a column that must not be taken for another field.
)

// heading is the meaning of a column's heading. Lower ranks are better.
type heading struct {
	field string
	rank  int
}

// vocabulary lists the headings of columns in the languages of banks, folded, by field and rank. A heading in several lists has the
// meaning of the first one.
var vocabulary = []struct {
	heading
	phrases string
}{
	{heading{FieldDate, 1}, `date; datum; fecha; data; dato; dag; day; transaction date; booking date; posting date; post date; posted date; date posted; posted on; posted;
		trans date; trans dt; tran date; txn date; date of transaction; effective date; completed date; date completed; completed date utc; processed date; buchungstag; buchungsdatum; buchung; belegdatum; transaktionsdatum; umsatzdatum; kaufdatum; buchungstag valuta; datum buchung;
		tag; date operation; date de l operation; date d operation; date de comptabilisation; date comptable; dateop; date op; date ecriture; date transaction; date de transaction; date d achat; date de l ecriture;
		fecha operacion; fecha de operacion; fecha de la operacion; fecha contable; f operacion; fecha movimiento; fecha de transaccion; fecha transaccion; f contable; fecha oper; data contabile; data operazione; data registrazione; data transazione; data mov; data movimento; data movimentazione; data addebito;
		boekdatum; transactiedatum; boekingsdatum; datum boeking; uitvoeringsdatum; datum verrichting; datum transactie; verrichtingsdatum; aankoopdatum; data operacji; data ksiegowania; data transakcji; data zaksiegowania; datum zauctovani; datum provedeni; datum zauctovani transakce; datum transakce; datum uctovani; datum operace; zauctovano; datum uskutecneni;
		tranzakcio datuma; konyveles datuma; konyvelesi datum; konyveles; datum konyveles; tranzakcio ideje; bokforingsdag; bokforingsdatum; bokford; bokforingsdato; transaktionsdag; transaksjonsdato; bogforingsdato; bogfort; bogfort den; kirjauspaiva; paivamaara; kirjauspaivamaara; tapahtumapaiva; maksupaiva; utforingsdato; utfort dato; bokfort dato; kjopsdato; kopdatum;
		islem tarihi; tarih; дата операции; дата; дата проводки; дата платежа; data lancamento; data do lancamento; data de lancamento; data da transacao; data mov; data do movimento; data movimento; datum transakcije; datum knjizenja; datum izvrsenja; datum operacije; date time; datetime; timestamp; time; created; created at; created utc; created date; date created; created on; date utc; data si ora; data tranzactiei; data tranzactie;
		date et heure; datum uhrzeit; datum tijd; transaction time; value date time; settlement date utc; datum uctovania; datum zauctovania; datum spracovania; tehingu kuupaev; kuupaev; maksejuma datums; datums; operacijos data; ngay giao dich; transaktion; kaufdatum; date debit; purchase date; 日付; 日期; 交易日期; 取引日; 利用日; 交易时间; 날짜; 거래일; 거래일시; transaction posted date; bill date; entry date`},
	{heading{FieldDate, 2}, `value date; valuta date; valuta datum; valutadatum; wertstellung; wertstellungstag; wertstellungsdatum; wert; valuta; date valeur; date de valeur; datevaleur; datum valuta; fecha valor; f valor; data valuta; data valor; rentedatum; valutadag; rantedag; rentedato; valutadato; arvopaiva; data waluty; ertek datum; erteknap; ertek nap; datum valuty; valor; value; started date; date started; settlement date; settled; settled date; date processed; datum verrekening; verrekening; rentedag; interest date; available on; available on utc; clearing date; cleared date; verfugbar am; data da valor; date d effet; valutatag; date reglement`},
	{heading{FieldAmount, 1}, `amount; 金額; 金额; 利用金額; 交易金额; 금액; betrag; umsatz; montant; importe; importo; bedrag; kwota; valor; castka; osszeg; belopp; belob; beloep; belop; summa; sum; maara; tutar; islem tutari; сумма; сумма операции; monto; cantidad; quantia; montante; total; transaction amount; amount in account currency; zauctovana castka; zaúctovana castka; tranzakcio osszege; kwota operacji; kwota transakcji; kwota w walucie rachunku; kwota ksiegowania;
		objem; suma; iznos; transaktionsbetrag; buchungsbetrag; betrag in eur; betrag eur; betrag chf; umsatz in eur; bedrag eur; bedrag in eur; montant en euros; montant eur; montant de l operation; importe eur; importo eur; importo in euro; movimento; belop inn ut; summa eur; amt; debit credit amount; net amount; net; nett; netto; nettobetrag; neto; gross; brutto; billing amount; posted amount; amount local; local amount; value gbp; amount gbp; credit debit amount; debit credit; bedrag eur; importe operacion; importe euros; valor r; valor em r; valor brl; valor eur; lancamento valor; trans amount; txn amount; belopp sek; belob dkk; beloep dkk; belop nok; kronor; mnt; сумма платежа; сумма в валюте счета; betrag in chf; montant chf; inkomster utgifter; amount paid; paid amount; suma eur; suma tranzactiei; kwota pln; castka czk; paid; charge amount; amount eur; amount usd; betrag eur; importe en eur; importe €; so tien; value; bedrag af bij; saldoandring; andring`},
	{heading{FieldDebit, 1}, `debit; 出金; 出金額; お支払金額; 支出; 支出金额; 출금액; debits; debit amount; amount debit; debit eur; debit gbp; withdrawal; withdrawals; withdrawal amount; withdrawal amt; withdrawn; paid out; money out; soll; belastung; belastungen; lastschrift; ausgabe; ausgaben; ausgang; abgang; debet; debet bedrag; uitgaven; af; uit; dare; uscite; uscita; addebiti; addebito; cargo; cargos; debito; debitos; gasto; gastos; pagos; retiros; wyplata; wyplaty; obciazenia; obciazenie; wydatki; expense; expenses; outflow; out; spent; spend; spent amount; decaissement; depense; depenses; sortie; sorties; debit euros; montant debit; saida; saidas; terheles; kiadas; vydaj; vydaje; borc; ut; ud; utgift; utgifter; udgifter; ut fra konto; ut av konto; belastung in chf; belastung chf; debito eur; payment amount; payments; расход; списание; дебет; pengar ut; meno; menot; importe cargo; charge; charges; isplata; odliv; debit chf; debit usd; paid out gbp; odliv; zaduzenje; withdrawal dr; dr; dr amount; debit amount inr; adebit; valor debito; betrag soll; soll eur; duguje; vyber`},
	{heading{FieldCredit, 1}, `credit; 入金; 入金額; お預り金額; 收入; 收入金额; 입금액; credits; credit amount; amount credit; credit eur; credit gbp; deposit; deposits; deposit amount; deposit amt; deposited; paid in; money in; haben; gutschrift; gutschriften; einnahme; einnahmen; eingang; zugang; credit bedrag; inkomsten; bij; avere; entrate; entrata; accrediti; accredito; abono; abonos; credito; creditos; ingreso; ingresos; depositos; wplata; wplaty; uznania; uznanie; przychody; income; inflow; in; received; received amount; encaissement; recette; recettes; entree; entrees; credit euros; montant credit; entradas; entrada; jovairas; bevetel; prijem; prijmy; alacak; inn; ind; inntekt; inkomster; indtaegter; inn pa konto; gutschrift in chf; gutschrift chf; credito eur; приход; зачисление; кредит; pengar in; tulo; tulot; importe abono; uplata; priliv; credit chf; credit usd; paid in gbp; odobrenje; deposit cr; cr; cr amount; credit amount inr; valor credito; betrag haben; haben eur; potrazuje; vklad`},
	{heading{FieldType, 1}, `debit credit; credit debit; debit or credit; credit or debit; debets kredits; deebet kreedit; debet kredit; debit credit indicator; credit debit indicator; credit debit code; debit credit code; dc; cd; d c; c d; dr cr; cr dr; drcr; crdr; debet credit; af bij; bij af; afbij; soll haben; soll-haben; s h; sens; sens operation; +-; + -; sign; vorzeichen; direction; richtung; indicator; code debet credit; bevetel kiadas; transaction direction; in out; dare avere; debe haber; cargo abono; terheles jovairas; debito credito; d-c; in-out; credit-debit; debit-credit; ein ausgang; plus minus; smer; soll habenkennzeichen; bewegung; smer platby`},
	{heading{FieldType, 2}, `type; transaction type; trans type; kind; typ; tipo; art; soort; mutatiesoort; transaktionstyp; type transaction; tipo movimento; tipo de movimiento; details type; transaction code`},
	{heading{FieldCurrency, 1}, `currency; wahrung; waehrung; devise; moneda; divisa; munt; muntsoort; mena; waluta; waluta rachunku; devizanem; valuutta; currency code; ccy; cur; curr; para birimi; валюта; currency symbol; valuta; moeda; mena uctu; account currency; kontowahrung; transaction currency; tranzakcio devizaneme; deviza; wahrung betrag; valuta konto; billing currency; settlement currency; валюта операции; buchungswahrung; waluta operacji; divisa importe; monnaie; valute`},
	{heading{FieldPayee, 1}, `payee; payee name; merchant; merchant name; merchantname; beneficiary; beneficiary name; empfanger; zahlungsempfanger; auftraggeber empfanger; empfanger auftraggeber; beguenstigter zahlungspflichtiger; begunstigter zahlungspflichtiger; name zahlungsbeteiligter; zahlungsbeteiligter; auftraggeber begunstigter; zahlungspflichtige r; zahlungsempfanger in; zahlungsempfanger*in; counterparty; counterparty name; counter party; contrepartie; nom contrepartie; beneficiaire; naam tegenpartij; tegenpartij naam; naam tegenrekening; naam; name; partner; partner name; partner neve; nazev protiuctu; protiucet nazev; nazov protiuctu; ordenante; nadawca odbiorca; kontrahent; dane kontrahenta; nazwa kontrahenta; nadawca; odbiorca; mottagare; modtager; saaja; saaja maksaja; vendor; destinatario; beneficiario; contraparte; contraparte nombre; name des partners; handelaar; naam handelaar; karti; gegenpartei; auftraggeber; beteiligter; from to; recipient; avsandare mottagare; store; shop; counterparty; target name; naam tegenrekeninghouder; merchant description; contact; to from; avsender mottaker; получатель; контрагент; naziv; titular; debiteur crediteur; nom; tiers; pagador; ellenoldali nev; ellenszamla nev; sender recipient; recipient name`},
	{heading{FieldPayee, 2}, `source name; target; empfangername; sender; payer; payer name; debtor; creditor; zahlungspflichtiger; customer; customer name; beneficiaire donneur d ordre; naam begunstigde; from; to`},
	{heading{FieldDescription, 1}, `description; 内容; 摘要; 적요; memo; details; detail; text; narrative; narration; verwendungszweck; purpose; buchungstext; libelle; libelle operation; libelle de l operation; libelle simplifie; concepto; descripcion; descrizione; causale; descrizione operazione; omschrijving; mededelingen; mededeling; tytul; tytul operacji; opis; opis operacji; opis transakcji; zprava; zprava pro prijemce; kozlemeny; historico; descricao; descriptif; transaction description; transaction details; particulars; bezeichnung; specification; beschreibung; remarks; remark; beskrivelse; beskrivning; rubrik; tekst; forklaring; selite; viesti; aciklama; описание; назначение платежа; payment reference; payment details; remittance information; remittance info; original description; appears on your statement as; vrije mededeling; description 1; tranzakcio leirasa; communication; communications; avisierungstext; buchungsdetails; buchungshinweis; zahlungsgrund; nature; intitule; popis; poznamka; popis transakce; sprava; movimiento; lancamento; estabelecimento; denominacion; opis placanja; detalji; extended details; note; notes; comment; comments; kommentar; notiz; notizen; notas; note utente; anmerkung; observaciones; observacao; opmerking; meddelelse; melding; message; poznamky; transaction; opis operacije; omschrijving-1; statement descriptor; info; zusatz; explanation`},
	{heading{FieldDescription, 2}, `reference; referenz; referencia; riferimento; referentie; betalingskenmerk; viite; referens; transaction type; type; booking text; transaktionstyp; umsatzart; operation; operacion; operazione; kategorie transakce; typ transakce; vorgang; omschrijving-2; description 2; address; your reference; concept`},
	{heading{FieldCategory, 1}, `category; kategorie; categorie; categoria; kategoria; kategori; категория; category name; rubriek; luokka; rubrique; kategorie name; hauptkategorie; categorie operation; sub category; subcategory; unterkategorie`},
	{heading{FieldTags, 1}, `tags; tag; labels; label; schlagworte; etiquetas; etiquettes`},
	{heading{FieldAccount, 1}, `account; account name; account number; auftragskonto; iban auftragskonto; rekeningnummer; rekening; eigen rekening; compte; numero de compte; cuenta; konto; kontoname; kontobezeichnung; iban bban; number account; conto; numer rachunku; rachunek; cislo uctu; szamlaszam; счет; номер счета; conta; hesap; kontonr; own account; konto iban; account iban; account no; naam rekening; tili; bankkonto`},
	{heading{fieldBalance, 1}, `balance; 残高; 差引残高; 余额; 잔액; saldo; solde; kontostand; running balance; runningbalance; stav; stav po transakci; egyenleg; bakiye; остаток; bilans; zustatek; account balance; available balance; saldo po operacji; saldo po transakcji; saldo na mutatie; saldo na trn; saldo na boeking; saldo in eur; saldo eur; saldo contable; saldo nach buchung; balance after; running bal; closing balance; konyvelt egyenleg; solde apres operation; saldo final; disponibile; disponible; saldo disponible; ledger balance; balance amount; saldo efter; kontosaldo; bokfort saldo; bogfort saldo; stanje; zostatok; kontostand nach buchung; saldo progressivo; saldo chf; balance gbp; saldo disponibil; sold; resulting balance; saldo contabile`},
	{heading{fieldOther, 1}, `original amount; foreign amount; betrag fremdwahrung; fremdwahrungsbetrag; originalbetrag; puvodni castka a mena; puvodni castka; amount original; amount foreign; kosten; gebuhr; gebuhren; fee; fees; tax; vat; commission; exchange rate; wechselkurs; rate; kurs; koers; amount refunded; converted amount; converted amount refunded; transaction fee; poplatek; cashback; transactionid; number; check number; checknumber; cheque number; betrag ursprung; ursprungsbetrag; betrag wahrung; interest; discount; tip; sales tax; shipping and handling amount; insurance amount; quantity; price; shares; tegenrekening; tegenrekening iban bban; kontonummer iban; iban; bic; blz; bankleitzahl; original currency; fremdwahrung; originalcurrency; originalamount; local currency; foreign currency; foreign currency amount; amount in foreign currency; kwota oryginalna; kwota w walucie transakcji; oorspronkelijk bedrag; wisselkoers; montant devise; montant en devise; importe divisa; import original; purchase amount; card number; wallet balance; points; reward; due date; statement date; afschriftnummer; uitgavenstaat; dispute date; transaction amount currency; сумма операции в валюте; bedrag vreemde valuta; betrag in fremdwahrung; fremdwaehrungsbetrag; original value; amount in transaction currency; kaartnummer; montant d origine; kurz; saldo inicial; saldo startowe; opening balance; saldo anterior`},
}

// headings maps folded headings to their meaning.
var headings = headingTable()

// headingTable converts the vocabulary to a table.
func headingTable() map[string][]heading {
	t := make(map[string][]heading)
	for _, v := range vocabulary {
		for phrase := range strings.SplitSeq(v.phrases, ";") {
			if key := fold(phrase); key != "" {
				t[key] = append(t[key], v.heading)
			}
		}
	}
	return t
}

// meanings returns what a heading can mean, the best meaning first. Text in brackets and currencies do not count.
func meanings(text string) []heading {
	key := fold(text)
	if m := headings[key]; len(m) > 0 {
		return m
	}
	// "Amount (EUR)", "Betrag in EUR", "Credit Amount GBP", "amount_eur"
	bare := text
	if open := strings.IndexAny(text, "(["); open > 0 {
		bare = text[:open]
	}
	words := strings.Fields(fold(splitCamel(bare)))
	for len(words) > 1 && (currencyOf(words[len(words)-1]) != "" || words[len(words)-1] == "in" || words[len(words)-1] == "en") {
		words = words[:len(words)-1]
	}
	if m := headings[strings.Join(words, " ")]; len(m) > 0 {
		return m
	}
	if len(words) == 0 || len(words) > 6 {
		return nil
	}
	return looseMeanings(words)
}

// looseMeanings returns what a heading of several words can mean by its first or last word, at a worse rank.
func looseMeanings(words []string) []heading {
	for _, w := range words {
		switch w {
		case "original", "foreign", "fee", "fees", "rate", "fremdwahrung", "counter", "tegenrekening", "refunded", "converted", "iban", "bic", "code", "id", "nummer", "number", "no", "nr", "tax", "due":
			return nil
		}
	}
	var found []heading
	for _, w := range []string{words[0], words[len(words)-1]} {
		for _, h := range headings[w] {
			if h.field != fieldOther && len(w) > 3 {
				found = append(found, heading{h.field, h.rank + 5})
			}
		}
	}
	return found
}

// splitCamel separates the words of "MerchantName" and "created_at".
func splitCamel(s string) string {
	var b strings.Builder
	lower := false
	for _, r := range s {
		upper := r >= 'A' && r <= 'Z'
		if upper && lower {
			b.WriteByte(' ')
		}
		lower = r >= 'a' && r <= 'z'
		b.WriteRune(r)
	}
	return b.String()
}

// plausible scores a decoded word: known headings speak for the encoding, symbols and drawing characters inside against it.
func plausible(word string) int {
	ascii := true
	score := 0
	letters, odd := 0, 0
	for _, r := range word {
		switch {
		case r < 0x80:
		case isWordRune(r):
			ascii, letters = false, letters+1
		default:
			ascii, odd = false, odd+1
		}
	}
	if ascii {
		return 0
	}
	if _, known := headings[fold(word)]; known {
		score += 20
	}
	if odd > 0 && len([]rune(word)) > 2 {
		score -= 8 * odd
	}
	return score + min(letters, 1)
}
