package peertest_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/mutants"
	"github.com/gopz/compress/internal/zstfile"
)

// zstBases returns small files of the Writer and of the peer.
func zstBases(t testing.TB) (list [][]byte) {
	for i, kind := range mutantKinds {
		content := corpus.ByName(kind).Make(3000)
		for _, level := range []int{1, 5, 9} {
			list = append(list,
				encodeFile(t, content, compress.WithFormat(compress.Zstd), compress.WithLevel(level)))
		}
		list = append(list,
			encodeFile(t, slices.Concat(content, content), compress.WithFormat(compress.Zstd),
				compress.WithBlockSize(testBlock), compress.WithChecksum(i%2 == 0)),
			encodeFile(t, slices.Concat(content, content), compress.WithFormat(compress.Zstd),
				compress.WithSeekable(testBlock), compress.WithChecksum(i%2 == 0)),
			zstdEncoder(t, kzstd.SpeedDefault).EncodeAll(content, nil),
			zstdStream(t, content, 700, kzstd.WithEncoderLevel(kzstd.EncoderLevel(1+i%4)),
				kzstd.WithWindowSize(1<<10)))
	}
	return list
}

// zstCheck compares what decoders make of a .zst file.
func zstCheck(d *mutants.Decoders, file []byte, seed uint64) (fault string, v mutants.Verdict) {
	r := rand.New(rand.NewPCG(seed, 1))
	content, err := zstLimited.DecodeAll(file, zstRoom)
	if errors.Is(err, kzstd.ErrDecoderSizeExceeded) {
		return d.Bounded(file, mutants.ContentLimit, true), mutants.Large
	}
	peer := mutants.Decoded{Who: "the peer", Content: bytes.Clone(content), Err: err}
	got, fault := d.Decode(r, file, len(peer.Content))
	if fault != "" {
		return fault, mutants.Outside
	}
	if fault := zstDiffer(d, r, file, peer, got); fault != "" {
		return fault, mutants.Outside
	}
	fault = checkReadAt(d, r, file, got)
	if fault != "" && isAboutSums(file, fault) {
		fault = allow("checksums of a table")
	}
	if fault == "" {
		fault = zstRecover(d, r, file, got)
	}
	if fault == "" {
		fault = d.Bounded(file, int64(r.IntN(len(got.Content)+2)), r.IntN(8) == 0)
	}
	return fault, verdictOf(got.Err)
}

// zstDiffer says how the peer and the library disagree on a file, "" if they may.
func zstDiffer(d *mutants.Decoders, r *rand.Rand, file []byte, peer, got mutants.Decoded) string {
	for _, x := range zstLooser {
		if peer.Err != nil && got.Err == nil && strings.Contains(peer.Err.Error(), x.reason) {
			return allow(x.name)
		}
	}
	fault := samePart(peer, got)
	switch {
	case fault != "" || peer.Err != nil || got.Err == nil:
		return fault
	case len(file) == 0: // the peer takes it for a file without content
		return allow("no bytes")
	}
	n := len(peer.Content)
	for _, x := range zstStricter {
		mended, _ := d.Decode(r, x.mend(file), n)
		if x.reason == "" && mended.Err == nil && bytes.Equal(mended.Content, peer.Content) ||
			x.reason != "" && mended.Err != nil && strings.Contains(mended.Err.Error(), x.reason) {
			return allow(x.name)
		}
	}
	return mutants.Differ(peer, got, false)
}

// zstLooser is what the peer says of files that it refuses and the library accepts.
var zstLooser = []struct{ name, reason string }{
	// A window of more than 1 TiB. The library needs no memory for it if there is less content.
	{"large window", "window size exceeded"},
	// A compressed block that is larger than the window, with content that is not. zstd accepts it.
	{"large block", "compressed size too big"},
	// Four streams of literals of which the last ones are empty. zstd accepts it.
	{"empty streams", "corruption detected (remaining"},
	// A table with an offset code of 31. zstd accepts it.
	{"offset code 31", "symbolLen (32) too big"},
}

// zstStricter is what the library refuses and the peer accepts. mend changes this in a file. The
// library must then decode the content that the peer has, or still refuse the file for a reason.
var zstStricter = []struct {
	name   string
	mend   func(file []byte) []byte
	reason string // "" if it must decode the file
}{
	// The peer takes offsets and blocks beyond the window, as long as there is content.
	{"small window", func(file []byte) []byte { return mendZst(file, true, false) }, ""},
	// The peer does not read seek tables.
	{"seek table", func(file []byte) []byte { return mendZst(file, false, true) }, ""},
	{"small window and seek table", mendAll, ""},
	// A repeat offset of 1, less 1. The peer makes it 1, as zstd 1.5.4 does. The format forbids it.
	{"offset 0", mendAll, "offset beyond the content"},
	// Fewer than six literals in four streams. zstd 1.5.4 refuses them too.
	{"few literals", mendAll, "too short for four streams"},
}

func mendAll(file []byte) []byte { return mendZst(file, true, true) }

// mendZst makes all windows 8 MiB, or leaves out seek tables, also those with a damaged footer.
func mendZst(file []byte, widen, leaveOut bool) (mended []byte) {
	for len(file) > 0 {
		p, n := parseZstFrame(file)
		switch {
		case n > 0:
			frame := bytes.Clone(file[:n])
			if widen && !p.single {
				frame[5] = 13 << 3
			}
			mended = append(mended, frame...)
		default:
			p, n = parseSkippable(file)
			if n == 0 {
				return append(mended, file...)
			}
			if !leaveOut || p.number != zstfile.SeekTableKind {
				mended = append(mended, file[:n]...)
			}
		}
		file = file[n:]
	}
	return mended
}

// zstRecover saves the content of a file with Recover. got is what the library makes of it.
func zstRecover(d *mutants.Decoders, r *rand.Rand, file []byte, got mutants.Decoded) string {
	saved := d.Recover(file, r.IntN(2) == 0)
	if got.Err == nil { // a Reader does not need a seek table
		saved.Damage = slices.DeleteFunc(saved.Damage, func(x compress.Damage) bool {
			return x.Kind == compress.DamageFrame && strings.Contains(x.Err.Error(), "seek table")
		})
	}
	fault := saved.Check(got)
	switch {
	case fault == "":
		return ""
	case errors.Is(saved.Err, compress.ErrNoIndex), saved.Err == nil && lacksSizes(file):
		return allow("frames that are not recovered")
	case isAboutSums(file, fault):
		return allow("checksums of a table")
	}
	return fault
}

// lacksSizes reports whether a frame does not state the size of its content. Such a frame is not
// recovered.
func lacksSizes(file []byte) bool {
	return slices.ContainsFunc(parseZst(file), func(p zstPart) bool {
		return p.kind == framePart && p.sizeCode == 0 && !p.single
	})
}

// isAboutSums reports whether a fault is one of the checksums of a seek table, and a frame or
// another table of the file has none. A Reader compares them only if all frames have checksums, and
// a ReaderAt if all tables have them.
func isAboutSums(file []byte, fault string) bool {
	list := parseZst(file)
	return (strings.Contains(fault, "checksum") || strings.Contains(fault, "seek table")) &&
		slices.ContainsFunc(list, func(p zstPart) bool { return p.kind == tablePart && p.sums }) &&
		slices.ContainsFunc(list, func(p zstPart) bool {
			return p.kind == framePart && !p.checksum || p.kind == tablePart && !p.sums
		})
}
