package refdec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"

	"github.com/gopz/compress"
	"github.com/gopz/compress/simd"
)

// Limits of memory and content for files whose content is too long for the reference decoder.
const (
	memoryLimit  = 16 << 20
	contentLimit = 4 << 20
)

// A comparer decodes files in every way that the library offers and with the reference decoder.
type comparer struct {
	one, eight *compress.Scheduler
	tiers      []string
	// Memory between pages that cannot be accessed, for the file and for its content.
	file, room []byte
}

func newComparer(file, room []byte) *comparer {
	return &comparer{
		one: compress.NewScheduler(1), eight: compress.NewScheduler(8),
		tiers: simd.Tiers(), file: file, room: room,
	}
}

// options returns options. Without others there is memory for all that a header may state. Decoders
// allocate in proportion to the file.
func (c *comparer) options(s *compress.Scheduler, more ...compress.Option) []compress.Option {
	list := []compress.Option{
		compress.WithScheduler(s), jsonDictionary().option(), compress.WithMaxMemory(1 << 40),
	}
	return append(list, more...)
}

// A decoded is what a decoder makes of a file.
type decoded struct {
	who     string
	content []byte
	err     error
}

// differ says how two decoders disagree, "" if they agree. Decoders of the library must have the
// same error.
func differ(a, b decoded, sameError bool) string {
	if (a.err == nil) != (b.err == nil) || sameError && a.err != nil && a.err.Error() != b.err.Error() ||
		!bytes.Equal(a.content, b.content) {
		return fmt.Sprintf("%s: %d bytes, %v; %s: %d bytes, %v",
			a.who, len(a.content), a.err, b.who, len(b.content), b.err)
	}
	return ""
}

// compare decodes a file. fault says what is wrong with the library, "" if nothing is. err is the
// error of the reference decoder.
func (c *comparer) compare(r *rand.Rand, file []byte) (fault string, err error) {
	dict := jsonDictionary()
	want := decoded{who: "refdec"}
	want.content, want.err = Decode(file, dict.ours)
	first := c.appendDecode(file, c.tiers[len(c.tiers)-1], len(want.content), r)
	if fault := differ(want, first, false); fault != "" {
		return fault, want.err
	}
	for _, tier := range c.tiers[:len(c.tiers)-1] {
		if fault := differ(first, c.appendDecode(file, tier, len(want.content), r), true); fault != "" {
			return fault, want.err
		}
	}
	for _, s := range []*compress.Scheduler{c.one, c.eight} {
		if fault := differ(first, c.read(file, s), true); fault != "" {
			return fault, want.err
		}
	}
	opened, fault := c.readAt(r, file, want)
	if fault == "" {
		fault = c.recovers(file, want, r.IntN(2) == 0, !opened && allChecked(file))
	}
	if fault == "" {
		fault = c.bounded(file, int64(r.IntN(len(want.content)+2)), r.IntN(8) == 0)
	}
	return fault, want.err
}

// appendDecode decodes with a tier of kernels, from guarded memory to guarded memory. The content
// may have room for more than n bytes, for as many, or for fewer.
func (c *comparer) appendDecode(file []byte, tier string, n int, r *rand.Rand) decoded {
	defer simd.SetTier(simd.SetTier(tier))
	if len(file) <= len(c.file) {
		in := c.file[len(c.file)-len(file):]
		if r.IntN(4) == 0 {
			in = c.file[:len(file)]
		}
		copy(in, file)
		file = in[:len(file):len(file)]
	}
	var dst []byte
	if n += []int{0, 0, 1, 100, -1, -n / 2}[r.IntN(6)]; n >= 0 && n <= len(c.room) {
		dst = c.room[len(c.room)-n:][:0:n]
	}
	got, err := compress.AppendDecode(dst, file, c.options(c.eight)...)
	return decoded{"AppendDecode with " + tier + " kernels", bytes.Clone(got), err}
}

// read decodes with a Reader.
func (c *comparer) read(file []byte, s *compress.Scheduler, more ...compress.Option) decoded {
	who := fmt.Sprintf("Reader with %d workers", s.Workers())
	z, err := compress.NewReader(io.MultiReader(bytes.NewReader(file)), c.options(s, more...)...)
	if err != nil {
		return decoded{who, nil, err}
	}
	defer z.Close()
	var b bytes.Buffer
	_, err = z.WriteTo(&b)
	return decoded{who, b.Bytes(), err}
}

// readAt decodes with a ReaderAt. want is what the reference decoder makes of the file. opened reports
// whether the file has an index.
func (c *comparer) readAt(r *rand.Rand, file []byte, want decoded) (opened bool, fault string) {
	src, size := bytes.NewReader(file), int64(len(file))
	info, err := compress.ReadInfo(src, size, c.options(c.one)...)
	z, openErr := compress.NewReaderAt(src, size, c.options(c.eight)...)
	switch length := int64(len(want.content)); {
	case (err == nil) != (openErr == nil) || err != nil && !(isTyped(err) && isTyped(openErr)):
		return false, fmt.Sprintf("ReadInfo: %v; NewReaderAt: %v", err, openErr)
	case want.err == nil && (err != nil && footersFit(file) || err == nil && info.Content != length):
		return false, fmt.Sprintf("ReadInfo: %d bytes of content, %v; want %d", info.Content, err, length)
	case openErr != nil:
		return false, ""
	}
	defer z.Close()
	var b bytes.Buffer
	_, err = z.WriteTo(&b)
	if (err == nil) != (want.err == nil) || err != nil && !isTyped(err) ||
		err == nil && !bytes.Equal(b.Bytes(), want.content) {
		return true, fmt.Sprintf("ReaderAt: %d bytes, %v; refdec: %d bytes, %v",
			b.Len(), err, len(want.content), want.err)
	}
	if z.Size() > 8*maxRaw {
		return true, ""
	}
	return true, readParts(r, z, want)
}

// readParts reads random parts of the content.
func readParts(r *rand.Rand, z *compress.ReaderAt, want decoded) string {
	for range 3 {
		from := r.Int64N(z.Size() + 1)
		p := make([]byte, r.Int64N(z.Size()-from+2))
		n, err := z.ReadAt(p, from)
		short := n < len(p) && err == nil
		if short || err != nil && err != io.EOF && !isTyped(err) {
			return fmt.Sprintf("ReadAt(%d bytes, %d): %d, %v", len(p), from, n, err)
		}
		if want.err == nil && (err != nil && err != io.EOF ||
			!bytes.Equal(p[:n], want.content[from:min(int(from)+len(p), len(want.content))])) {
			return fmt.Sprintf("ReadAt(%d bytes, %d): %d, %v, or wrong content", len(p), from, n, err)
		}
	}
	return ""
}

// isTyped reports whether an error says where the input is wrong.
func isTyped(err error) bool {
	var e *compress.Error
	return errors.As(err, &e) && !errors.Is(err, compress.ErrInternal)
}

// footersFit reports whether the footers of all sections fit their headers. Only those who read a file
// from its end need that.
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

// recovers saves the content of a file with Recover. An intact file has no damage. Of another one,
// all blocks that are in front of the damage are saved if searched says that there is no index to
// contradict them.
func (c *comparer) recovers(file []byte, want decoded, zeros, searched bool) string {
	var b bytes.Buffer
	damage := 0
	err := compress.Recover(&b, bytes.NewReader(file), int64(len(file)), func(compress.Damage) error {
		damage++
		return nil
	}, c.options(c.eight, compress.WithZeroFill(zeros), compress.WithMaxDecodedSize(contentLimit))...)
	switch {
	case err != nil && !isTyped(err):
		return fmt.Sprintf("Recover: %v", err)
	case want.err == nil && (err != nil || damage > 0 || !bytes.Equal(b.Bytes(), want.content)):
		return fmt.Sprintf("Recover: %d bytes, %d of damage, %v; refdec: %d bytes",
			b.Len(), damage, err, len(want.content))
	case err == nil && !bytes.HasPrefix(b.Bytes(), want.content) && (searched || damage == 0):
		return fmt.Sprintf("Recover, zeros %v: %d bytes, and not the first %d", zeros, b.Len(),
			len(want.content))
	case err == nil && want.err != nil && damage == 0:
		return fmt.Sprintf("Recover: no damage; refdec: %v", want.err)
	}
	return ""
}

// bounded decodes with limits of memory and content. If measured is set, what it allocates must be in
// proportion. Counting that stops all goroutines, which takes long.
func (c *comparer) bounded(file []byte, most int64, measured bool) string {
	limits := []compress.Option{compress.WithMaxMemory(memoryLimit), compress.WithMaxDecodedSize(most)}
	opts := c.options(c.eight, limits...)
	var before, after runtime.MemStats
	if measured {
		runtime.ReadMemStats(&before)
	}
	got, err := compress.AppendDecode(nil, file, opts...)
	if measured {
		runtime.ReadMemStats(&after)
	}
	if err != nil && !isTyped(err) || int64(len(got)) > most {
		return fmt.Sprintf("AppendDecode: %d bytes of at most %d, %v", len(got), most, err)
	}
	reader := c.read(file, c.eight, limits...)
	if fault := differ(decoded{"AppendDecode", got, err}, reader, true); fault != "" {
		return "with limits: " + fault
	}
	// The result grows by doubling, which allocates up to three times its size.
	took := int64(after.TotalAlloc - before.TotalAlloc)
	if limit := int64(2*memoryLimit + 3*cap(got) + 8*len(file)); took > limit {
		return fmt.Sprintf("AppendDecode: %d bytes allocated, %d bytes of content, %v", took, len(got), err)
	}
	return ""
}
