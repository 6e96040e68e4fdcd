package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress"
)

// rawHeader returns a header block of ustar. edit may change it before it gets its sum.
func rawHeader(name string, flag byte, size int, edit func(block []byte)) []byte {
	b := make([]byte, blockSize)
	copy(b, name)
	copy(b[100:], "0000750\x00")
	copy(b[124:], fmt.Sprintf("%011o\x00", size))
	copy(b[136:], "00000000017\x00")
	b[156] = flag
	copy(b[257:], "ustar\x0000")
	if edit != nil {
		edit(b)
	}
	copy(b[148:], "        ")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00", sum))
	return b
}

// rawEntry returns an entry with content.
func rawEntry(name string, flag byte, content string) []byte {
	p := make([]byte, roundUp(int64(len(content))))
	copy(p, content)
	return append(rawHeader(name, flag, len(content), nil), p...)
}

func openTar(t *testing.T, parts ...[]byte) *FS {
	t.Helper()
	p := slices.Concat(parts...)
	f, err := OpenTar(bytes.NewReader(p), int64(len(p)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var ending = make([]byte, 2*blockSize)

// TestCuts cuts an archive with extended headers at each byte. Only a cut between two entries is
// none, as for GNU tar.
func TestCuts(t *testing.T) {
	long := strings.Repeat("long/", 30) + "name"
	for _, format := range []tar.Format{tar.FormatPAX, tar.FormatGNU} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		whole := map[int]bool{0: true}
		for _, name := range []string{"a", long, "ä", "last"} {
			h := &tar.Header{Name: name, Size: 3, Mode: 0o644, Format: format, ModTime: day}
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
			w.Write([]byte("abc"))
			w.Flush()
			whole[b.Len()] = true
		}
		whole[b.Len()+blockSize] = true
		end := b.Len()
		w.Close()
		for n := range b.Len() {
			f, err := OpenTar(bytes.NewReader(b.Bytes()), int64(n))
			if f == nil && n >= 4*blockSize {
				t.Fatalf("%v: no entries in the first %d bytes", format, n)
			}
			if f != nil && err != nil {
				checkFront(t, f)
			}
			switch {
			case err == nil && !whole[n] && n < end:
				t.Errorf("%v: no error for the first %d bytes", format, n)
			case err != nil && (whole[n] || !errors.Is(err, io.ErrUnexpectedEOF)):
				t.Errorf("%v: first %d bytes: %v", format, n, err)
			}
		}
	}
}

// checkFront reads the entries in front of a cut. Only the content of the last one may be cut.
func checkFront(t *testing.T, f *FS) {
	t.Helper()
	cut := 0
	for e := range f.Entries() {
		content, err := f.ReadFile(e.Name)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			cut++
		case err != nil || string(content) != "abc":
			t.Fatalf("%s: %q, %v", e.Name, content, err)
		}
	}
	if cut > 1 {
		t.Fatalf("the content of %d entries is cut", cut)
	}
}

// TestDamagedHeader damages headers, as a flipped bit does. All other entries are read.
func TestDamagedHeader(t *testing.T) {
	content := strings.Repeat("\x00", 1500) + "end"
	var entries [][]byte
	for _, name := range []string{"a", "b", "c", "d"} {
		entries = append(entries, rawEntry(name, '0', content))
	}
	for _, c := range []struct {
		damaged []int
		want    string
	}{
		{[]int{0}, "b c d"}, {[]int{1}, "a c d"}, {[]int{3}, "a b c"}, {[]int{1, 2}, "a d"},
		{[]int{0, 2}, "b d"},
	} {
		var plain []byte
		for i, p := range entries {
			p = bytes.Clone(p)
			if slices.Contains(c.damaged, i) {
				p[150] ^= 1
			}
			plain = append(plain, p...)
		}
		plain = append(plain, ending...)
		at := fmt.Sprintf("at byte %d of", c.damaged[0]*len(entries[0]))
		for form, p := range map[string][]byte{"plain": plain, ".pz": pack(t, plain, compress.PZ)} {
			f, err := Open(bytes.NewReader(p), int64(len(p)))
			if f == nil || !errors.Is(err, tar.ErrHeader) || !strings.Contains(err.Error(), at) {
				t.Fatalf("%s: damage to %d: %v", form, c.damaged, err)
			}
			var got []string
			for e := range f.Entries() {
				got = append(got, e.Name)
				if text, err := f.ReadFile(e.Name); err != nil || string(text) != content {
					t.Errorf("%s: damage to %d: %s: %d bytes, %v", form, c.damaged, e.Name, len(text), err)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s: damage to %d: %q, want %s", form, c.damaged, got, c.want)
			}
		}
	}
}

// TestTypes reads entries of types that package tar does not know, as GNU tar takes them.
func TestTypes(t *testing.T) {
	solaris := "12 path=sun\n"
	f := openTar(t, rawEntry("label", 'V', ""), rawEntry("dumped", 'D', "Yname\x00\x00"),
		rawEntry("slash/", '0', ""), rawEntry("slash-content/", '0', "content"), rawEntry("cont/", '7', ""),
		rawHeader("stated/", '5', 100, nil), rawHeader("old/", 0, 100, nil), rawEntry("unknown", 'Q', "q"),
		rawEntry("records", 'X', solaris), rawEntry("short", '0', "s"), rawEntry("rest", 'M', "volume"),
		ending)
	got := ""
	fs.WalkDir(f, ".", func(name string, e fs.DirEntry, err error) error {
		info, _ := e.Info()
		got += fmt.Sprintf("%s %v %d %d\n", name, info.Mode(), info.Size(), info.ModTime().Unix())
		return err
	})
	want := `. drwxr-xr-x 0 0
cont drwxr-x--- 0 15
dumped drwxr-x--- 0 15
old drwxr-x--- 0 15
rest -rwxr-x--- 6 15
slash drwxr-x--- 0 15
slash-content drwxr-x--- 0 15
stated drwxr-x--- 0 15
sun -rwxr-x--- 1 15
unknown -rwxr-x--- 1 15
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, err := f.ReadFile("rest"); !errors.Is(err, errContinued) {
		t.Errorf("the rest of a file of another volume: %v", err)
	}
}

// TestNumbers reads times in all forms, and skips fields that GNU tar does not use.
func TestNumbers(t *testing.T) {
	for value, want := range map[string]time.Time{
		"00000000000\x00":                                  time.Unix(0, 0),
		strings.Repeat("\x00", 12):                         time.Unix(0, 0),
		"       17 \x00\x00\x00":                           time.Unix(15, 0),
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff": time.Unix(-1, 0),
		"\x80\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x01": time.Unix(3<<32+1, 0),
		"\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff": time.Unix(1<<63-1, 0),
		"\xff\xff\xff\xff\x80\x00\x00\x00\x00\x00\x00\x00": time.Unix(-1<<63, 0),
	} {
		edit := func(b []byte) {
			copy(b[136:148], value)
			copy(b[108:], "owner no number")
			copy(b[329:], "neither is this")
		}
		f := openTar(t, rawHeader("a", '0', 0, edit), ending)
		if info, err := f.Stat("a"); err != nil || info.ModTime().Unix() != want.Unix() {
			t.Errorf("%q: %v, %v; want %v", value, info, err, want)
		}
	}
	for value, want := range map[string]time.Time{
		"-1.5": time.Unix(-2, 5e8), "12345678901.0000000019": time.Unix(12345678901, 1),
		"0": time.Unix(0, 0), "-0.25": time.Unix(-1, 75e7), "5.5x": time.Unix(5, 5e8),
	} {
		record := fmt.Sprintf("%d mtime=%s\n", len(value)+10, value)
		record = strings.Replace(record, fmt.Sprint(len(value)+10), fmt.Sprint(len(record)), 1)
		f := openTar(t, rawEntry("x", 'x', record), rawEntry("a", '0', ""), ending)
		if info, err := f.Stat("a"); err != nil || !info.ModTime().Equal(want) {
			t.Errorf("%s: %v, %v; want %v", value, info, err, want)
		}
	}
	large := strings.Repeat("v", 3<<20)
	record := fmt.Sprintf("%d comment=%s\n", len(large)+17, large)
	f := openTar(t, rawEntry("g", 'g', "12 mtime=77\n"), rawEntry("x", 'x', record),
		rawEntry("a", '0', ""), ending)
	if info, err := f.Stat("a"); err != nil || info.ModTime().Unix() != 77 {
		t.Errorf("a global time and a large comment: %v, %v", info, err)
	}
}

// TestLoneBlock reads archives that end in one block of zeros. What is behind it is left out.
func TestLoneBlock(t *testing.T) {
	a, zeros := rawEntry("a", '0', "content"), make([]byte, blockSize)
	for name, c := range map[string]struct {
		end  []byte
		lone bool
	}{
		"none": {nil, false}, "one": {zeros, false}, "two": {ending, false},
		"other data": {slices.Concat(zeros, a), true}, "part": {slices.Concat(zeros, []byte("abc")), true},
		"more": {slices.Concat(ending, a), false},
	} {
		f := openTar(t, a, c.end)
		if got, err := f.ReadFile("a"); string(got) != "content" || (f.EndError() != nil) != c.lone {
			t.Errorf("%s: %q, %v, %v", name, got, err, f.EndError())
		}
	}
}

// TestReplacedFile reads hard links to files that later entries replace: they keep the content that
// the file had, as with GNU tar.
func TestReplacedFile(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	link := func(name, to string) tar.Header {
		return tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: to}
	}
	headers := []tar.Header{
		file("a"), link("b", "a"), link("c", "./a"), file("a"), link("e", "a"), // 0 to 4
		file("x"), link("y", "x"), file("y"), link("z", "y"), file("x"), file("y"), link("w", "z"),
	}
	content := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, i+1) }
	for name, packed := range map[string][]byte{
		"list": write(t, headers, content), "headers": pack(t, makeTar(t, headers, content), compress.PZ),
	} {
		f := open(t, packed)
		for file, want := range map[string]struct {
			i    int
			link string
		}{
			"a": {3, ""}, "b": {0, ""}, "c": {0, "b"}, "e": {3, "a"},
			"x": {9, ""}, "y": {10, ""}, "z": {7, "w"}, "w": {7, ""},
		} {
			got, err := f.ReadFile(file)
			if err != nil || !bytes.Equal(got, content(want.i)) {
				t.Errorf("%s: %s: %x, %v; want %x", name, file, got, err, content(want.i))
			}
			if e, _ := f.Entry(file); e.Link != want.link {
				t.Errorf("%s: %s is a link to %q, want %q", name, file, e.Link, want.link)
			}
		}
	}
}

// FuzzOpenTar opens archives and reads what they show.
func FuzzOpenTar(f *testing.F) {
	f.Add(slices.Concat(rawEntry("x", 'x', "12 mtime=77\n"), rawEntry("a", '0', "content"), ending))
	f.Add(slices.Concat(rawEntry("l", 'L', "long"), rawEntry("d", 'D', "Yname\x00\x00"), ending))
	f.Add(slices.Concat(oldSparse("holes", 1000, 10, 500), rawEntry("rest", 'M', "volume")))
	f.Add(slices.Concat(rawEntry("x", 'x', "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"+
		"26 GNU.sparse.realsize=10\n"), rawEntry("a", '0', "1\n5\n3\n"), ending))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := bytes.Clone(data)
		for at := 0; at+blockSize <= len(p); at += blockSize { // random sums would stop most of them
			if block := p[at : at+blockSize]; !isZero(block) {
				copy(block, rawHeader("", 0, 0, func(b []byte) { copy(b, block) }))
			}
		}
		fsys, err := OpenTar(bytes.NewReader(p), int64(len(p)))
		if err != nil {
			return
		}
		for e := range fsys.All() {
			file, err := e.Open()
			if err != nil {
				continue
			}
			io.CopyN(io.Discard, file, 1<<16)
			holes, ok := file.(SparseFile)
			for at := int64(0); ok && at < e.Info.Size(); {
				begin, end := holes.NextData(at)
				if begin < at || end <= at || end > e.Info.Size() {
					t.Fatalf("NextData(%d): %d, %d of %d", at, begin, end, e.Info.Size())
				}
				at = end
			}
		}
	})
}
