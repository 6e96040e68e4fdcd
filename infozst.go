package compress

import (
	"errors"
	"io"
	"math"
)

// readZstdInfo describes a .zst file.
func readZstdInfo(src io.ReaderAt, size int64, o *options) (Info, error) {
	v := zstInfo{src: src, opt: o, stream: StreamInfo{Checks: true}}
	table, err := walkFrames(src, size, o, v.frame)
	st := &v.stream
	if err == nil {
		st.Size = size
	}
	if table && err == nil {
		// It need not be one of all frames, nor right.
		x, xerr := readSeekTables(src, size, o.readerLimit())
		table = xerr == nil && x.content == st.Content
	}
	return Info{
		Format: "zst", Size: size, Content: st.Content, Blocks: st.Blocks, Seekable: table && err == nil, Streams: []StreamInfo{*st},
	}, err
}

// zstInfo adds up frames.
type zstInfo struct {
	src    io.ReaderAt
	opt    *options
	stream StreamInfo
	dec    *Reader // for frames that do not say how much content they have
}

// frame adds a frame that ends at an offset.
func (v *zstInfo) frame(f *zstFrame, end int64) error {
	st, content := &v.stream, f.hdr.ContentSize
	if content < 0 {
		var err error
		if content, err = v.count(f, end); err != nil {
			return err
		}
	}
	if content > math.MaxInt64-st.Content || v.opt.maxDecoded >= 0 && content > v.opt.maxDecoded-st.Content {
		return f.fail(ErrTooLarge, f.offset, "")
	}
	st.Content += content
	st.Blocks++
	if !f.hdr.Checksum {
		st.Unchecked++
		st.Checks = false
	}
	st.BlockSize = max(st.BlockSize, int(min(content, math.MaxInt)))
	st.Size = end
	return nil
}

// count decodes a frame, and says how much content it has.
func (v *zstInfo) count(f *zstFrame, end int64) (int64, error) {
	if v.dec == nil {
		v.dec = &Reader{opt: *v.opt, sched: v.opt.scheduler()}
		v.dec.opt.progress = nil
	}
	if v.opt.maxDecoded >= 0 {
		v.dec.opt.maxDecoded = v.opt.maxDecoded - v.stream.Content
	}
	v.dec.Reset(io.NewSectionReader(v.src, f.offset, end-f.offset))
	v.dec.quick = true
	defer v.dec.Close()
	n, err := v.dec.WriteTo(io.Discard)
	var e *Error
	if errors.As(err, &e) {
		e.Block = f.number
		if e.Offset >= 0 {
			e.Offset += f.offset
		}
	}
	return n, err
}
