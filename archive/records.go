package archive

import (
	"archive/tar"
	"cmp"
	"io"
	"strconv"
	"strings"
	"time"
)

// records are the values in front of a header that matter here: records of pax, and long names of
// GNU tar. A value of "" counts for none.
type records struct {
	longName, longLink     string
	path, link, size, time string

	sparseName, sparseSize string
	major, minor           string // version of the map
	sparseMap              string
	oldMap                 *[]string // offsets and sizes, each in a record of its own
}

// field returns where the value of a key belongs, or nil.
func (x *records) field(key string) *string {
	switch key {
	case "path":
		return &x.path
	case "linkpath":
		return &x.link
	case "size":
		return &x.size
	case "mtime":
		return &x.time
	case "GNU.sparse.name":
		return &x.sparseName
	case "GNU.sparse.size", "GNU.sparse.realsize":
		return &x.sparseSize
	case "GNU.sparse.major":
		return &x.major
	case "GNU.sparse.minor":
		return &x.minor
	case "GNU.sparse.map":
		return &x.sparseMap
	}
	return nil
}

// readRecords reads the content of an extended header. It keeps nothing of records that it does not
// know, which may be large.
func (r *headerReader) readRecords(h *header, x *records) error {
	r.buf.Reset(io.NewSectionReader(r.r, h.content, h.stored))
	for rest := h.stored; rest > 0; {
		n, err := r.readRecord(rest, x)
		switch {
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case n == 0:
			return nil
		}
		rest -= n
	}
	return nil
}

// readRecord reads one record of at most rest bytes: its length in decimal, a space, key, =, value
// and a newline. It returns the length, or 0 if only zeros are left.
func (r *headerReader) readRecord(rest int64, x *records) (int64, error) {
	first, err := r.buf.Peek(1)
	if err != nil {
		return 0, err
	}
	if first[0] == 0 {
		return 0, nil
	}
	digits, err := r.buf.ReadString(' ')
	if err != nil && err != io.EOF {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(digits, " "), 10, 64)
	if err != nil || n > rest || n < int64(len(digits)) {
		return 0, tar.ErrHeader
	}
	key, err := r.buf.ReadString('=')
	size := n - int64(len(digits)+len(key)) - 1
	switch {
	case err != nil && err != io.EOF:
		return 0, err
	case size < 0:
		return 0, tar.ErrHeader
	}
	if err := r.readValue(strings.TrimSuffix(key, "="), size, x); err != nil {
		return 0, err
	}
	end, err := r.buf.ReadByte()
	if err == nil && end != '\n' {
		err = tar.ErrHeader
	}
	return n, err
}

// readValue reads the value of a record.
func (r *headerReader) readValue(key string, size int64, x *records) error {
	field := x.field(key)
	part := key == "GNU.sparse.offset" || key == "GNU.sparse.numbytes"
	if field == nil && !part {
		_, err := io.CopyN(io.Discard, r.buf, size)
		return err
	}
	if size > maxText {
		return errLong
	}
	p := make([]byte, size)
	if _, err := io.ReadFull(r.buf, p); err != nil {
		return err
	}
	if field != nil {
		*field = string(p)
		return nil
	}
	if x.oldMap == nil {
		x.oldMap = new([]string)
	}
	if len(*x.oldMap) >= 2*maxPieces {
		return errLong
	}
	*x.oldMap = append(*x.oldMap, string(p))
	return nil
}

// apply gives h the values that it has in the records.
func (x *records) apply(h *header) error {
	h.Name = cmp.Or(x.longName, x.sparseName, x.path, h.Name)
	h.Linkname = cmp.Or(x.longLink, x.link, h.Linkname)
	if x.size != "" {
		n, err := strconv.ParseInt(x.size, 10, 64)
		if err != nil || n < 0 {
			return tar.ErrHeader
		}
		h.stored = n
	}
	if x.time != "" {
		t, ok := parseRecordTime(x.time)
		if !ok {
			return tar.ErrHeader
		}
		h.ModTime = t
	}
	return nil
}

// parseRecordTime reads seconds since 1970 with a fraction or without, to the nanosecond. As with
// GNU tar, it ends at what is no digit.
func parseRecordTime(s string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	digits := fraction[:len(fraction)-len(strings.TrimLeft(fraction, "0123456789"))]
	ns, err := strconv.ParseInt((digits + "000000000")[:9], 10, 64)
	if strings.HasPrefix(whole, "-") {
		ns = -ns
	}
	return time.Unix(sec, ns), err == nil
}
