package refdec

import "slices"

const (
	layoutReferences = 4

	kindEmpty = 0 // of own content

	minLogWindow = 20
	maxLogWindow = 31
	maxSources   = 64
	maxDistance  = 1 << 16 // blocks
	minReference = 64      // bytes
)

// references is the list of a block.
type references struct {
	check   uint32   // CRC32C of the content
	sources []uint64 // distances in blocks
	list    []reference
}

// A reference is a part of a block that is a part of the own content of an earlier block.
type reference struct {
	gap      uint64 // own content in front of it
	length   uint64
	distance uint64 // of the source, in blocks
	offset   uint64 // in the own content of the source
}

// parseReferences reads the references of a payload of layout 4, behind the layout byte. It returns
// the size of the own content as well.
func parseReferences(r *byteReader, h header, raw uint64) (refs *references, own uint64, err error) {
	number := func(least, most uint64) (n uint64) {
		if err == nil {
			if n, err = r.varint(); err == nil && (n < least || n > most) {
				err = corrupt("%d in a list of references, not %d to %d", n, least, most)
			}
		}
		if err != nil {
			return 0
		}
		return n
	}
	sources := make([]uint64, number(1, uint64(h.sources)))
	for i := range sources {
		sources[i] = number(1, maxDistance)
		if i > 0 {
			sources[i] += sources[i-1]
		}
		if sources[i] > maxDistance {
			return nil, 0, corrupt("source %d blocks away", sources[i])
		}
	}
	chose(choiceSources, len(sources))
	refs = &references{sources: sources}
	gaps, lengths := uint64(0), uint64(0)
	for range number(1, raw/minReference) {
		ref := reference{gap: number(0, raw), length: number(minReference, raw)}
		source := number(0, uint64(len(sources)-1))
		ref.offset = number(0, 1<<32)
		if err != nil {
			return nil, 0, err
		}
		ref.distance = sources[source]
		gaps, lengths = gaps+ref.gap, lengths+ref.length
		if gaps+lengths > raw {
			return nil, 0, corrupt("references make more than %d bytes", raw)
		}
		refs.list = append(refs.list, ref)
	}
	return refs, raw - lengths, err
}

// decodeReferences decodes a block of layout 4 to its own content and its references.
func decodeReferences(payload []byte, h header, raw uint64) (own []byte, refs *references, err error) {
	if h.window == 0 {
		return nil, nil, corrupt("layout 4 in a stream without a window")
	}
	r := &byteReader{payload[1:]}
	check, err := r.uint32()
	if err != nil {
		return nil, nil, err
	}
	refs, size, err := parseReferences(r, h, raw)
	if err != nil {
		return nil, nil, err
	}
	refs.check = check
	kind, err := r.byte()
	if err != nil {
		return nil, nil, err
	}
	chose(choiceLayout, layoutReferences)
	chose(choiceOwn, int(kind))
	inner := blockHeader{kind: uint32(kind), payloadSize: uint32(len(r.data)), rawSize: uint32(size)}
	switch {
	case kind == kindEmpty && size == 0 && len(r.data) == 0:
		return []byte{}, refs, nil
	case kind == kindEmpty || size == 0 || len(r.data) == 0 || kind > kindCoded:
		return nil, nil, corrupt("own content of kind %d, %d bytes", kind, size)
	}
	if err := inner.validate(0, header{blockSize: h.blockSize, hasChecks: true}); err != nil {
		return nil, nil, err
	}
	if kind == kindCoded && r.data[0] == layoutReferences {
		return nil, nil, corrupt("references in own content")
	}
	own, err = decodeBlock(r.data, inner, nil)
	if err != nil {
		return nil, nil, err
	}
	return own, refs, nil
}

// A history is the own contents of the blocks of a stream. Those that no later block can refer to
// may be nil.
type history [][]byte

// A keeper keeps the own contents of the blocks in the window of a stream.
type keeper struct {
	past  history
	first int   // of past that is kept
	size  int64 // of the contents kept, in bytes
}

// addBlock adds a block, drops those that are no longer in the window, and returns the size of the
// rest.
func (k *keeper) addBlock(own []byte, window uint64) int64 {
	k.past = append(k.past, own)
	for k.size += int64(len(own)); uint64(k.size) > window; k.first++ {
		k.size -= int64(len(k.past[k.first]))
		k.past[k.first] = nil
	}
	return k.size
}

// splice returns the content of the next block.
func (past history) splice(own []byte, refs *references, window uint64) ([]byte, error) {
	next := uint64(len(past))
	for _, distance := range refs.sources {
		if distance > next {
			return nil, corrupt("source before the beginning of the stream")
		}
		size := uint64(0)
		for _, p := range past[next-distance:] {
			size += uint64(len(p))
		}
		if size > window || len(past[next-distance]) == 0 {
			return nil, corrupt("block %d is empty, or not in the window", next-distance)
		}
	}
	var content []byte
	for _, ref := range refs.list {
		content = append(content, own[:ref.gap]...)
		own = own[ref.gap:]
		p := past[next-ref.distance]
		if ref.offset+ref.length > uint64(len(p)) {
			return nil, corrupt("reference to block %d reaches beyond it", next-ref.distance)
		}
		content = append(content, p[ref.offset:ref.offset+ref.length]...)
	}
	return slices.Concat(content, own), nil
}
