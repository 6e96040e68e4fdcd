package site

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"

	"github.com/gopz/compress/httpcompress"
	"github.com/gopz/compress/integrations/serve/internal/source"
)

// encodings of the formats that an HTTP client may accept, by the suffix of a file.
var encodings = map[string]httpcompress.Encoding{".gz": httpcompress.Gzip, ".zst": httpcompress.Zstd}

// file sends a file.
func (h *Handler) file(x *response, r *http.Request, v *source.View, name string) error {
	x.Header().Set("X-Content-Type-Options", "nosniff")
	if h.Encoded {
		if ok, err := h.sendStored(x, r, v, name); ok || err != nil {
			return err
		}
	}
	f, err := v.Open(r.Context(), name)
	if err != nil {
		return err
	}
	defer f.Close()
	x.Header().Set("ETag", `"`+entityTag(v, f.Info)+`"`)
	http.ServeContent(x, r, path.Base(name), f.Info.ModTime(), f)
	return f.Err()
}

// entityTag returns the tag of a file without quotes. It depends on the time and size of the file,
// and on the version of the archive. So servers with copies of an archive agree if its time is the
// same.
func entityTag(v *source.View, info fs.FileInfo) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s", info.ModTime().UnixNano(), info.Size(), v.Version()))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// sendStored sends a file as it is stored, if the client accepts its encoding. ok is false if the
// content is to be sent instead: for parts, whose places are those of the content, and for files
// that not all clients decode.
func (h *Handler) sendStored(x *response, r *http.Request, v *source.View, name string) (ok bool, err error) {
	stored, info, ok := v.Stored(name)
	encoding := encodings[path.Ext(stored)]
	if !ok || encoding == "" {
		return false, nil
	}
	x.Header().Add("Vary", "Accept-Encoding")
	if r.Header.Get("Range") != "" || httpcompress.Preferred(r, encoding) != encoding {
		return false, nil
	}
	verdict, err := v.Verify(r.Context(), stored, info)
	if err != nil || !verdict.OK {
		return false, err
	}
	f, err := v.OpenStored(stored)
	if err != nil {
		return false, err
	}
	defer f.Close()
	now, err := f.Stat()
	content, seekable := f.(io.ReadSeeker)
	if err != nil || !seekable || now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		return false, err
	}
	kind := mime.TypeByExtension(path.Ext(name))
	if kind == "" {
		kind = http.DetectContentType(verdict.Head)
	}
	x.encoded = now.Size()
	x.Header().Set("Content-Type", kind)
	x.Header().Set("Content-Encoding", string(encoding))
	x.Header().Set("ETag", `"`+entityTag(v, info)+"-"+string(encoding)+`"`)
	src := &noting{ReadSeeker: content}
	http.ServeContent(x, r, path.Base(name), now.ModTime(), src)
	return true, src.err
}

// noting remembers the error of a read, which http.ServeContent does not return.
type noting struct {
	io.ReadSeeker
	err error
}

func (n *noting) Read(p []byte) (int, error) {
	k, err := n.ReadSeeker.Read(p)
	if err != nil && err != io.EOF {
		n.err = err
	}
	return k, err
}
