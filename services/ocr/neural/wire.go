package neural

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"time"
	"unicode/utf8"
)

// A request is a head and the gray values of a page's pixels. The head has three 32-bit numbers:
// magic, width and height. A response is its length in 32 bits and JSON. Numbers are little-endian.
const (
	magic    = 0x31524f43
	headSize = 12
	// maxPixels is the size to which callers scale larger pages down.
	maxPixels = 16_000_000
	// maxResponse allows some thousands of words.
	maxResponse = 4 << 20
	// maxAngle is the largest skew in radians: an eighth of a turn.
	maxAngle = math.Pi / 4
)

type response struct {
	Quarters int            `json:"quarters"`
	Angle    float64        `json:"angle"`
	Words    []responseWord `json:"words"`
	// Processor is Page.Processor in nanoseconds.
	Processor int64  `json:"processor,omitempty"`
	Error     string `json:"error,omitempty"`
}

// Box has the left, upper, right and lower edges.
type responseWord struct {
	Text       string  `json:"text"`
	Box        [4]int  `json:"box"`
	Confidence float64 `json:"confidence"`
}

// errRequest marks requests that no caller of this package sends.
var errRequest = errors.New("invalid request")

// Request is a page that the engine shall read. The pixels can be written several times.
type Request struct {
	Size image.Point
	// pixels are the gray values, row by row.
	pixels io.ReaderAt
}

// NewRequest returns the request for an image. It returns errRequest for an image that has more
// than maxPixels or is a part of another image.
func NewRequest(img *image.Gray) (Request, error) {
	size := img.Rect.Size()
	whole := img.Stride == size.X && img.Rect.Min == image.Point{}
	if !whole || size.X <= 0 || size.Y <= 0 || size.X*size.Y > maxPixels {
		return Request{}, fmt.Errorf("%w: %v", errRequest, img.Rect)
	}
	return Request{Size: size, pixels: bytes.NewReader(img.Pix[:size.X*size.Y])}, nil
}

// OpenRequest returns the request in a file that WriteTo has written. It reads the head, but not
// the pixels.
func OpenRequest(file io.ReaderAt) (Request, error) {
	size, err := readHead(io.NewSectionReader(file, 0, headSize))
	pixels := io.NewSectionReader(file, headSize, int64(size.X*size.Y))
	return Request{Size: size, pixels: pixels}, err
}

// WriteTo implements io.WriterTo.
func (r Request) WriteTo(w io.Writer) (int64, error) {
	head := binary.LittleEndian.AppendUint32(nil, magic)
	head = binary.LittleEndian.AppendUint32(head, uint32(r.Size.X))
	head = binary.LittleEndian.AppendUint32(head, uint32(r.Size.Y))
	if _, err := w.Write(head); err != nil {
		return 0, err
	}
	n, err := io.Copy(w, io.NewSectionReader(r.pixels, 0, int64(r.Size.X*r.Size.Y)))
	return headSize + n, err
}

// readHead reads the size of a page. It returns io.EOF if there is no further page.
func readHead(r io.Reader) (image.Point, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return image.Point{}, err
	}
	number := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(head[at:])) }
	// Two numbers of 32 bits cannot overflow the product.
	w, h := number(4), number(8)
	if number(0) != magic || w == 0 || h == 0 || w*h > maxPixels {
		return image.Point{}, errRequest
	}
	return image.Pt(int(w), int(h)), nil
}

// readRequest reads a page, or returns io.EOF if there is no further one. It checks the size before
// it allocates the pixels.
func readRequest(r io.Reader) (*image.Gray, error) {
	size, err := readHead(r)
	if err != nil {
		return nil, err
	}
	img := image.NewGray(image.Rectangle{Max: size})
	_, err = io.ReadFull(r, img.Pix)
	return img, err
}

// WriteResponse writes a page that was read, or the error.
func WriteResponse(writer io.Writer, page Page, failure error) error {
	out := response{Quarters: page.Quarters, Angle: page.Angle, Processor: int64(page.Processor)}
	for _, word := range page.Words {
		b := word.Box
		edges := [4]int{b.Min.X, b.Min.Y, b.Max.X, b.Max.Y}
		out.Words = append(out.Words, responseWord{word.Text, edges, word.Confidence})
	}
	if failure != nil {
		out = response{Error: failure.Error(), Processor: int64(page.Processor)}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	_, err = writer.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

// ReadResponse reads the response for a page of the given size. It checks everything that later
// code relies on, because the process that sent it has seen an untrusted image. size is the size
// before the page was turned. After an error the pipe is at an unknown position, so the caller ends
// the process.
func ReadResponse(reader io.Reader, size image.Point) (Page, error) {
	var head [4]byte
	if _, err := io.ReadFull(reader, head[:]); err != nil {
		return Page{}, err
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length > maxResponse {
		return Page{}, fmt.Errorf("response of %d bytes", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(reader, text); err != nil {
		return Page{}, err
	}
	var in response
	if err := json.Unmarshal(text, &in); err != nil {
		return Page{}, fmt.Errorf("decoding the response: %w", err)
	}
	if in.Error != "" {
		return Page{Processor: time.Duration(in.Processor)}, errors.New(in.Error)
	}
	return in.page(size)
}

func (in response) page(size image.Point) (Page, error) {
	if in.Quarters < 0 || in.Quarters > 3 || !(math.Abs(in.Angle) <= maxAngle) {
		return Page{}, fmt.Errorf("page turned by %d quarters and %v", in.Quarters, in.Angle)
	}
	if in.Quarters%2 == 1 {
		size.X, size.Y = size.Y, size.X
	}
	out := Page{Quarters: in.Quarters, Angle: in.Angle, Processor: time.Duration(in.Processor)}
	for _, w := range in.Words {
		box := image.Rectangle{Min: image.Pt(w.Box[0], w.Box[1]), Max: image.Pt(w.Box[2], w.Box[3])}
		outside := box.Empty() || !box.In(image.Rectangle{Max: size})
		sound := w.Confidence >= 0 && w.Confidence <= 1 && w.Text != "" && utf8.ValidString(w.Text)
		if outside || !sound {
			return Page{}, fmt.Errorf("invalid word at %v", box)
		}
		out.Words = append(out.Words, Word{Text: w.Text, Box: box, Confidence: w.Confidence})
	}
	return out, nil
}

// Serve reads pages and writes the responses until the input ends. A page that cannot be read gets
// a response with an error, and the next page follows. Serve returns an error only if a request is
// malformed or the pipe is broken.
func (e *Engine) Serve(in io.Reader, out io.Writer) error {
	for {
		img, err := readRequest(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		page, failure := e.Read(img)
		if err := WriteResponse(out, page, failure); err != nil {
			return fmt.Errorf("writing a response: %w", err)
		}
	}
}
