package gzfile

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/testenv"
)

// sentences returns n bytes that refer far back, so that an unknown window stays in use.
func sentences(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	var dictionary [3000]string
	for i := range dictionary {
		dictionary[i] = fmt.Sprintf("%c%x ", 'a'+i%26, r.Uint32N(1<<r.IntN(32)))
	}
	p := make([]byte, 0, n+20)
	for len(p) < n {
		p = append(p, dictionary[min(r.IntN(len(dictionary)), r.IntN(len(dictionary)))]...)
		if r.IntN(50) == 0 {
			p = append(p, byte(r.Uint32()), byte(r.Uint32()))
		}
	}
	return p[:n]
}

// gzipMember returns content as a member.
func gzipMember(t *testing.T, content []byte, level int, extra []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	w.Extra = extra
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// aheadFiles returns files of several kinds, with blocks and members of all sizes.
func aheadFiles(t *testing.T) map[string][]byte {
	size := 1_500_000
	if testenv.Race {
		size = 400_000
	}
	text := sentences(size, 1)
	random := make([]byte, 200_000)
	rand.NewChaCha8([32]byte{}).Read(random)
	files := map[string][]byte{
		"level 1":   gzipMember(t, text, 1, nil),
		"level 9":   gzipMember(t, text, 9, nil),
		"huffman":   gzipMember(t, text[:min(size, 500_000)], flate.HuffmanOnly, nil),
		"stored":    gzipMember(t, text[:min(size, 500_000)], 0, nil),
		"zeros":     gzipMember(t, make([]byte, 9_000_000), 6, nil),
		"flushes":   flushedMember(t, text, 20_000),
		"random":    gzipMember(t, slices.Concat(text[:size/3], random, text[size/3:2*size/3]), 6, nil),
		"words":     gzipMember(t, words(1_000_000, 5), 6, nil),
		"no window": gzipMember(t, slices.Concat(random, text[:size/3]), 6, nil),
	}
	var members, blocks []byte
	r := rand.New(rand.NewPCG(3, 3))
	for rest := text; len(rest) > 0; {
		n := min(len(rest), r.IntN(1<<(1+r.IntN(18))))
		members = append(members, gzipMember(t, rest[:n], 1+r.IntN(9), nil)...)
		rest = rest[n:]
	}
	for rest := text; len(rest) > 0; {
		n := min(len(rest), 65280)
		blocks = append(blocks, gzipMember(t, rest[:n], 6, []byte("BC\x02\x00\x00\x00"))...)
		rest = rest[n:]
	}
	files["members"], files["blocks"] = members, blocks
	return files
}

// decodeAhead decodes a file in parts that are decoded ahead, on as many goroutines at once as
// there are workers.
func decodeAhead(d *decoder, file []byte, workers int, r *rand.Rand) (content []byte, err error) {
	type job struct {
		s    container.Serial
		turn chan struct{} // receives when it is the unit's turn
		done chan struct{}
	}
	most := 1 << (10 + r.IntN(8))
	var flight []*job
	var spare []*job
	last := make(chan struct{}, 1)
	last <- struct{}{}
	for unit := int64(0); err == nil || len(flight) > 0; {
		for err == nil && len(flight) < workers {
			j := &job{}
			if n := len(spare); n > 0 {
				j, spare = spare[n-1], spare[:n-1]
			}
			j.turn, j.done = last, make(chan struct{})
			next := make(chan struct{}, 1)
			last = next
			j.s.Unit = unit
			var behind error
			data := bytes.Clone(file[:min(r.IntN(most+1), len(file))])
			if file = file[len(data):]; len(file) == 0 {
				behind = io.EOF
			}
			d.input.addPart(data, true, unit, r.IntN(10) > 0, behind)
			go func() {
				d.Prepare(&j.s)
				<-j.turn
				d.Decode(&j.s)
				next <- struct{}{}
				d.FinishContent(&j.s)
				close(j.done)
			}()
			flight = append(flight, j)
			unit++
		}
		j := flight[0]
		flight = flight[1:]
		<-j.done
		d.Verify(&j.s)
		content = append(content, j.s.Content()...)
		if err == nil {
			err = j.s.Stop
		} else if len(j.s.Content()) > 0 || j.s.Stop != err {
			return content, fmt.Errorf("behind the end: %d bytes, %v", len(j.s.Content()), j.s.Stop)
		}
		if j.s.Total != int64(len(content)) {
			return content, fmt.Errorf("total of %d, %d bytes of content", j.s.Total, len(content))
		}
		spare = append(spare, j)
	}
	return content, err
}

// TestAhead compares decoding ahead with decoding in order: files that are sound, damaged, and cut
// short.
func TestAhead(t *testing.T) {
	files := aheadFiles(t)
	for _, seed := range testenv.Seeds(t, 1, 2) {
		r := rand.New(rand.NewPCG(seed, 0))
		for _, name := range slices.Sorted(maps.Keys(files)) {
			d := testDecoder()
			for kind := range 8 {
				if testenv.Race && kind%3 != int(seed)%3 {
					continue
				}
				p := damage(files[name], kind, r)
				limits := &container.Limits{MaxDecoded: -1, Checks: r.IntN(4) > 0}
				if r.IntN(4) == 0 {
					limits.MaxDecoded = r.Int64N(2_000_000)
				}
				d.reset(limits)
				want, wantErr := decodeParts(d, p, io.EOF, func() int { return 1 << 30 })
				for _, workers := range []int{1, 4} {
					d.reset(limits)
					got, err := decodeAhead(d, p, workers, r)
					if !bytes.Equal(got, want) || err.Error() != wantErr.Error() {
						t.Fatalf("seed %d, %s, damage %d, %d workers: %d bytes, %v; want %d, %v", seed, name,
							kind, workers, len(got), err, len(want), wantErr)
					}
				}
			}
		}
	}
}

// damage returns a copy of a file with a kind of damage.
func damage(file []byte, kind int, r *rand.Rand) []byte {
	p := bytes.Clone(file)
	at := r.IntN(len(p))
	switch kind {
	case 0, 1:
	case 2, 3:
		p[at] ^= 1 << r.IntN(8)
	case 4:
		p = p[:at]
	case 5:
		p = append(p, make([]byte, r.IntN(100_000))...)
	case 6:
		p = append(p, words(r.IntN(1000), 1)...)
	default:
		p = append(p[:at], p[min(len(p), at+r.IntN(5000)):]...)
	}
	return p
}

// TestAheadPays checks that parts are decoded ahead, and that their turns take the results.
func TestAheadPays(t *testing.T) {
	files := aheadFiles(t)
	for name, most := range map[string]int{
		"level 1": 0, "level 9": 0, "flushes": 0, "random": 1, "members": 0, "blocks": 0,
	} {
		const size = 100_000
		d, file := testDecoder(), files[name]
		units := make([]container.Serial, (len(file)+size-1)/size)
		for i := range units {
			var end error
			if i == len(units)-1 {
				end = io.EOF
			}
			units[i].Unit = int64(i)
			d.input.addPart(file[i*size:min(len(file), (i+1)*size)], false, int64(i), i > 0, end)
		}
		for i := range units {
			d.Prepare(&units[i])
		}
		ready, taken := len(d.results), 0
		if ready < len(units)-1-most {
			t.Errorf("%s: %d results for %d parts", name, ready, len(units)-1)
		}
		for i := range units {
			before := len(d.results)
			d.Decode(&units[i])
			if units[i].State.(*output).open > 0 || before > len(d.results) && d.missed == 0 {
				taken++
			}
		}
		if taken < len(units)-1-2*most {
			t.Errorf("%s: %d results taken for %d parts", name, taken, len(units)-1)
		}
	}
}
