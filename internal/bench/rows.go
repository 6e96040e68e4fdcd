package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/bridge"
)

// gateRow is what a row of the baseline measures.
type gateRow struct {
	mode     string // "cpu" or the name of a device, and "-decompress"
	pipeline string
	level    int
}

const (
	cpuMode      = "cpu"
	decodeSuffix = "-decompress"
)

func (r gateRow) String() string { return fmt.Sprintf("%s %s -%d", r.mode, r.pipeline, r.level) }

// decompress reports whether the row measures decompression.
func (r gateRow) decompress() bool { return strings.HasSuffix(r.mode, decodeSuffix) }

// device returns the name of the row's device, "" for the CPU alone.
func (r gateRow) device() string {
	if name := strings.TrimSuffix(r.mode, decodeSuffix); name != cpuMode {
		return name
	}
	return ""
}

// backends returns the backends of a row for matching and for entropy coding. A GPU gets all it can
// do, so that it is what the row measures. The software device is for the scheduler's overhead with
// backend auto.
func (cfg *gateConfig) backends(r gateRow) (match, entropy gpu.Backend) {
	switch r.device() {
	case "":
		return gpu.BackendCPU, gpu.BackendCPU
	case softDevice:
		return gpu.BackendAuto, gpu.BackendAuto
	}
	use := func(levels []int) gpu.Backend {
		if slices.Contains(levels, r.level) {
			return gpu.BackendGPU
		}
		return gpu.BackendCPU
	}
	w := cfg.work[r.pipeline]
	return use(w.matches), use(w.codes)
}

// wallCounts reports whether wall time counts as processor time does: what a GPU computes takes no
// processor.
func (r gateRow) wallCounts() bool { return r.device() != "" && r.device() != softDevice }

// softDevice is the name of the software device.
const softDevice = "soft"

// gateLevels are the levels of the CPU's rows: a fast finder, the default, and a parser by price.
var gateLevels = []int{1, 4, 7}

// Content of a row in bytes. Both give two workers about two blocks each.
const (
	gateSize      = 16 << 20
	gateSizeDense = 8 << 20 // from level 8 on, whose blocks are as long as 8 MiB
)

// rowSize returns the bytes of content of a row.
func (cfg *gateConfig) rowSize(r gateRow) int64 {
	size := int64(gateSize)
	if r.level >= 8 {
		size = gateSizeDense
	}
	if cfg.size > 0 {
		size = cfg.size
	}
	return min(size, cfg.in.size)
}

// cpuRows returns the rows of the CPU alone.
func (cfg *gateConfig) cpuRows() (rows []gateRow) {
	for _, mode := range []string{cpuMode, cpuMode + decodeSuffix} {
		for _, pipeline := range cfg.pipelines {
			for _, level := range cfg.levels.of("", gateLevels, compress.MinLevel, compress.MaxLevel) {
				rows = append(rows, gateRow{mode, pipeline, level})
			}
		}
	}
	return rows
}

// deviceRows returns the rows of the device: three levels of each pipeline, those first that the
// device matches. It decompresses only what it can decode.
func (cfg *gateConfig) deviceRows() (rows []gateRow, err error) {
	if cfg.device == "" {
		return nil, nil
	}
	cfg.work = map[string]*deviceWork{}
	var decode []gateRow
	for _, pipeline := range cfg.pipelines {
		work, err := cfg.probe(pipeline)
		if err != nil {
			return nil, err
		}
		cfg.work[pipeline] = work
		levels := cfg.levels.of("", work.levels(), compress.MinLevel, compress.MaxLevel)
		for _, level := range levels {
			rows = append(rows, gateRow{cfg.device, pipeline, level})
			if work.decodes {
				decode = append(decode, gateRow{cfg.device + decodeSuffix, pipeline, level})
			}
		}
	}
	return append(rows, decode...), nil
}

// deviceWork is what a device does of a pipeline.
type deviceWork struct {
	matches []int // levels at which it finds matches
	codes   []int // levels at which it codes
	decodes bool
}

// levels returns three levels, in order: those that the device matches if there are any, else those
// that it codes, else the default.
func (w *deviceWork) levels() []int {
	list := w.matches
	if len(list) > 3 {
		list = []int{list[0], list[len(list)/2], list[len(list)-1]}
	}
	list = slices.Clone(list)
	for _, more := range [][]int{w.codes, {6, 1, compress.DefaultLevel}} {
		for i := len(more) - 1; i >= 0 && len(list) < 3; i-- {
			if !slices.Contains(list, more[i]) {
				list = append(list, more[i])
			}
		}
	}
	slices.Sort(list)
	return list
}

// probeLevels are the levels at which a device may match. The finders of the others are the CPU's.
var probeLevels = []int{1, 2, 3, 4, 5, 6, 7}

// probeSize is the content that a device gets at each level to see what it does, in bytes.
const probeSize = 1 << 20

// probe compresses and decompresses a little content at each level and returns what the device
// does.
func (cfg *gateConfig) probe(pipeline string) (*deviceWork, error) {
	sched := compress.NewScheduler(cfg.threads)
	sched.EnableStats(true)
	src := cfg.in.content[:min(probeSize, len(cfg.in.content))]
	// onDevice reports whether the device does a part of code's work. A strict backend is an error
	// for work that the device does not do.
	onDevice := func(code func(compress.Option) error, match, entropy gpu.Backend) (bool, error) {
		sched.ResetStats()
		err := code(compress.WithDevice(cfg.dev, match, entropy))
		if errors.Is(err, gpu.ErrDevice) {
			err = nil
		}
		s := sched.Stats()
		d, _ := sched.DeviceStatus()
		return deviceBlocks(&s) > 0, errors.Join(err, d.Err)
	}
	w := &deviceWork{}
	for _, level := range probeLevels {
		opts := []compress.WriterOption{bridge.Pipeline(pipeline), compress.WithLevel(level),
			compress.WithScheduler(sched)}
		encode := func(o compress.Option) error {
			_, err := compress.AppendEncode(nil, src, append(opts[:3:3], o)...)
			return err
		}
		packed, err := compress.AppendEncode(nil, src, opts...)
		if err != nil {
			return nil, err
		}
		decode := func(o compress.Option) error {
			back, err := compress.AppendDecode(nil, packed, compress.WithScheduler(sched), o)
			if err == nil && !bytes.Equal(back, src) {
				err = errRoundTrip
			}
			return err
		}
		matches, err1 := onDevice(encode, gpu.BackendGPU, gpu.BackendCPU)
		codes, err2 := onDevice(encode, gpu.BackendCPU, gpu.BackendGPU)
		decodes, err3 := onDevice(decode, gpu.BackendCPU, gpu.BackendGPU)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, err
		}
		if matches {
			w.matches = append(w.matches, level)
		}
		if codes {
			w.codes = append(w.codes, level)
		}
		w.decodes = w.decodes || decodes
	}
	return w, nil
}

// openDevice opens the device of --device, if there is to be one.
func (cfg *gateConfig) openDevice() (err error) {
	if cfg.device == "" {
		return nil
	}
	name := cfg.device
	if name == "gpu" {
		name = "" // the best one
	}
	cfg.dev, err = gpu.Open(name)
	if err != nil {
		return fmt.Errorf("%w: --device %s: %w", errNoJudgement, cfg.device, err)
	}
	return nil
}

// closeDevice closes the device, if there is one.
func (cfg *gateConfig) closeDevice() {
	if cfg.dev != nil {
		cfg.dev.Close()
	}
}

// leastSample is the least time of a sample. Shorter ones are mostly noise.
const leastSample = 200 * time.Millisecond

// calibrate sets the iterations of a job so that a sample takes leastSample, and not much longer.
func (j *job) calibrate() error {
	t, err := timed(j.iterate)
	j.iterations = 1 + int(leastSample/max(t.wall, time.Millisecond))
	return err
}

// iterationsOf returns the iterations of a row in the baseline.
func iterationsOf(row map[string]string) int {
	n, _ := strconv.Atoi(row["iterations"])
	return max(n, 1)
}
