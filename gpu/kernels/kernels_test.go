package kernels

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/wgsl"
)

// TestGenerated: the GLSL is what the translator makes of the WGSL, and there is nothing else.
func TestGenerated(t *testing.T) {
	list, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	kernels := map[string]int{}
	for _, f := range list {
		if f.IsDir() {
			continue
		}
		name, _, _ := strings.Cut(f.Name(), ".")
		kernels[name]++
		if !strings.HasSuffix(f.Name(), ".wgsl") {
			continue
		}
		want, err := wgsl.Translate(Source(name))
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
		} else if GLSL(name) != want {
			t.Errorf("%s.glsl is not what there would be; run: go generate ./gpu/kernels", name)
		}
	}
	for name, n := range kernels {
		if n != 2 {
			t.Errorf("%s: %d files, not one .wgsl and one .glsl", name, n)
		}
	}
}

// TestHeaders: every kernel says at its top what it reads, what it writes, and in what shape it is dispatched, and keeps to what all devices have.
func TestHeaders(t *testing.T) {
	list, err := files.ReadDir(".")
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	size := regexp.MustCompile(`@workgroup_size\((\d+)\)`)
	wide := regexp.MustCompile(`\b(u64|i64|f16|f64|subgroup\w*|enable|requires)\b`)
	for _, f := range list {
		name, ok := strings.CutSuffix(f.Name(), ".wgsl")
		if !ok {
			continue
		}
		text := Source(name)
		header, code, _ := strings.Cut(text, "\n\n@group")
		for line := range strings.Lines(header) {
			if !strings.HasPrefix(line, "//") {
				t.Errorf("%s does not begin with a comment: %s", name, line)
				break
			}
		}
		m := size.FindStringSubmatch(code)
		if len(m) == 0 || !strings.Contains(header, "// Dispatch: one workgroup of "+m[1]+" invocations") {
			t.Errorf("%s: its header and its workgroups differ", name)
		}
		if !strings.Contains(header, "Workgroup memory: ") {
			t.Errorf("%s does not say how much workgroup memory it takes", name)
		}
		for _, v := range regexp.MustCompile(`var<storage[^>]*> (\w+):`).FindAllStringSubmatch(code, -1) {
			if !regexp.MustCompile(`(?m)^// (\w+, )*` + v[1] + `[,: ]`).MatchString(header) {
				t.Errorf("%s: the header says nothing of %s", name, v[1])
			}
		}
		if w := wide.FindString(regexp.MustCompile(`//.*`).ReplaceAllString(code, "")); w != "" {
			t.Errorf("%s: not every device has %s", name, w)
		}
	}
}

// TestParts: every part is in a kernel, in whole and in place of the line that names it, and none includes others.
func TestParts(t *testing.T) {
	list, err := files.ReadDir("parts")
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	kernels, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range list {
		name, ok := strings.CutSuffix(part.Name(), ".wgsl")
		text := read("parts/" + part.Name())
		if !ok || strings.Contains(text, include) {
			t.Errorf("%s is no part, or has others", part.Name())
		}
		in := 0
		for _, f := range kernels {
			kernel, ok := strings.CutSuffix(f.Name(), ".wgsl")
			if !ok {
				continue
			}
			whole, line := Source(kernel), include+name+"\n"
			if strings.Contains(whole, include) {
				t.Errorf("%s still includes something", kernel)
			}
			if has := strings.Contains(read(f.Name()), "\n"+line); has != strings.Contains(whole, text) {
				t.Errorf("%s does not have %s as it says", kernel, name)
			} else if has {
				in++
			}
		}
		if in == 0 {
			t.Errorf("no kernel has %s", name)
		}
	}
}

func TestUnknown(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("there is a kernel of no name")
		}
	}()
	Source("")
}
