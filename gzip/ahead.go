package gzip

import (
	"compress/flate"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/hook"
)

// aheadFrom is how much input a Reader decodes itself, in bytes, before the workers of a scheduler
// go on. Tests change it.
var aheadFrom int64 = 256 << 10

const (
	// retryAhead is how much input a Reader decodes itself, in bytes, before it asks for a permit
	// again.
	retryAhead = 1 << 20

	// aheadMemory is the memory limit of an ahead without options, in bytes. It allows about 20
	// blocks in flight.
	aheadMemory = 128 << 20

	// workersEach is how many workers there are for each permit.
	workersEach = 4
)

// permits counts the permits in use. A Reader without options needs one to go ahead, so that a
// process that decodes many files at once spends neither memory nor time on decoding ahead.
var permits atomic.Int64

// A permit is in use or not.
type permit struct{ used atomic.Bool }

// acquire takes the permit into use if there are not too many for a number of workers.
func (p *permit) acquire(workers int) bool {
	if permits.Add(1) > int64(max(1, workers/workersEach)) {
		permits.Add(-1)
		return false
	}
	p.used.Store(true)
	return true
}

// release ends the use, if any.
func (p *permit) release() {
	if p.used.Swap(false) {
		permits.Add(-1)
	}
}

// An ahead decodes the rest of an input on the workers of a scheduler, from the middle of a member
// on. It reads ahead, inside the methods of the Reader only, and returns the content in order.
type ahead struct {
	reader  *compress.Reader // reads from the ahead
	opener  hook.Open        // open, as a value that lasts
	scanner gzfile.Scanner
	workers int
	bytes   int64 // of compress.WithReadAhead
	permit  *permit
	limits  container.Limits

	in      *input // nil before start
	middle  gzfile.Middle
	used    int64 // bytes of input that have become content of the reader
	content int64 // bytes of content that have been returned
	ends    []end // of members, from the content that comes next on, in order
	peeked  []byte
	one     [1]byte // memory of peeked
}

// An end is that of a member. Both offsets count from the place where the ahead began.
type end struct{ content, offset int64 }

// aheads has spare ones for Readers without options.
var aheads = sync.Pool{New: func() any {
	a, _ := newAhead([]compress.ReaderOption{compress.WithMaxMemory(aheadMemory)})
	return a
}}

func newAhead(opts []compress.ReaderOption) (*ahead, error) {
	a := &ahead{permit: new(permit)}
	a.opener = a.open
	// A Reader may be dropped without Close.
	runtime.AddCleanup(a, (*permit).release, a.permit)
	var err error
	progress := func(p compress.Progress) { a.used = p.Compressed }
	opts = append(opts[:len(opts):len(opts)], compress.WithProgress(progress))
	a.reader, err = compress.NewReader(nil, opts...)
	if err == nil {
		bridge.Resume(a.reader, a.opener)
	}
	return a, err
}

// open is a [hook.Open].
func (a *ahead) open(
	limits *container.Limits, workers int, readAhead int64,
) (src container.Source, nonBlocking bool, ready func() bool) {
	a.workers, a.scanner.Workers, a.bytes = workers, workers, readAhead
	if a.in == nil {
		return &a.scanner, false, nil
	}
	a.limits = *limits
	a.limits.MaxDecoded, a.limits.Checks = -1, true
	nonBlocking, ready = a.in.beginAhead()
	start := container.Start{Reader: a, NonBlocking: nonBlocking, Ready: ready}
	a.scanner.Visit = a.visit
	a.scanner.Resume(&start, &a.limits, &a.middle)
	return &a.scanner, nonBlocking, ready
}

// Read reads input for the scanner.
func (a *ahead) Read(p []byte) (int, error) { return a.in.readAhead(p) }

// visit takes note of the end of a member.
func (a *ahead) visit(m gzfile.Member) error {
	content := m.ContentOffset + m.Content
	if n := len(a.ends); n == 0 || a.ends[n-1].content < content { // else the member is empty
		a.ends = append(a.ends, end{content, m.Offset + m.Size})
	}
	return nil
}

// next returns the first end that the content has not passed.
func (a *ahead) next() (e end, ok bool) {
	n := 0
	for n < len(a.ends) && a.ends[n].content < a.content {
		n++
	}
	if a.ends = slices.Delete(a.ends, 0, n); len(a.ends) == 0 {
		return end{math.MaxInt64, math.MaxInt64}, false
	}
	return a.ends[0], true
}

// fill reads content into p. With single set it returns io.EOF at the end of a member.
func (a *ahead) fill(p []byte, single bool) (n int, err error) {
	if e, _ := a.next(); single && e.content == a.content {
		return 0, io.EOF
	}
	switch {
	case len(a.peeked) > 0:
		n = copy(p, a.peeked)
		a.peeked = a.peeked[n:]
	case len(p) > 0:
		n, err = a.reader.Read(p)
	default:
		n, err = a.reader.Read(a.one[:])
		a.peeked, n = a.one[:n], 0
	}
	e, _ := a.next()
	if left := e.content - a.content; single && int64(n) > left {
		n = int(left) // the rest belongs to another member
	}
	a.content += int64(n)
	a.in.dropUsed(min(a.used, e.offset))
	if single && n == 0 && e.content == a.content {
		err = io.EOF
	}
	return n, err
}

// goAhead has the workers of a scheduler decode the rest of the input if the input can be read
// ahead and there are several workers. All content that the input so far makes available has been
// returned.
func (z *Reader) goAhead() bool {
	z.aheadAt = math.MaxInt64
	if !z.in.canReadAhead() {
		return false
	}
	var a *ahead
	if len(z.opts) == 0 {
		a = aheads.Get().(*ahead)
	} else {
		a, z.err = newAhead(z.opts)
		if z.err != nil {
			return false
		}
	}
	switch {
	case a.workers < 2:
		z.releaseAhead(a)
		return false
	case len(z.opts) == 0 && !a.permit.acquire(a.workers):
		z.releaseAhead(a)
		z.aheadAt = z.before + z.used + retryAhead
		return false
	}
	a.in = &z.in
	a.middle = gzfile.Middle{
		Inflater: &z.inflater, Window: z.buf[max(0, z.end-inflate.WindowSize):z.end],
		Used: z.used, Size: z.size, Sum: z.sum,
	}
	bridge.Resume(a.reader, a.opener)
	z.ahead = a
	return true
}

// readAhead is Read where the workers of a scheduler decode.
func (z *Reader) readAhead(p []byte) (n int, err error) {
	a := z.ahead
	n, err = a.fill(p, z.single)
	if err == nil {
		return n, nil
	}
	used := z.in.given
	switch e, ok := err.(*compress.Error); {
	case err == io.EOF:
		if e, ok := a.next(); ok && e.content == a.content {
			used = e.offset
		}
	case !ok:
		z.bad = err // of the source
	case e.Kind == errs.Truncated:
		err = io.ErrUnexpectedEOF
		if e.Part == errs.PartBlock {
			z.bad = err
		}
	case e.Part == errs.PartHeader, e.Part == errs.PartStray:
		err, used = ErrHeader, min(used, e.Offset+gzfile.MinHeaderSize)
	case e.Kind == errs.Checksum:
		err = ErrChecksum
	case e.Kind == errs.Corrupt && e.Err == nil:
		err = flate.CorruptInputError(e.Offset)
		z.bad = err
	}
	z.in.endAhead(used)
	z.stopAhead()
	z.err = err
	return n, err
}

// stopAhead abandons what the workers do.
func (z *Reader) stopAhead() {
	if a := z.ahead; a != nil {
		z.ahead = nil
		z.releaseAhead(a)
	}
}

// releaseAhead frees what an ahead holds, and keeps the rest for other Readers.
func (z *Reader) releaseAhead(a *ahead) {
	a.reader.Close()
	a.permit.release()
	a.in, a.middle, a.limits = nil, gzfile.Middle{}, container.Limits{}
	a.used, a.content, a.ends, a.peeked = 0, 0, a.ends[:0], nil
	if len(z.opts) == 0 {
		aheads.Put(a)
	}
}
