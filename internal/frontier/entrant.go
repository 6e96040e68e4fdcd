package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/gopz/compress"
)

// family is the levels of one compressor.
type family struct {
	name   string
	title  string
	lo, hi int
	ours   bool
	// new returns how a level is measured.
	new func(level int) meter
}

// meter measures one level on a content, which is also in the file, again and again for so many seconds each way, and at least once. The best try counts, as with zstd -b and lz4 -b: in what takes some milliseconds a
// first one finds the caches as others have left them. That is also one in which Go collected no garbage, if there is one.
type meter func(ctx context.Context, file string, content []byte, seconds int) (sample, error)

// sample is one measurement: the size of what is compressed, and speeds in MB (1,000,000 bytes) of content to a second of processor time.
type sample struct {
	size           int
	encode, decode float64
}

func (s sample) ratio(content int) float64 { return float64(content) / float64(s.size) }

// families in the order of the table.
var families = []family{
	{"lzseqr", "pz lzseqr", compress.MinLevel, compress.MaxLevel, true, pipeline("lzseqr")},
	{"lzr", "pz lzr", compress.MinLevel, compress.MaxLevel, true, pipeline("lzr")},
	{"lzf", "pz lzf (.zst)", compress.MinLevel, compress.MaxLevel, true, pipeline("lzf")},
	{"deflate", "pz deflate (.gz)", compress.MinLevel, compress.MaxLevel, true, pipeline("deflate")},
	{"zstd", "zstd", 1, 19, false, program("zstd")},
	{"lz4", "lz4", 1, 12, false, program("lz4")},
	{"kp-zstd", "klauspost zstd", 1, 4, false, klauspostZstd},
	{"kp-s2", "klauspost s2", 1, 3, false, klauspostS2},
	{"kp-gzip", "klauspost gzip", 1, 9, false, klauspostGzip},
}

// entrant is one level of a family and the best of what was measured.
type entrant struct {
	family  *family
	level   int
	measure meter
	content int
	best    sample
}

func (e *entrant) add(s sample) {
	e.best.size = s.size
	e.best.encode, e.best.decode = max(e.best.encode, s.encode), max(e.best.decode, s.decode)
}

// entrants returns all levels to measure. Programs that are missing are left out, and said to be.
func entrants(ctx context.Context, cfg *config) ([]entrant, error) {
	var all []entrant
	info, err := os.Stat(cfg.file)
	if err != nil {
		return nil, err
	}
	for i := range families {
		f := &families[i]
		if len(cfg.only) > 0 && !slices.Contains(cfg.only, f.name) {
			continue
		}
		if f.name == "zstd" || f.name == "lz4" {
			if _, err := exec.LookPath(f.name); err != nil {
				cfg.notes = append(cfg.notes, f.name+" is not installed: left out")
				continue
			}
			cfg.notes = append(cfg.notes, version(ctx, f.name))
		}
		for l := f.lo; l <= min(f.hi, cfg.maxLevel); l++ {
			all = append(all, entrant{family: f, level: l, measure: f.new(l), content: int(info.Size())})
		}
	}
	return all, nil
}

func version(ctx context.Context, name string) string {
	out, err := exec.CommandContext(ctx, name, "--version").CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || line == "" {
		return name + " of unknown version"
	}
	return strings.Trim(line, "* ")
}

// coder is a compressor as a library. Both calls append to dst.
type coder struct {
	encode, decode func(dst, src []byte) ([]byte, error)
	discard        func(src []byte) error // decodes and throws away; of pz only
}

// library measures a coder, made once by make. What comes back is compared; buffers have been written to before the clock runs.
func library(make func() (coder, error)) meter {
	var c coder
	return func(ctx context.Context, _ string, content []byte, seconds int) (s sample, err error) {
		if c.encode == nil {
			if c, err = make(); err != nil {
				return s, err
			}
		}
		file, back := buffers(len(content))
		var took [2]float64
		if took[0], err = least(ctx, seconds, func() error { file, err = c.encode(file[:0], content); return err }); err != nil {
			return s, err
		}
		if took[1], err = least(ctx, seconds, func() error { back, err = c.decode(back[:0], file); return err }); err != nil {
			return s, err
		}
		if !bytes.Equal(back, content) { // the last time
			return s, errors.New("comes back differently")
		}
		mb := float64(len(content)) / 1e6
		return sample{len(file), mb / took[0], mb / took[1]}, nil
	}
}

// least returns how many seconds of processor time f takes at the best of the tries that fit into so many seconds.
func least(ctx context.Context, seconds int, f func() error) (float64, error) {
	best, end := math.Inf(1), time.Now().Add(time.Duration(seconds)*time.Second)
	for {
		took, err := clocked(f)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		if best = min(best, took); !time.Now().Before(end) {
			return best, nil
		}
	}
}

// scratch is shared by all, so that nobody has the better pages.
var scratch [2][]byte

func buffers(size int) (file, back []byte) {
	for i := range scratch {
		if cap(scratch[i]) < size+size/8+1<<16 {
			scratch[i] = bytes.Repeat([]byte{1}, size+size/8+1<<16)
		}
	}
	return scratch[0][:0], scratch[1][:0]
}

// appender is an io.Writer that appends.
type appender struct{ p []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.p = append(a.p, p...)
	return len(p), nil
}

func pipeline(name string) func(int) meter {
	return func(level int) meter {
		return library(func() (c coder, err error) { return newPz(name, level, 1) })
	}
}

func newPz(name string, level, threads int) (c coder, err error) {
	w, err := compress.NewWriter(io.Discard, compress.WithPipeline(name), compress.WithLevel(level), compress.WithConcurrency(threads))
	if err != nil {
		return c, err
	}
	r, err := compress.NewReader(bytes.NewReader(nil), compress.WithConcurrency(threads))
	if err != nil {
		return c, err
	}
	c.encode = func(dst, src []byte) ([]byte, error) {
		out := appender{dst}
		w.Reset(&out)
		if _, err := w.Write(src); err != nil {
			return nil, err
		}
		err := w.Close()
		return out.p, err
	}
	c.discard = func(src []byte) error {
		r.Reset(bytes.NewReader(src))
		_, err := r.WriteTo(io.Discard)
		return err
	}
	sched := compress.NewScheduler(threads)
	c.decode = func(dst, src []byte) ([]byte, error) {
		return compress.AppendDecode(dst, src, compress.WithScheduler(sched))
	}
	return c, nil
}

func klauspostZstd(level int) meter {
	return library(func() (c coder, err error) {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevel(level)), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return c, err
		}
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return c, err
		}
		c.encode = func(dst, src []byte) ([]byte, error) { return e.EncodeAll(src, dst), nil }
		c.decode = func(dst, src []byte) ([]byte, error) { return d.DecodeAll(src, dst) }
		return c, nil
	})
}

// klauspostS2 is blocks of 4 MiB, the most that its own streams have; what is at stake is the codec, not the frames around it.
func klauspostS2(level int) meter {
	return library(func() (c coder, err error) {
		opts := []s2.WriterOption{s2.WriterConcurrency(1), s2.WriterBlockSize(4 << 20)}
		switch level {
		case 2:
			opts = append(opts, s2.WriterBetterCompression())
		case 3:
			opts = append(opts, s2.WriterBestCompression())
		}
		w := s2.NewWriter(io.Discard, opts...)
		r := s2.NewReader(bytes.NewReader(nil))
		c.encode = func(dst, src []byte) ([]byte, error) {
			out := appender{dst}
			w.Reset(&out)
			if _, err := w.Write(src); err != nil {
				return nil, err
			}
			err := w.Close()
			return out.p, err
		}
		c.decode = func(dst, src []byte) ([]byte, error) {
			out := appender{dst}
			r.Reset(bytes.NewReader(src))
			_, err := io.Copy(&out, r)
			return out.p, err
		}
		return c, nil
	})
}

func klauspostGzip(level int) meter {
	return library(func() (c coder, err error) {
		w, err := gzip.NewWriterLevel(io.Discard, level)
		if err != nil {
			return c, err
		}
		c.encode = func(dst, src []byte) ([]byte, error) {
			out := appender{dst}
			w.Reset(&out)
			if _, err := w.Write(src); err != nil {
				return nil, err
			}
			err := w.Close()
			return out.p, err
		}
		r := new(gzip.Reader)
		c.decode = func(dst, src []byte) ([]byte, error) {
			out := appender{dst}
			if err := r.Reset(bytes.NewReader(src)); err != nil {
				return nil, fmt.Errorf("gzip: %w", err)
			}
			_, err := r.WriteTo(&out)
			return out.p, err
		}
		return c, nil
	})
}
