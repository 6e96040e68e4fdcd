package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gopz/compress"
)

// listing is what -l reports about a file. Programs rely on the names of the JSON fields: new
// fields may be added, but the existing ones do not change.
type listing struct {
	Name         string  `json:"name"`                  // invalid UTF-8 is replaced by U+FFFD
	NameBytes    []byte  `json:"name_base64,omitempty"` // the whole name, if it is not UTF-8
	Format       string  `json:"format"`                // pz, gz or zst
	Streams      int     `json:"streams"`               // members of a .gz file
	Blocks       int64   `json:"blocks"`                // .gz: members; .zst: frames
	BlockSize    int     `json:"block_size"`            // largest of all streams, in bytes
	Compressed   int64   `json:"compressed"`            // size of the file, in bytes
	Uncompressed int64   `json:"uncompressed"`          // size of the content, in bytes
	Ratio        float64 `json:"ratio"`                 // uncompressed / compressed
	Check        string  `json:"check"`                 // crc32c, crc32, xxh64, none or mixed
	Seekable     bool    `json:"seekable"`              // an index gives random access
	Pipeline     string  `json:"pipeline"`              // of .pz; several are joined by +
	Index        string  `json:"index,omitempty"`       // file beside a .gz file that gives random access

	// Of .pz files with matches of --long: the largest window, and the least -M to restore the
	// file.
	Window        int64 `json:"window,omitempty"`
	RestoreMemory int64 `json:"restore_memory,omitempty"`

	Dictionary uint32 `json:"dictionary,omitempty"` // first ID of a dictionary that the file names

	Damaged bool `json:"damaged,omitempty"` // with -v: the other fields hold for block_list only
}

// list lists all files.
func (a *app) list() {
	w, sum := newListWriter(a), listing{Format: "-", Check: "-", Pipeline: "-"}
	a.each(func(e entry) {
		in := a.openSource(e)
		if in == nil {
			return
		}
		if in.f != a.stdin {
			defer in.close()
		}
		l, err := a.describeHealing(in, w.block)
		switch {
		case err == errStdout:
			w.flush()
			return
		case errors.Is(err, compress.ErrTrailing):
			a.warn(in.name, "%s", a.explain(in, err))
		case err != nil:
			w.damaged(l)
			a.fail(in.name, "%s", a.explain(in, err))
			return
		}
		w.file(l)
		sum.addSizes(l)
		a.hintMemory(in.name, l.RestoreMemory, !a.cfg.quiet)
		if l.Dictionary != 0 {
			a.note(in.name, "restoring needs the dictionary with ID %d", l.Dictionary)
		}
		a.noteStoredName(in)
	})
	sum.Name = fmt.Sprintf("(%d files)", w.files)
	w.finishList(sum)
}

// describe returns the listing of a file, and calls report for its blocks. With an error it
// describes the part before the damage.
func (a *app) describe(in *source, report func(compress.BlockInfo) error) (listing, error) {
	if !in.regular() {
		return listing{}, errNotRegular
	}
	info, index, err := a.readInfo(in, report)
	l := listing{
		Name: in.name, Index: index, Format: info.Format.String(), Streams: len(info.Streams),
		Blocks: info.Blocks, Seekable: info.Seekable, Compressed: info.Size, Uncompressed: info.Content,
		Ratio: roundRatio(info.Content, info.Size),
	}
	if !utf8.ValidString(in.name) {
		l.NameBytes = []byte(in.name)
	}
	for _, s := range info.Streams {
		l.addStream(info.Format, s)
		if s.Window > 0 {
			need := a.restoreMemory(io.NewSectionReader(in.readerAt(), s.Offset, s.Size))
			l.RestoreMemory = max(l.RestoreMemory, need)
		}
	}
	return l, err
}

// checkNames maps formats to their checksums.
var checkNames = map[compress.Format]string{
	compress.PZ: "crc32c", compress.Gzip: "crc32", compress.Zstd: "xxh64",
}

// addStream adds the checks, the pipeline and the block size of a stream to the listing.
func (l *listing) addStream(format compress.Format, s compress.StreamInfo) {
	check := checkNames[format]
	switch {
	case s.Unchecked == 0, format == compress.Gzip: // an index has no checks, but each member has one
	case s.Unchecked == s.Blocks:
		check = "none"
	default:
		check = "mixed"
	}
	if l.Check != "" && l.Check != check {
		check = "mixed"
	}
	l.Check = check
	names := strings.Split(l.Pipeline, "+")
	if l.Pipeline == "" {
		l.Pipeline = s.Pipeline
	} else if !slices.Contains(names, s.Pipeline) {
		l.Pipeline += "+" + s.Pipeline
	}
	l.BlockSize = max(l.BlockSize, s.BlockSize)
	l.Window = max(l.Window, s.Window)
	l.Dictionary = cmp.Or(l.Dictionary, s.Dictionary)
}

// roundRatio rounds to three decimals, as the table does, so that JSON output is easy to compare.
func roundRatio(content, packed int64) float64 {
	return math.Round(ratio(content, packed)*1000) / 1000
}

// addSizes adds the sizes of a file to a sum.
func (l *listing) addSizes(file listing) {
	l.Blocks += file.Blocks
	l.Compressed += file.Compressed
	l.Uncompressed += file.Uncompressed
	l.Ratio = roundRatio(l.Uncompressed, l.Compressed)
}
