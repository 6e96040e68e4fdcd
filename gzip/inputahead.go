package gzip

import (
	"io"

	"github.com/gopz/compress/internal/container"
)

// canReadAhead reports whether input may be read before the content needs it. Where the source must
// be left right behind a member, it must take input back. And it must be known whether a read would
// wait.
func (in *input) canReadAhead() bool {
	if in.ahead != nil {
		return true
	}
	if in.file != nil {
		return container.IsNonBlocking(in.file) || container.Readiness(in.file) != nil
	}
	return in.seeker != nil || in.memory != nil
}

// startAhead has a goroutine read the source ahead, up to so many bytes, and returns what to read
// from. Sources in memory need no goroutine: it returns r.
func (in *input) startAhead(r source, bytes int64) source {
	if bytes == 0 || in.ahead != nil || in.seeker != nil || in.memory != nil {
		return r
	}
	if in.raw.Reader == nil { // the source is an io.ByteReader
		in.raw.Reader, in.exact = r, nil
		in.buffer()
	}
	in.ahead = container.NewReadAhead(in.raw.Reader, bytes)
	in.raw.Reader = in.ahead
	return in.own
}

// stopAhead has the source read no more.
func (in *input) stopAhead() {
	if in.ahead != nil {
		in.ahead.Close()
		in.ahead = nil
	}
}

// beginAhead begins to read ahead. It says when a read would not wait: never, or where ready
// returns true.
func (in *input) beginAhead() (nonBlocking bool, ready func() bool) {
	in.given, in.dropped = 0, 0
	switch {
	case in.memory != nil: // more may be written to it
		return false, func() bool { return in.given-in.dropped < int64(in.memory.Len()) }
	case in.seeker != nil || in.file != nil && container.IsNonBlocking(in.file):
		return true, nil
	}
	asks := container.Readiness(in.file)
	if in.ahead != nil {
		asks = in.ahead.Ready
	}
	return false, func() bool { return in.own.Buffered() > 0 || asks() }
}

// readAhead reads input. What it reads of a bytes.Buffer remains there until dropUsed.
func (in *input) readAhead(p []byte) (n int, err error) {
	switch {
	case in.memory != nil:
		if rest := in.given - in.dropped; rest < int64(in.memory.Len()) {
			n = copy(p, in.memory.Bytes()[rest:])
		} else {
			err = io.EOF
		}
	case in.file != nil, in.ahead != nil:
		n, err = in.own.Read(p)
	case len(in.unused) > 0:
		n = copy(p, in.unused)
		in.unused = in.unused[n:]
	case in.err != nil:
		err = in.err
	default:
		n, err = in.seeker.Read(p)
	}
	in.given += int64(n)
	return n, err
}

// dropUsed says that the first bytes that were read ahead will not be given back.
func (in *input) dropUsed(used int64) {
	if in.memory != nil && used > in.dropped {
		in.memory.Next(int(used - in.dropped))
		in.dropped = used
	}
}

// endAhead ends reading ahead. A source that is an io.ByteReader is then right behind the first
// bytes, which have been used.
func (in *input) endAhead(used int64) {
	in.dropUsed(used)
	if in.seeker == nil {
		return
	}
	if n := in.given - used + int64(len(in.unused)); n > 0 {
		in.seeker.Seek(-n, io.SeekCurrent)
	}
	in.unused = nil
}
