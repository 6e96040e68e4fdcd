package cli

import (
	"testing"
	"time"
	"unicode/utf8"
)

func TestBarText(t *testing.T) {
	for _, c := range []struct {
		done, total, content int64
		elapsed              time.Duration
		want                 string
	}{
		{0, 100 << 20, 0, 1300 * time.Millisecond, "0 B, 1s"},
		{0, -1, 0, 2 * time.Second, "0 B, 2s"},
		// Large blocks complete seldom: the rate is an average from the start.
		{64 << 20, 256 << 20, 64 << 20, 4 * time.Second, "64 MiB, 16.8 MB/s, 4s, 12s left"},
		{64 << 20, 256 << 20, 64 << 20, 7 * time.Second, "64 MiB, 9.6 MB/s, 7s, 21s left"},
		{128 << 20, 256 << 20, 128 << 20, 8 * time.Second, "128 MiB, 16.8 MB/s, 8s, 8s left"},
		{256 << 20, 256 << 20, 256 << 20, 16 * time.Second, "256 MiB, 16.8 MB/s, 16s, 0s left"},
		// When restoring, the share is that of the file and the rate that of the content.
		{10 << 20, 20 << 20, 100 << 20, 2 * time.Second, "100 MiB, 52.4 MB/s, 2s, 2s left"},
		{5 << 20, -1, 5 << 20, 90 * time.Second, "5 MiB, 0.1 MB/s, 1m30s"},
		{20, 1 << 50, 30, time.Second, "30 B, 0.0 MB/s, 1s"}, // no estimate
		// A file that has grown.
		{300, 200, 300, time.Second, "300 B, 0.0 MB/s, 1s"},
	} {
		if got := barText(c.done, c.total, c.content, c.elapsed); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestFitName(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns int
		want    string
	}{
		{"", 10, ""},
		{"short", 10, "short"},
		{"exactly-10", 10, "exactly-10"},
		{"directory/file", 10, "…tory/file"},
		{"日本語日本語", 12, "日本語日本語"},
		{"日本語日本語", 11, "…本語日本語"},
		{"日本語日本語", 6, "…本語"},
		{"anything", 1, "…"},
		{"anything", 0, "…"},
		{"anything", -30, "…"},
	} {
		if got := fitName(c.name, c.columns); got != c.want || !utf8.ValidString(got) {
			t.Errorf("%q in %d: %q, want %q", c.name, c.columns, got, c.want)
		}
	}
}
