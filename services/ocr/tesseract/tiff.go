package tesseract

import (
	"encoding/binary"
	"image"
)

// tiffPages encodes images as the pages of one uncompressed TIFF, the only format in which the
// engine reads several at once.
func tiffPages(images []*image.Gray) []byte {
	const short, long = 3, 4
	size := 8
	for _, img := range images {
		// table is enough for the 9 entries of 12 bytes, 6 bytes around them, and padding.
		const table = 128
		size += img.Bounds().Dx()*img.Bounds().Dy() + table
	}
	out := append(make([]byte, 0, size), "II*\x00\x00\x00\x00\x00"...)
	// link is the offset of the pointer to the next table. The first one is in the header.
	link := 4
	for _, img := range images {
		at, width, height := len(out), img.Bounds().Dx(), img.Bounds().Dy()
		for y := range height {
			out = append(out, img.Pix[y*img.Stride:][:width]...)
		}
		// Tables start at even offsets.
		out = append(out, make([]byte, len(out)%2)...)
		binary.LittleEndian.PutUint32(out[link:], uint32(len(out)))
		// The format requires ascending tags. A short occupies the first bytes of a value, where
		// little-endian order puts it.
		entries := []struct {
			tag, kind uint16
			value     int
		}{
			{256, long, width},
			{257, long, height},
			{258, short, 8}, // bits per pixel
			{259, short, 1}, // not compressed
			{262, short, 1}, // 0 is black
			{273, long, at},
			{277, short, 1}, // gray
			{278, long, height},
			{279, long, width * height},
		}
		out = binary.LittleEndian.AppendUint16(out, uint16(len(entries)))
		for _, e := range entries {
			out = binary.LittleEndian.AppendUint16(out, e.tag)
			out = binary.LittleEndian.AppendUint16(out, e.kind)
			out = binary.LittleEndian.AppendUint32(out, 1)
			out = binary.LittleEndian.AppendUint32(out, uint32(e.value))
		}
		link = len(out)
		out = binary.LittleEndian.AppendUint32(out, 0)
	}
	return out
}
