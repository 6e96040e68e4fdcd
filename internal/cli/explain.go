package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/errs"
)

// explain returns a message about an error of a source: what is wrong, where, and what to do. With
// -v it adds the error of the library.
func (a *app) explain(in *source, err error) string {
	var e *compress.Error
	if !errors.As(err, &e) {
		if text := a.explainForeign(in, err); text != "" {
			return text
		}
		return libraryReason(err)
	}
	d := a.diagnose(in, e)
	what := d.what
	if d.advice != "" {
		what += "; " + d.advice
	}
	if in.strayData(e) {
		return what
	}
	return a.withDetails(what, err)
}

// needsDictionary returns what an error says of a missing dictionary, without the subject.
func needsDictionary(err error) string {
	var wrong *errs.WrongDictionary
	if errors.As(err, &wrong) {
		return wrong.Need()
	}
	return "needs a dictionary"
}

// diagnosis is what a message says of an error of a source.
type diagnosis struct {
	what, advice string // the problem and, where there is one, a remedy

	whole   bool   // what is about the file as a whole: "is empty"
	cut     bool   // the end of the file is missing
	damaged string // the damaged part, if only a part is
}

// diagnose returns the problem and, where there is one, a remedy.
func (a *app) diagnose(in *source, e *compress.Error) diagnosis {
	switch {
	case a.cfg.needsRandomAccess() && in.goesOn(e):
		return diagnosis{
			what: "goes on in another format" + atByte(in, e) +
				", which -l, --index and --recover do not read",
			advice: "-d restores all",
		}
	case errors.Is(e, compress.ErrFormat), errors.Is(e, compress.ErrNoIndex):
		what, advice := a.unreadable(in)
		return diagnosis{what: what, advice: advice, whole: true}
	case errors.Is(e, compress.ErrMemory):
		what, advice := a.memoryExceeded(in, e)
		return diagnosis{what: what, advice: advice}
	case errors.Is(e, gpu.ErrDevice) && a.cfg.compresses():
		return diagnosis{what: libraryReason(e), advice: a.otherBackend()}
	case errors.Is(e, compress.ErrDictionary):
		return diagnosis{what: needsDictionary(e), advice: "give it with -D"}
	case errors.Is(e, compress.ErrVersion) && in.isStandard():
		return diagnosis{what: "needs a feature that pz does not have: " + e.Detail}
	case errors.Is(e, compress.ErrVersion):
		return diagnosis{
			what:   "comes from a newer pz, or its header is damaged",
			advice: a.recovery(in, e, "the intact blocks"),
		}
	case errors.Is(e, compress.ErrTruncated) && e.Stream == 0 && e.Offset <= 0:
		return diagnosis{what: emptyFile, whole: true}
	case errors.Is(e, compress.ErrTruncated):
		return diagnosis{
			what:   "is cut short; the end is missing" + fromBlock(in, e),
			advice: a.recovery(in, e, "the complete blocks"),
			cut:    true,
		}
	case errors.Is(e, compress.ErrTrailing):
		return diagnosis{what: trailingGarbage + atByte(in, e) + " is ignored"}
	case in.strayData(e):
		return diagnosis{
			what: "no frame begins" + atByte(in, e) +
				": a frame is damaged, or garbage follows the last one",
			advice: a.recovery(in, e, "the intact blocks"),
		}
	case errors.Is(e, compress.ErrCorrupt):
		return a.diagnoseDamage(in, e)
	}
	return diagnosis{what: libraryReason(e)}
}

func (a *app) diagnoseDamage(in *source, e *compress.Error) diagnosis {
	part, advice := damagedPart(in, e), a.recovery(in, e, "the intact blocks")
	if !in.is(compress.Zstd) || !errors.Is(e, zstd.ErrOffset) {
		return diagnosis{what: part + " is damaged" + atByte(in, e), advice: advice, damaged: part}
	}
	// A dictionary that is content alone has no ID, so a frame does not say that it needs one.
	// Without it offsets lead nowhere.
	if advice != "" {
		advice = "; otherwise " + advice
	}
	return diagnosis{
		what:   part + " is damaged, or needs another dictionary" + atByte(in, e),
		advice: "give the dictionary it was made with to -D" + advice,
	}
}

const (
	emptyFile       = "is empty; compressed files never are"
	trailingGarbage = "trailing garbage after the compressed data"
	unknownFormat   = "is not compressed data that pz knows"
)

// otherBackend returns the advice for a --backend that the GPU does not support.
func (a *app) otherBackend() string {
	c := &a.cfg
	works := func(level int, match, entropy gpu.Backend) bool {
		_, err := compress.NewWriter(io.Discard, append(a.writeOptions(),
			compress.WithLevel(level), compress.WithDevice(a.device, match, entropy))...)
		return err == nil
	}
	var levels []int
	for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
		if works(level, c.match, c.entropy) {
			levels = append(levels, level)
		}
	}
	text := "it does no level"
	if len(levels) > 0 {
		text = "it does " + levelList(levels)
	}
	if c.blockSize != 0 {
		text += " with blocks of " + formatSize(int64(c.blockSize))
	}
	text += "; --backend auto leaves the rest to the CPU"
	if c.match.Strict() && works(c.chosenLevel(), gpu.BackendCPU, gpu.BackendGPU) {
		text += ", --backend cpu,gpu all matching"
	}
	return text
}

// levelList names levels, which ascend: "level 5", "levels 5 and 6", "levels 1 to 6".
func levelList(levels []int) string {
	first, last := levels[0], levels[len(levels)-1]
	switch n := len(levels); {
	case n == 1:
		return fmt.Sprintf("level %d", first)
	case n == 2:
		return fmt.Sprintf("levels %d and %d", first, last)
	case n == last-first+1:
		return fmt.Sprintf("levels %d to %d", first, last)
	}
	return "levels " + strings.Trim(strings.ReplaceAll(fmt.Sprint(levels), " ", ", "), "[]")
}

// unreadable explains a file of an unknown format, or one that the mode does not support.
func (a *app) unreadable(in *source) (what, advice string) {
	if len(in.head()) == 0 {
		return emptyFile, ""
	}
	if format, tool := a.recognize(in); format != "" {
		return "is " + format + " data", "use " + tool
	}
	if in.is(compress.Zstd) {
		return "is .zst data without a frame to recover", ""
	}
	if isTar(in) {
		return "is an uncompressed tar archive", "use tar -xf"
	}
	if a.cfg.mode == modeRecover {
		return "has neither the header of a .pz file nor an intact block", ""
	}
	if part := a.indexedPart(in); part != "" {
		return "is damaged at its beginning", `"pz --recover FILE -o OUT" saves the intact ` + part
	}
	// The suffix is right, so the file may have lost only its first bytes.
	base := filepath.Base(in.name)
	_, suffix, _ := a.cfg.splitSuffix(base)
	format := suffixFormat(base)
	if in.regular() && (suffix == ".pz" || suffix != "" && suffix == a.cfg.ownSuffix ||
		format == compress.Gzip) {
		advice = fmt.Sprintf(`if it was a .%v file, try "pz --recover FILE -o OUT"`, format)
	}
	return unknownFormat, advice
}

// indexedPart returns the word for the parts of a file that begins with damage and ends with an
// index that leads to other parts, or "".
func (a *app) indexedPart(in *source) string {
	if !in.regular() {
		return ""
	}
	src := io.NewSectionReader(in.readerAt(), in.start, max(0, in.length()-in.start))
	if bridge.EndsStream(src, src.Size()) {
		return "blocks"
	}
	info, err := compress.ReadInfo(src, src.Size(), nil, a.readOptions()...)
	if err == nil && info.Format == compress.Zstd && info.Blocks > 1 {
		return "frames"
	}
	return ""
}

// damagedPart names the part of a file that an error is about.
func damagedPart(in *source, e *compress.Error) string {
	part := "the file"
	switch {
	case in.is(compress.Gzip) && e.Stream > 0:
		return fmt.Sprintf("member %d", e.Stream)
	case in.is(compress.Gzip):
		return part
	case in.is(compress.Zstd) && e.Block >= 0:
		return fmt.Sprintf("frame %d", e.Block)
	case e.Block >= 0:
		part = fmt.Sprintf("block %d", e.Block)
	case e.Part == compress.PartHeader:
		part = "the header"
	case e.Part == compress.PartIndex:
		part = "the index"
	}
	if e.Stream > 0 {
		part += fmt.Sprintf(" of stream %d", e.Stream)
	}
	return part
}

// atByte returns the position of an error, or "". The library may compute a position behind the end
// of a file from damaged sizes; atByte leaves it out.
func atByte(in *source, e *compress.Error) string {
	if e.Offset < 0 || in.regular() && e.Offset > in.length() {
		return ""
	}
	return fmt.Sprintf(" (byte %d)", in.part+e.Offset)
}

// fromBlock names the first missing block, if it is known.
func fromBlock(in *source, e *compress.Error) string {
	switch {
	case in.is(compress.Gzip) && e.Stream > 0:
		return fmt.Sprintf(" from member %d on", e.Stream)
	case e.Block < 0 || atByte(in, e) == "":
		return ""
	case in.is(compress.Zstd):
		return fmt.Sprintf(" from frame %d on", e.Block)
	}
	text := fmt.Sprintf(" from block %d", e.Block)
	if e.Stream > 0 {
		text += fmt.Sprintf(" of stream %d", e.Stream)
	}
	return text + " on"
}

const dcBeforeDamage = `"pz -dc FILE" restores the content before the damage`

// recovery returns the advice to recover part of a file. It returns "" for a pipe, whose data is
// gone, and where the run has just done so.
func (a *app) recovery(in *source, e *compress.Error, part string) string {
	table, sized := in.probeZstd()
	switch {
	case !in.onDisk() || a.cfg.mode == modeRecover || in.part > 0:
		return ""
	case table || sized && e.Block > 0: // the frames before the damage
		part = strings.ReplaceAll(part, "block", "frame")
	case in.is(compress.Gzip) && !errors.Is(e, compress.ErrTruncated):
		part = "what is left of the content"
	case in.isStandard() && a.cfg.toStdout:
		return ""
	case in.isStandard():
		return dcBeforeDamage
	}
	return `"pz --recover FILE -o OUT" saves ` + part
}

// memoryExceeded explains a memory limit, and names the smallest -M that suffices, if it is known.
func (a *app) memoryExceeded(in *source, e *compress.Error) (what, advice string) {
	limit := "the default limit"
	switch {
	case a.cfg.memory != 0:
		limit = "the limit of " + formatSize(a.cfg.memory)
	case e.Memory > compress.DefaultReaderMemory && !in.is(compress.Zstd):
		limit = "the default limit of " + formatSize(compress.DefaultReaderMemory)
	}
	what, advice = "needs more memory than "+limit, "raise -M"
	if least := e.Memory; least > a.cfg.memory {
		what = fmt.Sprintf("needs %s of memory, more than %s", formatSize(least), limit)
		advice = "use -M " + sizeOption(least) + " or more"
	}
	if a.cfg.tight {
		advice = "raise the limit of the address space (ulimit -v)"
	}
	if a.cfg.mode == modeCompress {
		advice += ", smaller blocks (-B) or a lower level"
	}
	return what, advice
}
