package peertest_test

import (
	"encoding/binary"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/mutants"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

// zstLimited is the peer's decoder of content that fits its room.
var zstLimited = mustDecoder(kzstd.WithDecodeAllCapLimit(true), kzstd.WithDecoderMaxWindow(1<<40))

// zstRoom is room for the content of zstLimited.
var zstRoom = make([]byte, 0, mutants.ContentLimit)

// zstFile puts a file together. Content sizes, checksums and seek tables are right, except for the
// lies in the parts.
func zstFile(list []zstPart) (file []byte) {
	var entries []zstfile.Entry
	for i := range list {
		p, at := &list[i], len(file)
		switch p.kind {
		case strayPart:
			file = append(file, p.body...)
			continue
		case framePart:
			content := p.content()
			file = p.append(file, content)
			entries = append(entries, zstfile.Entry{
				Size: uint32(len(file) - at), Content: uint32(len(content)), Sum: zstfile.Checksum(content),
			})
			continue
		case tablePart:
			if p.index == nil && p.tail == nil {
				file = zstfile.AppendSeekTable(file, entries, p.sums)
			} else {
				file = p.appendTable(file, entries)
			}
			entries = nil
			continue
		}
		file = appendSkippable(file, p.number, p.body, p.lie)
		entries = append(entries, zstfile.Entry{Size: uint32(len(file) - at)})
	}
	return file
}

func appendSkippable(dst []byte, number byte, body []byte, lie uint32) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, zstfile.SkippableMagic+uint32(number&15))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(body))+lie)
	return append(dst, body...)
}

// appendTable appends a seek table whose entries and footer are changed.
func (p *zstPart) appendTable(dst []byte, entries []zstfile.Entry) []byte {
	right := zstfile.AppendSeekTable(nil, entries, p.sums)[zstfile.SkippableHeaderSize:]
	at := len(right) - zstfile.SeekFooterSize
	list, footer := right[:at:at], right[at:]
	if p.index != nil {
		list = p.index(list)
		size := 8
		if p.sums {
			size = 12
		}
		binary.LittleEndian.PutUint32(footer, uint32(len(list)/size))
	}
	if p.tail != nil {
		copy(footer[4:], p.tail)
	}
	return appendSkippable(dst, zstfile.SeekTableKind, append(list, footer...), p.lie)
}

// content returns what the peer finds in the blocks of a frame with a large window.
func (p *zstPart) content() []byte {
	const window = 13 << 3 // 8 MiB
	bare := binary.LittleEndian.AppendUint32(nil, zstframe.Magic)
	content, _ := zstLimited.DecodeAll(p.appendBlocks(append(bare, 0, window)), zstRoom)
	return append([]byte(nil), content...)
}

// append appends a frame that has the content.
func (p *zstPart) append(dst, content []byte) []byte {
	size := uint64(int64(len(content)) + p.sizeLie)
	code := p.sizeCode
	width := func() int { return [...]int{0, 2, 4, 8}[code] }
	if p.single && code == 0 && size >= 256 {
		code = 1
	}
	if code == 1 && (size < 256 || size >= 1<<16+256) || code == 2 && size >= 1<<32 {
		code = 3
	}
	d := code<<6 | p.dictCode | p.reserved
	if p.single {
		d |= 1 << 5
	}
	if p.checksum {
		d |= 1 << 2
	}
	dst = append(binary.LittleEndian.AppendUint32(dst, zstframe.Magic), d)
	if !p.single {
		dst = append(dst, p.window)
	}
	dst = appendNumber(dst, uint64(p.dict), [...]int{0, 1, 2, 4}[p.dictCode])
	switch {
	case code == 0 && p.single:
		dst = append(dst, byte(size))
	case code == 1:
		dst = appendNumber(dst, size-256, 2)
	default:
		dst = appendNumber(dst, size, width())
	}
	dst = p.appendBlocks(dst)
	if p.checksum {
		dst = binary.LittleEndian.AppendUint32(dst, zstfile.Checksum(content)+p.sumLie)
	}
	return dst
}
