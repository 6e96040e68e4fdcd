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

// reason is what happened without the operation and the path, which the message names already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err.Error()
	}
	return err.Error()
}

// libraryReason is what the library says, without its name, of which the user never heard.
func libraryReason(err error) string {
	return strings.TrimSpace(strings.TrimPrefix(reason(err), "compress:"))
}

// printable makes a file name safe to print: control characters in it must not drive the terminal. An empty one shows.
func printable(name string) string {
	if name != "" && utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return name
	}
	return strconv.Quote(name)
}
