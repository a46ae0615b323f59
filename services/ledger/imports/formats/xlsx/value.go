package xlsx

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// kind is the meaning of a number in a cell, which the number format of its style decides.
type kind uint8

const (
	amount kind = iota
	day
	dayAndTime
	timeOfDay
)

// builtIn are the kinds of the number formats that workbooks do not describe.
var builtIn = map[string]kind{
	"14": day, "15": day, "16": day, "17": day, "18": timeOfDay, "19": timeOfDay, "20": timeOfDay,
	"21": timeOfDay, "22": dayAndTime, "27": day, "28": day, "29": day, "30": day, "31": day,
	"32": timeOfDay, "33": timeOfDay, "34": timeOfDay, "35": timeOfDay, "36": day,
	"45": timeOfDay, "46": timeOfDay, "47": timeOfDay, "50": day, "51": day, "52": day, "53": day,
	"54": day, "55": timeOfDay, "56": timeOfDay, "57": day, "58": day,
}

// kindOf returns the kind of a number format, such as "yyyy\-mm\-dd".
func kindOf(format string) kind {
	code := strings.ToLower(placeholders(format))
	if code == "general" {
		return amount
	}
	has := func(letters string) bool { return strings.ContainsAny(code, letters) }
	clock := has("hs")
	switch {
	case !clock && has("0#?@"):
		return amount
	case has("yd") && clock:
		return dayAndTime
	case has("yd") || has("m") && !clock:
		return day
	case clock:
		return timeOfDay
	}
	return amount
}

// placeholders returns the first section of a number format without its texts, colors and padding.
func placeholders(format string) string {
	var builder strings.Builder
	for index := 0; index < len(format); index++ {
		switch char := format[index]; char {
		case ';':
			return builder.String()
		case '\\', '_', '*':
			index++
		case '"', '[':
			closing := byte('"')
			if char == '[' {
				closing = ']'
			}
			end := strings.IndexByte(format[index+1:], closing)
			if end < 0 {
				return builder.String()
			}
			// [h] is a number of hours. [Red] and [$€-407] are no placeholders.
			if inner := strings.ToLower(format[index+1 : index+1+end]); char == '[' &&
				strings.Trim(inner, "hms") == "" {
				builder.WriteString(inner)
			}
			index += end + 1
		default:
			builder.WriteByte(char)
		}
	}
	return builder.String()
}

// number returns a number as decimal text with a point. Spreadsheets calculate with 15 digits, but
// store more: 0.30000000000000004 is 0.3. Whole numbers keep all digits, because other programs
// write references as numbers.
func number(value string) string {
	value = strings.TrimSpace(value)
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || strings.Trim(value, "+-.0123456789eE") != "" || math.Abs(f) >= 1e21 {
		return value
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(value, "-"), ".")
	if strings.ContainsAny(value, "eE+") ||
		fraction != "" && len(strings.TrimLeft(whole+fraction, "0")) > 15 {
		// A decimal of 15 digits is the shortest one that yields its float.
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', 15, 64), 64)
		value = strconv.FormatFloat(f, 'f', -1, 64)
		whole, fraction, _ = strings.Cut(strings.TrimLeft(value, "-"), ".")
	}
	// 1.234 could be a thousand in text. The fourth digit shows that it is not.
	if len(fraction) == 3 && len(whole) <= 3 {
		value += "0"
	}
	return value
}

// lastDay is the number of the day 9999-12-31.
const lastDay = 2_958_465

// date returns a number as a date, as a date with a time of day, or as a time. It reports false for
// numbers that are none.
func date(value string, kind kind, from1904 bool) (string, bool) {
	serial, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(serial >= 0 && serial <= lastDay) {
		return "", false
	}
	seconds := int(math.Round(serial * 86400))
	days, clock := seconds/86400, time.Duration(seconds%86400)*time.Second
	start := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case from1904:
		start = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case kind == timeOfDay:
	case days == 0 || days == 60:
		return "", false // 1900-01-00 and 1900-02-29, which only spreadsheets have.
	case days < 60:
		start = start.AddDate(0, 0, 1)
	}
	parsed := start.AddDate(0, 0, days).Add(clock)
	switch {
	case kind == timeOfDay && serial < 1:
		return parsed.Format(time.TimeOnly), true
	case kind == timeOfDay:
		return "", false // A duration of more than a day.
	case kind == dayAndTime && clock > 0:
		return parsed.Format(time.DateTime), true
	}
	return parsed.Format(time.DateOnly), true
}
