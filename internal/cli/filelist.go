package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// fileList is a file that names files to process: the value of --files-from or --files0-from.
type fileList struct {
	path string // "-" is standard input
	end  byte   // what ends each name: a newline or a zero byte
}

func (c *config) addList(path string, end byte) error {
	if path == "" {
		return errors.New("the file name is empty")
	}
	c.lists = append(c.lists, fileList{path, end})
	return nil
}

// longestName is the most bytes that a name in a list may have. Systems limit paths to 4096 or
// less.
const longestName = 16 << 10

func longName() string {
	return fmt.Sprintf("has a name of more than %s; is it a list of file names?", formatSize(longestName))
}

// eachListed calls do for each name in a list while it reads on, so that it may be the output of a
// running program.
func (a *app) eachListed(l fileList, do func(name string)) {
	f, name := a.stdin, "standard input"
	if l.path != "-" {
		var err error
		f, err = os.Open(l.path)
		if err != nil {
			a.fail(l.path, "%s", reason(err))
			return
		}
		defer f.Close()
		name = l.path
	}
	for r, first := bufio.NewReaderSize(f, longestName), true; !a.stopped; first = false {
		if r.Buffered() == 0 {
			a.flush() // the program that makes the list may wait for the results
		}
		b, err := r.ReadSlice(l.end)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			a.fail(name, "%s", longName())
			return
		case err != nil && err != io.EOF:
			a.fail(name, "%s", reason(err))
			return
		case err == nil:
			b = b[:len(b)-1]
		case len(b) == 0:
			return // at the end
		}
		text := string(b)
		if stem, ok := strings.CutPrefix(text, byteOrderMark); ok && first && !isFile(text) {
			text = stem
		}
		a.listed(l, text, do)
	}
}

// byteOrderMark is what programs of Windows put in front of a text in UTF-8.
const byteOrderMark = "\ufeff"

// listed calls do for a name in a list. Lines of a list from Windows end in a carriage return and a
// newline. So it leaves out a carriage return at the end, unless there is a file of the whole name.
func (a *app) listed(l fileList, name string, do func(name string)) {
	if stem, ok := strings.CutSuffix(name, "\r"); ok && l.end == '\n' && !isFile(name) {
		name = stem
	}
	switch {
	case name == "" && l.end == '\n': // an empty line
	case strings.Contains(name, "\x00"):
		a.fail(name, "has a zero byte in its name; if zero bytes separate names, use --files0-from")
	case name == "-" && l.path == "-":
		a.fail(name, "standard input is the list of files; use ./- for a file of this name")
	default:
		do(name)
	}
}

// isFile reports whether there is a file of this name.
func isFile(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
