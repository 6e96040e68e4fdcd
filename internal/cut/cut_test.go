package cut

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"
)

// content returns n random bytes of 16 values.
func content(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32() & 15)
	}
	return p
}

// cuts returns the offsets of all cuts of p, which the Cutter gets in chunks.
func cuts(c *Cutter, p []byte, chunk int) (list []int) {
	for at := 0; at < len(p); {
		n, found := c.Next(p[at:min(at+chunk, len(p))])
		at += n
		if found {
			list = append(list, at)
		}
	}
	return list
}

// TestSizes checks the sizes of the pieces.
func TestSizes(t *testing.T) {
	p := content(8<<20, 1)
	for _, most := range []int{MinSize, 4 << 10, 64 << 10} {
		var c Cutter
		c.Reset(most)
		list := cuts(&c, p, len(p))
		last, full := 0, 0
		for i, at := range list {
			if size := at - last; size < most/4 || size > most {
				t.Fatalf("at most %d: piece %d has %d bytes", most, i, size)
			} else if size == most {
				full++
			}
			last = at
		}
		mean := last / len(list)
		t.Logf("at most %d: mean %d, %d of %d full", most, mean, full, len(list))
		if mean < 2*most/5 || mean > 3*most/5 {
			t.Errorf("at most %d: a mean of %d", most, mean)
		}
		if full > len(list)/10 {
			t.Errorf("at most %d: %d of %d pieces are full", most, full, len(list))
		}
	}
}

// TestChunks checks that cuts do not depend on the pieces in which the content comes.
func TestChunks(t *testing.T) {
	p := content(300_000, 2)
	var c Cutter
	c.Reset(4 << 10)
	want := cuts(&c, p, len(p))
	for _, chunk := range []int{1, 7, 63, 64, 65, 1000, 4 << 10, 5000} {
		c.Reset(4 << 10)
		if got := cuts(&c, p, chunk); !slices.Equal(got, want) {
			t.Errorf("chunks of %d: other cuts", chunk)
		}
	}
}

// TestEdit checks that cuts away from an edit stay with their content.
func TestEdit(t *testing.T) {
	const most = 4 << 10
	p := content(400_000, 3)
	var c Cutter
	c.Reset(most)
	before := cuts(&c, p, len(p))
	worst := 0
	for i := range 100 {
		at := 1000 * i
		for _, change := range []struct{ drop, add int }{{0, 1}, {1, 0}, {1, 1}, {0, 10_000}, {3000, 5}} {
			q := slices.Concat(p[:at], content(change.add, uint64(i)), p[at+change.drop:])
			c.Reset(most)
			after := cuts(&c, q, len(q))
			delta := len(q) - len(p)
			front := 0
			for front < len(before) && before[front] < at {
				if after[front] != before[front] {
					t.Fatalf("edit at %d moves the cut at %d", at, before[front])
				}
				front++
			}
			back := 1
			for back <= min(len(before), len(after)) &&
				after[len(after)-back]-delta == before[len(before)-back] {
				back++
			}
			if back > len(before) {
				continue
			}
			// The last cut that has moved.
			worst = max(worst, before[len(before)-back]-at-change.drop)
		}
	}
	t.Logf("cuts move up to %d bytes behind an edit", worst)
	if worst > 4*most {
		t.Errorf("an edit moves cuts up to %d bytes behind it", worst)
	}
}

// TestFixed checks that cuts stay what they are from version to version.
func TestFixed(t *testing.T) {
	var c Cutter
	c.Reset(4 << 10)
	list := cuts(&c, content(1<<20, 4), 1<<20)
	sum := crc32.ChecksumIEEE(fmt.Append(nil, list))
	if want := uint32(0xbc8ad425); sum != want {
		t.Errorf("%d cuts with checksum %#x, want %#x", len(list), sum, want)
	}
}

// TestUniform checks content of one repeated byte: all pieces but the last have the same size.
func TestUniform(t *testing.T) {
	for v := range 256 {
		var c Cutter
		c.Reset(4 << 10)
		p := slices.Repeat([]byte{byte(v)}, 100_000)
		list := cuts(&c, p, len(p))
		for i, at := range list {
			if at != (i+1)*list[0] {
				t.Fatalf("byte %d: cuts at %d", v, list)
			}
		}
	}
}

func BenchmarkNext(b *testing.B) {
	p := content(1<<20, 5)
	var c Cutter
	c.Reset(256 << 10)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		cuts(&c, p, len(p))
	}
}
