package compress

import (
	"io"

	"github.com/gopz/compress/inflate"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/zstdec"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// This file is where package compress chooses among the formats.

// isKnown reports whether there is a pipeline with a number.
func isKnown(id uint8) bool { return pipeline.ByID(id) != nil }

// pipelineOf returns the pipeline that decodes blocks of a format. id is its number in .pz files.
func pipelineOf(f Format, id uint8) *pipeline.Pipeline {
	if f == PZ {
		return pipeline.ByID(id)
	}
	return pipeline.Default(f)
}

// sources has a Source of each format, so that a Reader keeps their memory across files.
type sources struct {
	pz  pzfile.Scanner
	gz  *gzfile.Scanner
	zst *zstfile.Scanner
}

// begin begins to read a file.
func (s *sources) begin(f Format, in *container.Start, limits *container.Limits) container.Source {
	switch f {
	case Gzip:
		if s.gz == nil {
			s.gz = newGzipScanner()
		}
		s.gz.Begin(in, limits)
		return s.gz
	case Zstd:
		if s.zst == nil {
			s.zst = &zstfile.Scanner{NewDecoder: zstdec.New}
		}
		s.zst.Begin(in, limits)
		return s.zst
	}
	s.pz.Known = isKnown
	s.pz.Begin(in, limits)
	return &s.pz
}

func newGzipScanner() *gzfile.Scanner {
	return &gzfile.Scanner{NewInflater: func() gzfile.Inflater { return new(inflate.Decoder) }}
}

// framers has a Framer of each format, so that a Writer allocates none.
type framers struct {
	pz  pzfile.Framer
	gz  gzfile.Framer
	zst zstfile.Framer
}

// begin begins to write a file.
func (f *framers) begin(o *options) container.Framer {
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
		f.zst.Reset(o.limits.Checks, o.blockSize)
		return &f.zst
	}
	f.pz.Reset(pzfile.Header{
		Pipeline: o.pipe.ID, BlockSize: o.blockSize, Checks: o.limits.Checks, ContentSize: o.contentSize,
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
		return nil, errs.New(ErrNoIndex,
			"gzip data has no index and can only be read from front to back, by a Reader")
	case ok && f == Zstd:
		return zstfile.ReadIndex(src, size, limits)
	case !ok && zstfile.HasSeekTable(src, size):
		return zstfile.ReadIndex(src, size, limits) // the beginning of the file is damaged
	}
	return pzfile.ReadIndex(src, size, limits, isKnown)
}

// isZstd reports whether a damaged file is a .zst file, by its first frame or its seek table.
func isZstd(src io.ReaderAt, size int64) bool {
	var magic [container.DetectSize]byte
	p := magic[:min(size, container.DetectSize)]
	if container.ReadAt(src, p, 0) == nil {
		if f, ok, _ := container.Detect(p); ok {
			return f == Zstd
		}
	}
	return zstfile.HasSeekTable(src, size)
}
