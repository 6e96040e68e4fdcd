package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"time"
	"unicode/utf8"

	"github.com/gopz/compress/archive"
)

// entryListing is what -l --tar --json reports about an entry. Programs rely on the names of the
// fields.
type entryListing struct {
	Archive   string `json:"archive"`               // invalid UTF-8 is replaced by U+FFFD
	Name      string `json:"name"`                  // likewise
	NameBytes []byte `json:"name_base64,omitempty"` // the whole name, if it is not UTF-8
	Type      string `json:"type"`                  // file, directory, symlink, hardlink or other
	Mode      string `json:"mode"`                  // permissions, in octal
	Size      int64  `json:"size"`                  // of the content in bytes
	Modified  string `json:"modified"`              // RFC 3339, UTC
	Link      string `json:"link,omitempty"`        // target of a link
}

// listArchives lists the entries of all operands.
func (a *app) listArchives() {
	w := &entryWriter{app: a, out: bufio.NewWriterSize(a.stdout, 64<<10)}
	a.each(func(e entry) {
		a.withArchive(e, func(in *source, f *archive.FS) {
			wanted := a.selectAll()
			for e := range f.All() {
				if a.stopped {
					return
				}
				if wanted.takes(e.Name) {
					w.entry(in, &e)
				}
			}
			w.flush()
		})
	})
	w.finishList()
}

// entryWriter prints entries of archives.
type entryWriter struct {
	app     *app
	out     *bufio.Writer
	entries int64
}

// entry lists an entry: as ls -l does, or with -q its name alone.
func (w *entryWriter) entry(in *source, e *archive.Entry) {
	w.entries++
	name, mode := e.Name, e.Info.Mode()
	if mode.IsDir() {
		name += "/"
	}
	switch cfg := &w.app.cfg; {
	case cfg.json:
		w.object(in, e)
		return
	case cfg.quiet:
		fmt.Fprintln(w.out, printable(name))
	default:
		link := ""
		switch {
		case e.IsHardLink():
			link = " link to " + printable(e.Link)
		case e.Link != "":
			link = " -> " + printable(e.Link)
		}
		fmt.Fprintf(w.out, "%s %13d %s %s%s\n", modeText(mode), e.Info.Size(),
			e.Info.ModTime().Format("2006-01-02 15:04"), printable(name), link)
	}
	w.check()
}

// object lists an entry as an object of an array.
func (w *entryWriter) object(in *source, e *archive.Entry) {
	l := entryListing{
		Archive: in.name, Name: e.Name, Type: entryType(e), Size: e.Info.Size(), Link: e.Link,
		Mode:     fmt.Sprintf("%04o", unixPerm(e.Info.Mode())),
		Modified: e.Info.ModTime().UTC().Format(time.RFC3339Nano),
	}
	if !utf8.ValidString(e.Name) {
		l.NameBytes = []byte(e.Name)
	}
	text, err := json.Marshal(l)
	if err != nil {
		w.app.fail(in.name, "%s", err)
		return
	}
	begin := ",\n  "
	if w.entries == 1 {
		begin = "[\n  "
	}
	w.out.WriteString(begin)
	w.out.Write(text)
	w.check()
}

// finishList ends the array of --json.
func (w *entryWriter) finishList() {
	switch {
	case !w.app.cfg.json:
	case w.entries == 0:
		w.out.WriteString("[]\n")
	default:
		w.out.WriteString("\n]\n")
	}
	w.flush()
}

// check stops the run if an earlier write has failed.
func (w *entryWriter) check() {
	if _, err := w.out.Write(nil); err != nil && !w.app.stopped {
		w.app.failStdout(err)
	}
}

func (w *entryWriter) flush() {
	w.out.Flush()
	w.check()
}

func entryType(e *archive.Entry) string {
	switch mode := e.Info.Mode(); {
	case e.IsHardLink():
		return "hardlink"
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	case mode.Type() == fs.ModeSymlink:
		return "symlink"
	}
	return "other"
}

// unixPerm returns permissions with the bits for setuid, setgid and sticky.
func unixPerm(mode fs.FileMode) fs.FileMode {
	perm := mode.Perm()
	for bit, unix := range map[fs.FileMode]fs.FileMode{
		fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000,
	} {
		if mode&bit != 0 {
			perm |= unix
		}
	}
	return perm
}

// modeText returns a mode as ls -l shows it.
func modeText(mode fs.FileMode) string {
	kind := byte('-')
	switch {
	case mode.IsDir():
		kind = 'd'
	case mode&fs.ModeSymlink != 0:
		kind = 'l'
	case mode&fs.ModeNamedPipe != 0:
		kind = 'p'
	case mode&fs.ModeCharDevice != 0:
		kind = 'c'
	case mode&fs.ModeDevice != 0:
		kind = 'b'
	}
	text := append([]byte{kind}, mode.Perm().String()[1:]...)
	for _, s := range []struct {
		bit  fs.FileMode
		at   int
		mark byte
	}{{fs.ModeSetuid, 3, 's'}, {fs.ModeSetgid, 6, 's'}, {fs.ModeSticky, 9, 't'}} {
		switch {
		case mode&s.bit == 0:
		case text[s.at] == 'x':
			text[s.at] = s.mark
		default:
			text[s.at] = s.mark - 'a' + 'A'
		}
	}
	return string(text)
}
