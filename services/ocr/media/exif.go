package media

import (
	"bytes"
	"encoding/binary"
	"image"

	"github.com/coffer-budget/coffer/services/ocr/imaging/gray"
)

// orientation returns the EXIF orientation of a JPEG, 1 to 8. It returns 1 (upright) if there is
// none or it is malformed.
func orientation(file []byte) int {
	for at := 2; at+4 <= len(file) && file[at] == 0xff; {
		// Marker 0xda starts the image data, and 0xe1 (APP1) contains EXIF.
		marker, size := file[at+1], int(binary.BigEndian.Uint16(file[at+2:]))
		if marker == 0xda || size < 2 || at+2+size > len(file) {
			return 1
		}
		segment := file[at+4 : at+2+size]
		if marker == 0xe1 && bytes.HasPrefix(segment, []byte("Exif\x00\x00")) {
			return tiffOrientation(segment[6:])
		}
		at += 2 + size
	}
	return 1
}

// tiffOrientation returns the orientation in the first directory of EXIF data, a TIFF structure. It
// returns 1 if there is none.
func tiffOrientation(data []byte) int {
	const tagOrientation, entrySize = 0x0112, 12
	if len(data) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if data[0] == 'I' {
		order = binary.LittleEndian
	}
	// The offset is untrusted. With 64 bits, the sums below cannot overflow.
	at := int64(order.Uint32(data[4:]))
	if at+2 > int64(len(data)) {
		return 1
	}
	entries := int64(order.Uint16(data[at:]))
	for i := range entries {
		entry := at + 2 + i*entrySize
		if entry+entrySize > int64(len(data)) {
			return 1
		}
		if order.Uint16(data[entry:]) == tagOrientation {
			if v := int(order.Uint16(data[entry+8:])); v >= 1 && v <= 8 {
				return v
			}
			return 1
		}
	}
	return 1
}

func upright(img *image.Gray, orientation int) *image.Gray {
	switch orientation {
	case 2:
		return gray.Mirror(img)
	case 3:
		return gray.Turn(img, 2)
	case 4:
		return gray.Mirror(gray.Turn(img, 2))
	case 5:
		return gray.Mirror(gray.Turn(img, 1))
	case 6:
		return gray.Turn(img, 1)
	case 7:
		return gray.Mirror(gray.Turn(img, 3))
	case 8:
		return gray.Turn(img, 3)
	}
	return img
}
