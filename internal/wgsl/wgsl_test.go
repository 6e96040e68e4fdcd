package wgsl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// inMain returns a kernel whose main has the statements.
func inMain(body string) string {
	return `@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> data: array<u32>;
const FIVE = 5u;
var<workgroup> words: array<atomic<u32>, 3>;
var<workgroup> one: u32;
var<private> own: u32;
var<private> few: array<u32, 2>;
var<private> sign: i32;
fn twice(x: u32, neg: bool) -> u32 { return x * 2u; }
fn wait() { workgroupBarrier(); }
@compute @workgroup_size(32)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
` + body + "\n}\n"
}

// TestStatements checks translations of single statements.
func TestStatements(t *testing.T) {
	for _, tt := range []struct{ wgsl, glsl string }{
		{"let x = 1u + lane;", "uint x = 1u + lane;"},
		{"let x = 1u; let y = x;", "uint x = 1u;\nuint y = x;"},
		{"var x: u32;", "uint x = 0u;"},
		{"var x: i32;", "int x = 0;"},
		{"var x: bool;", "bool x = false;"},
		{"var x: u32 = 7;", "uint x = 7u;"},
		{"var x: array<u32, 2>;", "uint x[2] = uint[2](0u, 0u);"},
		{"var x: vec4<u32>;", "uvec4 x = uvec4(0u);"},
		{"var x = array<vec4<u32>, 2>();", "uvec4 x[2] = uvec4[2](uvec4(0u), uvec4(0u));"},
		{"var x = array<u32, 2>(1, lane + 1u);", "uint x[2] = uint[2](1u, lane + 1u);"},
		{"var x = vec4<u32>(); x += x; x.y = 2;", "uvec4 x = uvec4(0u);\nx += x;\nx.y = 2u;"},
		{"let x = (lane + 1u) * 2u;", "uint x = (lane + 1u) * 2u;"},
		{"let x = lane + 1u * 2u;", "uint x = lane + (1u * 2u);"},
		{"let x = lane - 1u - 2u;", "uint x = (lane - 1u) - 2u;"},
		{"let x = (lane & 1u) == 0u && lane < 3u || lane > 4u;",
			"bool x = (((lane & 1u) == 0u) && (lane < 3u)) || (lane > 4u);"},
		{"let x = !(lane == 1u);", "bool x = !(lane == 1u);"},
		{"let x = ~lane;", "uint x = ~lane;"},
		{"let x = -i32(lane);", "int x = -int(lane);"},
		{"let x = -1 * i32(lane) < 4;", "bool x = ((-1) * int(lane)) < 4;"},
		// Shifts are modulo 32.
		{"let x = lane << 5u;", "uint x = lane << 5u;"},
		{"let x = lane << 32u;", "uint x = lane << (32u & 31u);"},
		{"let x = lane >> id.x;", "uint x = lane >> (id.x & 31u);"},
		{"let x = lane << 3;", "uint x = lane << 3u;"},
		{"var x = 1u; x <<= 2u; x >>= lane;", "uint x = 1u;\nx <<= 2u;\nx >>= lane & 31u;"},
		// Divisors above 0.
		{"let x = lane / 8u;", "uint x = lane / 8u;"},
		{"let x = lane % FIVE;", "uint x = lane % FIVE;"},
		{"let x = lane / max(lane, 1u);", "uint x = lane / max(lane, 1u);"},
		{"let f = max(1, lane); let x = 3u / f;", "uint f = max(1u, lane);\nuint x = 3u / f;"},
		{"let x = select(1u, lane, lane > 3u);", "uint x = (lane > 3u) ? lane : 1u;"},
		{"let x = select(0, i32(lane), true);", "int x = true ? int(lane) : 0;"},
		{"let x = countOneBits(lane);", "uint x = uint(bitCount(lane));"},
		{"let x = countTrailingZeros(lane);", "uint x = min(uint(findLSB(lane)), 32u);"},
		{"let x = i32(firstLeadingBit(lane | 1u)) + 1;",
			"int x = int(uint(findMSB(lane | 1u))) + 1;"},
		{"let x = input[input[3] + 1u];", "uint x = input_[input_[3] + 1u];"},
		{"data[lane] = input[0] & 0xffu;", "data[lane] = input_[0] & 0xffu;"},
		{"data[(lane)] |= 1u;", "data[lane] |= 1u;"},
		{"let x = twice(lane, false);", "uint x = twice(lane, false);"},
		{"wait();", "wait();"},
		{"workgroupBarrier();", "memoryBarrierShared(); barrier();"},
		{"atomicAdd(&words[lane], 1u); atomicOr(&words[0], lane | 2u);",
			"atomicAdd(words[lane], 1u);\natomicOr(words[0], lane | 2u);"},
		{"atomicStore(&words[0], 1u); let x = atomicLoad(&words[2]);",
			"words[0] = 1u;\nuint x = words[2];"},
		{"own = 2u; own += few[1]; few[lane] = own; sign = -i32(own);",
			"own = 2u;\nown += few[1];\nfew[lane] = own;\nsign_ = -int(own);"},
		{"let x = workgroupUniformLoad(&one);",
			"memoryBarrierShared(); barrier(); uint x = one; memoryBarrierShared(); barrier();"},
		{"one = 2u; let output = one;", "one = 2u;\nuint output_ = one;"},
		{"if (lane == 0u) { one = 1u; } else if lane > 3u { one++; } else { return; }",
			"if (lane == 0u) {\none = 1u;\n} else if (lane > 3u) {\none++;\n} else {\nreturn;\n}"},
		{"for (var i = 0u; i < 9u; i++) { if (i == 3u) { continue; } break; }",
			"for (uint i = 0u; i < 9u; i++) {\nif (i == 3u) {\ncontinue;\n}\nbreak;\n}"},
		{"var i = 0u; for (; i < 9u && i != 3u; i += 2u) { }",
			"uint i = 0u;\nfor (; (i < 9u) && (i != 3u); i += 2u) {\n}"},
		{"for (;;) { break; }", "for (; ; ) {\nbreak;\n}"},
		{"let x = 1u; // a comment\nif true { let x = 2u; }",
			"uint x = 1u;\nif (true) {\nuint x = 2u;\n}"},
	} {
		got, err := Translate(inMain(tt.wgsl))
		if err != nil {
			t.Errorf("%s: %v", tt.wgsl, err)
			continue
		}
		var lines []string
		for line := range strings.Lines(got) {
			lines = append(lines, strings.TrimSpace(line))
		}
		got = strings.Join(lines, "\n")
		_, got, _ = strings.Cut(got, "memoryBarrierShared();\nbarrier();\n")
		if got = strings.TrimSuffix(got, "\n}"); got != tt.glsl {
			t.Errorf("%s:\n%s\nwant\n%s", tt.wgsl, got, tt.glsl)
		}
	}
}

// TestPrivate checks that private variables begin as 0.
func TestPrivate(t *testing.T) {
	got, err := Translate(inMain(""))
	for _, want := range []string{
		"\nuint own = 0u;\n", "\nuint few[2] = uint[2](0u, 0u);\n", "\nint sign_ = 0;\n",
	} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("the translation lacks %q; error %v:\n%s", want, err, got)
		}
	}
}

// TestRefused checks errors for text that is not supported or has another meaning in GLSL.
func TestRefused(t *testing.T) {
	for _, body := range []string{
		"let x = 1;", "let x = 1.5;", "let x = 1i;", "let x = 0777u;", "let x = 4294967296u;",
		"let x = 3000000000;",
		"let x = lane / id.x;", "let x = lane % 0u;", "let x = i32(lane) / 2;",
		"let x = lane / min(lane, 2u);",
		"var x = 2u; let y = lane / x;", "let x = lane / (lane + 1u);",
		"let x = lane + i32(lane);", "let x = lane < 1.0;", "let x = lane << i32(lane);",
		"let x = lane && true;", "let x = lane == true;",
		"let x = unknown;", "let x = unknown(1u);", "let x = main();", "x = 1u;",
		"lane = 1u;", "lane++;", "let x = 1u; x = 2u;", "input[0] = 1u;", "FIVE = 6u;", "1u = 2u;",
		"lane + 1u;", "words[0] = 1u;", "let x = words[0];", "let x = words;", "id.x = 1u;",
		"let x = id.w;", "let x = lane.x;", "let x = id.xy;", "let x = lane[0];", "words[3];",
		"atomicAdd(&words[3], 1u);", "atomicAdd(&lane, 1u);", "atomicAdd(words[0], 1u);",
		"let x = atomicAdd(&words[0], 1u);",
		"let x = twice(1u);", "let x = twice(true, 1u);", "twice(1u, true);", "let x = wait();",
		"let x = min(1u);", "let x = abs(lane);", "let x = select(1u, 2, 3u);",
		"let x_ = 1u;", "let gl_x = 1u;", "let x__y = 1u;", "let x = 1u; let x = 2u;",
		"let lane = 1u;", "for (var i = 0u; i < 2u; i++) { let i = 3u; }", "let twice = 1u;",
		"if lane { }", "while true { }", "loop { }", "switch lane { }", "return 1u;",
		"let x: u32 = 1u;", "var x: array<u32>;", "var x: f32;", "var x: vec2<u32>;",
		"var x: vec4<i32>;", "var x: atomic<u32>;",
		"let x = workgroupUniformLoad(&own);", "let x = workgroupUniformLoad(&lane);",
		"let x = workgroupUniformLoad(one);", "let x = workgroupUniformLoad(&words[0]);",
		"let x = 1u + workgroupUniformLoad(&one);",
		"workgroupUniformLoad(&one);",
		"for (let x = workgroupUniformLoad(&one); lane > x; ) { break; }",
		"var x = workgroupUniformLoad(&one);", "let x = workgroupUniformLoad(&one) + 1u;",
		"let x = workgroupUniformLoad(&FIVE);", "one = workgroupUniformLoad(&one);",
		"let x = id + id.x;", "let x = id == id;", "let x = data;", "/* x */", "let x = \"\";",
		"let x = 1u", "if (true) {", "}",
		"let x = " + strings.Repeat("(", 1000) + "1u;", strings.Repeat("if true {", 1000),
		"let x = é;", "let x = array<u32, 2>(1u);", "let x = array<u32, 0>();", "let x = -lane;",
		"let x = ~true;", "let x = true & false;",
	} {
		glsl, err := Translate(inMain(body))
		if e := new(Error); !errors.As(err, &e) || e.Line < 1 || glsl != "" {
			t.Errorf("%s: error %v, translation %q", body, err, glsl)
		}
	}
	for _, text := range []string{
		"", "const X = 1u;", "struct X { }",
		"@group(1) @binding(0) var<storage, read> x: array<u32>;",
		"@group(0) @binding(0) var<uniform> x: u32;",
		"var<private> x: array<u32>;", "var<private> x: atomic<u32>;", "var<function> x: u32;",
		"@group(0) @binding(0) var<storage, read> x: array<i32>;", "const X = FIVE;",
		"const X = 1u + 2u;", "@fragment", "fn f() { f(); }", "fn f() -> u32 { return; }",
		"@compute @workgroup_size(1) fn main(@builtin(position) p: u32) {}",
		"fn f(x: array<u32, 2>) {}", "var<workgroup> x: array<u32>;", "fn min(x: u32) {}",
		"@compute @workgroup_size(1) fn main() {} @compute @workgroup_size(1) fn main() {}",
	} {
		if _, err := Translate(text); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// FuzzTranslate checks that any text gives either a translation or an error.
func FuzzTranslate(f *testing.F) {
	files, err := filepath.Glob("../../gpu/internal/kernels/*.wgsl")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(inMain("let x = lane;"))
	f.Fuzz(func(t *testing.T, text string) {
		glsl, err := Translate(text)
		if e := new(Error); err != nil && !errors.As(err, &e) || (err == nil) != (glsl != "") {
			t.Error(err)
		}
	})
}
