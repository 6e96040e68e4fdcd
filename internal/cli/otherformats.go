package cli

import "bytes"

// foreign lists what people take for data of pz, or have beside it, by its first bytes. A form that pz learns to read
// loses its row.
var foreign = []struct{ magic, name, tool string }{
	{"\xfd7zXZ\x00", "xz", "xz -d"},
	{"BZh", "bzip2", "bzip2 -d"},
	{"\x04\x22\x4d\x18", "lz4", "lz4 -d"},
	{"\x1f\x9d", "compress", "gzip -d"},
	{"PK\x03\x04", "zip", "unzip"},
	{"PK\x05\x06", "zip", "unzip"}, // an empty archive
}

// magicSize is the size of the longest magic, in bytes.
const magicSize = 6

// recognize returns the name of a foreign form, and the program that reads it; nothing if it does not know it.
func recognize(head []byte) (name, tool string) {
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.name, f.tool
		}
	}
	return "", ""
}
