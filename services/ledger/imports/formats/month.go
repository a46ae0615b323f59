package formats

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// months maps folded names and abbreviations of months to their numbers. A name may appear in several languages.
var months = monthTable(
	"jan january januar janvier janv enero ene gennaio gen janeiro januari styczen stycznia sty leden ledna januar jaan tammikuu tammi január ianuarie ian ocak января январь янв",
	"feb february februar fevrier fevr fev febrero febbraio fevereiro februari luty lutego lut unor unora helmikuu helmi februarie subat sub февраля февраль фев",
	"mar march marz maerz mrz mars marzo mars marco maart mrt marzec marca brezen brezna maaliskuu maalis marcius marc martie mart марта март мар",
	"apr april avril avr abril abr aprile april kwiecien kwietnia kwi duben dubna huhtikuu huhti aprilis nisan nis aprilie апреля апрель апр",
	"may mai mayo maggio mag maio mei maj maja kveten kvetna toukokuu touko majus mayis мая май",
	"jun june juni juin junio giugno giu junho czerwiec czerwca cze cerven cervna kesakuu kesa junius iunie iun haziran haz июня июнь июн",
	"jul july juli juillet juil julio luglio lug julho lipiec lipca lip cervenec cervence heinakuu heina julius iulie iul temmuz tem июля июль июл",
	"aug august aout agosto ago augustus augusti sierpien sierpnia sie srpen srpna elokuu elo augusztus agustos agu августа август авг",
	"sep sept september septembre septiembre settembre set setembro wrzesien wrzesnia wrz zari syyskuu syys szeptember szept septembrie eylul eyl сентября сентябрь сен",
	"oct october okt oktober octobre octubre ottobre ott outubro out pazdziernik pazdziernika paz rijen rijna lokakuu loka octombrie ekim eki октября октябрь окт",
	"nov november novembre noviembre novembro listopad listopada lis marraskuu marras noiembrie noi kasim kas ноября ноябрь ноя",
	"dec december dez dezember decembre diciembre dic dicembre dezembro des desember grudzien grudnia gru prosinec prosince joulukuu joulu decembrie aralik ara декабря декабрь дек",
)

// monthTable converts twelve lists of names to a table.
func monthTable(names ...string) map[string]int {
	t := make(map[string]int)
	for i, list := range names {
		for name := range strings.FieldsSeq(list) {
			t[foldMonth(name)] = i + 1
		}
	}
	return t
}

// foldMonth returns a month's name in lower case without accents.
func foldMonth(s string) string { return stripAccents(strings.ToLower(s)) }

// stripAccents removes accents, and spells the letters without decomposition as plain ones.
func stripAccents(s string) string {
	ascii := true
	for i := range len(s) {
		if s[i] >= 0x80 {
			ascii = false
			break
		}
	}
	if ascii {
		return s
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ł':
			b.WriteByte('l')
		case r == 'ß':
			b.WriteString("ss")
		case r == 'ø':
			b.WriteByte('o')
		case r == 'đ':
			b.WriteByte('d')
		case r == 'æ':
			b.WriteString("ae")
		case r == 'œ':
			b.WriteString("oe")
		case r == 'ı':
			b.WriteByte('i')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
