package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// TestRun measures a level of every library, and writes the files.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "log"), filepath.Join(dir, "made", "here")
	if err := os.WriteFile(file, corpus.ByName("log").Make(1<<17), 0o600); err != nil {
		t.Fatal(err)
	}
	err := run(context.Background(), []string{"--repeats", "1", "--seconds", "0", "--max-level", "2", "--output", out, "--note", "made data",
		"--revision", "0123abc", "--only", "lzseqr,lzr,lzf,deflate,kp-zstd,kp-s2,kp-gzip", file})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, "frontier.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| pz lzseqr | 1 |", "| pz deflate (.gz) | 2 |", "| klauspost zstd | 1 |", "| klauspost s2 | 2 |", "| klauspost gzip | 2 |",
		"log, 131072 bytes", "made data.", "revision 0123abc", "**"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	text, err = os.ReadFile(filepath.Join(out, "frontier.svg"))
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, text)
}

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	for _, bad := range []string{"NaN", "Inf", "%!"} {
		if bytes.Contains(text, []byte(bad)) {
			t.Errorf("%q in the picture", bad)
		}
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

// TestPicture: one point alone, and points in one place, are drawn as well; every family has a style.
func TestPicture(t *testing.T) {
	var all []entrant
	for i := range families {
		f := &families[i]
		if _, ok := styles[f.name]; !ok {
			t.Errorf("%s has no style", f.name)
		}
		all = append(all, entrant{family: f, level: 1, content: 100, best: sample{50, 10, 20}})
		wellFormed(t, picture(all[i:]))
	}
	wellFormed(t, picture(all))
	if n := strings.Count(string(picture(all)), "<circle"); n != 4*3 { // of ours: in the key and in two panels
		t.Errorf("%d circles", n)
	}
}

func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		got  []float64
		want int
	}{
		{logTicks(1, 3), 7}, {logTicks(1.1, 1.2), 0}, {linearTicks(2.9, 10.1), 8}, {linearTicks(0.9, 2.1), 5}, {linearTicks(0, 4), 9},
	} {
		if len(tt.got) != tt.want {
			t.Errorf("%v", tt.got)
		}
	}
	a := newAxis([]float64{1, 3}, 0, 100, -50)
	if x, y := a.at(a.lo), a.at(a.hi); math.Abs(x-100) > 1e-9 || math.Abs(y-50) > 1e-9 {
		t.Errorf("axis ends at %g and %g", x, y)
	}
}

func TestBest(t *testing.T) {
	ours, peer := &families[0], &families[4]
	all := []entrant{
		{family: ours, best: sample{100, 10, 10}},
		{family: ours, best: sample{90, 9, 9}},
		{family: ours, best: sample{95, 8, 9}},
		{family: peer, best: sample{100, 11, 9}},
	}
	speed := directions[0].speed
	for i, want := range [][2]bool{{false, true}, {true, true}, {false, false}, {true, true}} {
		if got := [2]bool{best(&all[i], all, speed, false), best(&all[i], all, speed, true)}; got != want && all[i].family == ours {
			t.Errorf("%d: %v", i, got)
		}
	}
}

func TestParseBench(t *testing.T) {
	for _, text := range []string{
		"|-s4 : 1000 ->\r/-s4 : 1000 -> 250 (x4.000),  9.1 MB/s\r|-s4  :   1000 ->    250 (x4.000),   10.5 MB/s, 2000.1 MB/s \r 3#s4  \n",
		"-s4  :   1000 ->    250 (4.000),10.5 MB/s ,1900.0 MB/s\r=-s4  :   1000 ->    250 (4.000),  10.5 MB/s ,2000.1 MB/s \r 1#",
	} {
		if s, err := parseBench([]byte(text), 1000); err != nil || s != (sample{250, 10.5, 2000.1}) {
			t.Errorf("%+v, %v from %q", s, err, text)
		}
		if _, err := parseBench([]byte(text), 999); err == nil {
			t.Error("another size is accepted")
		}
	}
	if _, err := parseBench([]byte("3#s4"), 1000); err == nil {
		t.Error("nothing is accepted")
	}
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{}, {"a", "b"}, {"--nosuch", "a"}, {"--repeats", "0", "a"}, {"--only", "lzseqr,none", "a"}, {"--max-level", "0", "a"}, {"--seconds", "-1", "a"}} {
		if _, err := parse(args); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestLibraryCompares: content that comes back otherwise is no measurement.
func TestLibraryCompares(t *testing.T) {
	m := library(func() (coder, error) {
		return coder{
			encode: func(dst, src []byte) ([]byte, error) { return append(dst, src...), nil },
			decode: func(dst, src []byte) ([]byte, error) { return append(append(dst, src[1:]...), 'x'), nil },
		}, nil
	})
	if _, err := m(context.Background(), "", []byte("content"), 0); err == nil || !strings.Contains(err.Error(), "differently") {
		t.Error(err)
	}
}
