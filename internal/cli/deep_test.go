package cli

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/refzst"
)

// TestDeep tests files of all formats with two decoders.
func TestDeep(t *testing.T) {
	content := sample(300_000) + noise(100_000)
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"a.pz":       {"-B64K"},
		"empty.pz":   {"-B64K"},
		"small.pz":   nil,
		"dense.pz":   {"-9"},
		"plain.pz":   {"-p", "lzr"},
		"long.pz":    {"--long=20", "-B64K"},
		"parity.pz":  {"--parity", "5"},
		"a.gz":       {"--format", "gz"},
		"a.zst":      {"--format", "zst", "-B64K"},
		"small.zst":  {"--format", "zst", "-9"},
		"empty.zst":  {"--format", "zst"},
		"seek.zst":   {"--format", "zst", "--seekable"},
		"parity.zst": {"--format", "zst", "--parity", "5"},
	} {
		in := content
		switch name {
		case "empty.pz", "empty.zst":
			in = ""
		case "small.pz", "small.zst":
			in = in[:5000]
		}
		good := pz(t, in, append(args, "-c")...).want(t, exitOK).out
		path := write(t, good, dir, name)
		if res := pz(t, "", "-t", "--deep", path).want(t, exitOK); res.err != "" {
			t.Errorf("%s: %s", name, res.err)
		}
		write(t, good+good, dir, name)
		pz(t, "", "-t", "--deep", path).want(t, exitOK)
		write(t, good+"garbage that is long enough", dir, name)
		res := pz(t, "", "-t", "--deep", path)
		if filepath.Ext(name) == ".zst" {
			res.want(t, exitError, "no frame begins")
		} else {
			res.want(t, exitWarning, "trailing garbage")
		}
		at := len(good) - len(good)/3
		write(t, good[:at]+string([]byte{good[at] ^ 8})+good[at+1:], dir, name)
		res = pz(t, "", "-t", "--deep", path)
		if !strings.HasPrefix(name, "parity") && res.code != exitError {
			t.Errorf("%s, damaged: exit code %d: %s", name, res.code, res.err)
		}
	}
	gz := pz(t, content, "-c", "--format", "gz").out
	padded := write(t, gz+strings.Repeat("\x00", 100), dir, "padded.gz")
	pz(t, "", "-t", "--deep", padded).want(t, exitOK)
	short := write(t, gz+"\x00\x00", dir, "short.gz")
	pz(t, "", "-t", "--deep", short).want(t, exitOK)
	write(t, gz+"\x00\x00"+gz, dir, "short.gz")
	pz(t, "", "-t", "--deep", short).want(t, exitWarning, "trailing garbage")
	write(t, gz+gz, dir, "short.gz")
	pz(t, "", "-t", "--deep", short).want(t, exitOK)
}

// TestDecodeGzip: only zeros behind the last member are ignored.
func TestDecodeGzip(t *testing.T) {
	gz := pz(t, "content", "-c", "--format", "gz").out
	for _, c := range []struct {
		data string
		want error
	}{
		{gz, nil},
		{gz + gz, nil},
		{gz + "\x00", nil},
		{gz + strings.Repeat("\x00", 10_000), nil},
		{gz + strings.Repeat("\x00", 10_000) + "x", gzip.ErrHeader},
		{gz + "\x00" + gz, gzip.ErrHeader},
		{gz + "garbage that is long enough", gzip.ErrHeader},
		{gz + "x", io.ErrUnexpectedEOF},
		{gz[:len(gz)-1], io.ErrUnexpectedEOF},
	} {
		if err := decodeGzip(io.Discard, strings.NewReader(c.data)); err != c.want {
			t.Errorf("%d bytes: %v, want %v", len(c.data), err, c.want)
		}
	}
}

// TestDeepZstd tests .zst files with dictionaries, and limits of the second decoder.
func TestDeepZstd(t *testing.T) {
	dir := t.TempDir()
	plain := write(t, noise(5000), dir, "dict")
	trained, err := filepath.Abs(filepath.Join("..", "..", "testdata", "dictionary", "json.dict"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dict := range []string{plain, trained} {
		file := pz(t, sample(100_000), "-c", "--format", "zst", "-D", dict).out
		path := write(t, file, dir, "a.zst")
		if res := pz(t, "", "-t", "--deep", "-D", dict, path).want(t, exitOK); res.err != "" {
			t.Errorf("%s: %s", dict, res.err)
		}
	}
	file := pz(t, sample(100_000), "-c", "--format", "zst").out
	if err := decodeZstd(io.Discard, strings.NewReader(file), nil, 1<<20); err != nil {
		t.Error(err)
	}
	err = decodeZstd(io.Discard, strings.NewReader(file), nil, 50_000)
	if err == nil || err.Error() != "it needs more than 48.8 KiB of memory; raise -M" {
		t.Errorf("with too little memory: %v", err)
	}
	err = decodeZstd(io.Discard, strings.NewReader(file[:len(file)-1]), nil, 1<<20)
	if !errors.Is(err, refzst.ErrTruncated) || !strings.Contains(err.Error(), "at byte") {
		t.Errorf("cut: %v", err)
	}
}

// TestDeepLongHeader: Go's decoder does not read a header with a long comment.
func TestDeepLongHeader(t *testing.T) {
	dir := t.TempDir()
	gz := pz(t, sample(5000), "-c", "-n", "--format", "gz").out
	const comment = 1 << 4
	head := gz[:3] + string([]byte{gz[3] | comment}) + gz[4:10] + strings.Repeat("c", 600) + "\x00"
	path := write(t, head+gz[10:], dir, "a.gz")
	pz(t, "", "-t", path).want(t, exitOK)
	pz(t, "", "-t", "--deep", path).want(t, exitWarning,
		"was tested with one decoder only: its header is too long for Go's")
	write(t, head+gz[10:len(gz)-100], dir, "a.gz")
	pz(t, "", "-t", "--deep", path).want(t, exitError, "is cut short")
}

// TestDeepLimits: files that no second decoder reads are a warning.
func TestDeepLimits(t *testing.T) {
	dir := t.TempDir()
	const only = "was tested with one decoder only: "
	xz, err := os.ReadFile(filepath.Join("internal", "foreign", "testdata", "log.xz"))
	if err != nil {
		t.Fatal(err)
	}
	other := write(t, string(xz), dir, "a.xz")
	pz(t, "", "-t", "--deep", other).want(t, exitWarning, only+"pz has no second one for the format")
	large := write(t, pz(t, noise(3<<20), "-c", "-B64K").out, dir, "large.pz")
	pz(t, "", "-t", "--deep", "-M2M", "-T1", large).want(t, exitWarning, only, "use -M 4M or more")
	pz(t, "", "-t", "--deep", "-M4M", "-T1", large).want(t, exitOK)
	// Of a stream with a window the second decoder keeps that much.
	windowed := pz(t, noise(4<<20), "-c", "-B64K", "--long=20").out
	long := write(t, windowed, dir, "long.pz")
	pz(t, "", "-t", "--deep", "-M6M", "-T1", long).want(t, exitOK)
	pz(t, "", "-t", "--deep", "-M4500K", "-T1", long).want(t, exitWarning, only, "use -M 6M or more")
	// Without its last bytes the file does not say what the second decoder needs.
	write(t, windowed[:len(windowed)-1], dir, "long.pz")
	pz(t, "", "-t", "--deep", "-M4500K", "-T1", long).want(t, exitError, "is cut short")
	dict := write(t, sample(5000), dir, "dict")
	with := write(t, pz(t, sample(2000), "-c", "-D", dict).out, dir, "with.pz")
	pz(t, "", "-t", "--deep", "-D", dict, with).want(t, exitWarning, only)
	pz(t, "", "-d", "--deep", "-c", other).want(t, exitError, "--deep goes with -t only")
}

// TestDeepDiffers: what the second decoder returns otherwise, or not at all.
func TestDeepDiffers(t *testing.T) {
	content := sample(300_000)
	path := write(t, pz(t, content, "-c", "-B64K").out, t.TempDir(), "a.pz")
	broken, errPanic := errors.New("broken"), errors.New("panic")
	for _, c := range []struct {
		name    string
		content string
		err     error
		want    string
	}{
		{"equal", content, nil, ""},
		{"another byte", content[:200_000] + "\x00" + content[200_001:], nil,
			"different content, behind byte 196608"},
		{"less", content[:200_000], nil, "different content, behind byte"},
		{"more", content + "x", nil, "the second decoder returns more content"},
		{"error", content[:200_000], broken, "the second decoder fails: broken; behind byte"},
		{"error at the beginning", "", broken, "the second decoder fails: broken; behind byte 0 "},
		{"panic", content[:200_000], errPanic,
			"the second decoder fails: internal error: panic; behind byte"},
		{"error at the end", content, broken, "the second decoder fails: broken"},
	} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		info, _ := f.Stat()
		a := newApp()
		a.cfg.mode = modeTest
		a.sched = compress.NewScheduler(1)
		in := &source{app: a, f: f, name: filepath.Base(path), info: info}
		m := a.newMeter(in, &output{})
		err = a.compareDecoders(func(w io.Writer) error {
			if _, err := io.WriteString(w, c.content); err != nil {
				return err
			}
			if c.err == errPanic {
				panic("panic")
			}
			return c.err
		}, in, m, a.readOptions())
		m.closeBar()
		f.Close()
		got := ""
		if err != nil {
			got = err.Error()
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
