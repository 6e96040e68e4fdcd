package main

import (
	"errors"
	"fmt"
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
	case errors.Is(e, compress.ErrFormat):
		return a.notOurs(in)
	case errors.Is(e, compress.ErrMemory):
		return a.tooLittleMemory(in)
	case errors.Is(e, compress.ErrVersion):
		return "was made by a newer pz, or its header is damaged", a.recovery(in, "the intact blocks")
	case errors.Is(e, compress.ErrTruncated) && e.Stream == 0 && e.Offset <= 0:
		return empty, nil
	case errors.Is(e, compress.ErrTruncated):
		return "is cut short", append([]string{"the end is missing" + behind(in, e)}, a.recovery(in, "what is there")...)
	case errors.Is(e, compress.ErrTrailing):
		return "trailing garbage after the end of the compressed data",
			append(byteOf(in, e), a.recovery(in, "what is in front of it")...)
	case errors.Is(e, compress.ErrCorrupt):
		return damaged(e) + " is damaged", append(byteOf(in, e), a.recovery(in, "the intact blocks")...)
	}
	return libraryReason(e), nil
}

const empty = "is empty, which no .pz file is"

// notOurs is what to say of data that is not .pz.
func (a *app) notOurs(in *source) (what string, notes []string) {
	head := in.beginning()
	if len(head) == 0 {
		return empty, nil
	}
	if form, tool := recognize(head); form != "" {
		return "is " + form + " data", []string{"use " + tool}
	}
	// A file with the right name may have lost no more than its first bytes.
	if strings.HasSuffix(in.name, a.cfg.suffix) {
		for _, note := range a.recovery(in, "the blocks") {
			notes = append(notes, "if only its beginning is damaged, "+note)
		}
	}
	return "is not .pz data", notes
}

// damaged names the part of a file that an error is about.
func damaged(e *compress.Error) string {
	part := "the file"
	switch {
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
	if e.Block < 0 || len(byteOf(in, e)) == 0 {
		return ""
	}
	text := fmt.Sprintf(" from block %d", e.Block)
	if e.Stream > 0 {
		text += fmt.Sprintf(" of stream %d", e.Stream)
	}
	return text + " on"
}

// recovery is the advice to save what can be saved, where it can be followed: not for a pipe, whose data is gone.
func (a *app) recovery(in *source, what string) []string {
	if !in.regular() || a.cfg.mode == modeRecover {
		return nil
	}
	return []string{"--recover FILE -o OUT saves " + what}
}

// tooLittleMemory names the smallest -M that will do, where that can be found out.
func (a *app) tooLittleMemory(in *source) (what string, notes []string) {
	limit := a.cfg.memory
	if limit == 0 {
		limit = compress.DefaultReaderMemory
	}
	what, raise := fmt.Sprintf("needs more memory than the limit of %s", formatSize(limit)), "raise -M"
	if least := a.leastMemory(in); least > limit {
		what = fmt.Sprintf("needs %s of memory, more than the limit of %s", formatSize(least), formatSize(limit))
		raise = "raise -M to " + sizeOption(least) + " at least"
	}
	if a.cfg.mode == modeCompress {
		raise += ", or choose smaller blocks with -B or a lower level"
	}
	return what, []string{raise}
}

// leastMemory is the least memory, in bytes, with which a source can be compressed or restored; 0 if that is not known.
func (a *app) leastMemory(in *source) int64 {
	// One block at a time takes the least.
	opts := append(a.options(), compress.WithConcurrency(1))
	switch {
	case a.cfg.mode == modeCompress:
		opts = append(opts, compress.WithContentSize(in.size()))
		return least(func(limit int64) (int64, error) {
			return compress.WriterMemory(append(opts, compress.WithMaxMemory(limit))...)
		})
	case in.regular() && (a.cfg.mode == modeDecompress || a.cfg.mode == modeTest):
		// The index may have more blocks than the caller wants to spend memory on; the default will have to do.
		r, err := compress.NewReaderAt(in.f, in.info.Size())
		if err != nil {
			return 0
		}
		defer r.Close()
		most := int64(0)
		for _, s := range r.Info().Streams {
			most = max(most, least(func(limit int64) (int64, error) {
				return compress.ReaderMemory(s.BlockSize, append(opts, compress.WithPipeline(s.Pipeline), compress.WithMaxMemory(limit))...)
			}))
		}
		return most
	}
	return 0
}

// least lowers a limit until memory, which says what is taken under a limit (0: none), cannot keep to it.
func least(memory func(limit int64) (int64, error)) int64 {
	n, err := memory(0)
	if err != nil {
		return 0
	}
	for n > 1 {
		less, err := memory(n - 1)
		if err != nil || less >= n {
			break
		}
		n = less
	}
	return n
}
