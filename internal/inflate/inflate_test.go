package inflate

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// stream makes a Deflate stream.
func stream(t testing.TB, content []byte, level int) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(d *Decoder, src Source) string {
	if err := d.Reset(src); err != nil {
		return err.Error()
	}
	p, err := io.ReadAll(d)
	if at, ok := new(Decoder).Corrupt(err); ok {
		return fmt.Sprintf("%q, corrupt at %d", p, at)
	}
	return fmt.Sprintf("%q, %v", p, err)
}

func content(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	p := make([]byte, n)
	for i := range p {
		p[i] = "abcdefgh\n"[r.IntN(3+r.IntN(7))]
	}
	return p
}

func TestDecoder(t *testing.T) {
	var d Decoder
	for level := flate.HuffmanOnly; level <= 9; level++ {
		for _, n := range []int{0, 1, 100, 100_000} {
			src := strings.NewReader(string(stream(t, content(n), level)) + "more")
			if got := read(&d, src); got != fmt.Sprintf("%q, <nil>", content(n)) {
				t.Errorf("level %d, %d bytes: %.100s", level, n, got)
			}
			if rest, _ := io.ReadAll(src); string(rest) != "more" {
				t.Errorf("level %d, %d bytes: %q is left", level, n, rest)
			}
		}
	}
}

// A damaged stream gives the same whatever was decoded before.
func TestDamageForgets(t *testing.T) {
	good := stream(t, content(3000), 6)
	var used Decoder
	// The codes of code lengths have no symbols.
	list := []string{"lY]\x00\x00\x00", "\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00"}
	for bit := range 8 * min(len(good), 200) {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		list = append(list, string(bad), string(good[:bit/8]))
	}
	for _, bad := range list {
		var fresh Decoder
		want := read(&fresh, strings.NewReader(bad))
		for range 2 {
			read(&used, bytes.NewReader(good))
			if got := read(&used, strings.NewReader(bad)); got != want {
				t.Fatalf("%q: %.200s, want %.200s", bad, got, want)
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	src := stream(t, content(100_000), 6)
	var d Decoder
	r := bytes.NewReader(nil)
	p := make([]byte, 1<<16)
	run := func() {
		r.Reset(src)
		d.Reset(r)
		for {
			if _, err := d.Read(p); err != nil {
				return
			}
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
