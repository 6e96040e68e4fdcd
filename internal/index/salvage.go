package index

import (
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

// DamageKind says what damage has done.
type DamageKind uint8

// The kinds of damage.
const (
	DamageBlocks  DamageKind = iota // blocks are lost, and their number is known
	DamageUnknown                   // any number of blocks is lost, or none
	DamageFrame                     // something else is damaged or misplaced; no content is lost
	DamageWindow                    // bytes are lost that are copies of lost content
	DamageCheck                     // content has no check, or a wrong one
)

// String returns "blocks", "unknown", "frame", "window" or "check".
func (k DamageKind) String() string {
	switch k {
	case DamageBlocks:
		return "blocks"
	case DamageFrame:
		return "frame"
	case DamageWindow:
		return "window"
	case DamageCheck:
		return "check"
	}
	return "unknown"
}

// A Gap is damage that a search has found in front of a block.
type Gap struct {
	Before int64 // number of the block in the index

	Kind    DamageKind
	Stream  int   // number of the stream
	Block   int64 // number in the stream of the first block lost, or of the next one
	Blocks  int64 // how many are lost in a row, with DamageBlocks
	Content int64 // bytes of content lost, −1 if unknown
	Span    int64 // bytes of content concerned, with DamageWindow and DamageCheck
	Err     error

	// Offset and Size are of a part of a .zst file, Size 0 if there is none. It begins with a frame
	// that is no block, but can be decoded from the front, at least in part. Without Err it is a
	// whole frame.
	Offset, Size int64
}

const (
	// gapMemory is the memory of a Gap with its error, in bytes.
	gapMemory = 256

	// maxGaps is the most gaps without a block between them. Further gaps are merged into the last
	// one, but for those with a part that can be decoded.
	maxGaps = 64

	// maxTried bounds the bytes of blocks, and of their content, that a search decodes and that are
	// not intact, as a multiple of the file's size: what looks like blocks may overlap. minTried
	// bytes it may always decode.
	maxTried = 4
	minTried = 64 << 20
)

// A Salvage collects the blocks that a search through a damaged file finds, and the gaps between
// them. Blocks that follow one another make a row, and each row becomes a Stream of File.
type Salvage struct {
	Src    io.ReaderAt
	Limits *container.Limits
	Size   int64 // of the file; less if a read shows that the file has become shorter
	File   *File
	Gaps   []Gap
	Extra  int64 // memory that the search takes besides File and Gaps, in bytes

	Err     error // ends the search: the context has ended, or memory has
	Found   bool  // the header of a stream or a block has been found
	NewRow  bool  // the next block begins a row
	ReadErr error // of the last read that failed; it becomes the Err of the next gap

	tried int64 // bytes of blocks that were decoded, and of their content, and were not intact
}

// Peek reads up to len(p) bytes at off: fewer at the end of the file, and none once the search is
// over. Bytes that cannot be read are given as zeros, which no header of any format contains.
func (s *Salvage) Peek(p []byte, off int64) []byte {
	p = p[:max(0, min(int64(len(p)), s.Size-off))]
	if len(p) == 0 || s.canceled() != nil {
		return nil
	}
	n, err := container.ReadAround(s.Src, p, off, func(_, _ int, err error) error {
		s.ReadErr = err
		return s.canceled()
	})
	if err != nil {
		return nil
	}
	if n < len(p) { // the file has become shorter
		s.Size = off + int64(n)
	}
	return p[:n]
}

// EndAtOther ends the search at an offset if a file of another format than own begins there, and
// reports whether it did.
func (s *Salvage) EndAtOther(off int64, own container.Format) bool {
	var p [container.DetectSize]byte
	f, ok, _ := container.Detect(s.Peek(p[:], off))
	if !ok || f == own {
		return false
	}
	s.Size = off
	return true
}

// canceled returns the error that ends the search, if there is one.
func (s *Salvage) canceled() error {
	if s.Err == nil {
		s.Err = s.Limits.Canceled()
	}
	return s.Err
}

// AddGap notes a gap in front of the next block.
func (s *Salvage) AddGap(g Gap) {
	g.Before = int64(len(s.File.Blocks))
	s.NewRow = true
	n := len(s.Gaps)
	if n >= maxGaps && s.Gaps[n-maxGaps].Before == g.Before && g.Size == 0 && s.Gaps[n-1].Size == 0 {
		last := &s.Gaps[n-1]
		last.Kind, last.Blocks, last.Content = DamageUnknown, 0, -1
		return
	}
	s.Gaps = append(s.Gaps, g)
	s.Account()
}

// AddBlock appends a block. newRow makes the stream for it if it begins a row.
func (s *Salvage) AddBlock(b Block, newRow func() Stream) {
	f := s.File
	if s.NewRow {
		st := newRow()
		st.First = int64(len(f.Blocks))
		f.Streams = append(f.Streams, st)
		s.NewRow = false
	}
	b.Content = f.Content
	f.Blocks = append(f.Blocks, b)
	f.Streams[len(f.Streams)-1].Blocks++
	f.Content += int64(b.Raw)
	s.ReadErr, s.Found = nil, true
	s.Account()
}

// Memory returns the bytes that the blocks and the gaps found so far take, and Extra.
func (s *Salvage) Memory() int64 {
	return s.File.Memory(int64(len(s.File.Blocks))) + gapMemory*int64(len(s.Gaps)) + s.Extra
}

// Account ends the search if there is too much to keep. A slice that grows exists twice.
func (s *Salvage) Account() { s.AccountFor(0) }

// AccountFor is Account for more additional bytes.
func (s *Salvage) AccountFor(more int64) {
	if limit := s.Limits.Memory(); 3*(s.Memory()+more) > limit {
		s.Err = errs.OutOfMemory(0,
			"too many blocks, or too much damage, for the limit of %d bytes", limit)
	}
}

// Intact reports whether decode returns true. That decodes a block, so many bytes with its content.
// If the search has decoded too much, Intact is false. What is intact costs nothing. An error of
// decode ends the search.
func (s *Salvage) Intact(cost int64, decode func() (bool, error)) bool {
	if s.Spent() {
		return false
	}
	ok, err := decode()
	if err != nil {
		s.Err = err
	}
	if !ok {
		s.tried += cost
	}
	return ok
}

// Spent reports whether the search has decoded too much to decode more.
func (s *Salvage) Spent() bool { return s.tried > minTried+maxTried*s.Size }
