package pzbeam

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/gopz/compress"
)

// TestProfile writes profiles of compressing and of restoring, and has `profile aggregate` read
// both.
func TestProfile(t *testing.T) {
	in, out, back, dir := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	const size, blocks = 1 << 20, 16
	name := writeFiles(t, in, map[string][]byte{"a": text(size)})[0]
	totals := func(build func(s beam.Scope)) *Totals {
		t.Helper()
		p, s := beam.NewPipelineWithRoot()
		build(s)
		result, err := ptest.RunWithMetrics(p)
		if err != nil {
			t.Fatal(err)
		}
		total, err := NewTotals(result.Metrics())
		if err != nil {
			t.Fatal(err)
		}
		return total
	}
	o := Options{Output: out, BlockSize: size / blocks, GroupSize: testGroup}
	packing := totals(func(s beam.Scope) { Compress(s, beam.Create(s, name), o) })
	o.Output = back
	restoring := totals(func(s beam.Scope) {
		Decompress(s, beam.Create(s, filepath.Join(out, "a.pz")), o)
	})
	if packing.Files != 1 || packing.Content != size || packing.Groups != size/testGroup ||
		restoring.Content != size || restoring.Packed != packing.Packed {
		t.Errorf("totals %+v and %+v", packing, restoring)
	}
	var dirs []string
	for name, total := range map[string]*Totals{"packing": packing, "restoring": restoring} {
		dirs = append(dirs, filepath.Join(dir, name))
		if err := total.WriteProfile(dirs[len(dirs)-1], "test", time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if err := packing.WriteProfile(dirs[0], "test", time.Second); err == nil {
		t.Error("a profile was replaced")
	}
	cmd := exec.Command("go", append([]string{"run", "./examples/profile", "aggregate"}, dirs...)...)
	cmd.Dir = filepath.Join("..", "..")
	report, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, report)
	}
	for _, want := range []string{
		`2\.1 MB of content in 2s`,
		fmt.Sprintf(`\| compress +\| lz77 +\| cpu \| %d `, blocks),
		fmt.Sprintf(`\| compress +\| rans +\| cpu \| %d `, blocks),
		fmt.Sprintf(`\| decompress +\| rans +\| cpu \| %d `, blocks),
	} {
		if !regexp.MustCompile(want).Match(report) {
			t.Errorf("the report lacks %s:\n%s", want, report)
		}
	}
	if _, err := NewTotals(metrics.Results{}); !errors.Is(err, ErrNoMetrics) {
		t.Errorf("without metrics: error %v", err)
	}
}

// TestMemoryLimit checks that a limit that the index of a file exceeds is an error. The file is not
// read as one without an index.
func TestMemoryLimit(t *testing.T) {
	data := encode(t, text(1<<20), compress.PZ)
	name := writeFiles(t, t.TempDir(), map[string][]byte{"a.pz": data})[0]
	fn := &indexFn{Options: Options{MaxMemory: 1000}, Mode: verifying}
	err := fn.ProcessElement(context.Background(), name, func(string, file) { t.Error("a file") })
	if !errors.Is(err, compress.ErrMemory) {
		t.Errorf("error %v", err)
	}
}

// closing notes that it is closed.
type closing struct{ closed bool }

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestLender checks that only files that worked are lent again.
func TestLender(t *testing.T) {
	var l lender[*closing]
	opened := 0
	open := func() (*closing, error) {
		opened++
		return new(closing), nil
	}
	a, _ := l.takeFile("a", open)
	l.putFile("a", a, nil)
	b, _ := l.takeFile("a", open)
	c, _ := l.takeFile("a", open)
	if a != b || b == c || opened != 2 {
		t.Errorf("opened %d files", opened)
	}
	l.putFile("a", b, errors.New("read error"))
	l.putFile("a", c, nil)
	if d, _ := l.takeFile("a", open); d != c || !b.closed || c.closed {
		t.Error("a file that failed was lent again, or the other one closed")
	}
	l.putFile("a", c, nil)
	for i := range keptFiles {
		l.putFile(fmt.Sprint(i), new(closing), nil)
	}
	if len(l.kept) != keptFiles {
		t.Errorf("%d files are kept", len(l.kept))
	}
	if err := l.closeAll(); err != nil || !c.closed {
		t.Errorf("a file stays open: %v", err)
	}
}
