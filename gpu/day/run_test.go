//go:build (webgpu || opengl) && cgo

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/gputest"
)

// TestRun runs the program with a small budget. Every device must conform, and every line must be
// JSON.
func TestRun(t *testing.T) {
	if _, err := gpu.Adapters(); err != nil {
		gputest.Missing(t, err)
	}
	const budget = 5 * time.Second
	path := filepath.Join(t.TempDir(), "results")
	var out, errOut bytes.Buffer
	start := time.Now()
	if status := run([]string{"--budget", budget.String(), "--output", path}, &out, &errOut); status != 0 {
		t.Fatalf("status %d: %s%s", status, &errOut, &out)
	}
	if took := time.Since(start); took > 2*budget {
		t.Errorf("the program takes %v with a budget of %v", took, budget)
	}
	if file, err := os.ReadFile(path); err != nil || !bytes.Equal(file, out.Bytes()) {
		t.Errorf("the file has other lines; error %v", err)
	}
	count := map[string]int{}
	last := ""
	for line := range strings.Lines(out.String()) {
		var r struct{ Result, Outcome string }
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Outcome == "fail" {
			t.Errorf("error %v: %s", err, line)
		}
		last = r.Result
		count[last]++
	}
	if last != "end" || count["machine"] != 1 || count["adapter"] == 0 || count["conformance"] == 0 {
		t.Errorf("lines %v, the last one is %q", count, last)
	}
}
