package cli

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
	"github.com/gopz/compress/parity"
)

// A protected is a file with parity, or several that were joined.
type protected struct {
	file, content []byte
	zones         [][2]int // where each zone begins, and its section
	sections      [][2]int // where each section begins and ends
	tail          bool     // a .zst file without parity and seek table is behind them
}

// addFile joins a file with parity. Each zone has one or more streams.
func (p *protected) addFile(t *testing.T, r *rand.Rand, format compress.Format, percent, zones int) {
	t.Helper()
	var buf bytes.Buffer
	w, err := parity.NewWriter(&buf, parity.Options{Percent: percent, Format: format})
	if err != nil {
		t.Fatal(err)
	}
	begin := len(p.file)
	for range zones {
		for range 1 + r.IntN(2) {
			content := []byte(sample(1 + r.IntN(20_000)))
			if r.IntN(2) == 0 {
				content = []byte(noise(1 + r.IntN(20_000)))
			}
			packed, err := compress.AppendEncode(nil, content,
				compress.WithFormat(format), compress.WithBlockSize(4<<10))
			if err != nil {
				t.Fatal(err)
			}
			w.Write(packed)
			p.content = append(p.content, content...)
		}
		if err := w.EndZone(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p.file = append(p.file, buf.Bytes()...)
	report, err := parity.Repair(io.Discard, bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for i, z := range report.Zones {
		end := len(p.file)
		if i+1 < len(report.Zones) {
			end = begin + int(report.Zones[i+1].Offset)
		}
		at := begin + int(z.Offset)
		p.zones = append(p.zones, [2]int{at, at + int(z.Size)})
		p.sections = append(p.sections, [2]int{at + int(z.Size), end})
	}
}

// newProtected returns a file of one of several kinds.
func newProtected(t *testing.T, r *rand.Rand, format compress.Format) *protected {
	p := &protected{}
	plain := func() {
		content := []byte(sample(1 + r.IntN(5000)))
		packed, err := compress.AppendEncode(nil, content, compress.WithFormat(format))
		if err != nil {
			t.Fatal(err)
		}
		p.file, p.content = append(p.file, packed...), append(p.content, content...)
	}
	percent := []int{2, 10, 50}[r.IntN(3)]
	kind := r.IntN(6)
	if kind == 0 {
		plain()
	}
	p.addFile(t, r, format, percent, 1+r.IntN(3))
	switch kind {
	case 1:
		p.addFile(t, r, format, 10, 1+r.IntN(2))
	case 2:
		plain()
		p.tail = format == compress.Zstd
	}
	return p
}

// damage damages sections, and sometimes a zone.
func (p *protected) damage(r *rand.Rand) (bad []byte, log string) {
	bad = slices.Clone(p.file)
	flip := func(from, to int) {
		at := from + r.IntN(to-from)
		bad[at] ^= 1 << r.IntN(8)
		log += fmt.Sprintf("byte %d flipped, ", at)
	}
	overwrite := func(from, to int) {
		at := from + r.IntN(to-from)
		n := min(1+r.IntN(to-from), to-at)
		copy(bad[at:at+n], noise(n))
		log += fmt.Sprintf("%d bytes at %d overwritten, ", n, at)
	}
	for range 1 + r.IntN(3) {
		s := p.sections[r.IntN(len(p.sections))]
		if r.IntN(2) == 0 {
			s = p.sections[len(p.sections)-1]
		}
		switch r.IntN(7) {
		case 0:
			flip(s[0], s[0]+8) // the header
		case 1:
			flip(s[1]-16, s[1])
		case 2:
			overwrite(s[1]-16, s[1])
		case 3:
			overwrite(max(s[0], s[1]-500), s[1])
		case 4:
			overwrite(s[0], s[1])
		default:
			for range 1 + r.IntN(4) {
				flip(s[0], s[1])
			}
		}
	}
	if r.IntN(2) == 0 {
		z := p.zones[r.IntN(len(p.zones))]
		flip(z[0], z[1])
	}
	if last := p.sections[len(p.sections)-1]; last[1] == len(bad) && r.IntN(8) == 0 {
		n := 1 + r.IntN((last[1]-last[0])/4)
		bad = bad[:len(bad)-n]
		log += fmt.Sprintf("%d bytes cut, ", n)
	}
	return bad, log
}

// TestParityTrials damages sections of files with parity, and sometimes zones. parity.Repair and
// the file as it was say what is right: where the file can be repaired, each run that reads it
// gives its content. -t never ends without a warning or an error.
func TestParityTrials(t *testing.T) {
	rounds := 150
	if testenv.All() {
		rounds = 3000
	}
	if testenv.Race || testenv.Emulated() {
		rounds = 20
	}
	dir := t.TempDir()
	healed := 0
	for _, seed := range testenv.Seeds(t, 1) {
		for round := range rounds {
			r := rand.New(rand.NewPCG(seed, uint64(round)))
			format := []compress.Format{compress.PZ, compress.Zstd}[r.IntN(2)]
			p := newProtected(t, r, format)
			bad, log := p.damage(r)
			if bytes.Equal(bad, p.file) {
				continue
			}
			var repaired bytes.Buffer
			_, err := parity.Repair(&repaired, bytes.NewReader(bad), int64(len(bad)))
			whole := err == nil && bytes.Equal(repaired.Bytes(), p.file)
			path := write(t, string(bad), dir, "a."+format.String())
			name := fmt.Sprintf("PZ_SEED=%d, round %d, %v: %s\nRepair: %v, whole %v: ",
				seed, round, format, log, err, whole)
			res := pz(t, "", "-t", path)
			if res.code != exitWarning && (whole || res.code != exitError) || res.err == "" {
				t.Errorf("%s: -t: exit code %d, %q", name, res.code, res.err)
			}
			if whole {
				healed++
				p.checkHealed(t, name, path)
			} else {
				res := pz(t, "", "-dc", path)
				exact := res.out == string(p.content)
				if res.err == "" || res.code != exitError && (!exact || res.code != exitWarning) {
					t.Errorf("%s: -dc: exit code %d, exact %v, %q", name, res.code, exact, res.err)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d of %d files can be repaired", healed, rounds)
}

// checkHealed reads a file that can be repaired.
func (p *protected) checkHealed(t *testing.T, name, path string) {
	content := string(p.content)
	if res := pz(t, "", "-dc", path); res.code != exitWarning || res.out != content || res.err == "" {
		t.Errorf("%s: -dc: exit code %d, exact %v, %s", name, res.code, res.out == content, res.err)
	}
	half := len(content) / 2
	res := pz(t, "", "-dc", "--range", fmt.Sprintf("%d:1000", half), path)
	if res.code == exitError || res.out != content[half:min(half+1000, len(content))] {
		t.Errorf("%s: --range: exit code %d, %s", name, res.code, res.err)
	}
	if p.tail {
		return // -l sees headers of frames alone, which have no check
	}
	res = pz(t, "", "-l", path)
	// If the end of the parity is damaged as well as a header of a frame, -l warns of the parity.
	warned := strings.HasSuffix(path, ".zst") && strings.Contains(res.err, "damaged parity")
	if res.code == exitError || !warned && !strings.Contains(res.out, fmt.Sprintf(" %d ", len(content))) {
		t.Errorf("%s: -l: exit code %d, %s, %s", name, res.code, res.out, res.err)
	}
}

// TestParityArchive extracts archives whose parity is damaged, and perhaps a zone too.
func TestParityArchive(t *testing.T) {
	dir := t.TempDir()
	in := write(t, sample(50_000), dir, "in")
	for _, format := range []string{"pz", "zst"} {
		good := pz(t, "", "--tar", "-c", "--format", format, "--parity", "10", in).want(t, exitOK).out
		for _, from := range []int{0, 20_000, len(good) - 9, len(good) - 3000, len(good) - 1000} {
			for _, zone := range []int{-1, 4000} {
				bad := []byte(good)
				copy(bad[from:], "damage!!")
				if zone >= 0 {
					bad[zone] ^= 1
				}
				path := write(t, string(bad), dir, "a."+format)
				out := pz(t, "", "-xc", path).want(t, exitWarning, "parity").out
				wantContent(t, out, sample(50_000))
				pz(t, "", "-l", "--tar", path).want(t, exitWarning, "parity")
			}
		}
	}
}

// rawFrame returns a .zst frame of raw blocks of 64 KiB, with a checksum.
func rawFrame(content string, header ...byte) []byte {
	frame := append([]byte{0x28, 0xB5, 0x2F, 0xFD}, header...)
	for p := content; len(p) > 0; p = p[1<<16:] {
		header := uint32(1 << 16 << 3) // of a raw block
		if len(p) == 1<<16 {
			header++ // the last one
		}
		frame = append(frame, byte(header), byte(header>>8), byte(header>>16))
		frame = append(frame, p[:1<<16]...)
	}
	return binary.LittleEndian.AppendUint32(frame, zstfile.Checksum([]byte(content)))
}

// TestParityEqualFooters damages the footer of the first of two sections of equal size, and leaves
// little more of the second one than its footer. What is between them is no part of the first one.
func TestParityEqualFooters(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		p := &protected{}
		for len(p.sections) != 2 || p.sections[0][1]-p.sections[0][0] != p.sections[1][1]-p.sections[1][0] {
			*p = protected{}
			p.addFile(t, r, format, 10, 2)
		}
		bad := slices.Clone(p.file)
		first, second := p.sections[0], p.sections[1]
		bad[first[1]-12] ^= 1
		copy(bad[second[0]+20:second[1]-16], noise(second[1]-second[0]-36))
		path := write(t, string(bad), t.TempDir(), "a."+format.String())
		out := pz(t, "", "-dc", path).want(t, exitWarning, "parity").out
		wantContent(t, out, string(p.content))
		out = pz(t, "", "--repair", "-c", path).want(t, exitWarning, "not all could be repaired").out
		if !strings.Contains(out, string(p.file[first[1]:second[0]])) {
			t.Errorf("%v: the result lacks the second zone", format)
		}
	}
}

// TestParityPartly damages a .zst frame without a size, which is written while it is decoded, so
// that only its checksum tells, and the end of the parity. What is written is wrong then: an error
// that names the way to repair the file. Nothing is written of a frame with a size.
func TestParityPartly(t *testing.T) {
	content := noise(1 << 20)
	for _, sized := range []bool{false, true} {
		frame, code := rawFrame(content, 4, 0x58), exitError
		message := "its parity can restore it: pz --repair"
		if sized {
			frame, code = rawFrame(content, 0xA4, 0, 0, 16, 0), exitWarning
			message = "restored from its parity"
		}
		var buf bytes.Buffer
		w, err := parity.NewWriter(&buf, parity.Options{Percent: 5, Format: compress.Zstd})
		if err != nil {
			t.Fatal(err)
		}
		w.Write(frame)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		bad := buf.Bytes()
		bad[500_000] ^= 1
		path := write(t, string(bad), t.TempDir(), "a.zst")
		wantContent(t, pz(t, "", "-dc", path).want(t, exitWarning, "restored from its parity").out, content)
		bad[len(bad)-1] ^= 1
		os.WriteFile(path, bad, 0o666)
		pz(t, "", "-t", path).want(t, exitWarning, "restored from its parity")
		pz(t, "", "-dc", path).want(t, code, message)
		pz(t, "", "-df", path).want(t, code, message)
		bad[len(frame)-zstframe.ChecksumSize-1<<16-zstframe.BlockHeaderSize] |= 6 // no type of a block
		os.WriteFile(path, bad, 0o666)
		out := pz(t, "", "-dc", path).want(t, code, message).out
		if sized {
			wantContent(t, out, content)
		}
	}
}

// TestParityHeaders damages the first bits of a small .zst frame. Parity is not at the end of the
// file, so it is found only once the damage is.
func TestParityHeaders(t *testing.T) {
	content := sample(50_000)
	good := pz(t, content, "-c", "--format", "zst", "-B", "16K", "--parity", "10").want(t, exitOK).out
	tail := pz(t, "tail", "-c", "--format", "zst").want(t, exitOK).out
	dir := t.TempDir()
	begin := strings.LastIndex(good, "\x28\xB5\x2F\xFD")
	for at := begin; at < begin+30; at++ {
		bad := []byte(good + tail)
		for bit := range 8 {
			bad[at] = good[at] ^ 1<<bit
			path := write(t, string(bad), dir, "a.zst")
			res := pz(t, "", "-dc", path)
			if res.out != content+"tail" || res.code == exitError { // some bits mean nothing
				t.Errorf("bit %d of byte %d: exit code %d, %s", bit, at-begin, res.code, res.err)
			}
		}
	}
}

// TestParityOverwritten: nothing but the header is left of a section.
func TestParityOverwritten(t *testing.T) {
	content := sample(50_000)
	for _, format := range []string{"pz", "zst"} {
		bad := []byte(pz(t, content, "-c", "--format", format, "--parity", "1").want(t, exitOK).out)
		i := bytes.Index(bad, []byte("PZparity"))
		copy(bad[i:], noise(len(bad)-i))
		path := write(t, string(bad), t.TempDir(), "a."+format)
		pz(t, "", "-t", path).want(t, exitWarning, "has damaged parity")
		out := pz(t, "", "-dc", path).want(t, exitWarning, "has damaged parity").out
		wantContent(t, out, content)
	}
	foreign := pz(t, content, "-c", "--format", "zst").out + "\x5a\x2a\x4d\x18\x64\x00\x00\x00" + noise(100)
	pz(t, "", "-t", write(t, foreign, t.TempDir(), "a.zst")).want(t, exitOK)
}

// TestParityGarbage adds bytes to files with intact parity. -l says of them what -t says.
func TestParityGarbage(t *testing.T) {
	dir := t.TempDir()
	for _, format := range []string{"pz", "zst"} {
		good := pz(t, sample(50_000), "-c", "--format", format, "-B16K", "--parity", "5").out
		plain := pz(t, "plain", "-c", "--format", format).out
		for _, file := range []string{good, good + good, good + plain} {
			for _, garbage := range []string{"x", "garbage", noise(5000), strings.Repeat("\x00", 50)} {
				path := write(t, file+garbage, dir, "a."+format)
				test, list := pz(t, "", "-t", path), pz(t, "", "-l", path)
				if test.code == exitOK || strings.Contains(test.err, "parity") ||
					list.code != test.code || list.err != test.err {
					t.Errorf("%s, %d bytes: -t: %d, %s; -l: %d, %s",
						format, len(garbage), test.code, test.err, list.code, list.err)
				}
			}
		}
	}
}

// TestReaderAtParity reads with the library, which heals nothing, files whose sections are damaged.
func TestReaderAtParity(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		for round := range 60 {
			p := &protected{}
			for range 1 + r.IntN(2) {
				p.addFile(t, r, format, 10, 1+r.IntN(2))
			}
			bad := slices.Clone(p.file)
			for range 1 + r.IntN(2) {
				s := p.sections[r.IntN(len(p.sections))]
				switch round % 4 {
				case 0:
					bad[s[0]+r.IntN(8)] ^= 4 // the header
				case 1:
					bad[s[1]-1-r.IntN(16)] ^= 4
				default:
					n := 1 + r.IntN((s[1]-s[0])/2)
					copy(bad[s[1]-n:s[1]], noise(n))
				}
			}
			src, size := bytes.NewReader(bad), int64(len(bad))
			info, err := compress.ReadInfo(src, size, nil)
			if err != nil || info.Content != int64(len(p.content)) {
				t.Errorf("%v, round %d: ReadInfo: %v, %d bytes", format, round, err, info.Content)
			}
			z, err := compress.NewReaderAt(src, size)
			if err != nil {
				t.Fatalf("%v, round %d: %v", format, round, err)
			}
			got, err := io.ReadAll(io.NewSectionReader(z, 0, z.Size()))
			if err != nil || !bytes.Equal(got, p.content) {
				t.Errorf("%v, round %d: %v, exact %v", format, round, err, bytes.Equal(got, p.content))
			}
			z.Close()
		}
	}
}
