package main

import (
	"encoding/json"
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
	Streams      int     `json:"streams"`
	Blocks       int64   `json:"blocks"`
	BlockSize    int     `json:"block_size"`   // the largest of all streams, in bytes
	Compressed   int64   `json:"compressed"`   // bytes of the file
	Uncompressed int64   `json:"uncompressed"` // bytes of its content
	Ratio        float64 `json:"ratio"`        // uncompressed / compressed
	Check        string  `json:"check"`        // crc32c, none, or mixed
	Pipeline     string  `json:"pipeline"`     // several are joined by +
}

// list prints what the indexes of the files say. It does not read their blocks.
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
		if err != nil {
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
	r, err := compress.NewReaderAt(in.f, in.info.Size(), compress.WithMaxMemory(a.cfg.memory))
	if err != nil {
		return listed{}, err
	}
	defer r.Close()
	info := r.Info()
	l := listed{
		Name: in.name, Streams: len(info.Streams), Blocks: info.Blocks,
		Compressed: info.Size, Uncompressed: info.Content, Ratio: roundRatio(info.Content, info.Size),
	}
	if !utf8.ValidString(in.name) {
		l.NameBytes = []byte(in.name)
	}
	for _, s := range info.Streams {
		check := "none"
		if s.Checks {
			check = "crc32c"
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
	return l, nil
}

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
	t := listed{Name: fmt.Sprintf("(%d files)", len(all)), Check: "-", Pipeline: "-"}
	for _, l := range all {
		t.Blocks += l.Blocks
		t.Compressed += l.Compressed
		t.Uncompressed += l.Uncompressed
	}
	t.Ratio = roundRatio(t.Uncompressed, t.Compressed)
	return t
}

func (a *app) printListed(l listed, head bool) {
	row := func(blocks, compressed, uncompressed, ratio, check, pipeline, name string) string {
		return fmt.Sprintf("%8s %15s %15s %9s  %-6s  %-8s  %s\n",
			blocks, compressed, uncompressed, ratio, check, pipeline, name)
	}
	text := ""
	if head && !a.cfg.quiet {
		text = row("blocks", "compressed", "uncompressed", "ratio", "check", "pipeline", "name")
	}
	itoa := func(n int64) string { return strconv.FormatInt(n, 10) }
	a.print(text + row(itoa(l.Blocks), itoa(l.Compressed), itoa(l.Uncompressed),
		strconv.FormatFloat(l.Ratio, 'f', 3, 64), l.Check, l.Pipeline, printable(l.Name)))
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
