package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gopz/compress"
)

// explain says what is wrong with a source, and what can be done about it, to somebody who has never heard of the
// library. What its lower layers have to say only -v shows.
func (a *app) explain(in *source, err error) string {
	var e *compress.Error
	if !errors.As(err, &e) {
		return libraryReason(err)
	}
	what, notes := a.problem(in, e)
	if a.cfg.verbose {
		notes = append(notes, "details: "+libraryReason(err))
	}
	if len(notes) == 0 {
		return what
	}
	return what + " (" + strings.Join(notes, "; ") + ")"
}

// problem is the problem and what there is to know about it.
func (a *app) problem(in *source, e *compress.Error) (what string, notes []string) {
	switch {
	case errors.Is(e, compress.ErrFormat), errors.Is(e, compress.ErrNoIndex):
		return a.notOurs(in)
	case errors.Is(e, compress.ErrMemory) && a.cfg.mode != modeCompress && standard(in):
		if e.Memory == 0 {
			return e.Detail, []string{"raise -M"}
		}
		return e.Detail, []string{"raise -M to " + sizeOption(e.Memory) + " at least"}
	case errors.Is(e, compress.ErrDevice) && a.cfg.mode == modeCompress:
		return libraryReason(e), []string{"GPUs match at levels 5 and 6, for .gz at 7 as well, in blocks of 16 MiB at most, and code .pz at all but levels 7 to 9 of lzseqr; " + a.otherBackend()}
	case errors.Is(e, compress.ErrMemory):
		return a.tooLittleMemory(e)
	case errors.Is(e, compress.ErrVersion) && standard(in):
		return "needs something that pz does not have", []string{e.Detail}
	case errors.Is(e, compress.ErrVersion):
		return "was made by a newer pz, or its header is damaged", a.recovery(in, e, "the intact blocks")
	case errors.Is(e, compress.ErrTruncated) && e.Stream == 0 && e.Offset <= 0:
		return empty, nil
	case errors.Is(e, compress.ErrTruncated):
		return "is cut short", append([]string{"the end is missing" + behind(in, e)}, a.recovery(in, e, "what is there")...)
	case errors.Is(e, compress.ErrTrailing) && standard(in):
		return trailing, byteOf(in, e)
	case errors.Is(e, compress.ErrTrailing):
		return trailing, append(byteOf(in, e), a.recovery(in, e, "what is in front of it")...)
	case errors.Is(e, compress.ErrCorrupt):
		return damaged(in, e) + " is damaged", append(byteOf(in, e), a.recovery(in, e, "the intact blocks")...)
	}
	return libraryReason(e), nil
}

// otherBackend is what to choose in place of a backend that insists on too much.
func (a *app) otherBackend() string {
	text := "--backend auto leaves the rest to the CPU"
	if a.cfg.match.Strict() && (a.cfg.pipeline != "lzseqr" || a.cfg.level < 7) { // else cpu,gpu is an error as well
		text += ", and cpu,gpu all matching"
	}
	return text
}

const (
	empty    = "is empty, which no compressed file is"
	trailing = "trailing garbage after the end of the compressed data"
)

// standard says whether a source is of a format that others write, too. There is no more to be saved of it than -dc gives, unless it has
// a seek table.
func standard(in *source) bool {
	format := formatOf(in.beginning())
	return format == "gz" || format == "zst"
}

// isTar says whether a file is a tar archive, by the magic number of POSIX and GNU tar.
func isTar(in *source) bool {
	const magic, at = "ustar", 257
	p := make([]byte, len(magic))
	if !in.regular() {
		return false
	}
	_, err := in.f.ReadAt(p, in.start+at)
	return err == nil && string(p) == magic
}

// notOurs is what to say of data that is in no format of ours, or, with --recover, not .pz.
func (a *app) notOurs(in *source) (what string, notes []string) {
	head := in.beginning()
	if len(head) == 0 {
		return empty, nil
	}
	if form, tool := recognize(head); form != "" {
		return "is " + form + " data", []string{"use " + tool}
	}
	switch formatOf(head) {
	case "gz":
		return "is .gz data, which has no index, and cannot be recovered", []string{"-dc FILE gives what is in front of the damage"}
	case "zst":
		advice := "-dc FILE gives what is in front of the damage"
		if saysSize(in) {
			advice = "-dc FILE gives what there is if the end is missing; else zstd -dc FILE does"
		}
		return "is .zst data without a whole frame that says how much it holds, and cannot be recovered", []string{advice}
	}
	if isTar(in) {
		return "is a tar archive that is not compressed", []string{"use tar -xf"}
	}
	// A file with the right name may have lost no more than its first bytes.
	if _, suffix, _ := a.cfg.packedName(filepath.Base(in.name)); suffix != "" && (suffix == ".pz" || suffix == a.cfg.ownSuffix) {
		for _, note := range a.recovery(in, nil, "the blocks") {
			notes = append(notes, "if only its beginning is damaged, "+note)
		}
	}
	if a.cfg.mode == modeRecover {
		return "is not .pz data", notes
	}
	return notPacked, notes
}

// damaged names the part of a file that an error is about.
func damaged(in *source, e *compress.Error) string {
	part := "the file"
	switch format := formatOf(in.beginning()); {
	case format == "gz" && e.Stream > 0:
		return fmt.Sprintf("member %d", e.Stream)
	case format == "gz":
		return part
	case format == "zst" && e.Block >= 0:
		return fmt.Sprintf("frame %d", e.Block)
	case e.Block >= 0:
		part = fmt.Sprintf("block %d", e.Block)
	case strings.HasPrefix(e.Detail, "header"):
		part = "the header"
	case strings.HasPrefix(e.Detail, "index"):
		part = "the index"
	}
	if e.Stream > 0 {
		part += fmt.Sprintf(" of stream %d", e.Stream)
	}
	return part
}

// byteOf says where in the file the problem is. Where the library went by sizes it has read, that can be behind the end
// of the file, which helps nobody.
func byteOf(in *source, e *compress.Error) []string {
	if e.Offset < 0 || in.regular() && e.Offset > in.info.Size() {
		return nil
	}
	return []string{fmt.Sprintf("at byte %d", e.Offset)}
}

// behind says from which block on a file is missing, if that is certain.
func behind(in *source, e *compress.Error) string {
	switch format := formatOf(in.beginning()); {
	case format == "gz" && e.Stream > 0:
		return fmt.Sprintf(" from member %d on", e.Stream)
	case e.Block < 0 || len(byteOf(in, e)) == 0:
		return ""
	case format == "zst":
		return fmt.Sprintf(" from frame %d on", e.Block)
	}
	text := fmt.Sprintf(" from block %d", e.Block)
	if e.Stream > 0 {
		text += fmt.Sprintf(" of stream %d", e.Stream)
	}
	return text + " on"
}

// recovery is the advice to save what can be saved, where it can be followed: not for a pipe, whose data is gone.
func (a *app) recovery(in *source, e *compress.Error, what string) []string {
	switch {
	case !in.regular() || a.cfg.mode == modeRecover:
		return nil
	case standard(in) && searchable(in, e):
		what = strings.ReplaceAll(what, "block", "frame")
		if errors.Is(e, compress.ErrTruncated) {
			what = "the whole frames"
			if !a.cfg.toStdout {
				what += ", -dc FILE gives what there is of the next one, too"
			}
		}
	case formatOf(in.beginning()) == "zst" && e.Block == 0 && saysSize(in) && !errors.Is(e, compress.ErrTruncated):
		// With damage in it, it is restored whole or not at all.
		return []string{"zstd -dc FILE gives what can be read of that"}
	case standard(in) && a.cfg.toStdout:
		return nil
	case standard(in):
		return []string{"-dc FILE gives what is in front of that"}
	}
	return []string{"--recover FILE -o OUT saves " + what}
}

// searchable says whether a file of a standard format can be recovered like .pz: if it has a seek table, or frames in front of the damage that say how much they
// hold.
func searchable(in *source, e *compress.Error) bool {
	const magic = "\xb1\xea\x92\x8f" // of seek tables
	end := make([]byte, len(magic))
	if _, err := in.f.ReadAt(end, in.info.Size()-int64(len(end))); err == nil && string(end) == magic {
		return true
	}
	return formatOf(in.beginning()) == "zst" && e.Block > 0 && saysSize(in)
}

// saysSize says whether the first frame of a .zst file says how much it holds (RFC 8878, section 3.1.1.1.1).
func saysSize(in *source) bool {
	const fields = 0xe0 // of the descriptor: the size of the field, and the flag without which it may be missing
	head := in.beginning()
	return len(head) > 4 && head[0] == '\x28' && head[4]&fields != 0
}

// tooLittleMemory names the smallest -M that will do, where that is known.
func (a *app) tooLittleMemory(e *compress.Error) (what string, notes []string) {
	limit := a.cfg.memory
	if limit == 0 {
		limit = compress.DefaultReaderMemory
	}
	what, raise := fmt.Sprintf("needs more memory than the limit of %s", formatSize(limit)), "raise -M"
	if least := e.Memory; least > limit {
		what = fmt.Sprintf("needs %s of memory, more than the limit of %s", formatSize(least), formatSize(limit))
		raise = "raise -M to " + sizeOption(least) + " at least"
	}
	if a.cfg.mode == modeCompress {
		raise += ", or choose smaller blocks with -B or a lower level"
	}
	return what, []string{raise}
}
