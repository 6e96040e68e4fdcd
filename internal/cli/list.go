package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gopz/compress"
)

// listed is what -l says about a file. The names of the fields in JSON are a promise to programs: they may grow in
// number, and do not change.
type listed struct {
	Name         string  `json:"name"`                  // with U+FFFD for what is not UTF-8, which JSON cannot hold
	NameBytes    []byte  `json:"name_base64,omitempty"` // all of the name, if it is not UTF-8
	Format       string  `json:"format"`                // pz, gz or zst
	Streams      int     `json:"streams"`               // of .gz: members
	Blocks       int64   `json:"blocks"`                // of .gz: members; of .zst: frames
	BlockSize    int     `json:"block_size"`            // the largest of all streams, in bytes
	Compressed   int64   `json:"compressed"`            // bytes of the file
	Uncompressed int64   `json:"uncompressed"`          // bytes of its content
	Ratio        float64 `json:"ratio"`                 // uncompressed / compressed
	Check        string  `json:"check"`                 // crc32c, crc32, xxh64, none, or mixed
	Seekable     bool    `json:"seekable"`              // there is an index, or a seek table, that leads to any place of the content
	Pipeline     string  `json:"pipeline"`              // several are joined by +; "" for .gz and .zst, which do not say
}

// list prints what the indexes of the files say, and of files without what reading them shows.
func (a *app) list() {
	all := []listed{} // JSON without files is [], not null
	a.each(func(e entry) {
		in := a.openSource(e)
		if in == nil {
			return
		}
		if in.f != a.stdin {
			defer in.close()
		}
		l, err := a.describe(in)
		switch {
		case errors.Is(err, compress.ErrTrailing) && standard(in):
			a.warn(in.name, "%s -- ignored", a.explain(in, err))
		case err != nil:
			a.fail(in.name, "%s", a.explain(in, err))
			return
		}
		all = append(all, l)
		if !a.cfg.json {
			a.printListed(l, len(all) == 1)
		}
	})
	switch {
	case a.cfg.json:
		b, err := json.MarshalIndent(all, "", "  ")
		if err == nil {
			a.print(string(b) + "\n")
		}
	case len(all) > 1:
		a.printListed(total(all), false)
	}
}

func (a *app) describe(in *source) (listed, error) {
	if !in.regular() {
		return listed{}, errNoIndex
	}
	info, err := compress.ReadInfo(in.f, in.info.Size(), compress.WithMaxMemory(a.cfg.memory), compress.WithConcurrency(a.cfg.threads))
	l := listed{
		Name: in.name, Format: info.Format, Streams: len(info.Streams), Blocks: info.Blocks, Seekable: info.Seekable,
		Compressed: info.Size, Uncompressed: info.Content, Ratio: roundRatio(info.Content, info.Size),
	}
	if !utf8.ValidString(in.name) {
		l.NameBytes = []byte(in.name)
	}
	for _, s := range info.Streams {
		check := checkNames[info.Format]
		switch {
		case s.Checks:
		case s.Unchecked == s.Blocks:
			check = "none"
		default:
			check = "mixed"
		}
		l.Check = join(l.Check, check, func(string) string { return "mixed" })
		l.Pipeline = join(l.Pipeline, s.Pipeline, func(all string) string {
			for p := range strings.SplitSeq(all, "+") {
				if p == s.Pipeline {
					return all
				}
			}
			return all + "+" + s.Pipeline
		})
		l.BlockSize = max(l.BlockSize, s.BlockSize)
	}
	return l, err
}

// checkNames says how each format checks its content.
var checkNames = map[string]string{"pz": "crc32c", "gz": "crc32", "zst": "xxh64"}

// join is next where there is nothing yet or the same, and what both make where they differ.
func join(have, next string, both func(string) string) string {
	if have == "" || have == next {
		return next
	}
	return both(have)
}

// roundRatio keeps three decimals, as the table shows, so that a listing compares well as text.
func roundRatio(content, packed int64) float64 { return math.Round(ratio(content, packed)*1000) / 1000 }

func total(all []listed) listed {
	t := listed{Name: fmt.Sprintf("(%d files)", len(all)), Format: "-", Check: "-", Pipeline: "-"}
	for _, l := range all {
		t.Blocks += l.Blocks
		t.Compressed += l.Compressed
		t.Uncompressed += l.Uncompressed
	}
	t.Ratio = roundRatio(t.Uncompressed, t.Compressed)
	return t
}

func (a *app) printListed(l listed, head bool) {
	row := func(blocks, compressed, uncompressed, ratio, check, seek, format, pipeline, name string) string {
		return fmt.Sprintf("%8s %15s %15s %9s  %-6s  %-4s  %-6s  %-8s  %s\n",
			blocks, compressed, uncompressed, ratio, check, seek, format, pipeline, name)
	}
	text := ""
	if head && !a.cfg.quiet {
		text = row("blocks", "compressed", "uncompressed", "ratio", "check", "seek", "format", "pipeline", "name")
	}
	seek, pipeline := "no", l.Pipeline
	switch {
	case l.Format == "-":
		seek = "-"
	case l.Seekable:
		seek = "yes"
	}
	if pipeline == "" {
		pipeline = "-"
	}
	itoa := func(n int64) string { return strconv.FormatInt(n, 10) }
	a.print(text + row(itoa(l.Blocks), itoa(l.Compressed), itoa(l.Uncompressed),
		strconv.FormatFloat(l.Ratio, 'f', 3, 64), l.Check, seek, l.Format, pipeline, printable(l.Name)))
}

// print writes to standard output, and ends the run if that cannot be.
func (a *app) print(text string) {
	if a.stopped {
		return
	}
	if _, err := a.stdout.WriteString(text); err != nil {
		a.stopped = true
		a.fail("standard output", "%s", reason(err))
	}
}
