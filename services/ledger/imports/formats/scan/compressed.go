package scan

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"path"
	"slices"
	"strings"
)

// ratioSlack is the number of bytes that any file may decompress to, whatever its ratio. Short
// files of equal rows have high ratios.
const ratioSlack = 1 << 20

// Allowed returns the number of bytes that a file of a compressed size may decompress to.
func Allowed(compressed int64) int64 {
	return min(MaxBytes, max(ratioSlack, MaxRatio*compressed))
}

type counter struct {
	r io.Reader
	n int64
}

// Read reads from r.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded ends the reading of a file that decompresses to too many bytes. It checks while the file
// is read, because the sizes that an archive states may be wrong.
type bounded struct {
	r     io.Reader
	n     int64
	input *counter // nil if the file is not compressed.
}

// Read reads from r within the limits.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	if b.n > MaxBytes || b.input != nil && b.n > Allowed(b.input.n) {
		return 0, ErrTooLarge
	}
	return n, err
}

// Decompress returns the contents of a plain, gzip or zip file. It does not decompress a workbook,
// which is also a zip file: IsWorkbook recognizes it.
func Decompress(r io.Reader) (io.Reader, error) {
	input := &counter{r: r}
	// The buffer is small, because the ratio counts its bytes as read.
	buffered := bufio.NewReaderSize(input, 4096)
	magic, err := buffered.Peek(4)
	if len(magic) == 0 {
		if err == nil || errors.Is(err, io.EOF) {
			return nil, ErrEmpty
		}
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, &ParseError{Message: "damaged gzip file"}
		}
		return &bounded{r: archiveReader{z}, input: input}, nil
	case string(magic) == "PK\x03\x04":
		// The first name begins after 30 bytes. A short file is an error of openZip.
		if start, _ := buffered.Peek(64); IsWorkbook(start) {
			return &bounded{r: buffered}, nil
		}
		return openZip(buffered, input)
	case string(magic) == "PK\x05\x06":
		return nil, ErrEmpty
	}
	return &bounded{r: buffered}, nil
}

// workbookNames are the starts of the names of the first file in workbooks of Excel.
var workbookNames = []string{"[Content_Types].xml", "_rels/", "docProps/", "xl/", "customXml/"}

// IsWorkbook reports whether a file with this start is a workbook in the format of Excel since
// 2007, or a text document in its sister format.
func IsWorkbook(start []byte) bool {
	if !bytes.HasPrefix(start, []byte("PK\x03\x04")) || len(start) < 30 {
		return false
	}
	return slices.ContainsFunc(workbookNames, func(name string) bool {
		return bytes.HasPrefix(start[30:], []byte(name))
	})
}

// archiveReader reports damaged compressed data as an error of the file.
type archiveReader struct{ r io.Reader }

// Read reads from r.
func (a archiveReader) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = &ParseError{Message: "the compressed file is damaged or incomplete"}
	}
	return n, err
}

// zipFile reads the one file of a zip archive in a single pass, without its directory at the end.
// archive/zip needs the directory first, and so the whole archive in memory or on disk.
type zipFile struct {
	source *bufio.Reader
	entry  zipEntry
	data   io.Reader
	crc    uint32
	many   bool // The archive may have a second file: YNAB adds the budget, and it is not imported.
	input  *counter
	ended  bool
}

type zipEntry struct {
	name       string
	method     uint16
	flags      uint16
	crc        uint32
	compressed int64
}

// hasDescriptor reports whether sizes and checksum follow the data.
func (e zipEntry) hasDescriptor() bool { return e.flags&8 != 0 }

// skipped reports whether the file is no data: a directory, or metadata of macOS.
func (e zipEntry) skipped() bool {
	return strings.HasSuffix(e.name, "/") || strings.HasPrefix(e.name, "__MACOSX/") ||
		path.Base(e.name) == ".DS_Store"
}

// isBudget reports whether the file is the budget in YNAB's archive.
func (e zipEntry) isBudget() bool {
	name := strings.ToLower(e.name)
	return strings.HasSuffix(name, "budget.csv") || strings.HasSuffix(name, "plan.csv")
}

// openZip returns the contents of the archive's only file.
func openZip(source *bufio.Reader, input *counter) (io.Reader, error) {
	file := &zipFile{source: source, input: input}
	for {
		found, err := file.next()
		if err != nil {
			return nil, err
		}
		if !found && file.many {
			return nil, ErrOnlyPlan
		}
		if !found {
			return nil, ErrEmpty
		}
		if !file.entry.skipped() && !file.entry.isBudget() {
			break
		}
		file.many = file.many || file.entry.isBudget()
		if err := file.drain(); err != nil {
			return nil, err
		}
	}
	file.many = file.many || strings.HasSuffix(strings.ToLower(file.entry.name), "register.csv")
	return &bounded{r: file, input: input}, nil
}

// next reads the header of the next file. It reports false at the end of the files.
func (z *zipFile) next() (bool, error) {
	head, err := z.source.Peek(30)
	if len(head) < 4 || string(head[:4]) != "PK\x03\x04" {
		return false, nil
	}
	if err != nil {
		return false, errDamagedZip
	}
	z.entry = zipEntry{
		flags:      binary.LittleEndian.Uint16(head[6:]),
		method:     binary.LittleEndian.Uint16(head[8:]),
		crc:        binary.LittleEndian.Uint32(head[14:]),
		compressed: int64(binary.LittleEndian.Uint32(head[18:])),
	}
	nameLength := int(binary.LittleEndian.Uint16(head[26:]))
	extraLength := int(binary.LittleEndian.Uint16(head[28:]))
	if nameLength > 1024 {
		return false, errDamagedZip
	}
	name := make([]byte, 30+nameLength)
	if _, err := io.ReadFull(z.source, name); err != nil {
		return false, errDamagedZip
	}
	if _, err := z.source.Discard(extraLength); err != nil {
		return false, errDamagedZip
	}
	z.entry.name, z.crc = string(name[30:]), 0
	switch {
	case z.entry.flags&1 != 0:
		return false, &ParseError{Message: "the zip file is encrypted"}
	case z.entry.method == 8:
		z.data = flate.NewReader(z.source)
	case z.entry.method == 0 && !z.entry.hasDescriptor():
		z.data = io.LimitReader(z.source, z.entry.compressed)
	default:
		return false, Errorf(0, "the zip file uses the unsupported method %d", z.entry.method)
	}
	return true, nil
}

// errDamagedZip reports an archive that ends early or has wrong sizes or checksums.
var errDamagedZip = &ParseError{Message: "the zip file is damaged or incomplete"}

// Read reads the data of the file. At its end it checks the checksum, and that no other file
// follows.
func (z *zipFile) Read(p []byte) (int, error) {
	if z.ended {
		return 0, io.EOF
	}
	size, err := z.data.Read(p)
	z.crc = crc32.Update(z.crc, crc32.IEEETable, p[:size])
	if errors.Is(err, io.EOF) {
		z.ended = true
		if failed := z.end(); failed != nil {
			return size, failed
		}
		return size, io.EOF
	}
	if err != nil {
		return size, errDamagedZip
	}
	return size, nil
}

// end checks the file's checksum and the rest of the archive.
func (z *zipFile) end() error {
	if err := z.finish(); err != nil || z.many {
		return err
	}
	for {
		found, err := z.next()
		if err != nil || !found {
			return err
		}
		if !z.entry.skipped() {
			return ErrSeveralFiles
		}
		if err := z.drain(); err != nil {
			return err
		}
	}
}

// finish reads the descriptor after the data and compares the checksum.
func (z *zipFile) finish() error {
	want := z.entry.crc
	if z.entry.hasDescriptor() {
		descriptor := make([]byte, 12)
		if _, err := io.ReadFull(z.source, descriptor); err != nil {
			return errDamagedZip
		}
		want = binary.LittleEndian.Uint32(descriptor)
		if string(descriptor[:4]) == "PK\x07\x08" {
			want = binary.LittleEndian.Uint32(descriptor[4:])
			if _, err := z.source.Discard(4); err != nil {
				return errDamagedZip
			}
		}
	}
	if z.crc != want {
		return errDamagedZip
	}
	return nil
}

// drain skips the current file, within the limits.
func (z *zipFile) drain() error {
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, &bounded{r: z.data, input: z.input}); err != nil {
		if errors.Is(err, ErrTooLarge) {
			return err
		}
		return errDamagedZip
	}
	z.crc = sum.Sum32()
	return z.finish()
}
