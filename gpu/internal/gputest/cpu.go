package gputest

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// This file computes the results of requests on the CPU.

// parse returns the sequences of a block.
func parse(r *gpu.Request) []lz77.Sequence {
	var m lz77.Matcher
	return m.ParseFrom(nil, r.Src, r.Window, r.Params, r.Limits)
}

// streamsOf returns the streams of a block.
func streamsOf(l *lzseq.Layout, src []byte, level int) *lzseq.Streams {
	var m lz77.Matcher
	s := new(lzseq.Streams)
	s.Encode(l, src, m.Parse(nil, src, &lz77.Levels[level], l.Limits))
	return s
}

// payload returns the payload that streams are coded to.
func payload(l *lzseq.Layout, s *lzseq.Streams) []byte {
	e := rans.Encoder{Defaults: s.Size < rans.DefaultsLimit}
	streams := lists(s)
	return e.Append([]byte{l.ID}, l.Stored, streams[:]...)
}

func lists(s *lzseq.Streams) (streams [6][]byte) {
	for i, p := range s.All() {
		streams[i] = *p
	}
	return streams
}

var errCorrupt = errors.New("corrupt")

// decode decodes a payload. late reports whether an error shows only when symbols are decoded, not
// in the heads and tables.
func decode(src []byte, size int) (s *lzseq.Streams, late bool, err error) {
	if len(src) == 0 {
		return nil, false, errCorrupt
	}
	l := lzseq.LayoutByID(src[0])
	if l == nil {
		return nil, false, errCorrupt
	}
	s = new(lzseq.Streams)
	streams, limits := s.All(), l.MaxSizes(size)
	var d rans.Decoder
	if _, rest, err := d.Open(src[1:], limits[:], streams[:]...); err == nil && len(rest) == 0 {
		late = true
	}
	rest, err := d.Decode(src[1:], limits[:], streams[:]...)
	if err == nil && len(rest) != 0 {
		err = errCorrupt
	}
	return s, late, err
}

// sameStreams checks the content of streams, and that each has slack behind it.
func sameStreams(t *testing.T, name string, got, want *lzseq.Streams) {
	t.Helper()
	b := want.All()
	for i, p := range got.All() {
		if !bytes.Equal(*p, *b[i]) {
			t.Errorf("%s: stream %d of %d bytes differs from the CPU's", name, i, len(*b[i]))
		}
		if cap(*p) < len(*p)+rans.Slack {
			t.Errorf("%s: stream %d has no slack", name, i)
		}
	}
}

func encodeRequest(l *lzseq.Layout, s *lzseq.Streams, size int) *gpu.Request {
	return &gpu.Request{Op: gpu.StageN, Size: size, Layout: l, Streams: s, Dst: []byte("old")}
}

func decodeRequest(payload []byte, size int) *gpu.Request {
	return &gpu.Request{
		Op: gpu.StageN, Decode: true, Size: size,
		Src: payload, Streams: new(lzseq.Streams),
	}
}

// matchRequest returns a request for the matches of a block behind a window.
func matchRequest(src []byte, window, level int, limits lz77.Limits) *gpu.Request {
	return &gpu.Request{
		Op: gpu.Stage0, Size: len(src) - window, Src: src, Window: window,
		Params: &lz77.Levels[level], Limits: limits,
	}
}

// accept returns the sequences of a request of Stage0 that a device has run, and frees its
// candidates.
func accept(r *gpu.Request) (seqs []lz77.Sequence, ok bool) {
	if r.Candidates == nil {
		return r.Seqs, true
	}
	var m lz77.Matcher
	seqs, ok = m.ParseCandidates(nil, r.Src, r.Window, r.Params, r.Limits, r.Candidates)
	r.FreeCandidates()
	return seqs, ok
}

// checkMatch compares the result of a request of Stage0 with what the CPU finds.
func checkMatch(t *testing.T, name string, r *gpu.Request) {
	t.Helper()
	want := parse(r)
	if seqs, ok := accept(r); r.Err != nil || !ok || !slices.Equal(seqs, want) {
		t.Errorf("%s, %d bytes: %d sequences, want %d; candidates are possible: %v; error %v",
			name, len(r.Src), len(seqs), len(want), ok, r.Err)
	}
}
