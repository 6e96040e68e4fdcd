package refdec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/mutants"
	"github.com/gopz/compress/internal/section"
)

// A comparer decodes files in every way that the library offers and with the reference decoder.
type comparer struct{ *mutants.Decoders }

func newComparer(t testing.TB) comparer {
	return comparer{mutants.NewDecoders(t, jsonDictionary().option())}
}

// compare decodes a file. fault says what is wrong with the library, "" if nothing is. err is the
// error of the reference decoder.
func (c comparer) compare(r *rand.Rand, file []byte) (fault string, err error) {
	dict := jsonDictionary()
	want := mutants.Decoded{Who: "refdec"}
	want.Content, want.Err = Decode(file, dict.ours)
	got, fault := c.Decode(r, file, len(want.Content))
	if fault == "" {
		fault = mutants.Differ(want, got, false)
	}
	opened := false
	if fault == "" {
		opened, fault = c.readAt(r, file, want)
	}
	if fault == "" {
		fault = c.recovers(file, want, r.IntN(2) == 0, !opened && allChecked(file))
	}
	if fault == "" {
		fault = c.Bounded(file, int64(r.IntN(len(want.Content)+2)), r.IntN(8) == 0)
	}
	return fault, want.Err
}

// readAt decodes with a ReaderAt. want is what the reference decoder makes of the file. opened
// reports whether the file has an index.
func (c comparer) readAt(
	r *rand.Rand, file []byte, want mutants.Decoded,
) (opened bool, fault string) {
	src, size := bytes.NewReader(file), int64(len(file))
	info, err := compress.ReadInfo(src, size, nil, c.Options(c.One)...)
	z, openErr := compress.NewReaderAt(src, size, c.Options(c.Eight)...)
	switch length := int64(len(want.Content)); {
	case (err == nil) != (openErr == nil),
		err != nil && !(mutants.IsTyped(err) && mutants.IsTyped(openErr)):
		return false, fmt.Sprintf("ReadInfo: %v; NewReaderAt: %v", err, openErr)
	case want.Err == nil && (err != nil && footersFit(file) || err == nil && info.Content != length):
		return false, fmt.Sprintf("ReadInfo: %d bytes of content, %v; want %d", info.Content, err, length)
	case openErr != nil:
		return false, ""
	}
	defer z.Close()
	var b bytes.Buffer
	_, err = z.WriteTo(&b)
	if err == nil && want.Err != nil && bytes.Contains(file, []byte(section.PacketMagic)) &&
		bytes.HasPrefix(b.Bytes(), want.Content) {
		// A ReaderAt passes over a damaged section of parity, where the reference decoder ends.
		want.Content, want.Err = b.Bytes(), nil
	}
	if (err == nil) != (want.Err == nil) || err != nil && !mutants.IsTyped(err) ||
		err == nil && !bytes.Equal(b.Bytes(), want.Content) {
		return true, fmt.Sprintf("ReaderAt: %d bytes, %v; refdec: %d bytes, %v",
			b.Len(), err, len(want.Content), want.Err)
	}
	if z.Size() > 8*maxRaw {
		return true, ""
	}
	return true, mutants.ReadParts(r, z, want)
}

// footersFit reports whether the footers of all sections fit their headers. Only those who read a
// file from its end need that.
func footersFit(file []byte) bool {
	for at := 0; at < len(file); {
		n := 0
		if rest := file[at:]; isSection(rest) {
			if _, n = parseSection(rest); n > 0 {
				end := le.AppendUint64(nil, uint64(n))
				end = append(le.AppendUint32(end, crc(end)), "PZSE"...)
				if !bytes.HasSuffix(rest[:n], end) {
					return false
				}
			}
		} else if isSmall(rest) {
			_, n = parseSmallPiece(rest)
		} else {
			_, n = parseStream(rest)
		}
		if n == 0 {
			break
		}
		at += n
	}
	return true
}

// allChecked reports whether all streams of a file have content checks.
func allChecked(file []byte) bool {
	for _, p := range parseTree(file) {
		if p.kind != sectionPiece && p.flags&flagContentChecks == 0 {
			return false
		}
	}
	return true
}

// recovers saves the content of a file with Recover. All blocks in front of the damage are saved if
// searched says that there is no index to contradict them. Zeros may stand in front of them, for a
// block that an index lists and the file does not have.
func (c comparer) recovers(file []byte, want mutants.Decoded, zeros, searched bool) string {
	got := c.Recover(file, zeros)
	if want.Err == nil && !footersFit(file) {
		// A decoder from the front passes over sections, and over what is inside them.
		got.Damage = slices.DeleteFunc(got.Damage, func(d compress.Damage) bool {
			return d.Kind != compress.DamageBlocks
		})
	}
	fault := got.Check(want)
	if fault == "" && got.Err == nil && !bytes.HasPrefix(got.Content, want.Content) &&
		(searched && !zeros || len(got.Damage) == 0) {
		fault = fmt.Sprintf("Recover, zeros %v: %d bytes, and not the first %d", zeros,
			len(got.Content), len(want.Content))
	}
	return fault
}
