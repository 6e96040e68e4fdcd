package recovery

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/testenv"
)

// gzPlace is where decoding of a .gz file can begin.
type gzPlace struct {
	bit     int64
	content int64 // offset
}

// gzPlaces returns the places in an intact .gz file that Recover must find.
func gzPlaces(t *testing.T, file []byte) (list []gzPlace) {
	t.Helper()
	content := int64(0)
	room := make([]byte, 64<<10)
	for off := 0; off < len(file); {
		list = append(list, gzPlace{8 * int64(off), content})
		_, n, err := gzfile.ParseHeader(file[off:])
		if err != nil {
			t.Fatal(err)
		}
		off += n
		d := inflate.Decoder{StopAtBlock: true}
		for at, used := 0, 0; err != io.EOF; {
			if at == len(room) {
				at = copy(room, room[at-inflate.WindowSize:])
			}
			var n, m int
			n, m, err = d.Decode(room, at, file[off+used:])
			at += n
			used += m
			content += int64(n)
			switch bit := 8*int64(off) + d.Position(); {
			case err == io.EOF:
				off += used + gzfile.TrailerSize
			case err == inflate.ErrBlock && inflate.FindBlock(file, bit, bit+1) == bit:
				list = append(list, gzPlace{bit, content})
			case err != nil && err != inflate.ErrBlock:
				t.Fatal(err)
			}
		}
	}
	return list
}

// gzSaved is what Recover saves of a .gz file.
type gzSaved struct {
	out     []byte
	known   []bool // of out
	last    int    // where in out the last content follows that was lost, −1 if none was
	lost    int64  // bytes lost that are copies of others
	reports []compress.Damage
	span    int64
}

// Write implements io.Writer.
func (s *gzSaved) Write(p []byte) (int, error) {
	for _, c := range p {
		s.out = append(s.out, c)
		s.known = append(s.known, s.span == 0)
		s.span = max(s.span-1, 0)
	}
	return len(p), nil
}

func saveGzip(t *testing.T, file []byte, zeroFill bool) *gzSaved {
	t.Helper()
	s := &gzSaved{last: -1}
	err := compress.Recover(s, bytes.NewReader(file), int64(len(file)), func(d compress.Damage) error {
		s.reports = append(s.reports, d)
		switch d.Kind {
		case compress.DamageUnknown:
			s.last = len(s.out)
		case compress.DamageWindow:
			s.lost += d.Content
			s.span = d.Span
			if !zeroFill {
				s.span = d.Span - d.Content
			}
		}
		return nil
	}, compress.WithZeroFill(zeroFill))
	if err != nil {
		t.Fatalf("%v, reports %+v", err, s.reports)
	}
	return s
}

// gzFiles returns .gz files of several writers.
func gzFiles(t *testing.T, content []byte) map[string][]byte {
	t.Helper()
	standard := func(p []byte, level int) []byte {
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, level)
		w.Write(p)
		w.Close()
		return b.Bytes()
	}
	third := len(content) / 3
	own, err := compress.AppendEncode(nil, content, compress.WithFormat(compress.Gzip),
		compress.WithBlockSize(32<<10))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"standard": standard(content, 6),
		"own":      own,
		"members": slices.Concat(standard(content[:third], 1), standard(content[third:2*third], 9),
			standard(content[2*third:], 6)),
	}
	for _, tool := range [][]string{
		{"gzip", "-1"}, {"gzip", "-9"}, {"pigz", "-b128"}, {"bgzip", "-c"}, {"libdeflate-gzip", "-6"},
	} {
		cmd := exec.Command(tool[0], tool[1])
		if cmd.Err != nil {
			continue
		}
		cmd.Stdin = bytes.NewReader(content)
		files[tool[0]+tool[1]], err = cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestRecoverGzip damages .gz files at random places.
func TestRecoverGzip(t *testing.T) {
	rounds, size := 40, 400_000
	if testing.Short() || testenv.Race {
		rounds, size = 5, 100_000
	}
	var content []byte
	for _, k := range corpus.Kinds() {
		content = append(content, k.Make(size/len(corpus.Kinds()))...)
	}
	for name, file := range gzFiles(t, content) {
		t.Run(name, func(t *testing.T) {
			if s := saveGzip(t, file, true); !bytes.Equal(s.out, content) || len(s.reports) > 0 {
				t.Fatalf("intact: %d bytes of %d, %+v", len(s.out), len(content), s.reports)
			}
			places := gzPlaces(t, file)
			r := rand.New(rand.NewPCG(11, 12))
			lost, searched := 0, 0
			for range rounds {
				at := r.IntN(len(file))
				bad := bytes.Clone(file)
				end := at + 1
				what := r.IntN(4)
				switch what {
				case 0:
					bad[at] ^= 1 << r.IntN(8)
				case 1:
					end = min(at+4096, len(file))
					clear(bad[at:end])
				case 2:
					bad = slices.Delete(bad, at, end)
				case 3:
					bad, end = bad[:at], len(file)
				}
				l, s := checkGzip(t, fmt.Sprint("damage ", what, " at ", at), content, bad, places, at, end)
				lost += l
				searched += s
			}
			t.Logf("%d places, %d searches, %d bytes lost of %d", len(places), searched, lost,
				rounds*len(content))
		})
	}
}

// checkGzip recovers bad, which is damaged between two bytes of the intact file.
func checkGzip(
	t *testing.T, name string, content, bad []byte, places []gzPlace, at, end int,
) (lost, searched int) {
	t.Helper()
	s := saveGzip(t, bad, true)
	// What comes before the damage is right. The standard library decodes it.
	if z, err := gzip.NewReader(bytes.NewReader(bad[:min(at, len(bad))])); err == nil {
		front, _ := io.ReadAll(z)
		if !bytes.HasPrefix(s.out, front) || !bytes.HasPrefix(content, front) {
			t.Fatalf("%s: the first %d bytes differ", name, len(front))
		}
	}
	if len(s.reports) == 0 {
		if !bytes.Equal(s.out, content) {
			t.Fatalf("%s: wrong content without a report", name)
		}
		return 0, 0
	}
	i := slices.IndexFunc(places, func(p gzPlace) bool { return p.bit >= 8*int64(end+4) })
	want := 0 // bytes behind the next place
	if i >= 0 {
		want = len(content) - int(places[i].content)
	}
	checks := 0
	for _, d := range s.reports {
		if d.Kind == compress.DamageCheck || d.Kind == compress.DamageUnknown {
			checks++
		}
		if d.Err == nil && d.Kind != compress.DamageWindow {
			t.Errorf("%s: no cause: %+v", name, d)
		}
	}
	if checks == 0 {
		t.Errorf("%s: %+v", name, s.reports)
	}
	if s.last < 0 {
		return 0, 0 // all of it decodes, but to something else
	}
	rest, known := s.out[s.last:], s.known[s.last:]
	if len(rest) < want || len(rest) > len(content) {
		t.Fatalf("%s: %d bytes behind the damage, want %d: %+v", name, len(rest), want, s.reports)
	}
	right := content[len(content)-len(rest):]
	for i, c := range rest {
		if c != right[i] && (known[i] || c != 0) {
			t.Fatalf("%s: byte %d of the last %d is wrong, known is %v: %+v", name, i, len(rest), known[i],
				s.reports)
		}
	}
	plain := saveGzip(t, bad, false)
	if len(plain.out)+int(s.lost) != len(s.out) || plain.lost != s.lost {
		t.Errorf("%s: %d bytes with zeros, %d without %d", name, len(s.out), len(plain.out), s.lost)
	}
	return len(content) - len(rest) - min(s.last, len(content)-len(rest)) + int(s.lost), 1
}

// TestRecoverGzipEmptyMember damages the trailer of a member without content, behind one with
// content.
func TestRecoverGzipEmptyMember(t *testing.T) {
	m := bbtest.StoredMember("hello", 0, "")
	file := []byte(m + bbtest.StoredMember("", 0, ""))
	check := func(what string, i int, bad []byte) {
		got, list := bbtest.RecoverAll(t, bad)
		if _, err := bbtest.Decode(bad); err == nil || string(got) != "hello" || len(list) != 1 ||
			list[0].Kind != compress.DamageCheck || list[0].Span != 0 {
			t.Errorf("%s %d: %q, damage %v; Reader: %v", what, i, got, list, err)
		}
	}
	for i := len(file) - 8; i < len(file); i++ {
		bad := bytes.Clone(file)
		bad[i] ^= 1
		check("changed at", i, bad)
		check("cut to", i, file[:i])
	}
}

// TestRecoverGzipReports compares all reports of a few files.
func TestRecoverGzipReports(t *testing.T) {
	content := corpus.ByName("text").Make(100_000)
	file, err := compress.AppendEncode(nil, content, compress.WithFormat(compress.Gzip))
	if err != nil {
		t.Fatal(err)
	}
	wrongSum := bytes.Clone(file)
	wrongSum[len(file)-8] ^= 1
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"intact", file, "100000"},
		{"padded", append(bytes.Clone(file), make([]byte, 1000)...), "100000"},
		{"wrong sum", wrongSum, "check 0 100000 100000"},
		{"wrong sum, then another", slices.Concat(wrongSum, file), "check 0 100000 200000"},
		{"no trailer", file[:len(file)-5], "check 0 100000 100000"},
		{"trailing garbage", append(bytes.Clone(file), "garbage"...), "unknown 1 0 100000"},
		{"garbage between", slices.Concat(file, []byte("garbage"), file), "unknown 1 0 200000"},
		{"no first member", slices.Concat([]byte("\x1f\x8bgarbage"), file), "unknown 0 0 100000"},
		{"no header", slices.Concat([]byte("garbage"), file), "unknown 0 0 100000"},
		{"nothing", []byte("\x1f\x8b\x08 and so on"), "unknown 0 0 0"},
	} {
		s := saveGzip(t, tt.file, true)
		got := ""
		for _, d := range s.reports {
			got += fmt.Sprint(d.Kind, " ", d.Stream, " ", d.Span, " ")
		}
		if got += fmt.Sprint(len(s.out)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	var none bytes.Buffer
	err = compress.Recover(&none, bytes.NewReader([]byte("plain text")), 10, nil)
	if !errors.Is(err, compress.ErrFormat) {
		t.Error(err)
	}
	err = compress.Recover(io.Discard, bytes.NewReader(file), int64(len(file)), nil,
		compress.WithMaxMemory(1<<20))
	if !errors.Is(err, compress.ErrMemory) {
		t.Error(err)
	}
	err = compress.Recover(io.Discard, bytes.NewReader(file), int64(len(file)), nil,
		compress.WithMaxDecodedSize(99_999))
	if !errors.Is(err, compress.ErrTooLarge) {
		t.Error(err)
	}
}
