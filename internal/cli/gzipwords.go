package cli

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gopz/compress"
)

// Under the names of gzip pz finds files as gzip does, takes its options, and prints what scripts
// read in its words.

// letter returns the one-letter name of an option of pz, or "". Under the names of gzip gzipFlags
// adds other options -a and -b.
func (c *config) letter(long string) string {
	short := shortName(long)
	if c.ofGzip && (short == "a" || short == "b") {
		return ""
	}
	return short
}

// gzipFlags adds options that only gzip has. As in gzip -a and -b do nothing.
func (c *config) gzipFlags(fs *pflag.FlagSet) {
	fs.BoolVarP(&c.ascii, "ascii", "a", false, "")
	fs.FuncP("bits", "b", "", func(s string) error {
		if strings.Trim(s, "0123456789") != "" {
			return errors.New("the operand is not an integer")
		}
		return nil
	})
	fs.BoolVarP(&c.license, "license", "L", false, "")
}

// gzipHelpHead and gzipHelpTail are the brief help under the names of gzip, around gzipOptions.
const (
	gzipHelpHead = `Usage: gzip [OPTION]... [FILE]...

This is pz under a name of gzip. Replace each FILE by FILE.gz, or restore
it with -d. Without FILE, or where FILE is -, use standard input and output.
`
	gzipHelpTail = `gunzip stands for gzip -d, and zcat for gzip -dc.
Other options of pz work too, but for -a and -b: see gzip --help=all.
`
)

// gzipOptions are the options that brief help lists under the names of gzip, and what it says.
var gzipOptions = [][2]string{
	{"-1 ... -9", "Set the level: 1 fastest, 9 densest; default {gzlevel}."},
	{"-c, --stdout", "Write to standard output and keep the files."},
	{"-d, --decompress", "Restore files."},
	{"-f, --force", "Overwrite existing files; with -dc copy other data."},
	{"-k, --keep", "Keep the source."},
	{"-l, --list", "List sizes and ratio of files."},
	{"-L, --license", "Show the license."},
	{"-n, --no-name", "Neither store name and time nor restore them."},
	{"-N, --name", "Store name and time, or restore them."},
	{"-q, --quiet", "Suppress warnings and the progress bar."},
	{"-r, --recursive", "Process all files in directories."},
	{"    --rsyncable", "Keep most bytes where content changes little."},
	{"-S, --suffix .SUF", "Use this suffix in place of .gz."},
	{"-t, --test", "Check that files can be restored; write nothing."},
	{"-v, --verbose", "Report the ratio of each file."},
	{"-V, --version", "Show the version."},
	{"-T, --threads N", "Use N threads; the default 0 uses all processors."},
}

// gzipVariable is the environment variable that has options for gzip.
const gzipVariable = "GZIP"

// parseGzipVariable reads the options in the value of GZIP: those that gzip allows there.
func (c *config) parseGzipVariable(fs *pflag.FlagSet, names optionNames, value string) error {
	long := []string{"fast", "best", "quiet", "verbose", "no-name", "name", "rsyncable"}
	words := strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == '\t' })
	for _, word := range words {
		name, ok := strings.CutPrefix(word, "--")
		switch {
		case len(word) < 2 || word[0] != '-':
			return fmt.Errorf("%s: non-option in GZIP environment variable", printable(word))
		case ok && slices.Contains(long, names.full(name)):
		case ok || strings.Trim(word[1:], "123456789nNqv") != "":
			return fmt.Errorf("%s: option not valid in GZIP environment variable", printable(word))
		}
	}
	err := fs.Parse(rewriteLevels(words, names))
	if len(words) > 0 && !c.quiet {
		c.gzipWarnings = append(c.gzipWarnings,
			"warning: GZIP environment variable is deprecated; use an alias or script")
	}
	return err
}

// findAsGzip looks for a file with a suffix that the user left out, in the order of gzip. missing
// is the error about the path itself. Without such a file it returns the name with the usual
// suffix.
func (a *app) findAsGzip(path string, missing error) (found string, info fs.FileInfo, err error) {
	_, _, packed := a.cfg.splitSuffix(path)
	if packed || a.cfg.mode == modeCompress {
		return path, nil, missing
	}
	for _, suffix := range []string{a.cfg.suffixOfGzip(), ".gz", ".z", "-z", ".Z"} {
		info, err = os.Lstat(path + suffix)
		if !errors.Is(err, fs.ErrNotExist) {
			return path + suffix, info, err
		}
	}
	return path + a.cfg.suffixOfGzip(), nil, missing
}

// suffixOfGzip returns the suffix of -S, or that of gzip.
func (c *config) suffixOfGzip() string {
	if c.ownSuffix != "" {
		return c.ownSuffix
	}
	return ".gz"
}

// gzipRatio returns how much smaller than its content a file is, in percent, as gzip counts:
// without header and trailer.
func gzipRatio(content, packed, overhead int64) string {
	if content == 0 {
		return "  0.0%"
	}
	return fmt.Sprintf("%5.1f%%", 100*float64(content-(packed-overhead))/float64(content))
}

// Sizes in bytes of the header of a .gz file without a name, and of its trailer.
const (
	gzipHeader  = 10
	gzipTrailer = 8
)

// gzipOverhead returns the bytes of header and trailer of a .gz file that begins like r, or 0.
func gzipOverhead(r io.Reader) int64 {
	const extra, name, comment, headerCRC = 4, 8, 16, 2
	head := make([]byte, gzipHeader)
	if _, err := io.ReadFull(r, head); err != nil || head[0] != 0x1f || head[1] != 0x8b {
		return 0
	}
	size := int64(gzipHeader + gzipTrailer)
	if head[3]&extra != 0 {
		var n [2]byte
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return size
		}
		skipped, _ := io.CopyN(io.Discard, r, int64(binary.LittleEndian.Uint16(n[:])))
		size += 2 + skipped
	}
	for _, flag := range []byte{name, comment} {
		for b := []byte{1}; head[3]&flag != 0 && b[0] != 0; size++ {
			if _, err := io.ReadFull(r, b); err != nil {
				return size
			}
		}
	}
	if head[3]&headerCRC != 0 {
		size += 2
	}
	return size
}

// printGzipSummary prints the line of -v about one file.
func (a *app) printGzipSummary(in *source, out *output, content, packed int64) {
	name, overhead := printable(in.name)+":\t", int64(gzipHeader+gzipTrailer)
	switch {
	case a.cfg.mode == modeTest && in.f == a.stdin:
		a.printLine(" OK")
		return
	case a.cfg.mode == modeTest:
		a.printLine(name + " OK")
		return
	case a.cfg.mode == modeDecompress && in.f == a.stdin:
		return
	case a.cfg.mode == modeDecompress && in.regular():
		overhead = gzipOverhead(io.NewSectionReader(in.readerAt(), in.start-in.part, in.info.Size()))
	case a.cfg.names != namesDrop && in.link != nil:
		overhead += int64(len(filepath.Base(in.name))) + 1 // the stored name
	}
	ratio := gzipRatio(content, packed, overhead)
	if in.f == a.stdin {
		a.printLine(ratio)
		return
	}
	done, to := "replaced with", printable(out.name)
	if !a.cfg.remove && !a.cfg.toStdout {
		done = "created"
	}
	if out.temp == "" && a.cfg.toStdout {
		to = "stdout"
	}
	a.printLine(name + ratio + " -- " + done + " " + to)
}

// gzipRow is a row of -l.
type gzipRow struct {
	method          string
	crc             uint64
	time            time.Time
	packed, content int64
	overhead        int64
	name            string
}

const gzipColumns = "%19v %19v %v %s\n"

// listAsGzip lists all files in the table of gzip.
func (a *app) listAsGzip() {
	var sum gzipRow
	files := 0
	a.each(func(e entry) {
		in := a.openSource(e)
		if in == nil {
			return
		}
		if in.f != a.stdin {
			defer in.close()
		}
		row, err := a.gzipRow(e, in)
		sum.overhead = row.overhead // gzip takes that of the last file
		switch {
		case errors.Is(err, compress.ErrTrailing):
			a.warn(in.name, "%s", a.explain(in, err))
		case err != nil:
			a.fail(in.name, "%s", a.explain(in, err))
			return
		}
		if files == 0 {
			a.printGzipHead()
		}
		a.printGzipRow(&row)
		files++
		sum.packed += row.packed
		sum.content += row.content
	})
	several := len(a.cfg.files) > 1 || len(a.cfg.lists) > 0
	if several && sum.packed > 0 && sum.content > 0 && !a.cfg.quiet {
		sum.name = "(totals)"
		a.printGzipRow(&sum)
	}
}

// gzipRow returns the row of a file.
func (a *app) gzipRow(e entry, in *source) (r gzipRow, err error) {
	var head io.Reader
	if _, known := in.format(); known && in.regular() {
		r, err = a.indexedRow(in)
		head = in.section()
	} else {
		r, head, err = a.restoredRow(in)
	}
	var header bytes.Buffer
	r.overhead = gzipOverhead(io.TeeReader(head, &header))
	name, modTime, _ := storedIn(io.MultiReader(&header, head))
	switch {
	case a.cfg.names == namesUse && !modTime.IsZero():
		r.time = modTime
	case in.regular():
		r.time = in.info.ModTime()
	default:
		r.time = time.Unix(0, 0)
	}
	r.name = "stdout"
	if in.f == a.stdin {
		return r, err
	}
	r.name = e.path
	base := a.cfg.usualResult(e.base)
	if name = baseName(name); a.cfg.names == namesUse && name != "" {
		base = name
	}
	if base != "" {
		r.name = e.path[:len(e.path)-len(e.base)] + base
	}
	return r, err
}

// indexedRow returns the row of a file that ReadInfo reads.
func (a *app) indexedRow(in *source) (r gzipRow, err error) {
	info, _, err := a.readInfo(in, func(compress.BlockInfo) error { return nil })
	r = gzipRow{method: info.Format.String(), packed: info.Size, content: info.Content}
	if n := len(info.Streams); info.Format == compress.Gzip && n > 0 {
		var trailer [gzipTrailer]byte
		last := info.Streams[n-1]
		in.readerAt().ReadAt(trailer[:], last.Offset+last.Size-gzipTrailer)
		r.setTrailer(trailer[:])
	}
	return r, err
}

// restoredRow returns the row of a source that has to be read in order, and its beginning.
func (a *app) restoredRow(in *source) (r gzipRow, head io.Reader, err error) {
	m := a.newMeter(in, &output{app: a, name: "nowhere"})
	m.w.w = io.Discard
	err = a.restore(io.Discard, in, m, append(a.readOptions(), compress.WithProgress(m.progress)))
	m.closeBar()
	r = gzipRow{packed: m.read(), content: m.last.Content, crc: math.MaxUint64}
	if f := in.foreignFormat(); f != nil {
		r.method = f.Name[:min(5, len(f.Name))]
	} else if format, _ := in.format(); format != compress.Gzip {
		r.method = format.String()
	} else {
		r.setTrailer(m.r.recent.from(max(0, m.r.n-gzipTrailer)))
	}
	return r, bytes.NewReader(m.r.recent.from(0)), err
}

// setTrailer takes the checksum of a .gz file from the trailer of its last member.
func (r *gzipRow) setTrailer(trailer []byte) {
	if len(trailer) == gzipTrailer {
		r.method, r.crc = "defla", uint64(binary.LittleEndian.Uint32(trailer))
	}
}

func (a *app) printGzipHead() {
	if a.cfg.quiet {
		return
	}
	head := ""
	if a.cfg.verbose {
		head = "method  crc     date  time  "
	}
	a.printOut(head + fmt.Sprintf(gzipColumns, "compressed", "uncompressed", " ratio", "uncompressed_name"))
}

func (a *app) printGzipRow(r *gzipRow) {
	head := ""
	switch {
	case !a.cfg.verbose:
	case r.method == "":
		head = fmt.Sprintf("%28s", "")
	default:
		head = fmt.Sprintf("%5s %08x %s ", r.method, r.crc, r.time.Local().Format("Jan _2 15:04"))
	}
	a.printOut(head + fmt.Sprintf(gzipColumns, r.packed, r.content,
		gzipRatio(r.content, r.packed, r.overhead), printable(r.name)))
}

// printOut writes a line to standard output.
func (a *app) printOut(line string) {
	if _, err := io.WriteString(a.stdout, line); err != nil && !a.stopped {
		a.failStdout(err)
	}
}
