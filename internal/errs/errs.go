// Package errs holds the errors that package compress returns about its input, so that the rooms
// below it can return them too. Package compress documents and re-exports them.
package errs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// The kinds of errors. Package compress exports each of them as Err… with its documentation.
var (
	Format      error = &sentinel{msg: "not .pz, .gz or .zst data"}
	Version     error = &sentinel{msg: "unsupported version"}
	Dictionary  error = &sentinel{msg: "a dictionary is missing, or is another one", also: Version}
	Corrupt     error = &sentinel{msg: "corrupt input"}
	Checksum    error = &sentinel{msg: "checksum mismatch", also: Corrupt}
	Trailing    error = &sentinel{msg: "data after the end of the compressed data", also: Corrupt}
	Truncated   error = &sentinel{msg: "input is cut short", also: io.ErrUnexpectedEOF}
	Memory      error = &sentinel{msg: "memory limit exceeded"}
	TooLarge    error = &sentinel{msg: "content is larger than allowed"}
	NoIndex     error = &sentinel{msg: "no index"}
	Closed      error = &sentinel{msg: "already closed", also: os.ErrClosed}
	Option      error = &sentinel{msg: "invalid option"}
	ContentSize error = &sentinel{msg: "content size differs from the announced one", also: Option}
	Device      error = &sentinel{msg: "no device for this"}
	Internal    error = &sentinel{msg: "internal error"}
)

var (
	// BadCount: an underlying reader or writer reports more bytes than it was given.
	BadCount error = &sentinel{msg: "invalid count from the underlying reader or writer"}

	// Panicked: a panic of the caller's code went through a Reader or Writer.
	Panicked error = &sentinel{
		msg: "unusable until Reset: a callback or the underlying stream panicked",
	}
)

// sentinel is an error that errors.Is also takes for another one.
type sentinel struct {
	msg  string
	also error
}

func (e *sentinel) Error() string { return "compress: " + e.msg }
func (e *sentinel) Unwrap() error { return e.also }

// Part names the part of a file that an error is about.
type Part uint8

// The parts of a file.
const (
	PartUnknown Part = iota
	PartHeader       // the header of a stream, member or frame
	PartBlock        // a block: its header or its payload
	PartIndex        // the index of a .pz stream or .gz file, or the seek table of a .zst file
	PartStray        // bytes between the parts
)

var partNames = [...]string{"unknown", "header", "block", "index", "stray bytes"}

// String returns the part's name.
func (p Part) String() string {
	if int(p) < len(partNames) {
		return partNames[p]
	}
	return partNames[PartUnknown]
}

// Error is documented in package compress.
type Error struct {
	Kind   error
	Part   Part
	Stream int
	Block  int64
	Offset int64
	Detail string
	Err    error
	Memory int64
}

// New returns an error that is about no block and no place.
func New(kind error, detail string) *Error {
	return &Error{Kind: kind, Block: -1, Offset: -1, Detail: detail}
}

// Wrap is New with the error of a lower layer in place of a sentence.
func Wrap(kind, err error) *Error {
	return &Error{Kind: kind, Block: -1, Offset: -1, Err: err}
}

// At returns an error about a place of the input, in no block.
func At(kind error, offset int64, detail string) *Error {
	return &Error{Kind: kind, Block: -1, Offset: offset, Detail: detail}
}

// OutOfMemory returns an error about a memory limit in bytes. need is the least limit that would
// do, 0 if that is unknown.
func OutOfMemory(need int64, format string, args ...any) *Error {
	return &Error{Kind: Memory, Block: -1, Offset: -1, Memory: need, Detail: fmt.Sprintf(format, args...)}
}

// BadOption returns an error about an option.
func BadOption(format string, args ...any) error {
	return New(Option, fmt.Sprintf(format, args...))
}

// Error says what is wrong and where.
func (e *Error) Error() string {
	var s strings.Builder
	s.WriteString("compress: ")
	if e.Stream > 0 {
		fmt.Fprintf(&s, "stream %d, ", e.Stream)
	}
	if e.Block >= 0 {
		fmt.Fprintf(&s, "block %d ", e.Block)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&s, "at byte %d", e.Offset)
	}
	head := strings.TrimRight(s.String(), ", ")
	if !strings.HasSuffix(head, ":") {
		head += ":"
	}
	switch {
	case e.Detail != "" && e.Err != nil:
		return head + " " + e.Detail + ": " + causeText(e.Err)
	case e.Detail != "":
		return head + " " + e.Detail
	case e.Err != nil:
		return head + " " + causeText(e.Err)
	}
	if e.Kind == nil {
		return head + " unknown error"
	}
	return head + " " + causeText(e.Kind)
}

// causeText returns the text of a cause without the name of the library, with which an Error
// begins.
func causeText(err error) string { return strings.TrimPrefix(err.Error(), "compress: ") }

// Unwrap lets errors.Is and errors.As find both the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// WrongDictionary is the cause of an Error of the kind Dictionary.
type WrongDictionary struct {
	Of    string // what needs the dictionary: "the content" of a stream, or "the frame"
	Needs uint32 // ID of the dictionary
	Given bool   // there is a dictionary, but another one
	Have  uint32 // its ID, 0 if it has none
}

// Error says what needs which dictionary.
func (e *WrongDictionary) Error() string { return e.Of + " " + e.Need() }

// Need is Error without the subject.
func (e *WrongDictionary) Need() string {
	text := fmt.Sprintf("needs the dictionary with ID %d", e.Needs)
	switch {
	case !e.Given:
		return text
	case e.Have == 0:
		return text + ", not one without an ID"
	}
	return text + fmt.Sprintf(", not %d", e.Have)
}

// IsEnd reports whether err says that an input has ended, rather than failed.
func IsEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
