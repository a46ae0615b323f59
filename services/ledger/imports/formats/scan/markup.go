package scan

import (
	"bufio"
	"bytes"
	"errors"
	"html"
	"io"
	"strings"
)

// maxTag is the maximum length of a tag with its attributes. Workbooks declare dozens of namespaces
// in a tag.
const maxTag = 32 << 10

// Element is a tag of OFX or XML with the text after it.
type Element struct {
	Name       string // Without a prefix.
	Attributes string // As written.
	Closing    bool
	Empty      bool // <name/>
	Text       string
	Line       int
}

// Markup reads the tags of OFX 1 and 2 and of XML. All its buffers are bounded, unlike those of
// xml.Decoder, and no entity is ever expanded. Tags may be unclosed, as SGML allows, and text may
// contain '<' and '&'.
type Markup struct {
	r    *bufio.Reader
	Line int
	// Exact keeps the spaces around texts, and decodes entities only once.
	Exact bool
	buf   []byte
	at    bool // The '<' of the next tag was read.
}

// NewMarkup returns a reader of the tags of r.
func NewMarkup(r *bufio.Reader) *Markup { return &Markup{r: r, Line: 1} }

// Next returns the next tag, or io.EOF.
func (m *Markup) Next() (Element, error) {
	for {
		if !m.at {
			if _, err := m.until(); err != nil {
				return Element{}, err
			}
		}
		m.at = false
		head, err := m.r.Peek(1)
		if err != nil {
			return Element{}, m.ended(err)
		}
		if !isTagStart(head[0]) {
			continue
		}
		line := m.Line
		tag, err := m.tag()
		if err != nil {
			return Element{}, err
		}
		if tag == "" || tag[0] == '?' || tag[0] == '!' {
			continue
		}
		element := Element{Line: line}
		name, closing := strings.CutPrefix(tag, "/")
		name, empty := strings.CutSuffix(name, "/")
		element.Closing, element.Empty = closing, empty
		name, element.Attributes, _ = strings.Cut(strings.TrimSpace(name), " ")
		if _, local, ok := strings.Cut(name, ":"); ok {
			name = local
		}
		element.Name = name
		if !element.Empty && !element.Closing {
			if element.Text, err = m.text(); err != nil {
				return Element{}, err
			}
		}
		return element, nil
	}
}

// isTagStart reports whether a character after '<' begins a tag.
func isTagStart(c byte) bool {
	return c == '/' || c == '?' || c == '!' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// until reads up to and including the next '<' and returns the text before it. It fails if there is
// none.
func (m *Markup) until() (string, error) {
	m.buf = m.buf[:0]
	for {
		chunk, err := m.r.ReadSlice('<')
		m.Line += bytes.Count(chunk, []byte{'\n'})
		if len(m.buf)+len(chunk) > MaxRow {
			return "", Errorf(m.Line, "the text has more than %d bytes", MaxRow)
		}
		m.buf = append(m.buf, chunk...)
		if err == nil {
			return string(m.buf[:len(m.buf)-1]), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
	}
}

// tag reads a tag after its '<' up to its '>'.
func (m *Markup) tag() (string, error) {
	m.buf = m.buf[:0]
	for len(m.buf) < maxTag {
		char, err := m.r.ReadByte()
		if err != nil {
			return "", m.ended(err)
		}
		if char == '>' {
			return string(m.buf), nil
		}
		if char == '\r' || char == '\t' {
			char = ' '
		}
		if char == '\n' {
			m.Line++
			char = ' '
		}
		m.buf = append(m.buf, char)
		// Only the text after an opening tag is of interest. text reads such a section itself.
		switch string(m.buf) {
		case "!--":
			return "", m.skip("-->")
		case "![CDATA[":
			return "", m.skip("]]>")
		}
	}
	return "", Errorf(m.Line, "a tag has no end")
}

// skip reads a comment or a section up to its end, however long it is.
func (m *Markup) skip(end string) error {
	matched := 0
	for matched < len(end) {
		char, err := m.r.ReadByte()
		if err != nil {
			return m.ended(err)
		}
		switch {
		case char == end[matched]:
			matched++
		case matched == 2 && char == end[0]:
			// "--->" and "]]]>" also end with the last three characters.
		case char == end[0]:
			matched = 1
		default:
			matched = 0
		}
		if char == '\n' {
			m.Line++
		}
	}
	return nil
}

// text reads the text after an opening tag, up to the next tag. It includes CDATA sections and
// characters that only look like the start of a tag.
func (m *Markup) text() (string, error) {
	var builder strings.Builder
	for {
		part, err := m.until()
		if errors.Is(err, io.EOF) {
			builder.Write(m.buf)
			return m.clean(builder.String()), nil
		}
		if err != nil {
			return "", err
		}
		builder.WriteString(part)
		if builder.Len() > MaxRow {
			return "", Errorf(m.Line, "the text has more than %d bytes", MaxRow)
		}
		head, _ := m.r.Peek(8)
		switch {
		case string(head) == "![CDATA[":
			section, err := m.section()
			if err != nil {
				return "", err
			}
			builder.WriteString(strings.ReplaceAll(section, "&", "&amp;"))
		case len(head) > 0 && isTagStart(head[0]):
			m.at = true
			return m.clean(builder.String()), nil
		default:
			builder.WriteByte('<')
		}
	}
}

// section reads a CDATA section after its '<'.
func (m *Markup) section() (string, error) {
	_, _ = m.r.Discard(len("![CDATA[")) // The caller peeked at it.
	var content []byte
	for !bytes.HasSuffix(content, []byte("]]>")) {
		c, err := m.r.ReadByte()
		if err != nil {
			return "", m.ended(err)
		}
		if c == '\n' {
			m.Line++
		}
		if content = append(content, c); len(content) > MaxRow {
			return "", Errorf(m.Line, "the text has more than %d bytes", MaxRow)
		}
	}
	return string(content[:len(content)-3]), nil
}

// ended reports the end of the file inside of a tag.
func (m *Markup) ended(err error) error {
	if errors.Is(err, io.EOF) {
		return Errorf(m.Line, "the file ends inside of a tag")
	}
	return err
}

// clean decodes entities and trims a text. Unknown entities stay as they are. Some programs escape
// twice ("&amp;amp;"), so it decodes a second time if an entity remains.
func (m *Markup) clean(text string) string {
	if m.Exact {
		return html.UnescapeString(text)
	}
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "&") {
		return text
	}
	if text = html.UnescapeString(text); strings.Contains(text, "&amp;") ||
		strings.Contains(text, "&#") {
		text = html.UnescapeString(text)
	}
	return text
}
