package gzindex_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/gopz/compress/internal/gzindex"
)

// golden has small indexes, byte by byte from the descriptions of the formats.
var golden = []struct {
	name string
	b    []byte
	want gzindex.Index
}{
	{
		"bgzip",
		le(2, 100, 65280, 300, 130560),
		gzindex.Index{
			FileSize: -1, ContentSize: -1, Source: gzindex.Bgzip,
			Checkpoints: []gzindex.Checkpoint{
				{Header: true}, {Bit: 800, Content: 65280, Header: true},
				{Bit: 2400, Content: 130560, Header: true},
			},
		},
	},
	{
		"bgzip, one member", le(0),
		gzindex.Index{
			FileSize: -1, ContentSize: -1, Source: gzindex.Bgzip,
			Checkpoints: []gzindex.Checkpoint{{Header: true}},
		},
	},
	{
		"gztool of an empty file",
		cat(be64(0), "gzipindX", be32(0), be64(1), be64(1),
			be64(0), be64(12), be32(0), be32(0), be64(1), be64(0), be64(1)),
		gzindex.Index{
			FileSize: -1, Source: gzindex.Gztool1, Checkpoints: []gzindex.Checkpoint{{Bit: 96}},
		},
	},
	{
		"gztool",
		cat(be64(0), "gzipindx", be64(2), be64(2), be64(0), be64(10), be32(0), be32(0),
			be64(1<<20), be64(5000), be32(3), be32(0), be64(2<<20)),
		gzindex.Index{
			FileSize: -1, ContentSize: 2 << 20, Source: gzindex.Gztool0,
			Checkpoints: []gzindex.Checkpoint{{Bit: 80}, {Bit: 39997, Content: 1 << 20}},
		},
	},
	{
		"gztool, still growing",
		cat(be64(0), "gzipindx", be64(0), be64(1<<64-1), be64(0), be64(10), be32(0), be32(0)),
		gzindex.Index{
			FileSize: -1, ContentSize: -1, Source: gzindex.Gztool0,
			Checkpoints: []gzindex.Checkpoint{{Bit: 80}},
		},
	},
	{
		"GZIDX version 1",
		cat("GZIDX\x01\x00", le(5000, 6000), le32(1<<20, 1<<15, 2), le(10, 0), "\x00\x00",
			le(5000, 6000), "\x00\x01", make([]byte, 1<<15)),
		gzindex.Index{
			FileSize: 5000, ContentSize: 6000, Source: gzindex.GZIDX1,
			Checkpoints: []gzindex.Checkpoint{{Bit: 80}},
		},
	},
	{
		"GZIDX version 1, the end only",
		cat("GZIDX\x01\x00", le(5000, 6000), le32(1<<20, 1<<15, 1), le(5000, 6000), "\x00\x00"),
		gzindex.Index{
			FileSize: 5000, ContentSize: 6000, Source: gzindex.GZIDX1,
			Checkpoints: []gzindex.Checkpoint{},
		},
	},
	{
		"GZIDX version 0, incomplete",
		cat("GZIDX\x00\x00", le(5000, 0), le32(1<<20, 1<<15, 1), le(10, 0), "\x00"),
		gzindex.Index{
			FileSize: 5000, ContentSize: -1, Source: gzindex.GZIDX0,
			Checkpoints: []gzindex.Checkpoint{{Bit: 80}},
		},
	},
}

func le(v ...uint64) (b []byte) {
	for _, v := range v {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func le32(v ...uint32) (b []byte) {
	for _, v := range v {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func be64(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }
func be32(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }

func cat(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(b, p...)
		case []byte:
			b = append(b, p...)
		}
	}
	return b
}

func TestGolden(t *testing.T) {
	for _, g := range golden {
		x := read(t, g.b)
		if !reflect.DeepEqual(x, &g.want) {
			t.Errorf("%s: %+v", g.name, x)
		}
		if x.ContentSize != gzindex.Unknown && x.Source == gzindex.Gztool0 || x.Source == gzindex.Bgzip {
			if !bytes.Equal(write(t, x, x.Source), g.b) {
				t.Errorf("%s: written again it differs", g.name)
			}
		}
	}
}
