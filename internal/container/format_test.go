package container

import "testing"

// TestDetect detects formats from their magic numbers, whole, cut short and followed by data.
func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name, data   string
		format       Format
		known, maybe bool
	}{
		{"nothing", "", PZ, false, true},
		{"part of pz", "PZ", PZ, false, true},
		{"pz of a version of the future", "PZ\x09", PZ, false, false},
		{"pz and more", "PZ\x01\x02rest", PZ, true, true},
		{"first byte of pz", "P", PZ, false, true},
		{"gzip", "\x1f\x8b\x08", Gzip, true, true},
		{"gzip and more", "\x1f\x8b\x08\x00rest", Gzip, true, true},
		{"part of gzip", "\x1f\x8b", Gzip, false, true},
		{"gzip with another method", "\x1f\x8b\x07\x00", PZ, false, false},
		{"zstd", "\x28\xb5\x2f\xfd", Zstd, true, true},
		{"part of zstd", "\x28\xb5\x2f", Zstd, false, true},
		{"skippable frame", "\x50\x2a\x4d\x18", Zstd, true, true},
		{"another skippable frame", "\x5f\x2a\x4d\x18", Zstd, true, true},
		{"part of a skippable frame", "\x53\x2a", Zstd, false, true},
		{"no skippable frame", "\x60\x2a\x4d\x18", PZ, false, false},
		{"text", "text", PZ, false, false},
		{"text of one byte", "x", PZ, false, false},
	} {
		f, known, maybe := Detect([]byte(c.data))
		if known != c.known || maybe != c.maybe || maybe && c.data != "" && f != c.format {
			t.Errorf("%s: %v, known %v, maybe %v; want %v, %v, %v",
				c.name, f, known, maybe, c.format, c.known, c.maybe)
		}
	}
}

// TestMaybeZstd checks the beginnings of frames.
func TestMaybeZstd(t *testing.T) {
	for data, want := range map[string]struct{ frame, skippable bool }{
		"":                 {true, true},
		"\x28":             {true, false},
		"\x28\xb5\x2f\xfd": {true, false},
		"\x28\xb5\x2f\xfc": {false, false},
		"\x57\x2a":         {true, true},
		"\x57\x2b":         {false, false},
	} {
		p := []byte(data)
		if MaybeZstd(p) != want.frame || MaybeSkippable(p) != want.skippable {
			t.Errorf("%q: frame %v, skippable %v; want %v",
				p, MaybeZstd(p), MaybeSkippable(p), want)
		}
	}
}
