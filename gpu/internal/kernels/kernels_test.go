package kernels

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/wgsl"
)

// TestGenerated checks that each kernel has up-to-date GLSL, and that there are no other files.
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
			t.Errorf("%s.glsl is out of date; run: go generate ./gpu/internal/kernels", name)
		}
	}
	for name, n := range kernels {
		if n != 2 {
			t.Errorf("%s has %d files; want one .wgsl and one .glsl", name, n)
		}
	}
}

// TestHeaders checks that the head of every kernel describes its buffers, workgroups and limits,
// and that the kernel uses no optional feature of devices.
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
				t.Errorf("%s: the head has a line that is no comment: %s", name, line)
				break
			}
		}
		m := size.FindStringSubmatch(code)
		if len(m) == 0 || !strings.Contains(header, "// Dispatch: one workgroup of "+m[1]+" invocations") {
			t.Errorf("%s: the head has another workgroup size than the code", name)
		}
		for _, topic := range []string{"Workgroup memory: ", "Bound: "} {
			if !strings.Contains(header, "// "+topic) {
				t.Errorf("%s: the head lacks %q", name, topic)
			}
		}
		for _, v := range regexp.MustCompile(`var<storage[^>]*> (\w+):`).FindAllStringSubmatch(code, -1) {
			if !regexp.MustCompile(`(?m)^// (\w+, )*` + v[1] + `[,: ]`).MatchString(header) {
				t.Errorf("%s: the head does not describe buffer %s", name, v[1])
			}
		}
		if w := wide.FindString(regexp.MustCompile(`//.*`).ReplaceAllString(code, "")); w != "" {
			t.Errorf("%s: %s is optional in devices", name, w)
		}
	}
}

// TestParts checks that Source includes parts, that every part is used, and that no part includes
// another.
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
			t.Errorf("%s is not WGSL, or includes another part", part.Name())
		}
		in := 0
		for _, f := range kernels {
			kernel, ok := strings.CutSuffix(f.Name(), ".wgsl")
			if !ok {
				continue
			}
			whole, line := Source(kernel), include+name+"\n"
			if strings.Contains(whole, include) {
				t.Errorf("Source(%q) contains an include line", kernel)
			}
			if has := strings.Contains(read(f.Name()), "\n"+line); has != strings.Contains(whole, text) {
				t.Errorf("%s does not contain %s in place of its include line", kernel, name)
			} else if has {
				in++
			}
		}
		if in == 0 {
			t.Errorf("no kernel includes %s", name)
		}
	}
}

// TestUnknown checks that Source panics for an unknown name.
func TestUnknown(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Source does not panic for an unknown name")
		}
	}()
	Source("")
}
