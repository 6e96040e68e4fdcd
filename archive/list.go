package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Writer puts a list of all entries behind the end of the archive, so that Open need not read
// their headers. Programs for tar read nothing behind the two blocks of zeros that end an archive.
// 7-Zip warns of it, extracts all, and adds nothing to such an archive. Python reads no global
// headers of pax there, where a list could also be. The list is text:
//
//	pz-archive-list 1
//	0 1536 70000 100600 1764072000.5 "dir/b.bin"
//	71680 512 0 120777 1764072000 "link" "dir/sub"
//	…
//	end 12 5d2cbb3e 409600
//
// A line has where the header begins; the bytes from there to the content; size; mode as Unix has
// it, in octal; time; name; the target of a link. The mode of a hard link is 0. The last line,
// which ends the file, has the number of entries, the CRC-32C of all lines before it, and where the
// first line begins. Empty lines in front of it make the archive whole records: GNU tar loses
// entries when it changes others. The list begins directly behind the two blocks, so what is
// appended to the archive overwrites its first line.
const (
	listMagic  = "pz-archive-list 1\n"
	listEnding = "end %d %08x %d\n"
	maxLine    = 8 << 20 // bytes
	recordSize = 20 * blockSize
)

// castagnoli returns the table of CRC-32C. Package crc32 takes 0.2 ms to make it.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// errList is the error of a file of which the list says something else than its header.
var errList = errors.New("the list of the archive differs from the header of the entry")

// appendLine appends the line of an entry to a list. It has the time that package tar writes to the
// header.
func appendLine(list []byte, h *tar.Header, header, content int64) []byte {
	mode, when := unixMode(h), h.ModTime
	if h.Format == tar.FormatUnknown {
		when = when.Round(time.Second)
	}
	if when.IsZero() {
		when = time.Unix(0, 0)
	}
	list = fmt.Appendf(list, "%d %d %d %o %d", header, content-header, h.Size, mode, when.Unix())
	if n := when.Nanosecond(); n > 0 {
		list = append(list, strings.TrimRight(fmt.Sprintf(".%09d", n), "0")...)
	}
	list = strconv.AppendQuote(append(list, ' '), h.Name)
	if mode == 0 || h.Typeflag == tar.TypeSymlink {
		list = strconv.AppendQuote(append(list, ' '), h.Linkname)
	}
	return append(list, '\n')
}

// Types of files in the modes of Unix.
const (
	unixType    = 0o170000
	unixRegular = 0o100000
	unixDir     = 0o040000
	unixSymlink = 0o120000
	unixChar    = 0o020000
	unixBlock   = 0o060000
	unixFifo    = 0o010000
)

var unixTypes = map[byte]int64{
	tar.TypeDir: unixDir, tar.TypeSymlink: unixSymlink, tar.TypeChar: unixChar, tar.TypeBlock: unixBlock,
	tar.TypeFifo: unixFifo,
}

// unixMode returns the mode of an entry with its type, 0 for a hard link.
func unixMode(h *tar.Header) int64 {
	flag := typeOf(h.Typeflag, h.Name)
	if flag == tar.TypeLink {
		return 0
	}
	if t, ok := unixTypes[flag]; ok {
		return t | h.Mode&0o7777
	}
	return unixRegular | h.Mode&0o7777
}

// parseLine returns what a line says: a header with the values of which an entry is made.
func parseLine(line string) (h header, ok bool) {
	var mode, gap int64
	var when string
	fields := []any{&h.begin, &gap, &h.Size, nil, &when}
	for i := range fields {
		field, rest, found := strings.Cut(line, " ")
		line = rest
		if !found {
			return h, false
		}
		var err error
		switch p := fields[i].(type) {
		case *int64:
			*p, err = strconv.ParseInt(field, 10, 64)
			ok = err == nil && *p >= 0
		case *string:
			*p, ok = field, true
		default:
			mode, err = strconv.ParseInt(field, 8, 32)
			ok = err == nil
		}
		if !ok {
			return h, false
		}
	}
	h.ModTime, ok = parseTime(when)
	if !ok || gap < blockSize || gap%blockSize != 0 || gap/blockSize > math.MaxUint16 ||
		h.begin%blockSize != 0 || h.begin > math.MaxInt64-gap {
		return h, false
	}
	h.content = h.begin + gap
	h.Mode, h.Typeflag = mode&0o7777, tar.TypeReg
	if mode == 0 {
		h.Typeflag = tar.TypeLink
	}
	for flag, t := range unixTypes {
		if mode&unixType == t {
			h.Typeflag = flag
		}
	}
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return h, false
	}
	link := strings.TrimPrefix(line[len(quoted):], " ")
	h.Name, err = strconv.Unquote(quoted)
	if err == nil && link != "" {
		h.Linkname, err = strconv.Unquote(link)
	}
	return h, err == nil
}

// parseTime reads seconds since 1970, with a fraction or without.
func parseTime(s string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(fraction) > 9 {
		return time.Time{}, false
	}
	ns, err := strconv.ParseUint("0"+fraction+strings.Repeat("0", 9-len(fraction)), 10, 32)
	return time.Unix(sec, int64(ns)), err == nil
}

// readList reads the list of an archive of size bytes. It returns false if there is none, or not a
// whole one.
func (f *FS) readList() (bool, error) {
	e, ok := findList(f.content, f.size)
	if !ok {
		return false, nil
	}
	lines := bufio.NewScanner(io.NewSectionReader(f.content, e.begin, f.size-e.size-e.begin))
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	crc, n := uint32(0), int64(-1)
	for ; lines.Scan(); n++ {
		line := append(lines.Bytes(), '\n')
		crc = crc32.Update(crc, castagnoli(), line)
		if n < 0 {
			if string(line) != listMagic {
				break
			}
			continue
		}
		if len(line) == 1 {
			n--
			continue
		}
		h, ok := parseLine(string(line[:len(line)-1]))
		if !ok || h.content > e.begin || h.Size > e.begin-h.content {
			break
		}
		f.addEntry(&h, uint16((h.content-h.begin)/blockSize))
		if f.table.memory() > maxMemory {
			return false, errTooMany
		}
	}
	if lines.Err() != nil || n != e.number || crc != e.sum {
		f.table = table{}
		return false, nil
	}
	return true, f.table.complete()
}

// listEnd is the last line of a list.
type listEnd struct {
	number int64  // of entries
	sum    uint32 // of the lines before it
	begin  int64  // of the first line, in the archive
	size   int64  // of this line, in bytes
}

// findList reads the last line of a list.
func findList(r io.ReaderAt, size int64) (e listEnd, ok bool) {
	const most = 80
	tail := make([]byte, min(size, most))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return e, false
	}
	tail, ok = bytes.CutSuffix(tail, []byte("\n"))
	tail = tail[bytes.LastIndexByte(tail, '\n')+1:]
	fields := strings.Split(string(tail), " ")
	if !ok || len(fields) != 4 || fields[0] != "end" {
		return e, false
	}
	// fmt.Sscanf would make the command larger by 20 KB.
	number, err := strconv.ParseInt(fields[1], 10, 64)
	sum, err2 := strconv.ParseUint(fields[2], 16, 32)
	begin, err3 := strconv.ParseInt(fields[3], 10, 64)
	e = listEnd{number, uint32(sum), begin, int64(len(tail)) + 1}
	return e, err == nil && err2 == nil && err3 == nil && e.begin >= 0 && e.begin <= size-e.size
}

// verify compares an entry that comes from the list with its header.
func (f *FS) verify(e *entry) error {
	h, err := f.headerAt(e.offset - int64(e.gap)*blockSize)
	if err != nil {
		return err
	}
	name := e.name
	if e.mode.Type() != fs.ModeSymlink && e.link.size > 0 {
		name = e.link // of a hard link: the entry that has the content
		if k, ok := f.table.find(f.table.view(name)); ok && f.table.entries[k].kind == renamed {
			name = f.table.entries[k].link
		}
	}
	if h.content != e.offset || h.Size != e.size || clean(h.Name) != f.table.get(name) ||
		h.Typeflag != tar.TypeReg || h.sparse {
		return errList
	}
	return nil
}
