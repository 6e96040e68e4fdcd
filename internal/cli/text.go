package cli

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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
