package zstd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestDictionaries decodes frames with several dictionaries in one input.
func TestDictionaries(t *testing.T) {
	var dicts [][]byte
	var all, want []byte
	var samples [][]byte
	for i := range 60 {
		samples = append(samples, corpus.Document(uint64(i)))
	}
	for id := uint32(1); id < 4; id++ {
		history := join(samples[id], samples[id+10], samples[id+20])
		dict, err := BuildDict(BuildDictOptions{ID: id, Contents: samples, History: history})
		if err != nil {
			t.Fatal(err)
		}
		dicts = append(dicts, dict)
		doc := corpus.Document(uint64(1000 + id))
		plain := len(EncodeTo(nil, doc))
		e := newEncoder(t, nil, WithEncoderDict(dict))
		for _, p := range [][]byte{e.EncodeAll(doc, nil), stream(t, e, doc)} {
			if len(p) > plain*3/4 {
				t.Errorf("dictionary %d: %d bytes, %d without it", id, len(p), plain)
			}
			all, want = append(all, p...), append(want, doc...)
		}
		all, want = append(all, EncodeTo(nil, doc)...), append(want, doc...)
	}
	if !bytes.Equal(content(t, all, WithDecoderDicts(dicts...)), want) {
		t.Error("other content")
	}
	d := newDecoder(t, nil, WithDecoderDicts(dicts...))
	if err := d.ResetWithOptions(nil, WithDecoderDictDelete(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.DecodeAll(all, nil); err != ErrUnknownDictionary {
		t.Errorf("without dictionary 2: %v", err)
	}
	d.ResetWithOptions(nil, WithDecoderDicts(dicts[1]))
	if got, err := d.DecodeAll(all, nil); err != nil || !bytes.Equal(got, want) {
		t.Errorf("with dictionary 2 again: %v", err)
	}
}

// TestLargeDictionary compresses streams that are longer than dictionary and window.
func TestLargeDictionary(t *testing.T) {
	dict := mixed(300 << 10)
	body := join(dict[100<<10:], mixed(1<<20), dict)
	for _, window := range []int{4 << 10, 128 << 10, 1 << 20, 8 << 20} {
		e := newEncoder(t, nil, WithEncoderDictRaw(77, dict), WithWindowSize(window))
		for i, p := range [][]byte{e.EncodeAll(body, nil), stream(t, e, body)} {
			if !bytes.Equal(content(t, p, WithDecoderDictRaw(77, dict)), body) {
				t.Errorf("window %d, %d: other content", window, i)
			}
		}
	}
	// Content that begins as a formatted dictionary does is taken as it is.
	raw := append([]byte{0x37, 0xA4, 0x30, 0xEC}, dict...)
	p := newEncoder(t, nil, WithEncoderDictRaw(5, raw)).EncodeAll(dict[:5000], nil)
	if len(p) > 50 || !bytes.Equal(content(t, p, WithDecoderDictRaw(5, raw)), dict[:5000]) {
		t.Errorf("%d bytes", len(p))
	}
}

// TestDictionaryContent checks that blocks find what they share with a dictionary: the first block
// of a stream, also if a flush ends it, and content that looks random by itself.
func TestDictionaryContent(t *testing.T) {
	docs := corpus.Document(7)
	random := corpus.ByName("random").Make(40 << 10)
	for _, c := range []struct {
		name       string
		dict, body []byte
	}{
		{"text", docs, docs[:len(docs)/2]},
		{"random", random, random[:20<<10]},
		{"random, in part", join(mixed(9000), random), join(mixed(500), random[10<<10:])},
	} {
		e := newEncoder(t, nil, WithEncoderDictRaw(8, c.dict))
		var b bytes.Buffer
		e.Reset(&b)
		e.Write(c.body)
		e.Flush()
		e.Close()
		for i, p := range [][]byte{b.Bytes(), e.EncodeAll(c.body, nil)} {
			if len(p) > 100+len(c.body)/20 {
				t.Errorf("%s, %d: %d bytes of %d", c.name, i, len(p), len(c.body))
			}
			if !bytes.Equal(content(t, p, WithDecoderDictRaw(8, c.dict)), c.body) {
				t.Errorf("%s, %d: other content", c.name, i)
			}
		}
	}
}

// TestBuildDict checks the errors of BuildDict and what InspectDictionary returns.
func TestBuildDict(t *testing.T) {
	history := bytes.Repeat([]byte("common phrase, "), 20)
	samples := [][]byte{join(history, []byte("one")), join([]byte("two"), history)}
	for name, o := range map[string]BuildDictOptions{
		"no ID":         {Contents: samples, History: history},
		"no samples":    {ID: 1, History: history},
		"short":         {ID: 1, Contents: samples, History: history[:7]},
		"level":         {ID: 1, Contents: samples, History: history, Level: 9},
		"no literals":   {ID: 1, Contents: [][]byte{history, history}, History: history},
		"only literals": {ID: 1, Contents: [][]byte{[]byte("abcdefghijk")}, History: []byte("0123456789")},
	} {
		if _, err := BuildDict(o); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	var out strings.Builder
	dict, err := BuildDict(BuildDictOptions{ID: 99, Contents: samples, History: history, DebugOut: &out})
	if err != nil || out.Len() == 0 {
		t.Fatal(err)
	}
	d, err := InspectDictionary(dict)
	if err != nil || d.ID() != 99 || d.ContentSize() != len(history) || !bytes.Equal(d.Content(), history) ||
		d.Offsets() != [3]int{1, 4, 8} {
		t.Errorf("%d, %d bytes, %v: %v", d.ID(), d.ContentSize(), d.Offsets(), err)
	}
	for n := range len(dict) - len(history) {
		if _, err := InspectDictionary(dict[:n]); err == nil {
			t.Errorf("%d bytes of a dictionary are no error", n)
		}
	}
}

// TestTrainDict makes a dictionary of messages, with which the zstd command restores another one.
func TestTrainDict(t *testing.T) {
	message := func(i int) []byte {
		return fmt.Appendf(nil, `{"name":"user %d","city":"town %d","tags":["one","two","%d"]}`, i, i%7, i*i)
	}
	var samples [][]byte
	for i := range 500 {
		samples = append(samples, message(i))
	}
	dict, err := TrainDict(samples, 2000, 7)
	if err != nil || len(dict) > 2000 {
		t.Fatal(len(dict), err)
	}
	if again, err := TrainDict(samples, 2000, 7); err != nil || !bytes.Equal(again, dict) {
		t.Error("another dictionary of the same samples", err)
	}
	if d, err := InspectDictionary(dict); err != nil || d.ID() != 7 {
		t.Error("ID", d.ID(), err)
	}
	e, err := NewWriter(nil, WithEncoderDict(dict))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	content := message(12345)
	frame := e.EncodeAll(content, nil)
	if without := plain.EncodeAll(content, nil); 2*len(frame) > len(without) {
		t.Errorf("%d bytes with the dictionary, %d without", len(frame), len(without))
	}
	name := filepath.Join(t.TempDir(), "dict")
	if err := os.WriteFile(name, dict, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testenv.Tool(t, "zstd"), "-dc", "-D", name)
	cmd.Stdin = bytes.NewReader(frame)
	if got, err := cmd.Output(); err != nil || !bytes.Equal(got, content) {
		t.Errorf("zstd gives %d bytes, %v", len(got), err)
	}
	for _, bad := range [][][]byte{nil, samples[:7], {bytes.Repeat([]byte("x"), 100)}} {
		if _, err := TrainDict(bad, 0, 0); err == nil {
			t.Errorf("%d samples are no error", len(bad))
		}
	}
}
