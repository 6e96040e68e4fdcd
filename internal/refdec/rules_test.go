package refdec

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/internal/testenv"
)

// A rule is a file that is valid, or that breaks one rule of the document and no other. All its
// checks are right unless the rule is about one.
type rule struct {
	name  string
	valid bool
	file  []byte
}

// checkRules decodes the files with all decoders. Each must know whether a file is valid, and give
// the content in front of an error.
func checkRules(t *testing.T, rules []rule) {
	t.Helper()
	var files [][]byte
	var results []string
	for _, r := range rules {
		content, err := agree(t, r.file)
		files = append(files, r.file)
		results = append(results, fmt.Sprintf("%v %x", r.valid, sha256.Sum256(content)))
		if (err == nil) != r.valid {
			t.Errorf("%s: %v", r.name, err)
		}
		read := readers
		if !r.valid {
			read = refusing
		}
		if err := read(r.file, content); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
	}
	if testenv.Emulated() {
		return
	}
	for i, got := range pythonResults(t, files) {
		if got != results[i] {
			t.Errorf("%s: decode.py: %s, want %s", rules[i].name, got, results[i])
		}
	}
}

// refusing returns an error if a Reader or a ReaderAt accepts a file, or if the Reader does not
// read the content in front of what is wrong.
func refusing(file, content []byte) error {
	if got, err := readAll(file, 3); err == nil || !bytes.Equal(got, content) {
		return fmt.Errorf("Reader: %d bytes of %d, %v", len(got), len(content), err)
	}
	r, err := openAt(file)
	if err != nil {
		return nil
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r); err == nil {
		return errors.New("ReaderAt accepts it")
	}
	return nil
}

// pythonResults decodes files with decode.py in one process. It returns for each whether it is
// valid, and the SHA-256 of the content.
func pythonResults(t *testing.T, files [][]byte) []string {
	t.Helper()
	const program = `
import sys, hashlib, decode
dictionary = decode.Dictionary(open(sys.argv[1], "rb").read())
for name in sys.argv[2:]:
    content, valid = bytearray(), "true"
    try:
        decode.decode_file(open(name, "rb").read(), content.extend, dictionary)
    except decode.FormatError:
        valid = "false"
    print(valid, hashlib.sha256(content).hexdigest())
`
	dir := t.TempDir()
	args := []string{"-c", program, filepath.Join("..", "..", "testdata", "dictionary", "json.dict")}
	for i, file := range files {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	out, err := exec.Command(testenv.Tool(t, "python3"), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(strings.ReplaceAll(string(out), "\r", "")), "\n")
}

// edited returns a copy of a file with other bytes at an offset, from its end if it is negative.
func edited(file []byte, at int, with ...byte) []byte {
	file = slices.Clone(file)
	if at < 0 {
		at += len(file)
	}
	copy(file[at:], with)
	return file
}

// TestHeaderRules breaks the rules of stream headers, one at a time.
func TestHeaderRules(t *testing.T) {
	text := stored([]byte(house))
	stream := func(head ...byte) []byte { return sealBehind(head, text.block) }
	sized := func(size uint64) []byte {
		return stream(le.AppendUint64(streamHead(12, flagContentChecks|flagContentSize), size)...)
	}
	dictionary := func(number uint32) []byte {
		return stream(le.AppendUint32(streamHead(12, flagContentChecks|flagDictionary), number)...)
	}
	right := jsonDictionary().ours.Number
	both := streamHead(12, flagContentChecks|flagWindow|flagDictionary, 20, 1)
	plain := stream(streamHead(12, flagContentChecks)...)
	rules := []rule{
		{"plain", true, plain},
		{"first byte", false, edited(plain, 0, 'p')},
		{"second byte", false, edited(plain, 1, 'z')},
		{"version 0", false, stream('P', 'Z', 0, 2, 12, flagContentChecks)},
		{"version 2", false, stream('P', 'Z', 2, 2, 12, flagContentChecks)},
		{"pipeline 1", true, stream('P', 'Z', 1, 1, 12, flagContentChecks)},
		{"pipeline 0", false, stream('P', 'Z', 1, 0, 12, flagContentChecks)},
		{"pipeline 3", false, stream('P', 'Z', 1, 3, 12, flagContentChecks)},
		{"pipeline 255", false, stream('P', 'Z', 1, 255, 12, flagContentChecks)},
		{"block size 2^11", false, stream(streamHead(11, flagContentChecks)...)},
		{"block size 2^26", true, stream(streamHead(26, flagContentChecks)...)},
		{"block size 2^27", false, stream(streamHead(27, flagContentChecks)...)},
		{"check of the header", false, edited(plain, 6, plain[6]^1)},
		{"content size", true, sized(uint64(len(house)))},
		{"content size too small", false, sized(uint64(len(house) - 1))},
		{"content size too large", false, sized(uint64(len(house) + 1))},
		{"content size 2^63", false, sized(1<<63 + uint64(len(house)))},
		{"sum of content sizes 2^63", false, slices.Concat(plain, sized(1<<63-uint64(len(house))))},
		{"window 2^19", false, stream(windowed(19, 1)...)},
		{"window 2^31", true, stream(windowed(31, 1)...)},
		{"window 2^32", false, stream(windowed(32, 1)...)},
		{"0 sources", false, stream(windowed(20, 0)...)},
		{"64 sources", true, stream(windowed(20, 64)...)},
		{"65 sources", false, stream(windowed(20, 65)...)},
		{"dictionary", true, dictionary(right)},
		{"dictionary 0", false, dictionary(0)},
		{"other dictionary", false, dictionary(right + 1)},
		{"other dictionary without blocks", true,
			sealBehind(le.AppendUint32(streamHead(12, flagDictionary), right+1))},
		{"window and dictionary", false, stream(le.AppendUint32(both, right)...)},
		{"no file", false, nil},
		{"byte behind the stream", false, append(plain[:len(plain):len(plain)], 0)},
		{"two streams", true, slices.Concat(plain, plain)},
	}
	for bit := 4; bit < 8; bit++ {
		rules = append(rules, rule{
			fmt.Sprint("flag bit ", bit), false, stream(streamHead(12, flagContentChecks|1<<bit)...),
		})
	}
	checkRules(t, rules)
}

// TestBlockRules breaks the rules of block headers.
func TestBlockRules(t *testing.T) {
	const raw = 1 << 12
	text := []byte(house)
	packed := plainPayload(text[:20], bytes.Repeat(text[:20], 20))
	of := func(b block) []byte { return seal(12, b) }
	unchecked := sealBehind(streamHead(12, 0), stored(text).block)
	packedFile := of(block{kindCoded, 420, packed, false})
	// numbered returns a stream whose second block has a number. The first one is short.
	numbered := func(short bool, number uint64) []byte {
		file := sealBehind(streamHead(12, flagContentChecks), stored(text).short().block)
		at := 10 + 9 + len(text)
		index := slices.Clone(file[10:13])
		file, index = appendBlock(file[:at], index, number, block{kindFill, 9, []byte("x"), short}, true, nil)
		return appendTail(file, 0, index, true, uint64(len(text)+9))
	}
	// check sets the content check of the first block.
	check := func(file []byte, sum uint32) []byte {
		file = edited(file, 18, le.AppendUint32(nil, sum)...)
		copy(file[10:], appendHeaderCheck(slices.Clone(file[10:22]), 0, 0))
		return file
	}
	var rules []rule
	for _, short := range []bool{false, true} {
		add := func(name string, valid bool, b block) {
			b.short = short
			rules = append(rules, rule{fmt.Sprintf("%s, short %v", name, short), valid, of(b)})
		}
		add("stored", true, block{kindStored, raw, make([]byte, raw), false})
		add("fill", true, block{kindFill, raw, []byte{0}, false})
		add("fill above the block size", false, block{kindFill, raw + 1, []byte{0}, false})
		add("fill without content", false, block{kindFill, 0, []byte{0}, false})
		add("stored without content", false, block{kindStored, 0, nil, false})
		add("coded", true, block{kindCoded, 420, packed, false})
		add("coded without payload", false, block{kindCoded, 420, nil, false})
		add("coded as long as its content", false, nearPayload(0).block)
		add("coded a byte shorter", true, nearPayload(1).block)
		add("kind 0", false, block{0, 5, text[:5], false})
		rules = append(rules,
			rule{fmt.Sprint("number 1, short ", short), true, numbered(short, 1)},
			rule{fmt.Sprint("number 0, short ", short), false, numbered(short, 0)},
			rule{fmt.Sprint("number 2, short ", short), false, numbered(short, 2)},
			rule{fmt.Sprint("number 65537, short ", short), short, numbered(short, 1<<16+1)})
	}
	head := packedFile[:22]
	checkRules(t, append(rules,
		rule{"payload above its content", false, of(block{kindStored, 5, text[:6], false})},
		rule{"payload below its content", false, of(block{kindStored, 6, text[:5], false})},
		rule{"fill of two bytes", false, of(block{kindFill, 9, text[:2], false})},
		rule{"no check", true, unchecked},
		rule{"check where there is none", false, check(unchecked, crc(text))},
		rule{"check", true, check(packedFile, le.Uint32(head[18:]))},
		rule{"check of the content alone", false, check(packedFile, crc(bytes.Repeat(text[:20], 21)))},
		rule{"check of the payload alone", false, check(packedFile, crc(packed))},
		rule{"check of the header", false, edited(packedFile, 22, packedFile[22]^1)},
	))
}

// TestTailRules breaks the rules of end marker, index and footer.
func TestTailRules(t *testing.T) {
	text := stored([]byte(house))
	head := streamHead(12, flagContentChecks)
	long := sealBehind(head, text.block, text.block)
	short := sealBehind(head, text.block, text.short().block, fill('x', 9).short().block)
	// with returns the file with another byte behind its end marker, at an offset from its end, and
	// a right check of the footer.
	with := func(file []byte, units, at int, change byte) []byte {
		file = slices.Clone(file)
		file[len(file)+at] ^= change
		tail := file[len(file)-36-8*units:]
		le.PutUint32(tail[len(tail)-8:], crc(tail[:len(tail)-8]))
		return file
	}
	checkRules(t, []rule{
		{"long headers", true, long},
		{"short headers", true, with(short, 2, -1, 0)},
		{"marker with a size", false, with(long, 2, -52, 2*8+4)},
		{"marker of two other bytes", false, with(long, 2, -51, 1)},
		{"marker without the size", false, with(short, 2, -52, 2*8+4)},
		{"marker with another size", false, with(short, 2, -52, 8)},
		{"entry of the first block", false, with(long, 2, -48, 16)},
		{"entry with another kind", false, with(long, 2, -40, 1)},
		{"bits behind the entries", false, with(short, 2, -33, 128)},
		{"content size", false, with(long, 2, -32, 1)},
		{"stream size", false, with(long, 2, -24, 1)},
		{"units", false, with(long, 2, -16, 1)},
		{"check of the footer", false, edited(long, -8, long[len(long)-8]^1)},
		{"last byte", false, edited(long, -1, 'Y')},
		{"no units", true, seal(12)},
	})
}

// TestSmallRules breaks the rules of small streams.
func TestSmallRules(t *testing.T) {
	text := []byte(house)
	packed := plainPayload(text[:20], bytes.Repeat(text[:20], 20))
	stream := func(flags byte, kind, raw uint32, payload []byte) []byte {
		return sealSmall(flags, block{kind, raw, payload, false})
	}
	// with returns a stream with other bytes of its header, whose check is right again.
	with := func(file []byte, at int, bytes ...byte) []byte {
		file = edited(file, at, bytes...)
		n := smallHeaderSize(file[4])
		le.PutUint16(file[n-2:], crc16(file[:n-2]))
		return file
	}
	whole := stream(smallCheck, kindStored, uint32(len(text)), text)
	empty := stream(smallCheck, 0, 0, nil)
	behind := dictionaryPayload(text)
	named := sealSmall(smallDict|smallCheck, behind.block)
	// references is a payload of layout 4, without a source.
	references := list([]int{1}, [][4]int{{0, 64, 0, 0}}, kindEmpty, nil)
	rules := []rule{
		{"stored", true, whole},
		{"empty", true, empty},
		{"named", true, named},
		{"65,000 bytes", true, stream(0, kindFill, maxSmallRaw, text[:1])},
		{"65,001 bytes", false, stream(0, kindFill, maxSmallRaw+1, text[:1])},
		{"stored without content", false, stream(0, kindStored, 0, nil)},
		{"fill without content", false, stream(0, kindFill, 0, text[:1])},
		{"coded without payload", false, stream(0, kindCoded, 99, nil)},
		{"coded", true, stream(0, kindCoded, 420, packed)},
		{"coded as long as its content", false, sealSmall(0, nearPayload(0).block)},
		{"coded a byte shorter", true, sealSmall(0, nearPayload(1).block)},
		{"kind 0 with content", false, stream(0, 0, 1, nil)},
		{"kind 0 with a check", false, with(empty, 7, 1)},
		{"kind 0 with a dictionary", false, stream(smallDict, 0, 0, nil)},
		{"stored with a dictionary", false, stream(smallDict, kindStored, 1, text[:1])},
		{"fill with a dictionary", false, stream(smallDict, kindFill, 5, text[:1])},
		{"dictionary 0", false, with(named, 9, 0, 0, 0, 0)},
		{"other dictionary", false, with(named, 9, named[9]^1)},
		{"references", false, stream(smallCheck, kindCoded, 64, references)},
		{"version 2", false, with(whole, 2, 2)},
		{"pipeline 1", true, with(whole, 3, 1)},
		{"pipeline 3", false, with(whole, 3, 3)},
		{"content check", false, with(whole, 7, whole[7]^1)},
		{"header check", false, edited(whole, 11, whole[11]^1)},
		{"size in the footer", false, edited(whole, -3, whole[len(whole)-3]^1)},
		{"last byte", false, edited(whole, -1, 'X')},
	}
	for bit := 4; bit < 7; bit++ {
		rules = append(rules, rule{fmt.Sprint("bit ", bit), false, with(whole, 4, whole[4]|1<<bit)})
	}
	checkRules(t, rules)
}

// TestSectionRules breaks the rules of sections. Decoders in one go do not look at the footer.
func TestSectionRules(t *testing.T) {
	whole := sealSmall(smallCheck, stored([]byte(house)).block)
	with := func(kind section.Kind, size uint64) []byte {
		s := edited(sealSection(kind, make([]byte, 10)), 5, le.AppendUint64(nil, size)...)
		le.PutUint32(s[13:], crc(s[:13]))
		return s
	}
	right := with(section.Parity, 43)
	var rules []rule
	for _, r := range []rule{
		{"parity", true, right},
		{"reserved kind 80", true, with(0x80, 43)},
		{"private kind", true, with(0xff, 43)},
		{"kind 0", false, with(0, 43)},
		{"kind 127", false, with(127, 43)},
		{"header check", false, edited(right, 13, right[13]^1)},
		{"size of 32", false, with(section.Parity, 32)},
		{"size of 0", false, with(section.Parity, 0)},
		{"size above the file", false, with(section.Parity, 1<<60)},
		{"size above 2^63", false, with(section.Parity, 1<<63+43)},
		{"one byte less", false, with(section.Parity, 42)},
	} {
		rules = append(rules, rule{r.name + " in front", r.valid, slices.Concat(r.file, whole)},
			rule{r.name + " between", r.valid, slices.Concat(whole, r.file, whole)},
			rule{r.name + " behind", r.valid, slices.Concat(whole, r.file)})
	}
	checkRules(t, append(rules, rule{"no stream", false, right},
		rule{"smallest", true, slices.Concat(sealSection(section.MaySkip, nil), whole)}))
}
