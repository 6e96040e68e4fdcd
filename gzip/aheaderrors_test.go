package gzip_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// wrongTails cannot follow a member.
var wrongTails = []string{
	"\x00", "\x1f\x8b\x08", "garbage", "more garbage", strings.Repeat("\x00", 10),
	"\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\xff", // method 7
	"\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\xff", // cut short in the comment
	"\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\xff" + strings.Repeat("c", 511),
	"\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\xff" + strings.Repeat("c", 512), // too long
	"\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\xff" + strings.Repeat("c", 511) + "\x00\x07",
	"\x1f\x8b\x08\x02\x00\x00\x00\x00\x00\xff\x00\x00\x03\x00",
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x03\x00\x00\x00\x00\x00\x01\x00\x00\x00", // size
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x03\x00\x01\x00\x00\x00\x00\x00\x00\x00", // checksum
}

// TestAheadErrors compares the content and the error of damaged files with the standard library.
func TestAheadErrors(t *testing.T) {
	p := mixed(1 << 20)
	var files [][]byte
	for _, size := range []int{len(p), 400_000, 30_000} {
		files = append(files, stdMembers(t, p, 6, size))
	}
	var damaged [][]byte
	for _, tail := range wrongTails {
		for _, file := range files {
			damaged = append(damaged, append(bytes.Clone(file), tail...))
		}
	}
	for _, seed := range testenv.Seeds(t, 1) {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		for i := range 60 {
			file := bytes.Clone(files[i%len(files)])
			at := r.IntN(len(file))
			switch i / 3 % 5 {
			case 0:
				file = file[:at]
			case 1:
				file = file[:len(file)-1-r.IntN(20)]
			case 2:
				file[len(file)-1-r.IntN(20)] ^= 1 << r.IntN(8)
			default:
				file[at] ^= 1 << r.IntN(8)
			}
			damaged = append(damaged, file)
		}
	}
	for i, file := range damaged {
		std, wantErr := stdgzip.NewReader(bytes.NewReader(file))
		if wantErr != nil {
			continue // damaged in the header that NewReader reads
		}
		want, wantErr := io.ReadAll(std)
		for j, k := range aheadKinds {
			if !testenv.All() && i%len(aheadKinds) != j {
				continue
			}
			z := newReader(t, k.open(t, file), 2+i%3)
			got, err := io.ReadAll(z)
			if wantErr == io.ErrUnexpectedEOF && len(got) > len(want) {
				got = got[:len(want)]
			}
			if !bytes.Equal(got, want) || kind(err) != kind(wantErr) {
				t.Fatalf("%s, file %d: %d bytes, %v; want %d, %v",
					k.name, i, len(got), err, len(want), wantErr)
			}
			if kind(z.Close()) != kind(std.Close()) {
				t.Fatalf("%s, file %d: Close returns %v, not %v", k.name, i, z.Close(), std.Close())
			}
			checkOffset(t, err, wantErr)
		}
	}
}

// checkOffset compares the places of a damaged Deflate stream.
func checkOffset(t *testing.T, err, want error) {
	t.Helper()
	var got, std int64
	fmt.Sscanf(fmt.Sprint(err), "flate: corrupt input before offset %d", &got)
	fmt.Sscanf(fmt.Sprint(want), "flate: corrupt input before offset %d", &std)
	if got < std-8 || got > std+8 {
		t.Fatalf("%v, not %v", err, want)
	}
}
