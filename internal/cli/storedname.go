package cli

import (
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/gopz/compress"
)

// names says whether a .gz file keeps the name and the time of its content, and whether they are used again.
type names int

const (
	namesDefault names = iota // they are kept, and not used
	namesKeep                 // -N: kept and used
	namesDrop                 // -n: neither
)

// origin is what a .gz file says of the file that was compressed; the zero value is nothing.
type origin struct {
	name string // without directories
	time time.Time
}

// naming tells the library what a .gz file is to keep. Nothing is kept of standard input, so that the result does not depend on where it came from.
func (a *app) naming(in *source) []compress.Option {
	if a.cfg.names == namesDrop || in.link == nil {
		return nil
	}
	var modTime time.Time
	if in.regular() {
		modTime = in.info.ModTime()
	}
	return []compress.Option{compress.WithName(filepath.Base(in.name), modTime)}
}

// originOf reads what -N wants of a source. One that is read but once keeps nothing, nor does one whose header is damaged, of which
// restoring will tell.
func (a *app) originOf(in *source) (o origin) {
	if a.cfg.mode != modeDecompress || a.cfg.names != namesKeep || !in.regular() {
		return o
	}
	name, modTime, err := compress.ReadName(io.NewSectionReader(in.f, in.start, in.info.Size()-in.start))
	if err != nil {
		return o
	}
	o.time = modTime
	if name == "" || !a.writesBeside() {
		return o
	}
	if o.name = baseName(name); o.name == "" {
		a.warn(in.name, "the name that it keeps, %s, is none for a file -- not used", printable(name))
	}
	return o
}

// baseName is the last part of a path that somebody else has chosen; "" if that is no name of a file here. Nothing in it leads out of
// a directory.
func baseName(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if name == "." || name == ".." || strings.IndexByte(name, 0) >= 0 || filepath.Base(name) != name || !filepath.IsLocal(name) {
		return ""
	}
	return name
}
