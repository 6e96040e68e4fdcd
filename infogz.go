package compress

import (
	"errors"
	"io"
	"math"
	"time"

	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/pipeline"
)

// readGzipInfo describes a .gz file.
func readGzipInfo(src io.ReaderAt, size int64, o *options) (Info, error) {
	info := Info{Format: "gz", Size: size}
	var s scanner
	s.reset(io.NewSectionReader(src, 0, size))
	s.peek()
	var f foreign
	f.begin(pipeline.GZ, &s, o, true)
	defer f.forget()
	var u unit
	var p []byte
	for {
		if err := o.canceled(); err != nil {
			return info, err
		}
		err := f.next(&u)
		if err == nil {
			p, err = f.payload(&u, p)
		}
		if g := &f.gz; g.member > len(info.Streams) {
			info.Streams = append(info.Streams, StreamInfo{
				Offset:        g.offset,
				Size:          f.in.off() - g.offset,
				ContentOffset: info.Content,
				Content:       f.before - info.Content,
				Blocks:        1,
				BlockSize:     int(min(f.before-info.Content, math.MaxInt)),
				Checks:        true,
			})
			info.Content = f.before
			info.Blocks++
			if err := o.moreStreams(g.member); err != nil {
				return info, err
			}
		}
		switch err {
		case nil, errStreamEnd:
		case io.EOF:
			return info, nil
		default:
			return info, err
		}
	}
}

// ReadName returns what [WithName] has put into a .gz file, or whoever else has written it: the name of the file whose content it holds, and the time when that was
// changed last. Both come from somebody else, who may have chosen a name such as "../x", or one that no file here can have. A name is "" and a time zero if the file
// does not say, or the data is of another format; a name of more than 65,536 bytes is "", too. It reads from src no more than it needs, but for buffering.
func ReadName(src io.Reader) (name string, modTime time.Time, err error) {
	var p []byte
	for want := gzfile.MinHeaderSize; ; want = min(2*len(p), gzfile.MaxHeaderSize) {
		have := len(p)
		p = append(p, make([]byte, want-have)...)
		n, err := readFull(src, p[have:])
		p = p[:have+n]
		h, _, herr := gzfile.ParseHeader(p)
		switch {
		case errors.Is(herr, gzfile.ErrMagic):
			return "", time.Time{}, nil
		case errors.Is(herr, gzfile.ErrShort) && err == nil && want < gzfile.MaxHeaderSize:
			continue
		case errors.Is(herr, gzfile.ErrShort) && isEnd(err):
			return "", time.Time{}, &Error{Kind: ErrTruncated, Block: -1, Offset: int64(len(p))}
		case errors.Is(herr, gzfile.ErrShort) && err != nil:
			return "", time.Time{}, err
		case errors.Is(herr, gzfile.ErrLong): // no file has such a name
		case errors.Is(herr, gzfile.ErrMethod):
			return "", time.Time{}, &Error{Kind: ErrVersion, Block: -1, Detail: herr.Error()}
		case errors.Is(herr, gzfile.ErrChecksum):
			return "", time.Time{}, &Error{Kind: ErrChecksum, Block: -1, Detail: herr.Error()}
		case herr != nil:
			return "", time.Time{}, &Error{Kind: ErrCorrupt, Block: -1, Detail: herr.Error()}
		}
		if h.ModTime != 0 {
			modTime = time.Unix(int64(h.ModTime), 0)
		}
		// The bytes are those that the file name had, whatever they mean.
		b, _ := gzfile.Latin1(nil, h.Name)
		return string(b), modTime, nil
	}
}
