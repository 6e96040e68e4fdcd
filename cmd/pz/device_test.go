package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Wherever stages run the file is the same, and -v says what ran where.
func TestBackends(t *testing.T) {
	dir := t.TempDir()
	content := sample(300_000)
	src := write(t, content, dir, "src")
	pz(t, "", "-k", "-B64K", "-o", filepath.Join(dir, "want"), src).want(t, exitOK)
	want, err := os.ReadFile(filepath.Join(dir, "want"))
	if err != nil {
		t.Fatal(err)
	}
	for _, backend := range []string{"auto", "cpu", "gpu", "auto,gpu", "gpu,cpu", "cpu,gpu"} {
		out := filepath.Join(dir, "out")
		r := pz(t, "", "-kfv", "-B64K", "--backend", backend, "--gpu-device", "soft", "-o", out, src)
		r.want(t, exitOK, "src")
		if got, _ := os.ReadFile(out); !bytes.Equal(got, want) {
			t.Errorf("%s: another file", backend)
		}
		if on := strings.Contains(r.err, " on soft: "); on != strings.Contains(backend, "gpu") && backend != "auto" {
			t.Errorf("%s: %s", backend, r.err)
		}
		if r := pz(t, "", "-dc", "--backend", backend, "--gpu-device", "soft", out); r.out != content {
			t.Errorf("%s: restoring: %d %s", backend, r.code, r.err)
		}
	}
}

func TestNoBackend(t *testing.T) {
	src := write(t, "text", t.TempDir(), "src")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--backend", "gpu"}, "no GPU"},
		{[]string{"--backend", "cpu,gpu"}, "no GPU"},
		{[]string{"--backend", "fpga"}, "auto, cpu or gpu"},
		{[]string{"--backend", "cpu,"}, "auto, cpu or gpu"},
		{[]string{"--gpu-device", "nvidia"}, "soft"},
	} {
		pz(t, "", append(c.args, src)...).want(t, exitError, c.want)
		if _, err := os.Stat(src + ".pz"); err == nil {
			t.Errorf("%q: a file was written", c.args)
		}
	}
	pz(t, "", "--backend", "auto", src).want(t, exitOK)
}
