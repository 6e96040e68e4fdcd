package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gopz/compress"
)

// A listWriter prints what -l reports: tables, or with --json an array. With -v it prints the
// blocks of a file in front of what it reports about the file. It keeps no blocks, so a file may
// have any number of them.
type listWriter struct {
	app    *app
	out    *bufio.Writer
	files  int   // listed so far
	blocks int64 // of the current file, listed so far
}

// blockListing is what -l -v reports about a block. Programs rely on the names of the JSON fields.
type blockListing struct {
	Stream        int     `json:"stream"`         // number of its stream, of a .gz file of its member
	Number        int64   `json:"number"`         // in its stream
	Kind          string  `json:"kind"`           // stored, fill, coded, frame, member or interval
	Offset        int64   `json:"offset"`         // in the file
	Compressed    int64   `json:"compressed"`     // bytes in the file, header included
	ContentOffset int64   `json:"content_offset"` // in the content of the file
	Uncompressed  int64   `json:"uncompressed"`   // bytes of content
	Ratio         float64 `json:"ratio"`          // uncompressed / compressed
}

func newListWriter(a *app) *listWriter {
	return &listWriter{app: a, out: bufio.NewWriterSize(a.stdout, 64<<10)}
}

var errStdout = errors.New("standard output failed")

// block lists a block of the current file. Without -v it does nothing.
func (w *listWriter) block(b compress.BlockInfo) error {
	if !w.app.cfg.verbose {
		return nil
	}
	l := blockListing{
		Stream: b.Stream, Number: b.Number, Kind: b.Kind, Offset: b.Offset, Compressed: b.Size,
		ContentOffset: b.ContentOffset, Uncompressed: b.Content, Ratio: roundRatio(b.Content, b.Size),
	}
	const row = "%8v %10v  %-8v %15v %15v %15v %15v %9v\n"
	switch first := w.blocks == 0; {
	case w.app.cfg.json:
		if first {
			w.beginObject()
			w.out.WriteString("{\n    \"block_list\": [\n      ")
		} else {
			w.out.WriteString(",\n      ")
		}
		text, err := json.Marshal(l)
		if err != nil {
			return err
		}
		w.out.Write(text)
	case first:
		fmt.Fprintf(w.out, row, "stream", "number", "kind", "offset", "compressed", "content at",
			"uncompressed", "ratio")
		fallthrough
	default:
		fmt.Fprintf(w.out, row, l.Stream, l.Number, l.Kind, l.Offset, l.Compressed, l.ContentOffset,
			l.Uncompressed, fmt.Sprintf("%.3f", l.Ratio))
	}
	w.blocks++
	if _, err := w.out.Write(nil); err != nil { // an earlier write failed
		return errStdout
	}
	return nil
}

// damaged ends a file whose blocks behind those listed cannot be read.
func (w *listWriter) damaged(l listing) {
	if w.blocks > 0 && w.app.cfg.json {
		l.Damaged = true
		w.file(l)
		return
	}
	w.flush()
}

// file lists a file, whose blocks have been listed.
func (w *listWriter) file(l listing) {
	if !w.app.cfg.json {
		w.table(l)
		w.flush()
		return
	}
	text, err := json.MarshalIndent(l, "  ", "  ")
	switch {
	case err != nil:
	case !w.app.cfg.verbose:
		w.beginObject()
		w.out.Write(text)
	case w.blocks == 0:
		w.beginObject()
		w.out.WriteString("{\n    \"block_list\": [],")
		w.out.Write(text[1:])
	default:
		w.out.WriteString("\n    ],")
		w.out.Write(text[1:]) // without the brace
	}
	w.files++
	w.flush()
}

// beginObject writes what stands in front of an object of the array.
func (w *listWriter) beginObject() {
	if w.files == 0 {
		w.out.WriteString("[\n  ")
	} else {
		w.out.WriteString(",\n  ")
	}
}

// finishList lists the sum of several files, or ends the array.
func (w *listWriter) finishList(sum listing) {
	switch {
	case w.app.cfg.json && w.files == 0:
		w.out.WriteString("[]\n")
	case w.app.cfg.json:
		w.out.WriteString("\n]\n")
	case w.files > 1:
		w.table(sum)
	}
	w.flush()
}

// flush writes what is buffered, so that messages about the next file come behind it.
func (w *listWriter) flush() {
	w.blocks = 0
	if err := w.out.Flush(); err != nil && !w.app.stopped {
		w.app.failStdout(err)
	}
}

// table writes a row about a file, and the head where it is due. Columns that are the same for most
// files need -v, so that a row fits into 80 columns.
func (w *listWriter) table(l listing) {
	cfg := &w.app.cfg
	if !cfg.quiet && (w.files == 0 || cfg.verbose) {
		w.row("blocks", "compressed", "uncompressed", "ratio", "check", "seek", "format", "pipeline",
			"window", "name")
	}
	w.files++
	seek, pipeline, window := "no", l.Pipeline, "-"
	switch {
	case l.Format == "-":
		seek = "-"
	case l.Seekable:
		seek = "yes"
	}
	if pipeline == "" {
		pipeline = "-"
	}
	if l.Window > 0 {
		window = strings.NewReplacer(" ", "", "iB", "").Replace(formatSize(l.Window)) // as in 128M
	}
	w.row(l.Blocks, l.Compressed, l.Uncompressed, fmt.Sprintf("%.3f", l.Ratio), l.Check, seek, l.Format,
		pipeline, window, printable(l.Name))
}

// row writes a row of the table, the name last.
func (w *listWriter) row(blocks, compressed, uncompressed any, ratio, check string, rest ...string) {
	name := rest[len(rest)-1]
	if !w.app.cfg.verbose {
		fmt.Fprintf(w.out, "%7v %13v %13v %8s  %-6s  %s\n", blocks, compressed, uncompressed, ratio, check,
			name)
		return
	}
	fmt.Fprintf(w.out, "%8v %15v %15v %9s  %-6s  %-4s  %-6s  %-8s  %-6s  %s\n", blocks, compressed,
		uncompressed, ratio, check, rest[0], rest[1], rest[2], rest[3], name)
}
