package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/simd"
)

func parse(args ...string) (config, error) {
	return parseFlags(args, func(string) string { return "" }, false)
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args string
		ok   func(config) bool
	}{
		{"", func(c config) bool {
			return c.mode == modeCompress && !c.remove && c.suffix() == ".pz" && c.level == 0 &&
				c.threads == 0 && c.files[0] == "-"
		}},
		{"-dkf a b", func(c config) bool {
			return c.mode == modeDecompress && c.force && !c.remove &&
				strings.Join(c.files, " ") == "a b"
		}},
		{"-9k a", func(c config) bool { return c.level == 9 && c.files[0] == "a" }},
		{"-1 -T2 a", func(c config) bool { return c.level == 1 && c.threads == 2 }},
		{"-9 -3", func(c config) bool { return c.level == 3 }},
		{"--fast", func(c config) bool { return c.level == 1 }},
		{"-a", func(c config) bool { return c.tuning == compress.TuneAuto }},
		{"--auto --best", func(c config) bool { return c.tuning == compress.TuneAuto && c.level == 9 }},
		{"-a --trial", func(c config) bool { return c.tuning == compress.TuneTrial }},
		{"--trial -ka6", func(c config) bool {
			return c.tuning == compress.TuneAuto && c.level == 6
		}},
		{"--level 4", func(c config) bool { return c.level == 4 }},
		{"-z -d", func(c config) bool { return c.mode == modeDecompress }},
		{"-d -z", func(c config) bool { return c.mode == modeCompress }},
		{"--compress --test", func(c config) bool { return c.mode == modeTest }},
		{"--decompress --list", func(c config) bool { return c.mode == modeList }},
		{"--rm", func(c config) bool { return c.remove }},
		{"--rm -k", func(c config) bool { return !c.remove }},
		{"--keep --rm", func(c config) bool { return c.remove }},
		{"-l --json", func(c config) bool { return c.json }},
		{"-crqv", func(c config) bool { return c.toStdout && c.recursive && !c.quiet && c.verbose }},
		{"-v -q", func(c config) bool { return c.quiet && !c.verbose }},
		{"--stdout --recursive --verbose --quiet --force",
			func(c config) bool {
				return c.toStdout && c.recursive && c.quiet && !c.verbose && c.force
			}},
		{"-o out in", func(c config) bool { return c.output == "out" }},
		{"--output=out in", func(c config) bool { return c.output == "out" }},
		{"in -o -9", func(c config) bool { return c.output == "-9" && c.level == 0 }},
		{"-o - in", func(c config) bool { return c.output == "" && c.toStdout }},
		{"-p lzr", func(c config) bool { return c.pipeline == "lzr" }},
		{"--pipeline lzseqr", func(c config) bool { return c.pipeline == "lzseqr" }},
		{"-B 64K", func(c config) bool { return c.blockSize == 64<<10 }},
		{"-B4096", func(c config) bool { return c.blockSize == 4096 }},
		{"--block-size=1MiB", func(c config) bool { return c.blockSize == 1<<20 }},
		{"--rsyncable", func(c config) bool { return c.rsyncable && c.blockSize == 0 }},
		{"-M 1G", func(c config) bool { return c.memory == 1<<30 }},
		{"-S .x", func(c config) bool { return c.suffix() == ".x" }},
		{"--threads 0", func(c config) bool { return c.threads == 0 }},
		{"--no-check", func(c config) bool { return c.noCheck }},
		{"--long", func(c config) bool { return c.window == 128<<20 }},
		{"--long=31", func(c config) bool { return c.window == 2<<30 }},
		{"-d --long --format zst", func(c config) bool { return c.window == 128<<20 }},
		{"-- -9 -k", func(c config) bool {
			return strings.Join(c.files, " ") == "-9 -k" && c.level == 0
		}},
		{"a -", func(c config) bool { return strings.Join(c.files, " ") == "a -" }},
		{"-V", func(c config) bool { return c.version }},
		{"--help", func(c config) bool { return c.help == helpBrief }},
		{"--help=all", func(c config) bool { return c.help == helpAll }},
		{"-h -d", func(c config) bool { return c.help == helpBrief && c.mode == modeDecompress }},
		{"--decomp --verb --output=x a", func(c config) bool {
			return c.mode == modeDecompress && c.verbose && c.output == "x"
		}},
		{"--suf x --thr 3 --fas", func(c config) bool {
			return c.ownSuffix == "x" && c.threads == 3 && c.level == 1
		}},
		{"--list", func(c config) bool { return c.mode == modeList && !c.listGPUs }},
		{"--recover --zero-fill -c a", func(c config) bool {
			return c.mode == modeRecover && c.zeroFill
		}},
	} {
		got, err := parse(strings.Fields(c.args)...)
		if err != nil || !c.ok(got) {
			t.Errorf("%s: %v, %+v", c.args, err, got)
		}
	}
}

// TestSizeFlags checks the window of --long, which is a logarithm or a size, and --stream-size.
func TestSizeFlags(t *testing.T) {
	for value, want := range map[string]int64{
		"20": 1 << 20, "31": 2 << 30, "128M": 128 << 20, "1GiB": 1 << 30, "4194304": 4 << 20,
	} {
		if c, err := parse("--long="+value, "-B4K"); err != nil || c.window != want {
			t.Errorf("--long=%s: window %d, want %d; %v", value, c.window, want, err)
		}
	}
	for value, want := range map[string]int64{"0": 0, "5000": 5000, "4K": 4096} {
		if c, err := parse("--stream-size", value); err != nil || !c.sized || c.streamSize != want {
			t.Errorf("--stream-size %s: %d, want %d; %v", value, c.streamSize, want, err)
		}
	}
}

// TestBenchFlags checks which levels -b measures, and for how long.
func TestBenchFlags(t *testing.T) {
	for _, c := range []struct {
		args   string
		levels []int
		least  time.Duration
	}{
		{"-b", []int{4}, 3 * time.Second},
		{"-b --format gz", []int{6}, 3 * time.Second},
		{"-b3", []int{3}, 3 * time.Second},
		{"-b -3 -i2", []int{3}, 2 * time.Second},
		{"-b3 -5 -i0", []int{5}, 0},
		{"-b1-3 -5 -i0", []int{5}, 0},
		{"-5 -i 0 -b1-3", []int{1, 2, 3}, 0},
		{"-b5-7,1,6 -i0", []int{1, 5, 6, 7}, 0},
		{"--bench=2,9 --bench-time=0.25", []int{2, 9}, 250 * time.Millisecond},
		{"-b1 -e3 -i1.5", []int{1, 2, 3}, 1500 * time.Millisecond},
		{"-kb7e9", []int{7, 8, 9}, 3 * time.Second},
		{"-d -b --bench-to 5", []int{4, 5}, 3 * time.Second},
	} {
		got, err := parse(append(strings.Fields(c.args), "a")...)
		if err != nil || got.mode != modeBench || !slices.Equal(got.levels(), c.levels) ||
			got.bench.least != c.least || len(got.files) != 1 {
			t.Errorf("%s: levels %v, want %v; %v, %v", c.args, got.levels(), c.levels, err, got.bench)
		}
	}
	if got, err := parse("-b", "-d", "a"); err != nil || got.mode != modeDecompress {
		t.Errorf("-b -d: mode %d, %v", got.mode, err)
	}
}

// TestFlagErrors checks that an invalid command line gives exit code 1, the reason and a hint at
// --help.
func TestFlagErrors(t *testing.T) {
	for _, c := range []struct{ args, text string }{
		{"-y", "-y"},
		{"--rmm", "--rmm"},
		{"--fast=3", "--fast"},
		{"-0", "1 to 9"},
		{"-19", "1 to 9"},
		{"-10", "1 to 9"},
		{"--level x", "1 to 9"},
		{"-T -1", "threads"},
		{"-T x", "threads"},
		{"-T 9999", "threads"},
		{"-T", "-T needs a value"},
		{"-B 3000", "power of two"},
		{"-B 2K", "power of two"},
		{"-B 128M", "power of two"},
		{"-B 1X", "size"},
		{"-B", "needs a value"},
		{"-M 0", "greater than 0"},
		{"-M lots", "size"},
		{"-M 99999999999G", "range"},
		{"-p none", "lzseqr"},
		{"-S a/b", "separator"},
		{"--suffix=", "empty"},
		{"--json", "-l"},
		{"-d=false", "no value"},
		{"--keep=no", "no value"},
		{"--output= a", "empty"},
		{"-t -o x a", "-t"},
		{"-l -o x a", "-l"},
		{"-c -o x a", "-o does not go with -c"},
		{"-r -o x a", "-r"},
		{"-o x a b", "one input"},
		{"--zero-fill", "--recover"},
		{"--recover a", "-o FILE"},
		{"--recover --rm -c a", "--rm"},
		{"-d --no-check --rm a.pz", "--rm does not go with -d --no-check"},
		{"--long=19 a", "--long=19: the window must be a number from 20 (1 MiB) to 31 (2 GiB), " +
			"or such a size: a power of two, as in 128M"},
		{"--long=100M a", "--long=100M: the window must be"},
		{"--long=4G a", "--long=4G: the window must be"},
		{"--long=512K a", "--long=512K: the window must be"},
		{"--long=32 a", "--long=32: the window must be"},
		{"--long=-27 a", "--long=-27: the window must be"},
		{"-b0", "--bench=0: levels must be a list such as 3, 1-9 or 1,3,5-7, from 1 to 9"},
		{"-b10", "--bench=10: levels must be a list"},
		{"-b3-1", "--bench=3-1: levels must be a list"},
		{"-b1,", "--bench=1,: levels must be a list"},
		{"--bench=", `--bench="": levels must be a list`},
		{"-b3 -e2", "-e 2: the last level is below level 3 of -b"},
		{"-b1,3 -e5", "-e does not go with a list of levels"},
		{"-b -e0", "-e 0: -e is the last level of -b, from 1 to 9"},
		{"-9e -c", "-e -c: -e is the last level of -b, from 1 to 9; without -b the densest level is -9"},
		{"-b -i-1", "-i -1: the time must be a number of seconds from 0 to 3600"},
		{"-b -iNaN", "-i NaN: the time must be"},
		{"-e9 a", "-e, -i and --svg go with -b only"},
		{"-d -i1 a", "-e, -i and --svg go with -b only"},
		{"--svg x a", "-e, -i and --svg go with -b only"},
		{"-b -o x a", "-b, which write no file"},
		{"-b --output-dir x a", "-b, which write no file"},
		{"-b --long=20 -B2M a", "--long: window of 1048576 bytes is smaller than a block of 2097152"},
		{"-b3,9 --long=20 a", "--long: window of 1048576 bytes is smaller than a block of"},
		{"--stream-size x", "--stream-size x: a size must be"},
		{"--long=x a", "--long=x: the window must be"},
		{"--seekable=5K a", "--seekable=5K: the block size must be a power of two"},
		{"--seekable --format gz a", "--seekable is for .pz and .zst files"},
		{"--seekable -o a.gz a", "--seekable is for .pz and .zst files"},
		{"--long --format gz a", "--long is for .pz and .zst files"},
		{"--long --seekable -o a.zst a", "--long does not go with --seekable for .zst"},
		{"--long --tar -o a.tar.zst a", "--long does not go with --tar for .zst"},
		{"--long --rsyncable a", "--long does not go with --rsyncable"},
		{"--long=20 -B2M a", "--long: window of 1048576 bytes is smaller than a block of 2097152"},
		{"--rm --no-check -d a.pz", "--rm does not go with -d --no-check"},
	} {
		pz(t, "", strings.Fields(c.args)...).want(t, exitError, c.text, " (try pz --help)\n")
	}
}

// TestEnvironment checks that variables set defaults and that options override them.
func TestEnvironment(t *testing.T) {
	env := func(level, threads string) func(string) string {
		return func(name string) string {
			return map[string]string{"PZ_LEVEL": level, "PZ_THREADS": threads}[name]
		}
	}
	c, err := parseFlags([]string{"-d"}, env("7", "3"), false)
	if err != nil || c.level != 7 || c.threads != 3 {
		t.Errorf("%v, %+v", err, c)
	}
	c, err = parseFlags([]string{"-2", "-T1"}, env("7", "3"), false)
	if err != nil || c.level != 2 || c.threads != 1 {
		t.Errorf("options do not override the environment: %v, %+v", err, c)
	}
}

// TestInvalidEnvironment checks that an invalid variable gives a warning and exit code 0, and only
// where the variable would have had an effect.
func TestInvalidEnvironment(t *testing.T) {
	in := write(t, "content", t.TempDir(), "a")
	packed := write(t, pz(t, "content").out, t.TempDir(), "a.pz")
	for _, bad := range []string{"x", "0x", "-1", "5 ", "99999"} {
		env := map[string]string{"PZ_LEVEL": bad, "PZ_THREADS": bad}
		for _, args := range []string{
			"-dc " + packed, "-t " + packed, "-l " + packed, "-h", "-V", "-3 -T1 -c " + in,
			"-qc " + in, "--recover -q -c " + packed,
		} {
			pzEnv(t, env, "", strings.Fields(args)...).want(t, exitOK)
		}
		r := pzEnv(t, env, "", "-c", in).want(t, exitOK,
			"pz: environment variable PZ_LEVEL=", "1 to 9",
			"pz: environment variable PZ_THREADS=", "0 (all processors) to", " -- ignored; ")
		if strings.Count(r.err, "\n") != 2 || r.out != pz(t, "", "-c", in).out {
			t.Errorf("%q: %d bytes, %s", bad, len(r.out), r.err)
		}
		r = pzEnv(t, env, "", "-c", "-9", in).want(t, exitOK, "PZ_THREADS=")
		if strings.Contains(r.err, "PZ_LEVEL") {
			t.Errorf("warning about a variable that -9 overrides: %s", r.err)
		}
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "1": 1, "4096": 4096, "4096B": 4096, "1K": 1024, "1k": 1024, "1KB": 1024,
		"1KiB": 1024, "64kib": 65536, "2M": 2 << 20, "2MiB": 2 << 20, "3G": 3 << 30, "1T": 1 << 40,
	} {
		if n, err := parseSize(s); err != nil || n != want {
			t.Errorf("%s: %d, %v", s, n, err)
		}
	}
	for _, s := range []string{
		"", "K", "-1", "+1", "1.5M", "1KK", "1Bi", "1i", "1BK", "1 K", "0x10", "9999999999G",
		"99999999999999999999",
	} {
		if n, err := parseSize(s); err == nil {
			t.Errorf("%q: %d", s, n)
		}
	}
}

func TestSizeOption(t *testing.T) {
	for _, n := range []int64{1, 1000, 1024, 1025, 1<<20 - 1, 1 << 20, 1<<20 + 1, 5 << 20, 1 << 40} {
		s := sizeOption(n)
		if got, err := parseSize(s); err != nil || got < n || got > n+n/1024+1<<20 {
			t.Errorf("%d: %s is %d, %v", n, s, got, err)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1000: "1000 B", 4096: "4 KiB", 1 << 20: "1 MiB", 3 << 19: "1.5 MiB",
		1 << 30: "1 GiB", 1<<27 + 5: "128 MiB",
	} {
		if got := formatSize(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// TestKernelsVariable checks that an invalid PZ_SIMD gives a warning, except with -q, -l and -h.
func TestKernelsVariable(t *testing.T) {
	in := write(t, "content", t.TempDir(), "a")
	packed := write(t, pz(t, "content").out, t.TempDir(), "a.pz")
	for _, value := range []string{"", simd.Tier(), "sse9"} {
		for args, warns := range map[string]bool{
			"-c " + in: true, "-dc " + packed: true, "-V": true, "-qc " + in: false, "-h": false,
			"-l " + packed: false,
		} {
			var want string
			if warns && value == "sse9" {
				want = "pz: environment variable PZ_SIMD=sse9 -- ignored, " + simd.Tier() +
					" kernels run; use portable, avx2, avx512 or neon, " +
					"as far as build and processor have them\n"
			}
			r := pzEnv(t, map[string]string{"PZ_SIMD": value}, "", strings.Fields(args)...)
			if r.code != exitOK || r.err != want {
				t.Errorf("%q, %s: exit code %d: %q, want %q", value, args, r.code, r.err, want)
			}
		}
	}
}

// TestUnwrittenFormat checks that a suffix of -o for a format that pz does not write is an error,
// also with -q, and that nothing is written.
func TestUnwrittenFormat(t *testing.T) {
	names := []string{
		"x.xz", "x.lzma", "x.bz2", "x.tar.BZ2", "x.lz4", "x.br", "x.Z", "x.sz", "x.s2", "x.zip", "x.tb2",
		"x.LZ",
	}
	for _, name := range names {
		dir := t.TempDir()
		in, out := write(t, "content", dir, "in"), filepath.Join(dir, name)
		pz(t, "", "-q", "-o", out, in).want(t, exitError, fmt.Sprintf(
			"pz: -o %s: pz writes .pz, .gz and .zst files, not %s; "+
				"add --format pz, gz or zst to use this name", out, filepath.Ext(name)))
		wantFiles(t, dir, "in")
	}
}

// TestReadingModes checks which of two modes that read compressed data counts, as with gzip 1.12:
// -l outranks -t, and both outrank what writes files.
func TestReadingModes(t *testing.T) {
	for args, want := range map[string]mode{
		"-td": modeTest, "-dt": modeTest, "-t --decompress": modeTest, "-tx": modeTest, "-xt": modeTest,
		"-ld": modeList, "-dl": modeList, "-lt": modeList, "-tl": modeList, "-lx": modeList,
		"-dx": modeExtract, "-tz": modeCompress,
	} {
		c, err := parse(append(strings.Fields(args), "file")...)
		if err != nil || c.mode != want {
			t.Errorf("%s: mode %v, %v, want %v", args, c.mode, err, want)
		}
	}
	dir := t.TempDir()
	in := write(t, pz(t, "content").out, dir, "a.pz")
	for _, option := range []string{"-td", "-dt", "-ld", "-tdf"} {
		pz(t, "", option, in).want(t, exitOK)
		wantFiles(t, dir, "a.pz")
	}
}

// TestVerboseTotal checks the last line of -v about several files.
func TestVerboseTotal(t *testing.T) {
	dir := t.TempDir()
	a, b := write(t, "content", dir, "a"), write(t, sample(1000), dir, "b")
	pz(t, "", "-v", a, b).want(t, exitOK, "\npz: 2 files: 1007 bytes of content, ")
	pz(t, "", "-tv", a+".pz", b+".pz").want(t, exitOK, "\npz: 2 files: 1007 bytes of content, ")
	if r := pz(t, "", "-tv", a+".pz"); strings.Contains(r.err, "files:") {
		t.Errorf("one file: %s", r.err)
	}
}
