package gzfile

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/testenv"
)

// collector keeps what Recover finds. Where left is not negative, it fails after so many calls.
type collector struct {
	t       testing.TB
	content []byte
	kinds   []index.DamageKind
	left    int
}

var errFull = errors.New("full")

func (c *collector) sink() Sink { return Sink{Known: c.known, Mixed: c.mixed, Damage: c.damage} }

func (c *collector) recover(file []byte, limits *container.Limits) (found bool, err error) {
	_, found, err = Recover(bytes.NewReader(file), int64(len(file)), limits, false, c.sink())
	return found, err
}

func (c *collector) call() error {
	if c.left == 0 {
		return errFull
	}
	c.left--
	return nil
}

func (c *collector) known(p []byte) error {
	c.content = append(c.content, p...)
	return c.call()
}

func (c *collector) mixed(p []byte, lost []bool, g index.Gap) error {
	n := int64(0)
	for i := range p {
		if lost[i] {
			n++
			if p[i] != 0 {
				c.t.Error("an unknown byte is not zero")
			}
		}
	}
	if n != g.Content || int64(len(p)) != g.Span || len(lost) != len(p) || g.Kind != index.DamageWindow ||
		n == 0 || !lost[0] || !lost[len(p)-1] {
		c.t.Errorf("%d bytes, %d unknown: %+v", len(p), n, g)
	}
	c.content = append(c.content, p...)
	return c.call()
}

func (c *collector) damage(g index.Gap) error {
	c.kinds = append(c.kinds, g.Kind)
	return c.call()
}

func compressed(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// counter counts the bytes read.
type counter struct {
	*bytes.Reader
	n int64
}

func (c *counter) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Reader.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

// hostile returns a file of headers of blocks. Each is followed by static blocks up to the end of
// the file or of the group, where the stream is damaged.
func hostile(t testing.TB, size, group int) []byte {
	t.Helper()
	var file []byte
	for len(file) < size {
		from := len(file)
		for len(file)-from < group {
			file = append(file, 0, 0, 0xff, 0xff)    // a block may begin here
			file = append(file, 0, 0, 0, 0xff, 0xff) // which is stored, and empty
			file = append(file, 0, 4, 0, 0xfb, 0xff) // and this one contains the next marker
		}
		file = append(file, 0xff, 0xff, 0xff, 0xff, 0xff) // block type 3
	}
	return file
}

// TestHostile makes sure that input is not read again and again.
func TestHostile(t *testing.T) {
	for _, group := range []int{50, 3000, 300_000, 2 << 20} {
		const most = 8
		size := 1 << 20
		if testing.Short() || testenv.Race {
			size = 100_000
		}
		file := append(compressed(t, []byte("content"))[:20], hostile(t, size, group)...)
		src := &counter{Reader: bytes.NewReader(file)}
		c := &collector{t: t, left: -1}
		limits := &container.Limits{MaxDecoded: -1}
		_, _, err := Recover(src, int64(len(file)), limits, false, c.sink())
		if err != nil {
			t.Fatal(err)
		}
		reads := src.n / int64(len(file))
		t.Logf("groups of %d: %d times the file, %d bytes of content, %d reports", group, reads,
			len(c.content), len(c.kinds))
		if reads > most {
			t.Errorf("groups of %d: reads the file %d times", group, reads)
		}
	}
}

// TestSink ends the recovery at each call of the sink.
func TestSink(t *testing.T) {
	content := corpus.ByName("text").Make(300_000)
	file := compressed(t, content)
	copy(file[len(file)/2:], bytes.Repeat([]byte{0xff}, 3000))
	file = append(file, compressed(t, content)...)
	for n := range 20 {
		c := &collector{t: t, left: n}
		found, err := c.recover(file, &container.Limits{})
		if err == nil {
			if n < 5 || !found || !bytes.HasSuffix(c.content, content) {
				t.Error(n, found)
			}
			break
		}
		if err != errFull {
			t.Fatal(n, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := &collector{t: t, left: -1}
	_, err := c.recover(file, &container.Limits{Context: ctx})
	if !errors.Is(err, context.Canceled) || len(c.content) > 0 {
		t.Error(err)
	}
}

// TestDeep loses the window of content that repeats it again and again.
func TestDeep(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	content := make([]byte, 30_000)
	for i := range content {
		content[i] = byte(r.Uint32())
	}
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 6)
	b.WriteString("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")
	var all []byte
	for range 40 {
		w.Write(content)
		w.Flush()
		all = append(all, content...)
	}
	w.Write([]byte("the end"))
	w.Close()
	file := b.Bytes()
	clear(file[:100])
	c := &collector{t: t, left: -1}
	found, err := c.recover(file, &container.Limits{MaxDecoded: -1})
	if err != nil || !found {
		t.Fatal(found, err)
	}
	zeros := bytes.Count(c.content, []byte{0})
	if len(c.content) != len(all)-len(content)+7 || !bytes.HasSuffix(c.content, []byte("the end")) ||
		zeros != len(c.content)-7 {
		t.Errorf("%d bytes, %d zeros", len(c.content), zeros)
	}
}

// FuzzRecover recovers anything.
func FuzzRecover(f *testing.F) {
	file := compressed(f, corpus.ByName("text").Make(5000))
	f.Add(file)
	f.Add(file[100:])
	f.Add(hostile(f, 1000, 300))
	f.Add(append(bytes.Clone(file[:1000]), file...))
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) > 64<<10 {
			return
		}
		c := &collector{t: t, left: -1}
		found, err := c.recover(p, &container.Limits{MaxDecoded: -1, Checks: true})
		if err != nil {
			t.Fatal(err)
		}
		if !found && (len(c.content) > 0 || len(c.kinds) > 0) {
			t.Fatal("content, but not found")
		}
		// The standard library ignores reserved flags.
		if z, err := gzip.NewReader(bytes.NewReader(p)); err == nil && p[3] < 1<<5 {
			z.Multistream(false)
			want, err := io.ReadAll(z)
			if !bytes.HasPrefix(c.content, want) {
				t.Fatalf("%d bytes of content, want other %d", len(c.content), len(want))
			}
			if err == nil && len(c.content) == len(want) && slices.Contains(c.kinds, index.DamageCheck) {
				t.Fatal("damage reported:", c.kinds)
			}
		}
	})
}
