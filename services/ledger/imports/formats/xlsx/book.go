package xlsx

import (
	"errors"
	"html"
	"io"
	"path"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
)

// Limits of the tables of a workbook.
const (
	maxSheets = 256
	maxStyles = 1 << 16
)

// sheet is a table of a workbook.
type sheet struct {
	name   string
	part   string
	hidden bool
}

// book is an open workbook.
type book struct {
	archive *archive
	sheets  []sheet
	kinds   []kind // The meaning of the numbers in cells, by style.
	texts   texts
	// from1904 reports whether days are counted from 1904, as on old Macs, instead of 1900.
	from1904 bool
}

// openBook reads a workbook except its sheets.
func openBook(r io.Reader) (*book, error) {
	archive, err := openArchive(r)
	if err != nil {
		return nil, err
	}
	book := &book{archive: archive}
	main, err := archive.mainPart()
	if err != nil {
		return nil, err
	}
	targets, err := archive.relations(main)
	if err != nil {
		return nil, err
	}
	if err := book.readMain(main, targets); err != nil {
		return nil, err
	}
	for kind, target := range targets {
		switch {
		case !archive.has(target):
		case kind == "type:styles":
			err = book.readStyles(target)
		case kind == "type:sharedStrings":
			err = book.texts.read(archive, target)
		}
		if err != nil {
			return nil, err
		}
	}
	return book, nil
}

// each calls call for each tag of a part, and reads it to its end.
func (a *archive) each(name string, call func(e scan.Element) error) error {
	part, err := a.open(name)
	if err != nil {
		return err
	}
	defer part.close()
	for {
		element, err := part.Next()
		if errors.Is(err, io.EOF) {
			return part.finish()
		}
		if err != nil {
			return err
		}
		if err := call(element); err != nil {
			return err
		}
	}
}

// mainPart returns the name of the part with the list of the sheets.
func (a *archive) mainPart() (string, error) {
	name := "xl/workbook.xml"
	if !a.has(name) {
		targets, err := a.relations("")
		if err != nil {
			return "", err
		}
		name = targets["type:officeDocument"]
	}
	switch {
	case strings.HasSuffix(fold(name), ".bin") || a.has("xl/workbook.bin"):
		return "", scan.Errorf(0, "the file is a binary workbook (.xlsb): save it as .xlsx or CSV")
	case !a.has(name):
		return "", scan.Errorf(0, "the file is not a workbook (.xlsx)")
	}
	return name, nil
}

// relations returns the parts to which a part refers, by their ids and, with the prefix "type:", by
// the last word of their types.
func (a *archive) relations(of string) (map[string]string, error) {
	folder, base := path.Split(of)
	name := folder + "_rels/" + base + ".rels"
	targets := make(map[string]string)
	if !a.has(name) {
		return targets, nil
	}
	return targets, a.each(name, func(element scan.Element) error {
		if element.Name != "Relationship" || element.Closing || len(targets) > 4*maxSheets {
			return nil
		}
		target := attribute(element, "Target")
		if !strings.HasPrefix(target, "/") {
			target = path.Join(folder, target)
		}
		targets[attribute(element, "Id")] = target
		targets["type:"+path.Base(attribute(element, "Type"))] = target
		return nil
	})
}

// readMain reads the list of the sheets and the start of the days.
func (b *book) readMain(name string, targets map[string]string) error {
	err := b.archive.each(name, func(element scan.Element) error {
		switch {
		case element.Closing:
		case element.Name == "workbookPr":
			value := attribute(element, "date1904")
			b.from1904 = value == "1" || value == "true"
		case element.Name == "sheet":
			s := sheet{name: attribute(element, "name"), part: targets[attribute(element, "id")]}
			s.hidden = strings.Contains(strings.ToLower(attribute(element, "state")), "hidden")
			// Sheets of charts and dialogs have no cells.
			if strings.Contains(fold(s.part), "worksheets/") || b.archive.has(s.part) &&
				!strings.Contains(fold(s.part), "sheets/") {
				b.sheets = append(b.sheets, s)
			}
		}
		if len(b.sheets) > maxSheets {
			return scan.Errorf(0, "the workbook has more than %d sheets", maxSheets)
		}
		return nil
	})
	if err == nil && len(b.sheets) == 0 {
		return scan.ErrEmpty
	}
	return err
}

// readStyles reads which styles show numbers as dates or times.
func (b *book) readStyles(name string) error {
	formats := make(map[string]kind)
	inCells := false
	return b.archive.each(name, func(element scan.Element) error {
		switch element.Name {
		case "cellXfs":
			inCells = !element.Closing
		case "numFmt":
			if !element.Closing && len(formats) < maxStyles {
				formats[attribute(element, "numFmtId")] = kindOf(attribute(element, "formatCode"))
			}
		case "xf":
			if element.Closing || !inCells {
				return nil
			}
			id := attribute(element, "numFmtId")
			k, ok := formats[id]
			if !ok {
				k = builtIn[id]
			}
			if b.kinds = append(b.kinds, k); len(b.kinds) > maxStyles {
				return scan.Errorf(0, "the workbook has more than %d styles", maxStyles)
			}
		}
		return nil
	})
}

// attribute returns the value of a tag's attribute, or "". A prefix of its name does not matter.
func attribute(e scan.Element, name string) string {
	rest := e.Attributes
	for {
		key, after, ok := strings.Cut(rest, "=")
		after = strings.TrimLeft(after, " ")
		if !ok || after == "" || after[0] != '"' && after[0] != '\'' {
			return ""
		}
		value, next, ok := strings.Cut(after[1:], after[:1])
		if !ok {
			return ""
		}
		key = strings.TrimSpace(key)
		if key[strings.IndexByte(key, ':')+1:] == name {
			return html.UnescapeString(value)
		}
		rest = next
	}
}
