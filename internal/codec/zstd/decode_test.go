package zstd

import (
	"errors"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/codec/huffman"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// parser splits frames into sequences and literals with the decoders of huffman and fse. Its input
// must be valid; otherwise it may panic.
type parser struct {
	lits    []byte
	seqs    []lz77.Sequence
	run     uint32 // number of literals behind the last sequence
	repeats [3]uint32
	huff    huffman.LiteralDecoder
	tables  [kinds]fse.DecTable
}

// frame parses the frame at the front of p and returns its size.
func (d *parser) frame(p []byte) (int, error) {
	at := headerSize(p)
	d.repeats = [3]uint32{1, 4, 8}
	for last := false; !last; {
		head := int(p[at]) | int(p[at+1])<<8 | int(p[at+2])<<16
		last = head&1 != 0
		at += 3
		n := head >> 3
		switch head >> 1 & 3 {
		case rawBlock:
			d.literals(p[at : at+n])
			at += n
		case rleBlock:
			for range n {
				d.literals(p[at : at+1])
			}
			at++
		default:
			if err := d.block(p[at : at+n]); err != nil {
				return 0, err
			}
			at += n
		}
	}
	if p[4]&(1<<2) != 0 {
		at += 4
	}
	return at, nil
}

// headerSize returns the size of a frame header.
func headerSize(p []byte) int {
	n := 5 + [...]int{0, 1, 2, 4}[p[4]&3] + [...]int{0, 2, 4, 8}[p[4]>>6]
	if p[4]&(1<<5) == 0 || p[4]>>6 == 0 {
		n++ // window, or a content size of one byte
	}
	return n
}

func (d *parser) literals(p []byte) {
	d.lits = append(d.lits, p...)
	d.run += uint32(len(p))
}

func (d *parser) block(p []byte) error {
	var b blockInfo
	b.read(p)
	kind, format := int(p[0]&3), int(p[0]>>2&3)
	lits := make([]byte, b.regenerated)
	if kind == rawLiterals || kind == rleLiterals {
		p = p[[...]int{1, 2, 1, 3}[format]:]
		for i := range lits {
			lits[i] = p[i%b.coded]
		}
		p = p[b.coded:]
	} else {
		p = p[max(3, format+2):]
		code := p[:b.coded]
		p = p[b.coded:]
		if kind == compressedLiterals {
			n, err := d.huff.Read(code)
			if err != nil {
				return err
			}
			code = code[n:]
		}
		decode := d.huff.Decode4
		if b.streams == 1 {
			decode = d.huff.Decode1
		}
		if err := decode(lits, code); err != nil {
			return err
		}
	}
	left, err := d.sequences(p, &b, lits)
	d.literals(left)
	return err
}

// readTables reads the tables of a sequences section and returns the bit stream behind them.
func (d *parser) readTables(p []byte, b *blockInfo) ([]byte, error) {
	for k, mode := range b.modes {
		switch mode {
		case predefinedMode:
			d.tables[k].Build(&kindOf[k].predefined().dist)
		case rleMode:
			d.tables[k].BuildSymbol(p[0])
			p = p[1:]
		case compressedMode:
			var dist fse.Distribution
			maxCode := [...]int{maxLitCode, maxOffCode, maxMatchCode}[k]
			n, err := dist.Read(p, kindOf[k].maxLog, maxCode+1)
			if err != nil {
				return nil, err
			}
			d.tables[k].Build(&dist)
			p = p[n:]
		}
	}
	return p, nil
}

// offset returns the offset of an offset value and updates the repeat offsets (RFC 8878, section
// 3.1.1.5).
func (d *parser) offset(value, lit uint32) uint32 {
	r := &d.repeats
	off := value - 3
	if value <= 3 {
		if lit == 0 {
			value++
		}
		off = r[min(value, 3)-1]
		if value == 4 {
			off = r[0] - 1
		}
	}
	switch value {
	case 1:
	case 2:
		*r = [3]uint32{r[1], r[0], r[2]}
	default:
		*r = [3]uint32{off, r[0], r[1]}
	}
	return off
}

// sequences parses a sequences section and returns the literals behind the last one.
func (d *parser) sequences(p []byte, b *blockInfo, lits []byte) ([]byte, error) {
	switch {
	case b.seqs == 0:
		return lits, nil
	case p[0] < 128:
		p = p[2:]
	case p[0] < 255:
		p = p[3:]
	default:
		p = p[4:]
	}
	p, err := d.readTables(p, b)
	if err != nil {
		return nil, err
	}
	at := 8*len(p) - bits.LeadingZeros8(p[len(p)-1]) - 1
	take := func(n uint) (v uint32) {
		for range n {
			at--
			v = v<<1 | uint32(p[at>>3]>>(at&7)&1)
		}
		return v
	}
	var state [kinds]uint32
	for k := range state {
		state[k] = take(d.tables[k].Log())
	}
	for i := range b.seqs {
		var code [kinds]uint8
		var base [kinds]uint32
		var n [kinds]uint
		for k := range state {
			code[k], base[k], n[k] = d.tables[k].Symbol(state[k])
		}
		value := 1<<code[offsets] | take(uint(code[offsets]))
		match := firstLength(matchBits[:], code[matchLens]) + MinMatch
		match += take(uint(matchBits[code[matchLens]]))
		lit := firstLength(litBits[:], code[litLens]) + take(uint(litBits[code[litLens]]))
		if i+1 < b.seqs {
			for _, k := range []int{litLens, matchLens, offsets} {
				state[k] = base[k] + take(n[k])
			}
		}
		off := d.offset(value, lit)
		d.literals(lits[:lit])
		lits = lits[lit:]
		d.seqs = append(d.seqs, lz77.Sequence{LitLen: d.run, MatchLen: match, Offset: off})
		d.run = 0
	}
	if at != 0 {
		return nil, errors.New("bits left over")
	}
	return lits, nil
}

// firstLength returns the smallest number with the given code.
func firstLength(extra []uint8, code uint8) (n uint32) {
	for _, b := range extra[:code] {
		n += 1 << b
	}
	return n
}

// TestParser parses our output and compares it with the input.
func TestParser(t *testing.T) {
	var e Encoder
	for _, k := range corpus.Kinds() {
		src := k.Make(MaxBlock + 5000)
		blocks := e.Append(nil, src, greedy(src))
		var d parser
		p := frame(len(src), blocks)
		n, err := d.frame(p)
		if err != nil || n != len(p) || string(expand(d.lits, d.seqs)) != string(src) {
			t.Errorf("%s: %d of %d bytes, %v", k.Name, n, len(p), err)
		}
	}
}

// TestAgainstZstd parses the output of the zstd command and encodes the same sequences. The result
// must not be larger, except where blocks are cut elsewhere.
func TestAgainstZstd(t *testing.T) {
	path := testenv.Tool(t, "zstd")
	name := filepath.Join(t.TempDir(), "src")
	e := Encoder{Thorough: true}
	for _, k := range corpus.Kinds() {
		for _, size := range []int{3000, 400_000} {
			for _, level := range []string{"-1", "-3", "-19"} {
				src := k.Make(size)
				if size > MaxBlock && level == "-19" && !testenv.All() {
					continue
				}
				if err := os.WriteFile(name, src, 0o600); err != nil {
					t.Fatal(err)
				}
				file, err := exec.Command(path, "-c", "--no-check", level, name).Output()
				if err != nil {
					t.Fatal(err)
				}
				var d parser
				if n, err := d.frame(file); err != nil || n != len(file) {
					t.Fatalf("%s %s: %d of %d bytes, %v", k.Name, level, n, len(file), err)
				}
				ours := len(check(t, &e, src, d.seqs))
				theirs := len(file) - headerSize(file)
				t.Logf("%s, %d bytes, zstd %s: %d bytes, ours %+.2f%%",
					k.Name, size, level, theirs, 100*float64(ours-theirs)/float64(theirs))
				if ours > theirs+theirs*6/1000+4 {
					t.Errorf("%s, %d bytes, zstd %s: %d bytes, ours %d",
						k.Name, size, level, theirs, ours)
				}
			}
		}
	}
}
