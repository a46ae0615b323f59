package neural

import (
	"bytes"
	"encoding/binary"
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServeRespondsToEachRequest(t *testing.T) {
	t.Parallel()
	engine := fakeEngine(t, "TOTAL 1.00")
	var in, out bytes.Buffer
	page := printedRow(200, 100)
	req, err := NewRequest(page)
	require.NoError(t, err)
	for range 2 {
		_, err := req.WriteTo(&in)
		require.NoError(t, err)
	}
	require.NoError(t, engine.Serve(&in, &out))
	for range 2 {
		got, err := ReadResponse(&out, page.Rect.Size())
		require.NoError(t, err)
		require.Equal(t, []string{"TOTAL", "1.00"}, textsOf(got.Words))
	}
	require.Zero(t, out.Len())
}

func TestServeRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	for name, in := range map[string][]byte{
		"no magic":         request(1, 10, 10),
		"no pixels":        request(magic, 0, 10),
		"too many pixels":  request(magic, maxPixels, 2),
		"overflow":         request(magic, 1<<31, 1<<31),
		"truncated head":   request(magic, 10, 10)[:7],
		"truncated pixels": append(request(magic, 10, 10), 1, 2, 3),
	} {
		require.Error(t, fakeEngine(t, "").Serve(bytes.NewReader(in), &bytes.Buffer{}), name)
	}
}

func TestReadResponseRejectsInvalidResponses(t *testing.T) {
	t.Parallel()
	word := `{"quarters":0,"angle":0,"words":[{"text":"a","box":[1,1,5,5],"confidence":0.5}]}`
	_, err := ReadResponse(bytes.NewReader(framed(word)), image.Pt(10, 10))
	require.NoError(t, err)
	for name, in := range map[string][]byte{
		"empty":                 {},
		"truncated":             framed(word)[:20],
		"too long":              binary.LittleEndian.AppendUint32(nil, maxResponse+1),
		"no JSON":               framed("oops"),
		"error":                 framed(`{"error":"out of memory"}`),
		"turned too far":        framed(`{"quarters":4}`),
		"turned backwards":      framed(`{"quarters":-1}`),
		"skewed too far":        framed(`{"angle":1.5}`),
		"angle beyond floats":   framed(`{"angle":1e999}`),
		"box outside of page":   framed(strings.Replace(word, "[1,1,5,5]", "[1,1,11,5]", 1)),
		"box of a turned page":  framed(strings.Replace(word, "[1,1,5,5]", "[-1,1,5,5]", 1)),
		"empty box":             framed(strings.Replace(word, "[1,1,5,5]", "[5,5,5,5]", 1)),
		"confidence above 1":    framed(strings.Replace(word, "0.5}", "1.5}", 1)),
		"word without a letter": framed(strings.Replace(word, `"a"`, `""`, 1)),
	} {
		_, err := ReadResponse(bytes.NewReader(in), image.Pt(10, 10))
		require.Error(t, err, name)
	}
}

func FuzzReadResponse(f *testing.F) {
	f.Add(framed(
		`{"quarters":1,"angle":0.1,"words":[{"text":"a","box":[1,1,5,5],"confidence":0.5}]}`,
	))
	f.Add(framed(`{"error":"crash"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		page, err := ReadResponse(bytes.NewReader(in), image.Pt(30, 20))
		if err != nil {
			return
		}
		size := image.Rect(0, 0, 30, 20)
		if page.Quarters%2 == 1 {
			size = image.Rect(0, 0, 20, 30)
		}
		for _, w := range page.Words {
			require.True(t, !w.Box.Empty() && w.Box.In(size) && w.Text != "")
			require.True(t, w.Confidence >= 0 && w.Confidence <= 1)
		}
	})
}

func FuzzServe(f *testing.F) {
	f.Add(append(request(magic, 4, 2), 1, 2, 3, 4, 5, 6, 7, 8))
	f.Fuzz(func(t *testing.T, in []byte) {
		// A page of millions of pixels takes long and tests nothing else.
		if len(in) >= headSize &&
			binary.LittleEndian.Uint32(in[4:])|binary.LittleEndian.Uint32(in[8:]) > 200 {
			return
		}
		_ = fakeEngine(t, "1.00").Serve(bytes.NewReader(in), &bytes.Buffer{})
	})
}

func request(head, w, h uint32) []byte {
	out := binary.LittleEndian.AppendUint32(nil, head)
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(out, w), h)
}

func framed(text string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
}
