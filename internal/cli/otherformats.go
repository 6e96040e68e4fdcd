package cli

import "bytes"

// otherFormats lists formats that pz does not read, with their magic numbers and the programs that
// read them.
var otherFormats = []struct{ magic, name, tool string }{
	{"\xfd7zXZ\x00", "xz", "xz -d"},
	{"BZh", "bzip2", "bzip2 -d"},
	{"\x04\x22\x4d\x18", "lz4", "lz4 -d"},
	{"\x1f\x9d", "compress", "gzip -d"},
	{"PK\x03\x04", "zip", "unzip"},
	{"PK\x05\x06", "zip", "unzip"}, // an empty archive
}

// magicSize is the size of the longest magic number, in bytes.
const magicSize = 6

// recognize returns the name of a format in otherFormats and the program that reads it.
func recognize(head []byte) (name, tool string) {
	for _, f := range otherFormats {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.name, f.tool
		}
	}
	return "", ""
}

// isTar reports whether a regular file is a tar archive in POSIX or GNU format.
func isTar(in *source) bool {
	const magic, offset = "ustar", 257
	p := make([]byte, len(magic))
	if !in.regular() {
		return false
	}
	_, err := in.f.ReadAt(p, in.start+offset)
	return err == nil && string(p) == magic
}
