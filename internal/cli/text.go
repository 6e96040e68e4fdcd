package cli

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/errs"
)

// reason returns the cause of an error without operation and path, which the message names already.
func reason(err error) string {
	if text := urlReason(err); text != "" {
		return text
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return systemReason(pe.Err)
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return systemReason(le.Err)
	}
	return systemReason(err)
}

// libraryReason returns the text of a library error without the name of the library.
func libraryReason(err error) string {
	return strings.TrimSpace(strings.TrimPrefix(reason(err), "compress:"))
}

// withDetails adds to a message, with -v, what an error says beyond it. The kind and the place of
// an Error are in the message, but for a checksum that does not match.
func (a *app) withDetails(text string, err error) string {
	if !a.cfg.verbose {
		return text
	}
	more := libraryReason(err)
	var e *compress.Error
	if errors.As(err, &e) {
		inner := errs.Error{Kind: e.Kind, Detail: e.Detail, Err: e.Err, Block: -1, Offset: -1}
		more = libraryReason(&inner)
		plain := e.Detail == "" && e.Err == nil && !errors.Is(e, compress.ErrChecksum)
		said := errors.Is(e, compress.ErrMemory) || errors.Is(e, compress.ErrDictionary)
		if plain || said {
			return text
		}
	}
	if strings.Contains(text, more) {
		return text
	}
	return text + "; details: " + more
}

// printable returns a file name that is safe to print on a terminal. It quotes names that are
// empty, are not UTF-8 or contain control characters.
func printable(name string) string {
	unsafe := func(r rune) bool { return !unicode.IsPrint(r) }
	if name != "" && utf8.ValidString(name) && strings.IndexFunc(name, unsafe) < 0 {
		return name
	}
	return strconv.Quote(name)
}

// plural returns word for n = 1 and its plural otherwise.
func plural(n int64, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
