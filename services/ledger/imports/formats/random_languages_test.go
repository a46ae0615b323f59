package formats_test

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// titles are the headings of a language.
type titles struct {
	date, text, amount, out, in, kind, balance, currency, status string

	kinds            [2]string // Money out and in.
	states           [3]string // Booked, pending and void.
	fee, net         string
	opening, closing string // Texts of balances.
	total            string // Text of the sum below the rows.
	value, time      string // The day of the value, and the time.
	months           string // Names of the months, or "" for those of English.
	legacy           encoding.Encoding
	direction        [2]string // Suffixes of amounts, money out and in.
}

// unknown reports whether no vocabulary has the headings.
func (t titles) unknown() bool { return t.fee == "" }

// state returns the word for a status.
func (t titles) state(status string) string {
	return t.states[map[string]int{"booked": 0, "pending": 1, "void": 2}[status]]
}

// month returns the name of a month, from 1.
func (t titles) month(n int) string { return strings.Fields(t.months)[n-1] }

var (
	western = charmap.Windows1252
	drCr    = [2]string{"DR", "CR"}
)

// languages are the headings and words of several languages, the last ones of none.
var languages = []titles{
	{
		"Date", "Description", "Amount", "Debit", "Credit", "Type", "Balance", "Currency", "Status",
		[2]string{"debit", "credit"},
		[3]string{"Completed", "Pending", "Declined"},
		"Fee", "Net",
		"Previous balance", "Closing balance", "Total", "Value date", "Time", "", western, drCr,
	},
	{
		"Date", "Text", "Amount", "Money out", "Money in", "Debit/Credit", "Balance", "Currency",
		"State",
		[2]string{"D", "C"},
		[3]string{"Posted", "Pending", "Failed"},
		"Transaction Fee",
		"Net amount", "Balance brought forward", "Balance carried forward", "Grand total",
		"Settlement date", "Time", "", western,
		[2]string{"Dr", "Cr"},
	},
	{
		"Buchungstag", "Verwendungszweck", "Betrag", "Soll", "Haben", "S/H", "Saldo", "Währung",
		"Status",
		[2]string{"S", "H"},
		[3]string{"Gebucht", "Vorgemerkt", "Storniert"},
		"Gebühr",
		"Netto", "Alter Kontostand", "Endsaldo", "Summe", "Wertstellung", "Uhrzeit",
		"Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez", western,
		[2]string{"S", "H"},
	},
	{
		"Date opération", "Libellé", "Montant", "Débit", "Crédit", "Sens", "Solde", "Devise",
		"Statut",
		[2]string{"Débit", "Crédit"},
		[3]string{"Comptabilisé", "En attente", "Annulé"},
		"Frais", "Montant net", "Ancien solde", "Nouveau solde", "Total des opérations",
		"Date de valeur", "Heure",
		"janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
		western,
		[2]string{"D", "C"},
	},
	{
		"Fecha", "Concepto", "Importe", "Cargo", "Abono", "Tipo", "Saldo", "Divisa", "Estado",
		[2]string{"Cargo", "Abono"},
		[3]string{"Completado", "Pendiente", "Cancelado"},
		"Comisión",
		"Importe neto", "Saldo inicial", "Saldo final", "Totales", "Fecha valor", "Hora",
		"ene feb mar abr may jun jul ago sep oct nov dic", western,
		[2]string{"D", "H"},
	},
	{
		"Data operazione", "Descrizione", "Importo", "Uscite", "Entrate", "Dare/Avere", "Saldo",
		"Divisa", "Stato",
		[2]string{"Dare", "Avere"},
		[3]string{"Contabilizzato", "In sospeso", "Annullato"},
		"Commissioni", "Importo netto",
		"Saldo iniziale", "Saldo finale", "Totale", "Data valuta", "Ora",
		"gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre " +
			"dicembre", western, drCr,
	},
	{
		"Data", "Descrição", "Valor", "Saídas", "Entradas", "Débito/Crédito", "Saldo", "Moeda",
		"Situação",
		[2]string{"Débito", "Crédito"},
		[3]string{"Efetuado", "Pendente", "Recusado"},
		"Tarifa", "Valor líquido", "Saldo anterior", "Saldo final", "Total geral", "Data valor",
		"Hora", "jan fev mar abr mai jun jul ago set out nov dez", western,
		[2]string{"D", "C"},
	},
	{
		"Datum", "Omschrijving", "Bedrag", "Af", "Bij", "Af Bij", "Saldo", "Munt", "Status",
		[2]string{"Af", "Bij"},
		[3]string{"Geboekt", "In behandeling", "Geweigerd"},
		"Fee",
		"Netto", "Beginsaldo", "Eindsaldo", "Totaal", "Rentedatum", "Tijd",
		"jan feb mrt apr mei jun jul aug sep okt nov dec", western, drCr,
	},
	{
		"Dato", "Tekst", "Beløb", "Ud", "Ind", "Type", "Saldo", "Valuta", "Status",
		[2]string{"Debet", "Kredit"},
		[3]string{"Udført", "Venter", "Slettet"},
		"Gebyr", "Netto",
		"Primosaldo", "Ultimosaldo", "I alt", "Rentedato", "Tid",
		"januar februar marts april maj juni juli august september oktober november december",
		western, drCr,
	},
	{
		"Bokföringsdag", "Beskrivning", "Belopp", "Uttag", "Insättning", "In/Ut", "Saldo",
		"Valuta", "Status",
		[2]string{"Ut", "In"},
		[3]string{"Bokförd", "Väntar", "Nekad"},
		"Avgift", "Nettobelopp", "Ingående saldo", "Utgående saldo", "Totalt", "Valutadag", "Tid",
		"jan feb mars apr maj juni juli aug sep okt nov dec", western, drCr,
	},
	{
		"Data operacji", "Opis operacji", "Kwota", "Obciążenia", "Uznania", "Typ", "Saldo",
		"Waluta", "Status",
		[2]string{"Wn", "Ma"},
		[3]string{"Zaksięgowano", "Oczekująca", "Odrzucona"},
		"Prowizja", "Netto",
		"Saldo początkowe", "Saldo końcowe", "Razem", "Data waluty", "Godzina",
		"sty lut mar kwi maj cze lip sie wrz paź lis gru", charmap.Windows1250, drCr,
	},
	{
		"Datum zaúčtování", "Popis", "Částka", "Výdaje", "Příjmy", "Příjem/výdaj", "Zůstatek",
		"Měna", "Stav",
		[2]string{"Výdaj", "Příjem"},
		[3]string{"Zaúčtováno", "Čekající", "Zamítnuto"},
		"Poplatek", "Netto",
		"Počáteční zůstatek", "Konečný zůstatek", "Celkem", "Datum valuty", "Čas",
		"ledna února března dubna května června července srpna září října listopadu prosince",
		charmap.Windows1250, drCr,
	},
	{
		"Дата операции", "Описание", "Сумма", "Расход", "Приход", "Приход/расход", "Остаток",
		"Валюта", "Статус",
		[2]string{"Расход", "Приход"},
		[3]string{"Исполнен", "В обработке", "Отклонен"},
		"Комиссия", "Сумма платежа",
		"Входящий остаток", "Исходящий остаток", "Итого", "Дата валютирования", "Время",
		"января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
		charmap.Windows1251,
		[2]string{"Дт", "Кт"},
	},
	{
		"Tarih", "Açıklama", "Tutar", "Borç", "Alacak", "Borç/Alacak", "Bakiye", "Para birimi",
		"Durum",
		[2]string{"Borç", "Alacak"},
		[3]string{"Tamamlandı", "Beklemede", "Reddedildi"},
		"Komisyon", "Net", "Açılış bakiyesi", "Kapanış bakiyesi", "Toplam", "Valör", "Saat",
		"Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
		charmap.Windows1254, drCr,
	},
	{
		"交易日期", "摘要", "交易金额", "支出", "收入", "收/支", "余额", "币种", "状态",
		[2]string{"支出", "收入"},
		[3]string{"交易成功", "处理中", "已取消"},
		"手续费", "net amount",
		"期初余额", "期末余额", "合计", "起息日", "交易时刻", "", simplifiedchinese.GB18030, drCr,
	},
	{
		"取引日", "摘要", "金額", "出金額", "入金額", "入出金区分", "残高", "通貨", "状態",
		[2]string{"出金", "入金"},
		[3]string{"完了", "処理中", "取消済"},
		"手数料", "net amount",
		"前月繰越", "翌月繰越", "合計", "起算日", "時刻", "", japanese.ShiftJIS, drCr,
	},
	{
		"거래일자", "적요", "거래금액", "출금액", "입금액", "입출금", "잔액", "통화", "상태",
		[2]string{"출금", "입금"},
		[3]string{"완료", "처리중", "취소"},
		"수수료", "net amount",
		"전월이월", "기말잔액", "합계", "기산일", "거래시각", "", korean.EUCKR, drCr,
	},
	// Words that no vocabulary has.
	{
		"Zeitpunkt X", "Wofür genau", "Wieviel", "Raus", "Rein", "Dings", "Danach", "Einheit",
		"Zustand",
		[2]string{"raus", "rein"},
		[3]string{"fertig", "bald", "nie"},
		"", "", "Davor",
		"Hernach", "Alles", "Wann noch", "Stunde", "", western,
		[2]string{"rs", "rn"},
	},
	{
		"Aa", "Bb", "Cc", "Dd", "Ee", "Ff", "Gg", "Hh", "Ii",
		[2]string{"x", "y"},
		[3]string{"p", "q", "r"},
		"", "", "Jj", "Kk", "Ll", "Mm", "Nn", "", western,
		[2]string{"xx", "yy"},
	},
}
