package archtest

// This file is the plan of the house: what there is and what it stands on. Everything else in this package only enforces it.

// floor says how high a package lies. Imports point down: a package imports what lies on lower floors.
type floor int

const (
	ground   floor = iota // CPU features and bits; imports nothing of ours
	codecs                // one algorithm each; they do not know one another
	engine                // the scheduler, and the containers beside it
	library               // the public package
	programs              // use the public package only
	commands              // main packages: link the devices of a build and call a program
	tools                 // programs for developers, which import whatever they like
	workshop              // for tests and scripts only
)

// packages lists every package of the module by its path under the module's, "" for the root.
var packages = map[string]floor{
	"cmd/pz":           commands,
	"internal/cli":     programs,
	"gpu/pz":           commands,
	"examples/profile": tools, // runs codecs one by one as well, and schedulers with a device

	"": library,

	"pipeline": engine,

	"pipeline/internal/offload": engine,

	"internal/pzfile":  engine,
	"internal/gzfile":  engine,
	"internal/zstfile": engine,

	"lz77":    codecs,
	"lzseq":   codecs,
	"fse":     codecs,
	"rans":    codecs,
	"huffman": codecs,
	"deflate": codecs,
	"zstd":    codecs,
	"gpu":     codecs,

	"rans/internal/ctx":   codecs,
	"rans/internal/model": codecs,

	"internal/x86": codecs,

	"gpu/gputest":       codecs, // see suites
	"gpu/webgpu":        codecs,
	"gpu/internal/host": codecs,
	"gpu/opengl":        codecs,
	"gpu/kernels":       codecs, // text

	"pipeline/internal/fifo": ground,

	"simd":            ground,
	"internal/bitio":  ground,
	"internal/binlog": ground,
	"internal/suffix": ground,

	"internal/inflate": ground,

	"internal/seqdump": tools,
	"internal/bench":   tools,

	"internal/archtest": workshop,
	"internal/bcetest":  workshop,
	"internal/corpus":   workshop,
	"internal/refdec":   workshop,
	"internal/testenv":  workshop,
	"internal/wgsl":     workshop, // its output is under version control
}

// suites lists the packages of tests that others run: they import what tests may, and only tests import them.
var suites = map[string]bool{
	"gpu/gputest": true,
}

// sideways lists the imports allowed within a floor.
var sideways = map[arrow]string{
	{"pipeline", "pipeline/internal/offload"}:    "passes blocks to a device through its coordinator",
	{"lzseq", "lz77"}:                            "codes sequences, which are lz77's type",
	{"huffman", "fse"}:                           "zstd codes Huffman weights with FSE",
	{"rans", "rans/internal/ctx"}:                "exports its context-coded streams",
	{"rans", "rans/internal/model"}:              "shares tables and costs with them",
	{"rans/internal/ctx", "rans/internal/model"}: "shares tables and costs with plain streams",

	{"deflate", "lz77"}:                     "codes sequences, which are lz77's type",
	{"deflate", "huffman"}:                  "Deflate blocks are Huffman coded",
	{"gpu", "lz77"}:                         "a device gives sequences",
	{"gpu", "lzseq"}:                        "and streams, which are lzseq's type",
	{"gpu/gputest", "gpu"}:                  "tests devices",
	{"gpu/gputest", "lz77"}:                 "against the CPU's matchers",
	{"gpu/gputest", "lzseq"}:                "and streams",
	{"gpu/gputest", "rans"}:                 "and coders",
	{"gpu/internal/host", "gpu"}:            "is the host's part of such devices",
	{"gpu/internal/host", "lz77"}:           "gives sequences, which it parses from candidates",
	{"gpu/internal/host", "lzseq"}:          "and streams",
	{"gpu/internal/host", "rans"}:           "whose lane groups are the devices' work",
	{"gpu/webgpu", "gpu"}:                   "is such a device",
	{"gpu/webgpu", "gpu/internal/host"}:     "with its host's part",
	{"gpu/opengl", "gpu"}:                   "is such a device as well",
	{"gpu/opengl", "gpu/internal/host"}:     "with the same",
	{"gpu/opengl", "gpu/kernels"}:           "and the same",
	{"gpu/webgpu", "gpu/kernels"}:           "and its kernels",
	{"internal/corpus", "internal/testenv"}: "finds PZ_CORPUS",
	{"zstd", "lz77"}:                        "codes sequences, which are lz77's type",
	{"zstd", "fse"}:                         "sequences are FSE coded",
	{"zstd", "huffman"}:                     "literals are Huffman coded",
}

// foreign lists the modules that code which ships may import, and the packages that may do so. What is under a listed path counts with it.
var foreign = map[string][]string{
	"github.com/klauspost/cpuid/v2": {"simd"},
	"github.com/cespare/xxhash/v2":  {"internal/zstfile", "pipeline"},
	"github.com/spf13/pflag":        {"internal/cli", "examples/profile"},
	"golang.org/x/sys":              {"internal/cli"},
	"golang.org/x/term":             {"internal/cli"},
	"github.com/cogentcore/webgpu":  {"gpu/webgpu"},
	"github.com/go-gl/gl":           {"gpu/opengl"},
	"github.com/klauspost/compress": {"", "pipeline", "internal/inflate", // decodes what others wrote
		"internal/bench"}, // is measured
}

// optional lists the modules that only files with a build constraint may import.
var optional = map[string]string{
	"github.com/cogentcore/webgpu": "webgpu && cgo",
	"github.com/go-gl/gl":          "opengl && cgo && linux",
}

// cgo lists the packages that may use cgo, and the constraint it takes.
var cgo = map[string]string{
	"gpu/webgpu": "webgpu && cgo",
	"gpu/opengl": "opengl && cgo && linux",
}

// linked lists the packages that only these main packages may import: importing one links a GPU driver
// and its binding into the program.
var linked = map[string][]string{
	"gpu/webgpu": {"gpu/pz", "examples/profile", "internal/bench"},
	"gpu/opengl": {"gpu/pz", "examples/profile", "internal/bench"},
}
