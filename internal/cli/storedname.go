package cli

import (
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gzip"
)

// nameMode says what happens to the name and the time in the header of a .gz file.
type nameMode int

const (
	namesStore nameMode = iota // store them; do not use them when restoring
	namesUse                   // -N: store them and use them
	namesDrop                  // -n: do neither
)

// storedName is the name and the time of the content that a .gz header states.
type storedName struct {
	name string    // without directories; "" for none
	time time.Time // zero for none
}

// nameOptions returns the library options that store name and time of a source in a .gz file.
// Standard input stores neither, so the output does not depend on where it comes from.
func (a *app) nameOptions(in *source) []compress.WriterOption {
	if a.cfg.format != compress.Gzip || a.cfg.names == namesDrop || in.link == nil {
		return nil
	}
	var modTime time.Time
	if in.regular() {
		modTime = in.info.ModTime()
	}
	if s := modTime.Unix(); a.ofGzip && in.regular() && (s < 1 || s > math.MaxUint32) {
		a.warn(in.name, "the time of the file is out of range for gzip format")
	}
	return []compress.WriterOption{compress.WithName(filepath.Base(in.name), modTime)}
}

// readStoredName returns what -N uses of the header of a source. It ignores pipes. It ignores
// damaged headers as well, because decompression reports them.
func (a *app) readStoredName(in *source) (s storedName) {
	if a.cfg.mode != modeDecompress || a.cfg.names != namesUse || !in.regular() {
		return s
	}
	rest := io.NewSectionReader(in.readerAt(), in.start, in.info.Size()-in.start)
	name, modTime, err := storedIn(rest)
	if err != nil {
		return s
	}
	s.time = modTime
	if name == "" || !a.writesBeside() {
		return s
	}
	if s.name = baseName(name); s.name == "" {
		a.warn(in.name, "stores the name %s, which is not a safe file name -- not used",
			printable(name))
	}
	return s
}

// storedIn returns the name and the time in the header of a .gz file. They are "" and zero if it
// does not state them. The name has the bytes of a file name, whatever they mean. It comes from the
// writer of the file, who may have chosen one such as "../x".
func storedIn(r io.Reader) (name string, modTime time.Time, err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return "", time.Time{}, err
	}
	defer z.Close()
	var b []byte
	for _, c := range z.Name { // which package gzip has converted from Latin-1
		b = append(b, byte(c))
	}
	return string(b), z.ModTime, nil
}

// noteStoredName prints the name and the time in the header of a .gz file, with -v only.
func (a *app) noteStoredName(in *source) {
	if !a.cfg.verbose {
		return
	}
	file := io.NewSectionReader(in.readerAt(), in.start, in.info.Size()-in.start)
	name, modTime, err := storedIn(file)
	if err != nil {
		return
	}
	var stored []string
	if name != "" {
		stored = append(stored, "the name "+printable(name))
	}
	if !modTime.IsZero() {
		stored = append(stored, "the time "+modTime.UTC().Format(time.RFC3339))
	}
	if stored != nil {
		a.note(in.name, "stores %s", strings.Join(stored, " and "))
	}
}

// latin1 converts a name in the encoding that RFC 1952 prescribes.
func latin1(name string) string {
	runes := make([]rune, len(name))
	for i := range runes {
		runes[i] = rune(name[i])
	}
	return string(runes)
}

// baseName returns the last element of an untrusted path, or "" if it is not a safe file name. A
// result never leads out of its directory. Its name is no option to a command in a script, and does
// not control a terminal that lists it.
func baseName(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case name == ".", name == "..", strings.HasPrefix(name, "-"):
		return ""
	case strings.ContainsFunc(name, unicode.IsControl):
		return ""
	case !utf8.ValidString(name) && strings.ContainsFunc(latin1(name), unicode.IsControl):
		return ""
	case filepath.Base(name) != name, !filepath.IsLocal(name):
		return ""
	}
	return name
}
