package source

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/zstframe"
	"golang.org/x/sync/singleflight"
)

// Limits of stored files that are sent as they are.
const (
	maxVerified = 256 << 20 // size in bytes; reading a larger one first would take too long
	maxWindow   = 8 << 20   // of zstd, RFC 9659
	maxVerdicts = 4096      // files whose verdict is remembered
	headSize    = 512       // bytes that net/http sniffs a Content-Type from
)

// A Verdict says whether a stored .gz or .zst file can be a response with a Content-Encoding.
type Verdict struct {
	OK   bool
	Head []byte // the first 512 bytes of content
}

// verdicts remembers the verdicts of files.
type verdicts struct {
	group singleflight.Group
	mu    sync.Mutex
	known map[string]Verdict // by name, size and time
}

// Verify reports whether clients that are told of its encoding get the content of a stored file of
// a directory. Many decoders of HTTP clients stop behind the first member or frame, so it must have
// only one. The file is decompressed once for that, so a damaged one is not sent. Verify does no
// work for files that are too large for that, or of another format.
func (v *View) Verify(ctx context.Context, stored string, info fs.FileInfo) (Verdict, error) {
	if ext := path.Ext(stored); ext != ".gz" && ext != ".zst" || info.Size() > maxVerified {
		return Verdict{}, nil
	}
	all := &v.s.set.verdicts
	key := fmt.Sprintf("%s\x00%s\x00%d\x00%d", v.s.Name, stored, info.Size(), info.ModTime().UnixNano())
	all.mu.Lock()
	verdict, ok := all.known[key]
	all.mu.Unlock()
	if ok {
		return verdict, nil
	}
	result := all.group.DoChan(key, func() (any, error) {
		// It goes on without the request that asked first: others may wait for it.
		verdict, err := v.s.verify(v.o, stored)
		if err != nil {
			return verdict, err
		}
		all.mu.Lock()
		defer all.mu.Unlock()
		if len(all.known) >= maxVerdicts {
			clear(all.known)
		}
		if all.known == nil {
			all.known = map[string]Verdict{}
		}
		all.known[key] = verdict
		return verdict, nil
	})
	select {
	case r := <-result:
		return r.Val.(Verdict), r.Err
	case <-ctx.Done():
		return Verdict{}, ctx.Err()
	}
}

// verify decompresses a stored file. A file that is damaged, or not what its name says, is no
// error: the request for its content will say what is wrong.
func (s *Source) verify(o *opened, stored string) (Verdict, error) {
	f, err := o.stored.Open(stored)
	if err != nil {
		return Verdict{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	src, ok := f.(io.ReaderAt)
	if err != nil || !ok {
		return Verdict{}, err
	}
	n := s.budget.weight(info.Size())
	if err := s.budget.acquire(s.set.ctx, n); err != nil {
		return Verdict{}, err
	}
	defer s.budget.release(n)
	limits := []compress.ReaderOption{compress.WithMaxMemory(s.limit), compress.WithContext(s.set.ctx)}
	x, err := compress.ReadInfo(src, info.Size(), nil, limits...)
	switch {
	case err != nil, len(x.Streams) != 1,
		x.Format == compress.Zstd && (x.Blocks != 1 || !isPlainFrame(src)),
		x.Format == compress.Gzip && path.Ext(stored) != ".gz",
		x.Format == compress.Zstd && path.Ext(stored) != ".zst", x.Format == compress.PZ:
		return Verdict{}, s.set.ctx.Err()
	}
	r, err := compress.NewReader(io.NewSectionReader(src, 0, info.Size()), limits...)
	if err != nil {
		return Verdict{}, s.set.ctx.Err()
	}
	defer r.Close()
	head := make([]byte, headSize)
	k, err := io.ReadFull(r, head)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF || r.Close() != nil {
		return Verdict{}, s.set.ctx.Err()
	}
	return Verdict{OK: int64(k) == min(headSize, x.Content), Head: head[:k]}, nil
}

// isPlainFrame reports whether a file begins with a frame that every HTTP client can decode.
func isPlainFrame(src io.ReaderAt) bool {
	p := make([]byte, zstframe.MaxHeaderSize)
	n, err := src.ReadAt(p, 0)
	if err != nil && err != io.EOF {
		return false
	}
	h, _, err := zstframe.ParseHeader(p[:n])
	return err == nil && h.Window <= maxWindow && h.Dictionary == 0
}
