package pipeline

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
)

// StageRunner runs single stages of a pipeline outside of a scheduler, for programs that measure
// them. A Run passes blocks through the same stages. It is for one goroutine at a time.
type StageRunner struct {
	run Run // the settings that stages read
	ws  workspace
}

// StageBlock is a block before one of its stages. Any StageRunner of the same settings may run it.
type StageBlock struct {
	b     Block
	stage stage
	// ws is the block's own workspace, nil if the runner's will do. Stages of layout Dense leave more
	// in the workspace than in the block.
	ws         *workspace
	ranges     []byte
	compressed int
}

// NewStageRunner returns a StageRunner. Stages of p for op run at a level, without checks or tuning.
func NewStageRunner(p *Pipeline, op Op, level int) *StageRunner {
	cfg := Config{Pipeline: p, Op: op, Level: level}
	return &StageRunner{run: Run{cfg: cfg, stages: p.stages(op)}}
}

// StageNames returns the names of the stages for op, in order.
func (p *Pipeline) StageNames(op Op) (names []string) {
	for _, s := range p.stages(op) {
		names = append(names, s.name)
	}
	return names
}

// Prepare compresses content and runs all stages before the named one. The first window bytes of src
// come before the content. src must not change while the block is used.
func (r *StageRunner) Prepare(src []byte, window int, stage string) (*StageBlock, error) {
	enc := r
	if r.run.cfg.Op == Decompress {
		enc = NewStageRunner(r.run.cfg.Pipeline, Compress, r.run.cfg.Level)
	}
	s := &StageBlock{b: Block{run: &enc.run, Src: src, Window: window, Raw: len(src) - window}}
	if s.b.dense() {
		s.ws = new(workspace)
	}
	payload := new(payload)
	s.b.payload = payload
	if err := enc.through(s, len(enc.run.stages)); err != nil {
		return nil, err
	}
	s.compressed = len(s.b.dst)
	k := slices.Index(r.run.cfg.Pipeline.StageNames(r.run.cfg.Op), stage)
	if k < 0 {
		return nil, fmt.Errorf("pipeline %s has no stage %q", r.run.cfg.Pipeline.Name, stage)
	}
	if enc != r {
		s.b = Block{run: &r.run, Src: s.b.dst, Raw: s.b.Raw, Kind: Coded, payload: payload}
		switch r.run.cfg.Pipeline.Format {
		case Zstd:
			s.b.Src = appendFrame(nil, s.b.Src, s.b.Raw)
		case Gzip:
			s.b.Serial.Decoder = &pieceDecoder{src: s.b.Src, size: s.b.Raw}
			s.b.Serial.Buf = slices.Grow(slices.Clone(src[:window]), s.b.Raw)
			s.b.Serial.History = window
		}
		if err := r.through(s, k); err != nil {
			return nil, err
		}
	}
	s.stage, s.ranges = r.run.stages[k], payload.ranges
	return s, nil
}

// appendFrame appends a zstd frame of the given blocks: a single segment with its size in four bytes
// (RFC 8878, section 3.1.1.1).
func appendFrame(dst, blocks []byte, size int) []byte {
	dst = append(dst, 0x28, 0xb5, 0x2f, 0xfd, 0xa0)
	return append(binary.LittleEndian.AppendUint32(dst, uint32(size)), blocks...)
}

// pieceDecoder decodes a piece of a Deflate stream by itself. The window before it is in Serial.Buf.
type pieceDecoder struct {
	inflate inflate.Decoder
	src     []byte
	size    int    // of the content in bytes
	sum     uint32 // of the content
}

// Prepare implements container.SerialDecoder. A piece by itself leaves nothing to decode ahead.
func (d *pieceDecoder) Prepare(*container.Serial) {}

func (d *pieceDecoder) Decode(s *container.Serial) {
	d.inflate.Reset()
	end := s.History + d.size
	n, _, err := d.inflate.Decode(s.Buf[:end], s.History, d.src)
	if err == nil && n != d.size {
		err = ErrPayload
	}
	s.Buf, s.Stop = s.Buf[:end], err
}

func (d *pieceDecoder) FinishContent(s *container.Serial) {
	d.sum = crc32.ChecksumIEEE(s.Content())
}

// Verify implements container.SerialDecoder. There is no check to compare with.
func (d *pieceDecoder) Verify(*container.Serial) {}

// through runs the first n stages of a block.
func (r *StageRunner) through(s *StageBlock, n int) error {
	for i := range n {
		if err := r.run.stages[i].run(r.workspace(s), &s.b); err != nil {
			return err
		}
	}
	return nil
}

func (r *StageRunner) workspace(s *StageBlock) *workspace {
	if s.ws != nil {
		return s.ws
	}
	return &r.ws
}

// Run runs the stage of the block once more.
func (r *StageRunner) Run(s *StageBlock) error {
	s.b.payload.ranges = s.ranges // the last stage of decompression drops them
	if err := s.stage.run(r.workspace(s), &s.b); err != nil {
		return err
	}
	return s.b.Serial.Stop
}

// Size returns the size of the content in bytes.
func (s *StageBlock) Size() int { return s.b.Raw }

// Compressed returns the size of the payload in bytes, from all stages of compression.
func (s *StageBlock) Compressed() int { return s.compressed }
