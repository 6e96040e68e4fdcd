package sim

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

func base() (Cluster, File) {
	c := Cluster{
		Workers: 10, Cores: 4, Compress: 100e6, Network: 1e9, Store: 1e12, Latency: 0.05, Splits: 1000,
		Copies: 32, Seed: 1, SlowFactor: 4,
	}
	return c, File{Content: 1e11, Group: 64 << 20, Ratio: 3}
}

func near(a, b, part float64) bool { return math.Abs(a-b) <= part*b }

// TestRun checks laws that any simulation must follow.
func TestRun(t *testing.T) {
	c, f := base()
	c.Workers = 1
	one := Run(c, f)
	if want := float64(one.Groups) * c.group(&f); !near(one.Encode, want, 1e-9) || one.Splits != 0 {
		t.Errorf("one worker: %+v, want %f seconds", one, want)
	}
	for _, n := range []int{2, 10, 100, 1000} {
		c.Workers = n
		r := Run(c, f)
		if least := max(one.Encode/float64(n), c.group(&f)); r.Encode < least*(1-1e-9) {
			t.Errorf("%d workers take %f seconds, less than possible: %f", n, r.Encode, least)
		}
		if r.Encode > one.Encode/float64(n)+2*c.group(&f) {
			t.Errorf("%d workers take %f seconds, of %f on one", n, r.Encode, one.Encode)
		}
	}
	c.Workers = 100
	plain := Run(c, f)
	c.Fail = 0.01
	if r := Run(c, f); r.Redone == 0 || r.Encode <= plain.Encode {
		t.Errorf("with failures: %+v, without %+v", r, plain)
	}
	c.Fail, c.Slow = 0, 0.05
	if r := Run(c, f); r.Encode <= plain.Encode || r.Encode > 2*plain.Encode {
		t.Errorf("with slow workers: %+v, without %+v", r, plain)
	}
	c.Slow, c.Store = 0, 1e10
	if r := Run(c, f); r.Encode < 10 || r.Encode > 13 {
		t.Errorf("with a slow store: %+v", r)
	}
	c.Move = true
	if r := Run(c, f); !near(r.Join, 1e11/3/1e9+float64(r.Groups)*c.Latency, 1e-9) {
		t.Errorf("joining by moving: %+v", r)
	}
}

var update = flag.Bool("update", false, "write docs/generated/cluster.md")

const page = "../../../../docs/generated/cluster.md"

const pageHead = `# pzbeam on a cluster, simulated

Written by "PZ_TEST=all go test -run Table ./internal/sim -update" in integrations/beam.

A worker has 4 cores that compress 128 MB/s each at level 4, at a ratio of 3.28, or 8.2 MB/s at
level 8, at 3.91. Its network has 1 GB/s each way. The store gives all workers together 100 GB/s. A
request takes 50 ms. Workers start within a minute. 2% of them take 4 times as long. A group of 100
MB fails with a chance of 1 in 2,000, one of 1 GB with 1 in 200. That loses its bundle.

| level | files of 1 TB | MB in a group | workers | seconds | busy | longest group, s | done again |
|--:|--:|--:|--:|--:|--:|--:|--:|
`

// TestTable compares docs/generated/cluster.md with what the simulation gives.
func TestTable(t *testing.T) {
	if !strings.Contains(os.Getenv("PZ_TEST"), "all") {
		t.Skip("takes four seconds; needs PZ_TEST=all")
	}
	var b strings.Builder
	b.WriteString(pageHead)
	c, f := base()
	c.Start, c.Slow, c.Store = 60, 0.02, 100e9
	for _, level := range []struct {
		name            string
		compress, ratio float64
	}{{"4", 128e6, 3.28}, {"8", 8.2e6, 3.91}} {
		c.Compress, f.Ratio = level.compress, level.ratio
		for _, x := range []struct {
			files, group float64 // files of 1 TB
			workers      []int
		}{{1, 100e6, []int{10, 100, 1000, 10_000}}, {1000, 1e9, []int{150, 1000, 10_000}}} {
			f.Content, f.Group = x.files*1e12, x.group
			c.Splits, c.Fail = int(x.files)*1000, 0.0005*x.group/100e6
			for _, n := range x.workers {
				c.Workers = n
				r := Run(c, f)
				fmt.Fprintf(&b, "| %s | %.0f | %.0f | %d | %.0f | %.0f%% | %.1f | %d |\n",
					level.name, x.files, x.group/1e6, n, r.Encode, 100*r.Busy, r.Longest, r.Redone)
			}
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != b.String() {
		t.Errorf("%s is not up to date (%v); use -update", page, err)
	}
}
