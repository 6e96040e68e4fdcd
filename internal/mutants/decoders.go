package mutants

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/simd"
)

const (
	// memoryLimit is the limit of memory of Bounded, in bytes.
	memoryLimit = 16 << 20
	// ContentLimit is the most content in bytes that Bounded decodes of a file with too much
	// content to compare, and that Recovers saves.
	ContentLimit = 4 << 20
	// roomSize is the size of guarded memory, in bytes.
	roomSize = 1 << 17
)

// Decoders decode files in every way that the library offers. They are for one goroutine.
type Decoders struct {
	One, Eight *compress.Scheduler
	options    []compress.ReaderOption
	tiers      []string
	// Memory between pages that cannot be accessed, for the file and for its content.
	file, room []byte
}

// NewDecoders returns Decoders with options, until the end of the test. Without a limit among them
// there is memory for all that a header may state. Decoders allocate in proportion to the file.
func NewDecoders(t testing.TB, opts ...compress.ReaderOption) *Decoders {
	return &Decoders{
		One: compress.NewScheduler(1), Eight: compress.NewScheduler(8),
		options: append([]compress.ReaderOption{compress.WithMaxMemory(1 << 40)}, opts...),
		tiers:   simd.Tiers(), file: testenv.Guarded(t, roomSize), room: testenv.Guarded(t, roomSize),
	}
}

// Options returns the options, with a scheduler and with more options.
func (d *Decoders) Options(s *compress.Scheduler, more ...compress.ReaderOption) []compress.ReaderOption {
	list := append([]compress.ReaderOption{compress.WithScheduler(s)}, d.options...)
	return append(list, more...)
}

// A Decoded is what a decoder makes of a file.
type Decoded struct {
	Who     string
	Content []byte
	Err     error
}

// Differ says how two decoders disagree, "" if they agree. Decoders of the library must have the
// same error.
func Differ(a, b Decoded, sameError bool) string {
	if (a.Err == nil) != (b.Err == nil) || sameError && a.Err != nil && a.Err.Error() != b.Err.Error() ||
		!bytes.Equal(a.Content, b.Content) {
		return fmt.Sprintf("%s: %d bytes, %v; %s: %d bytes, %v",
			a.Who, len(a.Content), a.Err, b.Who, len(b.Content), b.Err)
	}
	return ""
}

// Decode decodes a file with AppendDecode and the best kernels, with those of all other tiers, and
// with Readers. They must agree. The content is about n bytes.
func (d *Decoders) Decode(r *rand.Rand, file []byte, n int) (got Decoded, fault string) {
	got = d.appendDecode(file, d.tiers[len(d.tiers)-1], n, r)
	for _, tier := range d.tiers[:len(d.tiers)-1] {
		if fault := Differ(got, d.appendDecode(file, tier, n, r), true); fault != "" {
			return got, fault
		}
	}
	for _, s := range []*compress.Scheduler{d.One, d.Eight} {
		if fault := Differ(got, d.read(file, s), true); fault != "" {
			return got, fault
		}
	}
	if got.Err != nil && !IsTyped(got.Err) {
		return got, fmt.Sprintf("%s: %v", got.Who, got.Err)
	}
	return got, ""
}

// appendDecode decodes with a tier of kernels, from guarded memory to guarded memory. The content
// may have room for more than n bytes, for as many, or for fewer.
func (d *Decoders) appendDecode(file []byte, tier string, n int, r *rand.Rand) Decoded {
	defer simd.SetTier(simd.SetTier(tier))
	if len(file) <= len(d.file) {
		in := d.file[len(d.file)-len(file):]
		if r.IntN(4) == 0 {
			in = d.file[:len(file)]
		}
		copy(in, file)
		file = in[:len(file):len(file)]
	}
	var dst []byte
	if n += []int{0, 0, 1, 100, -1, -n / 2}[r.IntN(6)]; n >= 0 && n <= len(d.room) {
		dst = d.room[len(d.room)-n:][:0:n]
	}
	got, err := compress.AppendDecode(dst, file, d.Options(d.Eight)...)
	return Decoded{"AppendDecode with " + tier + " kernels", bytes.Clone(got), err}
}

// read decodes with a Reader.
func (d *Decoders) read(file []byte, s *compress.Scheduler, more ...compress.ReaderOption) Decoded {
	who := fmt.Sprintf("Reader with %d workers", s.Workers())
	z, err := compress.NewReader(io.MultiReader(bytes.NewReader(file)), d.Options(s, more...)...)
	if err != nil {
		return Decoded{who, nil, err}
	}
	defer z.Close()
	var b bytes.Buffer
	_, err = z.WriteTo(&b)
	return Decoded{who, b.Bytes(), err}
}

// ReadParts reads random parts of the content. want is what the file has.
func ReadParts(r *rand.Rand, z *compress.ReaderAt, want Decoded) string {
	for range 3 {
		from := r.Int64N(z.Size() + 1)
		p := make([]byte, r.Int64N(z.Size()-from+2))
		n, err := z.ReadAt(p, from)
		short := n < len(p) && err == nil
		if short || err != nil && err != io.EOF && !IsTyped(err) {
			return fmt.Sprintf("ReadAt(%d bytes, %d): %d, %v", len(p), from, n, err)
		}
		if want.Err == nil && (err != nil && err != io.EOF ||
			!bytes.Equal(p[:n], want.Content[from:min(int(from)+len(p), len(want.Content))])) {
			return fmt.Sprintf("ReadAt(%d bytes, %d): %d, %v, or wrong content", len(p), from, n, err)
		}
	}
	return ""
}

// IsTyped reports whether an error says where the input is wrong.
func IsTyped(err error) bool {
	var e *compress.Error
	return errors.As(err, &e) && !errors.Is(err, compress.ErrInternal)
}

// A Recovered is what Recover makes of a file.
type Recovered struct {
	Content []byte
	Damage  []compress.Damage
	Err     error
}

// Recover saves the content of a file, at most ContentLimit bytes.
func (d *Decoders) Recover(file []byte, zeros bool) (got Recovered) {
	var b bytes.Buffer
	report := func(damage compress.Damage) error {
		got.Damage = append(got.Damage, damage)
		return nil
	}
	got.Err = compress.Recover(&b, bytes.NewReader(file), int64(len(file)), report,
		d.Options(d.Eight, compress.WithZeroFill(zeros), compress.WithMaxDecodedSize(ContentLimit))...)
	got.Content = b.Bytes()
	return got
}

// Check says what is wrong, "" if nothing is. An intact file has no damage, and damage of another
// one is reported. want is what the file has.
func (got *Recovered) Check(want Decoded) string {
	switch {
	case got.Err != nil && !IsTyped(got.Err):
		return fmt.Sprintf("Recover: %v", got.Err)
	case want.Err == nil &&
		(got.Err != nil || got.damaged() || !bytes.Equal(got.Content, want.Content)):
		return fmt.Sprintf("Recover: %d bytes, damage %v, %v; %s: %d bytes",
			len(got.Content), got.Damage, got.Err, want.Who, len(want.Content))
	case got.Err == nil && want.Err != nil && len(got.Damage) == 0:
		return fmt.Sprintf("Recover: no damage; %s: %v", want.Who, want.Err)
	}
	return ""
}

// damaged reports whether there is damage to more than parity, into which the reference decoders do
// not look.
func (got *Recovered) damaged() bool {
	return slices.ContainsFunc(got.Damage, func(d compress.Damage) bool {
		return d.Kind != compress.DamageFrame || !strings.Contains(d.Err.Error(), "parity is damaged")
	})
}

// Bounded decodes with limits of memory and content. If measured is set, what it allocates must be
// in proportion. Counting that stops all goroutines, which takes long.
func (d *Decoders) Bounded(file []byte, most int64, measured bool) string {
	limits := []compress.ReaderOption{compress.WithMaxMemory(memoryLimit), compress.WithMaxDecodedSize(most)}
	opts := d.Options(d.Eight, limits...)
	var before, after runtime.MemStats
	if measured {
		runtime.ReadMemStats(&before)
	}
	got, err := compress.AppendDecode(nil, file, opts...)
	if measured {
		runtime.ReadMemStats(&after)
	}
	if err != nil && !IsTyped(err) || int64(len(got)) > most {
		return fmt.Sprintf("AppendDecode: %d bytes of at most %d, %v", len(got), most, err)
	}
	reader := d.read(file, d.Eight, limits...)
	if fault := Differ(Decoded{"AppendDecode", got, err}, reader, true); fault != "" {
		return "with limits: " + fault
	}
	// The result grows by doubling, which allocates up to three times its size.
	took := int64(after.TotalAlloc - before.TotalAlloc)
	if limit := int64(2*memoryLimit + 3*cap(got) + 8*len(file)); took > limit {
		return fmt.Sprintf("AppendDecode: %d bytes allocated, %d bytes of content, %v", took, len(got), err)
	}
	return ""
}
