package container

// Format is a file format. Package compress documents it.
type Format uint8

// The formats.
const (
	PZ Format = iota
	Gzip
	Zstd
)

// formatNames are the formats' names, which are the file name extensions too.
var formatNames = [...]string{PZ: "pz", Gzip: "gz", Zstd: "zst"}

// String returns the format's name: "pz", "gz" or "zst".
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return "unknown"
}

// DetectSize is how many bytes tell a format.
const DetectSize = 4

// The magic numbers of the formats. Those of the format packages have the same values; a test
// compares them.
const (
	pzMagic   = "PZ"           // then a version
	gzipMagic = "\x1f\x8b\x08" // with the only method of RFC 1952

	// A frame of RFC 8878, and a skippable one, whose first byte ends in any four bits.
	zstdMagic      = "\x28\xb5\x2f\xfd"
	skippableMagic = "\x50\x2a\x4d\x18"
)

// maxVersion is the greatest version of .pz that Detect expects, so that text which begins with
// "PZ" is not taken for it.
const maxVersion = 8

// Detect tells the format of data that begins with p, of which it needs the first DetectSize
// bytes. If p is shorter and known is false, maybe says that p begins like one of the formats.
func Detect(p []byte) (f Format, known, maybe bool) {
	p = p[:min(len(p), DetectSize)]
	if n := min(len(p), len(pzMagic)); string(p[:n]) == pzMagic[:n] {
		if len(p) == n {
			return PZ, false, true
		}
		known = 0 < p[n] && p[n] <= maxVersion
		return PZ, known, known
	}
	for _, m := range [...]struct {
		format Format
		magic  string
	}{{Gzip, gzipMagic}, {Zstd, zstdMagic}} {
		n := min(len(p), len(m.magic))
		if string(p[:n]) == m.magic[:n] {
			return m.format, n == len(m.magic), true
		}
	}
	if MaybeSkippable(p) {
		return Zstd, len(p) == DetectSize, true
	}
	return PZ, false, false
}

// MaybeZstd reports whether p, of at most DetectSize bytes, can be the beginning of a frame of
// zstd or of a skippable one.
func MaybeZstd(p []byte) bool {
	n := min(len(p), len(zstdMagic))
	return string(p[:n]) == zstdMagic[:n] || MaybeSkippable(p)
}

// MaybeSkippable reports whether p can be the beginning of a skippable frame of zstd.
func MaybeSkippable(p []byte) bool {
	n := min(len(p), DetectSize)
	if n == 0 {
		return true
	}
	return p[0]&0xf0 == skippableMagic[0] && string(p[1:n]) == skippableMagic[1:n]
}
