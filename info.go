package compress

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"math"
	"sort"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/gzindex"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/zstfile"
)

// Info describes a file as its index does, or, where there is none, as reading it has shown.
type Info struct {
	Format   Format
	Size     int64 // bytes of the file
	Content  int64 // bytes of content
	Blocks   int64 // in all streams
	Seekable bool  // an index, a seek table or sizes in frames lead to any place of the content
	Streams  []StreamInfo
}

// StreamInfo describes one stream of a file: a stream of a .pz file, a member of a .gz file, which
// is a single block, or a whole .zst file, whose blocks are its frames. With an index or
// checkpoints, a whole .gz file is one stream, and its blocks are the intervals between
// checkpoints.
//
// A .pz stream names a dictionary by its ID, or by the CRC-32C of its content if it has no ID.
// Frames of .zst name it by its ID or not at all. Dictionary is the first ID that a frame has.
type StreamInfo struct {
	Offset        int64  // of its header in the file
	Size          int64  // bytes in the file, from header to footer
	ContentOffset int64  // of its content in the content of the file
	Content       int64  // bytes of content
	Blocks        int64  // number of blocks, each of which can be decompressed alone
	Unchecked     int64  // number of blocks without a check of their content; 0 if all have one
	Pipeline      string // that wrote it, for instance "lzseqr"; "" for .gz and .zst
	BlockSize     int    // most content of a block, in bytes
	Window        int64  // most bytes that references reach back; 0 without [WithLongDistance]
	Dictionary    uint32 // number of the dictionary that its blocks need; 0 if it names none
}

// BlockInfo describes one block of a .pz file, one frame of a .zst file, and one member of a .gz
// file or one interval between its checkpoints. Intervals need not begin at a whole byte; the byte
// then counts for both neighbours.
type BlockInfo struct {
	Stream        int    // number of its stream, from 0
	Number        int64  // in its stream, from 0
	Kind          string // "stored", "fill" or "coded"; "frame" in .zst, "member" or "interval" in .gz
	Offset        int64  // of its header in the file
	Size          int64  // bytes in the file, header included
	ContentOffset int64  // of its content in the content of the file
	Content       int64  // bytes of content
}

// ReadInfo describes the file of size bytes that src holds, in any format that a [Reader] knows. It
// calls report, unless that is nil, for each block, in order. Of a .pz file it reads headers and
// index, of a .zst file the headers of frames and blocks, and the seek table behind damage. A .gz
// file is decompressed, because it states the sizes of its members only modulo 4 GiB. So are frames
// of a .zst file that do not state their size. With [WithIndex] a .gz file is described by its
// index, as one stream. [WithMaxMemory] and [WithMaxDecodedSize] hold as for a Reader.
//
// The members of a .gz file without an index and the frames of a .zst file are reported while they
// are read. Damage behind them makes ReadInfo fail later. It keeps no frames, and takes 128 bytes
// of memory for a member and 32 for any other block. An error of report ends it and is returned.
//
// With an error it returns a description of what is in front of the damage, as far as that is
// known. With [ErrTrailing] that is everything but what follows the compressed data.
func ReadInfo(
	src io.ReaderAt, size int64, report func(BlockInfo) error, opts ...ReaderOption,
) (Info, error) {
	o, err := newOptions(forInfo, opts)
	if err != nil {
		return Info{}, err
	}
	if size < 0 {
		return Info{}, errs.BadOption("file size %d is negative", size)
	}
	if report == nil {
		report = func(BlockInfo) error { return nil }
	}
	info, err := readInfo(index.Cancelable{Src: src, Limits: &o.limits}, size, report, &o)
	if cerr := o.canceled(); cerr != nil {
		err = cerr
	}
	return info, err
}

func readInfo(src io.ReaderAt, size int64, report func(BlockInfo) error, o *options) (Info, error) {
	var head [container.DetectSize]byte
	p := head[:min(size, container.DetectSize)]
	if err := container.ReadAt(src, p, 0); err != nil {
		return Info{}, err
	}
	if f, ok, _ := container.Detect(p); ok && f == Gzip && o.index != nil {
		m, err := o.gzipMap(src, size, gzindex.ReadLast)
		if err != nil {
			return Info{Format: Gzip, Size: size}, err
		}
		return infoOf(&m.File), reportBlocks(&m.File, report)
	} else if ok && f == Gzip {
		return readGzipInfo(src, size, report, o)
	} else if o.index != nil {
		return Info{}, errs.BadOption("WithIndex is for .gz files")
	} else if ok && f == Zstd {
		return readZstdInfo(src, size, report, o)
	}
	x, err := readIndex(src, size, &o.limits)
	var e, trailing *errs.Error
	if errors.Is(err, ErrTrailing) && errors.As(err, &e) {
		trailing = e
		x, err = readIndex(src, e.Offset, &o.limits)
	}
	if err != nil {
		return Info{}, err
	}
	if o.limits.TooLarge(0, x.Content) {
		return Info{}, tooMuchContent(x.Content, o.limits.MaxDecoded)
	}
	x.Size = size
	streams := index.StreamMemory * int64(len(x.Streams)) // of Info
	if limit := o.limits.Memory(); x.Memory(int64(len(x.Blocks)))+streams > limit {
		return Info{}, errs.OutOfMemory(0,
			"a list of %d streams takes more than the limit of %d bytes", len(x.Streams), limit)
	}
	info := infoOf(x)
	if err := reportBlocks(x, report); err != nil || trailing == nil {
		return info, err
	}
	return info, trailing
}

// reportBlocks calls report for the blocks of an index.
func reportBlocks(x *index.File, report func(BlockInfo) error) error {
	for b := range blocksOf(x) {
		if err := report(b); err != nil {
			return err
		}
	}
	return nil
}

// infoOf describes a file by its index.
func infoOf(x *index.File) Info {
	info := Info{
		Format: x.Format, Seekable: true, Size: x.Size, Content: x.Content, Blocks: int64(len(x.Blocks)),
		Streams: make([]StreamInfo, 0, len(x.Streams)),
	}
	for i := range x.Streams {
		st := &x.Streams[i]
		s := StreamInfo{
			Offset:        st.Offset,
			Size:          st.Size,
			ContentOffset: st.ContentOffset,
			Content:       st.Content,
			Blocks:        st.Blocks,
			BlockSize:     st.BlockSize,
			Window:        st.Window,
			Dictionary:    st.Dictionary,
		}
		if x.Format == PZ {
			s.Pipeline = pipelineOf(PZ, st.Pipeline).Name
		}
		if !st.Checks {
			s.Unchecked = st.Blocks
		}
		info.Streams = append(info.Streams, s)
	}
	return info
}

var kindNames = [...]string{
	index.Frame: "frame", index.Interval: "interval",
	container.Stored: "stored", container.Fill: "fill", container.Coded: "coded",
}

// blocksOf goes through the blocks of an index.
func blocksOf(x *index.File) iter.Seq[BlockInfo] {
	return func(yield func(BlockInfo) bool) {
		for i := range x.Streams {
			st := &x.Streams[i]
			for n := range st.Blocks {
				if !yield(blockInfo(x, i, n)) {
					return
				}
			}
		}
	}
}

// blockInfo describes a block of a stream.
func blockInfo(x *index.File, stream int, number int64) BlockInfo {
	b := &x.Blocks[x.Streams[stream].First+number]
	return BlockInfo{
		Stream:        stream,
		Number:        number,
		Kind:          kindNames[b.Kind],
		Offset:        b.Offset,
		Size:          int64(b.Size),
		ContentOffset: b.Content,
		Content:       int64(b.Raw),
	}
}

// membersAtOnce is how many members of a .gz file are noted in one piece of memory.
const membersAtOnce = 1 << 10

// readGzipInfo describes a .gz file by decompressing it.
func readGzipInfo(src io.ReaderAt, size int64, report func(BlockInfo) error, o *options) (Info, error) {
	info := Info{Format: Gzip, Size: size}
	spec := gzfile.Spec(1, 0, false) // of one worker, which takes the least memory
	if _, err := o.standardBudget(pipelineOf(Gzip, 0), spec); err != nil {
		return info, err
	}
	limits := o.limits
	limits.MaxMemory = max(o.limits.Memory()/2, spec.Memory(1, 1))
	var list [][]gzfile.Member // in pieces, so that none exists twice
	err := o.walkGzip(io.NewSectionReader(src, 0, size), &limits, &gzfile.Scanner{
		Visit: func(m gzfile.Member) error {
			n := len(list) - 1
			if n < 0 || len(list[n]) == membersAtOnce {
				list = append(list, make([]gzfile.Member, 0, membersAtOnce))
				n++
			}
			list[n] = append(list[n], m)
			info.Content += m.Content
			info.Blocks++
			if info.Blocks > o.limits.Memory()/2/index.StreamMemory {
				return errs.OutOfMemory(0,
					"there are too many members to list them within the memory limit")
			}
			return report(BlockInfo{
				Stream:        int(info.Blocks - 1),
				Kind:          "member",
				Offset:        m.Offset,
				Size:          m.Size,
				ContentOffset: m.ContentOffset,
				Content:       m.Content,
			})
		},
	})
	info.Streams = make([]StreamInfo, 0, info.Blocks)
	for _, piece := range list {
		for _, m := range piece {
			info.Streams = append(info.Streams, StreamInfo{
				Offset:        m.Offset,
				Size:          m.Size,
				ContentOffset: m.ContentOffset,
				Content:       m.Content,
				Blocks:        1,
				BlockSize:     int(min(m.Content, math.MaxInt)),
			})
		}
	}
	return info, err
}

// readZstdInfo describes a .zst file by the headers of its frames and blocks, and behind damage by
// its seek table.
func readZstdInfo(src io.ReaderAt, size int64, report func(BlockInfo) error, o *options) (Info, error) {
	z := zstdInfo{src: src, report: report, opt: o}
	table, err := zstfile.Walk(src, size, &o.limits, z.addFrame)
	damaged := errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTruncated)
	if damaged && z.stop == nil && z.addListed(size) {
		table, err = true, nil
	}
	if z.takeLast() != nil {
		err = z.stop
	}
	st := &z.sum
	if err == nil {
		st.Size = size
	}
	seekable := err == nil && st.Blocks > 0
	if seekable && (table || z.unsized) {
		// A seek table may be wrong, or not be one of all frames.
		x, xerr := zstfile.ReadIndex(src, size, &o.limits)
		seekable = xerr == nil && x.Content == st.Content
	}
	return Info{
		Format: Zstd, Size: size, Content: st.Content, Blocks: st.Blocks, Seekable: seekable,
		Streams: []StreamInfo{*st},
	}, err
}

// zstdInfo adds up frames.
type zstdInfo struct {
	src    io.ReaderAt
	report func(BlockInfo) error
	opt    *options
	sum    StreamInfo
	last   zstdFrame // not in sum yet: damage may hide where it ends
	stop   error     // of takeLast
	dec    *Reader   // for frames that do not state their size
	// unsized says that a frame states no size, or too large a one to be read at random by that.
	unsized bool
}

// zstdFrame is a frame of a .zst file, or none if its size is 0.
type zstdFrame struct {
	offset, size, content int64
	checksum              bool
}

// addFrame adds a frame that ends at an offset.
func (z *zstdInfo) addFrame(f *zstfile.Frame, end int64) error {
	if err := z.takeLast(); err != nil {
		return err
	}
	st, content := &z.sum, f.Header.ContentSize
	z.unsized = z.unsized || content < 0 || content > zstfile.MaxWhole
	if content < 0 {
		var err error
		content, err = z.decode(f, end)
		if err != nil {
			return err
		}
	}
	st.Dictionary = cmp.Or(st.Dictionary, f.Header.Dictionary)
	z.last = zstdFrame{f.Offset, end - f.Offset, content, f.Header.Checksum}
	return nil
}

// takeLast adds up the last frame, if there is one. It returns z.stop.
func (z *zstdInfo) takeLast() error {
	f, st := z.last, &z.sum
	if f.size == 0 || z.stop != nil {
		return z.stop
	}
	z.last = zstdFrame{}
	if f.content > math.MaxInt64-st.Content || z.opt.limits.TooLarge(st.Content, f.content) {
		z.stop = &Error{Kind: ErrTooLarge, Part: PartBlock, Block: st.Blocks, Offset: f.offset}
		return z.stop
	}
	b := BlockInfo{
		Number:        st.Blocks,
		Kind:          kindNames[index.Frame],
		Offset:        f.offset,
		Size:          f.size,
		ContentOffset: st.Content,
		Content:       f.content,
	}
	st.Content += f.content
	st.Blocks++
	if !f.checksum {
		st.Unchecked++
	}
	st.BlockSize = max(st.BlockSize, int(min(f.content, math.MaxInt)))
	st.Size = f.offset + f.size
	z.stop = z.report(b)
	return z.stop
}

// addListed adds the frames that the seek tables of the file list behind those in the sum, in place
// of the last one. It returns false if these are damaged, or list other content in front.
func (z *zstdInfo) addListed(size int64) bool {
	x, err := zstfile.ReadIndex(z.src, size, &z.opt.limits)
	if err != nil {
		return false
	}
	i := sort.Search(len(x.Blocks), func(i int) bool { return x.Blocks[i].Offset >= z.sum.Size })
	rest := int64(0)
	for _, b := range x.Blocks[i:] {
		rest += int64(b.Raw)
	}
	if z.sum.Content+rest != x.Content {
		return false
	}
	z.last = zstdFrame{}
	for _, b := range x.Blocks[i:] {
		z.last = zstdFrame{b.Offset, int64(b.Size), int64(b.Raw), x.Streams[0].Checks}
		z.takeLast()
	}
	return true
}

// decode decodes a frame and returns the size of its content.
func (z *zstdInfo) decode(f *zstfile.Frame, end int64) (int64, error) {
	if z.dec == nil {
		z.dec = &Reader{opt: *z.opt, sched: z.opt.scheduler()}
	}
	if most := z.opt.limits.MaxDecoded; most >= 0 {
		z.dec.opt.limits.MaxDecoded = most - z.sum.Content
	}
	z.dec.Reset(io.NewSectionReader(z.src, f.Offset, end-f.Offset))
	z.dec.nonBlocking = true
	defer z.dec.Close()
	n, err := z.dec.WriteTo(io.Discard)
	var e *Error
	if errors.As(err, &e) {
		e.Block = f.Number
		if e.Offset >= 0 {
			e.Offset += f.Offset
		}
	}
	return n, err
}
