package output

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/simd"
)

// The digest table pins the bytes that the Writer produces. Each row of testdata/digests.tsv names
// generated content, a pipeline, a level and options, and gives the size and the digest of the
// compressed stream. The same table holds on every platform, with every tier of kernels and with
// any number of workers, so it shows that output depends only on content and options.
//
// A change that is meant to change the output rewrites the table:
//
//	go test ./internal/blackbox/output -run TestDigests -update
//
// The diff of the table then shows in review which streams changed, and by how many bytes.

// digestFile holds the table.
var digestFile = bbtest.Data("digests.tsv")

// digestHead is the first line of the table.
const digestHead = "content\tbytes\tpipeline\tlevel\toptions\tsize\tsha256"

const (
	digestBlock = 64 << 10 // block size in bytes

	// digestContent is the content of a row in bytes: three blocks and a part of one.
	digestContent = 200_000
	// digestDense is the content at levels 8 and 9, which are slow: a block and a part of one.
	digestDense = 72_000
)

// digestOptions are the options of a row, by the name that the table has for them, and the formats
// that have them.
var digestOptions = []struct {
	name    string
	opt     compress.WriterOption
	formats []compress.Format
}{
	{"", nil, allFormats},
	{"tune-auto", compress.WithTuning(compress.TuneAuto), allFormats},
	{"tune-trial", compress.WithTuning(compress.TuneTrial), allFormats},
	{"no-checksum", compress.WithChecksum(false), []compress.Format{compress.PZ, compress.Zstd}},
	{"block-4K", compress.WithBlockSize(4 << 10), allFormats},
	{"block-128K", compress.WithBlockSize(128 << 10), allFormats},
	{"seekable", compress.WithSeekable(digestBlock), []compress.Format{compress.Zstd}},
	{"named", compress.WithName("name", time.Unix(1_000_000_000, 0)), []compress.Format{compress.Gzip}},
}

var allFormats = []compress.Format{compress.PZ, compress.Gzip, compress.Zstd}

// A digestRow is one row of the table, without its result.
type digestRow struct {
	kind     string // of corpus
	content  []byte
	pipeline string
	level    int
	options  string // name in digestOptions
	opt      compress.WriterOption
}

// key returns the columns that identify the row.
func (r digestRow) key() string {
	return fmt.Sprintf("%s\t%d\t%s\t%d\t%s", r.kind, len(r.content), r.pipeline, r.level, r.options)
}

// digestRows returns all rows: every kind of content with every pipeline and level, and one kind
// with every option that the format has at one level of each group.
func digestRows() (rows []digestRow) {
	for _, kind := range corpus.Kinds() {
		content := kind.Make(digestContent)
		for _, p := range bridge.Pipelines() {
			for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
				for _, o := range digestOptions {
					if o.name != "" && (kind.Name != "mixed" || level%2 == 0) {
						continue
					}
					if !slices.Contains(o.formats, p.Format) {
						continue
					}
					r := digestRow{kind.Name, content, p.Name, level, o.name, o.opt}
					if level >= 8 {
						r.content = content[:digestDense]
					}
					rows = append(rows, r)
				}
			}
		}
	}
	return rows
}

// result compresses the content of a row, and returns the columns of size and digest.
func (r digestRow) result(t *testing.T, workers int) string {
	opts := []compress.WriterOption{
		bridge.Pipeline(r.pipeline), compress.WithLevel(r.level), compress.WithBlockSize(digestBlock),
		compress.WithConcurrency(workers), r.opt,
	}
	p := bbtest.Encode(t, r.content, opts...)
	sum := sha256.Sum256(p)
	return fmt.Sprintf("%d\t%x", len(p), sum[:8])
}

// readDigests returns the results of the table by the keys of their rows.
func readDigests(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.ReadFile(digestFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	if lines[0] != digestHead {
		t.Fatalf("%s begins with %q, want %q", digestFile, lines[0], digestHead)
	}
	table := map[string]string{}
	for i, line := range lines[1:] {
		columns := strings.Split(line, "\t")
		if len(columns) != 7 {
			t.Fatalf("%s: line %d has %d columns, want 7", digestFile, i+2, len(columns))
		}
		table[strings.Join(columns[:5], "\t")] = strings.Join(columns[5:], "\t")
	}
	return table
}

// TestDigests compares the output with the table. Rows take turns at the tiers of kernels and the
// numbers of workers; with PZ_TEST=all every row runs on every tier.
func TestDigests(t *testing.T) {
	if testenv.Race {
		t.Skip("too slow with the race detector; TestSameBytes runs the same code")
	}
	rows := digestRows()
	if *update {
		var b bytes.Buffer
		fmt.Fprintln(&b, digestHead)
		for _, r := range rows {
			fmt.Fprintf(&b, "%s\t%s\n", r.key(), r.result(t, 2))
		}
		if err := os.WriteFile(digestFile, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := readDigests(t)
	if len(want) != len(rows) {
		t.Errorf("%s has %d rows, want %d", digestFile, len(want), len(rows))
	}
	step := 1
	if testing.Short() || testenv.Race || testenv.Emulated() {
		step = 7 // reaches all kinds, pipelines and levels, but not all combinations
	}
	tiers := simd.Tiers()
	defer simd.SetTier(simd.Tier())
	wrong := 0
	for i := 0; i < len(rows); i += step {
		r := rows[i]
		// Turns that are no multiple of the levels or pipelines, so that each meets each.
		use := tiers[(i+i/9+i/36)%len(tiers):][:1]
		if testenv.All() {
			use = tiers
		}
		workers := bbtest.WorkerCounts[i/9%len(bbtest.WorkerCounts)]
		for _, tier := range use {
			simd.SetTier(tier)
			if got := r.result(t, workers); got != want[r.key()] {
				wrong++
				if wrong <= 20 {
					t.Errorf("%s: tier %s, %d workers: %s, want %s",
						r.key(), tier, workers, got, want[r.key()])
				}
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d streams differ; if that is intended, run "+
			"go test ./internal/blackbox/output -run TestDigests -update",
			wrong)
	}
}
