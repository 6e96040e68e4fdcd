package compress

import (
	"io"
	"sync"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzaccess"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/gzindex"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// This file is where package compress chooses among the formats.

// isKnown reports whether there is a pipeline with a number.
func isKnown(id uint8) bool { return pipelineByID(id) != nil }

// pipelineByID returns the pipeline with a number in .pz files, nil if there is none.
func pipelineByID(id uint8) *pipeline.Pipeline {
	all := pipeline.Pipelines()
	for i := range all {
		if all[i].ID == id && id != 0 {
			return &all[i]
		}
	}
	return nil
}

// pipelineOf returns the pipeline that decodes blocks of a format. id is its number in .pz files.
func pipelineOf(f Format, id uint8) *pipeline.Pipeline {
	if f == PZ {
		return pipelineByID(id)
	}
	return pipeline.Default(f)
}

// sources has a Source of each format, so that a Reader keeps their memory across files.
type sources struct {
	pz  pzfile.Scanner
	gz  gzfile.Scanner
	zst *zstfile.Scanner

	dict   *pipeline.Dictionary // of zst
	opened *pipeline.Dictionary // that parsed was made of
	parsed *zstd.Dictionary
}

// openDictionary returns the dictionary of zst for a decoder.
func (s *sources) openDictionary() (_ *zstd.Dictionary, err error) {
	if s.opened != s.dict {
		s.parsed, err = zstd.ParseDictionary(s.dict.Bytes()) // without the tables that compress
		if err != nil {
			return nil, err
		}
		s.opened = s.dict
	}
	return s.parsed, nil
}

// beginFile begins to read a file.
func (s *sources) beginFile(
	f Format, in *container.Start, o *options, workers int,
) container.Source {
	limits := &o.limits
	switch f {
	case Gzip:
		s.gz.Workers = workers
		s.gz.Reset(in, limits)
		return &s.gz
	case Zstd:
		if s.zst == nil {
			s.zst = &zstfile.Scanner{OpenDictionary: s.openDictionary}
		}
		s.zst.Workers = workers
		s.dict, s.zst.Dictionary = o.dict, o.zstDictionary()
		s.zst.Reset(in, limits)
		return s.zst
	}
	s.pz.Known, s.pz.Dictionary = isKnown, o.dict.Number()
	s.pz.Reset(in, limits)
	return &s.pz
}

// framers has a Framer of each format, so that a Writer allocates none.
type framers struct {
	pz  pzfile.Framer
	gz  gzfile.Framer
	zst zstfile.Framer
}

// beginFile begins to write a file.
func (f *framers) beginFile(o *options) container.Framer {
	switch o.pipe.Format {
	case Gzip:
		// The system is left unknown, so that a file does not depend on where it was made.
		h := gzfile.Header{Name: o.name, ModTime: o.modTime, OS: gzfile.UnknownOS}
		switch o.level {
		case MinLevel:
			h.Speed = gzfile.Fastest
		case MaxLevel:
			h.Speed = gzfile.Densest
		}
		f.gz.Reset(h)
		return &f.gz
	case Zstd:
		window := max(min(o.reach()+o.blockSize, o.pipe.MaxBlock), int(o.window))
		f.zst.Reset(o.limits.Checks, window, o.zstDictionary())
		if o.isOneFrame() {
			f.zst.SetSingle(o.contentSize)
		}
		return &f.zst
	}
	size := o.contentSize
	if o.streamSize > 0 && size > o.streamSize {
		size = -1 // it is that of several streams
	}
	f.pz.Reset(pzfile.Header{
		Pipeline: o.pipe.ID, BlockSize: o.blockSize, Checks: o.limits.Checks, ContentSize: size,
		Window: o.window, Sources: ldm.Sources, Dictionary: o.dict.Number(),
	})
	return &f.pz
}

// readIndex makes the index of a file that can be read at random.
func readIndex(src io.ReaderAt, size int64, limits *container.Limits) (*index.File, error) {
	src = index.Cancelable{Src: src, Limits: limits}
	x, err := readAnyIndex(src, size, limits)
	if cerr := limits.Canceled(); cerr != nil {
		return nil, cerr
	}
	return x, err
}

func readAnyIndex(src io.ReaderAt, size int64, limits *container.Limits) (*index.File, error) {
	var magic [container.DetectSize]byte
	p := magic[:min(size, container.DetectSize)]
	if err := container.ReadAt(src, p, 0); err != nil {
		return nil, err
	}
	switch f, ok, _ := container.Detect(p); {
	case ok && f == Gzip:
		return nil, errs.New(ErrNoIndex, "gzip data has no index")
	case ok && f == Zstd:
		return zstfile.ReadIndex(src, size, limits)
	case !ok && zstfile.HasSeekTable(src, size):
		return zstfile.ReadIndex(src, size, limits) // the beginning of the file is damaged
	}
	return pzfile.ReadIndex(src, size, limits, isKnown)
}

// formatAt returns the format of what begins at an offset of a file, if it begins like one.
func formatAt(src io.ReaderAt, off, size int64) (f Format, ok bool) {
	var magic [container.DetectSize]byte
	p := magic[:min(size-off, container.DetectSize)]
	if container.ReadAt(src, p, off) != nil {
		return f, false
	}
	f, ok, _ = container.Detect(p)
	return f, ok
}

// isZstdFile reports whether a damaged file is a .zst file, by its first frame or its seek table.
func isZstdFile(src io.ReaderAt, size int64) bool {
	f, ok := formatAt(src, 0, size)
	return ok && f == Zstd || !ok && zstfile.HasSeekTable(src, size)
}

// readGzipIndex is gzindex.ReadAt or gzindex.ReadLast.
type readGzipIndex func(src io.ReaderAt, size int64, limits *container.Limits) (*gzindex.Index, error)

// gzipMap makes the checkpoints of a .gz file, or reads them.
func (o *options) gzipMap(src io.ReaderAt, size int64, read readGzipIndex) (*gzaccess.Map, error) {
	src = index.Cancelable{Src: src, Limits: &o.limits}
	m, err := o.tryGzipMap(src, size, read)
	if cerr := o.canceled(); cerr != nil {
		return nil, cerr
	}
	return m, err
}

func (o *options) tryGzipMap(src io.ReaderAt, size int64, read readGzipIndex) (*gzaccess.Map, error) {
	if o.index == nil {
		c := newCrew(o)
		defer c.packs.stop()
		return gzaccess.Make(src, size, &o.limits, c)
	}
	x, err := read(o.index, o.indexSize, &o.limits)
	if err != nil {
		return nil, err
	}
	return gzaccess.Use(x, src, size, &o.limits)
}

// newGzipReaderAt makes a ReaderAt for a .gz file.
func newGzipReaderAt(src io.ReaderAt, size int64, o options) (*ReaderAt, error) {
	m, err := o.gzipMap(src, size, gzindex.ReadAt)
	if err != nil {
		return nil, err
	}
	r, err := newReaderAt(src, &m.File, o)
	if err != nil {
		return nil, err
	}
	r.gz = m
	return r, nil
}

// gzipDecoders holds decoders of intervals that no loader needs.
var gzipDecoders = sync.Pool{New: func() any { return new(gzaccess.Decoder) }}

// interval makes the block of the loader that of an interval of a .gz file.
func (l *blockLoader) interval(block int64) {
	l.gz = gzipDecoders.Get().(*gzaccess.Decoder)
	l.gz.SetInterval(l.r.gz, block, l.r.opt.limits.Checks)
	size := gzaccess.BufferSize(int(l.r.index.Blocks[block].Raw))
	l.out = getBuffer(size, size)
	l.serial = container.Serial{Decoder: l.gz, Buf: l.out.p}
	l.blk.Serial = &l.serial
}

// indexFormats holds the formats that WriteIndex writes.
var indexFormats = map[string]gzindex.Format{
	"gzidx": gzindex.GZIDX1, "gztool": gzindex.Gztool0, "bgzip": gzindex.Bgzip,
}

// WriteIndex writes the index of a .gz file to w, for [WithIndex] and for other programs. format is
// "gzidx" for version 1 of indexed_gzip's format, "gztool" for version 0 of gztool's .gzi, or
// "bgzip" for bgzip's .gzi. It may be called at the same time as ReadAt. What the format cannot
// hold is an [ErrOption]: "bgzip" is for BGZF files whose members all fit into the memory limit,
// and files of other formats than .gz have no such index. Errors of w are returned as they are.
func (r *ReaderAt) WriteIndex(w io.Writer, format string) error {
	f, known := indexFormats[format]
	switch {
	case r.ready() != nil:
		return r.ready()
	case r.gz == nil:
		return errs.BadOption(".%v files have no separate index", r.index.Format)
	case !known:
		return errs.BadOption("unknown format of an index %q; valid names: bgzip, gzidx, gztool", format)
	}
	src := index.Cancelable{Src: r.src, Limits: &r.opt.limits}
	return r.gz.Write(w, f, src)
}

// A crew makes the checkpoints of a .gz file on the workers of a scheduler. It is a
// [gzaccess.Crew]. A Reader decodes the file, and a run of its own packs the windows.
type crew struct {
	opt   options
	width int
	packs stream
}

func newCrew(o *options) *crew {
	c := &crew{opt: *o}
	c.opt.progress = nil
	c.width = gzaccess.PackWidth(&o.limits, o.scheduler().Workers())
	return c
}

// Scan implements gzaccess.Crew. limits are those of the options, with less memory.
func (c *crew) Scan(src io.Reader, limits *container.Limits, marks *gzfile.Marks) error {
	return c.opt.walkGzip(src, limits, &gzfile.Scanner{Marks: marks})
}

// walkGzip decodes a .gz file with a Scanner of which Marks or Visit is set, and drops the content.
func (o *options) walkGzip(src io.Reader, limits *container.Limits, s *gzfile.Scanner) error {
	r := &Reader{sched: o.scheduler()}
	r.opt = *o
	r.opt.limits = *limits
	r.Reset(src)
	r.nonBlocking, r.sources.gz = true, *s
	for {
		if err := r.next(); err != nil {
			r.Close()
			if err == io.EOF {
				err = nil
			}
			return err
		}
	}
}

// Width implements gzaccess.Crew.
func (c *crew) Width() int { return c.width }

// Pack implements gzaccess.Crew.
func (c *crew) Pack(p *gzaccess.Packing) {
	if c.packs.run == nil {
		cfg := c.opt.config(pipeline.Decompress, pipelineOf(Gzip, 0), false, 0)
		cfg.InFlight, cfg.Grow = c.width, false
		c.packs.start(c.opt.scheduler(), cfg)
	}
	b := c.packs.run.Get()
	b.Kind, b.Raw, b.Sum, b.Serial = uint8(container.Coded), 0, 0, p
	c.packs.run.Submit(b)
}

// Packed implements gzaccess.Crew.
func (c *crew) Packed() (*gzaccess.Packing, error) {
	b, err := c.packs.run.Next(true)
	if err != nil {
		return nil, err
	}
	p := b.Serial.(*gzaccess.Packing)
	if err = b.Err; err != nil {
		return nil, blockError(pipeline.Decompress, err, c.opt.limits.Context, 0, -1, p.Offset())
	}
	c.packs.run.Put(b)
	return p, nil
}
