package archtest

// This file is the plan of the module: its packages, and the imports between them and from outside.

// floor is the height of a package. A package imports packages of lower floors only.
type floor int

const (
	ground   floor = iota // CPU features, bits, queues; imports no package of the module
	codecs                // one algorithm each; sideways lists the imports between them
	engine                // the scheduler, and the containers beside it
	library               // the public package
	programs              // use the public package only
	commands              // main packages: link the devices of a build and call a program
	tools                 // programs for developers, which may import any package
	workshop              // for tests and tools only
)

// packages lists every package of the module by its path under the module's, "" for the root.
var packages = map[string]floor{
	"cmd/pz":       commands,
	"internal/cli": programs,

	"httpcompress": programs,

	"internal/refdec": programs, // stands alone; part of the command
	"internal/refzst": programs, // likewise

	"internal/cli/internal/foreign": programs, // part of the command
	"internal/cli/remote":           programs, // likewise; main packages choose it, for it links net/http
	"internal/cli/internal/train":   programs, // likewise
	"gpu/pz":                        commands,
	"examples/profile":              tools, // links GPU drivers

	"":          library,
	"gzip":      library,
	"zipmethod": library,
	"httprange": library,

	"archive": programs,

	"pipeline": engine,

	"pipeline/internal/offload": engine,

	"parity":         library,
	"internal/merge": library,

	"internal/mutants": library, // see suites

	"internal/errs":       ground,
	"internal/blockcache": ground,
	"internal/container":  ground,
	"internal/index":      engine,
	"internal/pzfile":     engine,
	"internal/gzfile":     engine,
	"internal/gzaccess":   engine,
	"internal/gzindex":    engine,
	"internal/gzrecover":  engine,
	"internal/zstfile":    engine,
	"internal/zstdec":     engine,
	"internal/zstframe":   ground,

	"lz77":                   codecs,
	"lzseq":                  codecs,
	"fse":                    codecs,
	"internal/codec/rans":    codecs,
	"internal/codec/huffman": codecs,
	"internal/codec/deflate": codecs,
	"internal/codec/inflate": codecs,
	"internal/codec/zstd":    codecs,
	"gpu":                    codecs,

	"lz77/internal/optimal": codecs,

	"internal/codec/rans/internal/ctx":   codecs,
	"internal/codec/rans/internal/model": codecs,

	"internal/x86": codecs,
	"internal/ldm": codecs,

	"gpu/gputest":       codecs, // see suites
	"gpu/webgpu":        codecs,
	"gpu/internal/host": codecs,
	"gpu/opengl":        codecs,
	"gpu/kernels":       codecs, // text

	"pipeline/internal/fifo": ground,

	"simd":             ground,
	"internal/bitio":   ground,
	"internal/binlog":  ground,
	"internal/suffix":  ground,
	"internal/pieces":  ground,
	"internal/cut":     ground,
	"internal/section": ground,
	"internal/plot":    ground, // for tools and the command

	"lz77/internal/base": ground,

	"internal/seqdump": tools,
	"gpu/interp":       tools,
	"internal/bench":   tools,
	"gpu/day":          tools, // links GPU drivers, runs single stages and the suite of devices

	"internal/measuring": ground, // for tools

	"internal/archtest":    workshop,
	"internal/bcetest":     workshop,
	"internal/corpus":      workshop,
	"internal/deflatetest": workshop,
	"internal/peertest":    workshop,
	"internal/testenv":     workshop,
	"packaging":            workshop, // scripts and data
	"internal/wgsl":        workshop, // its output is under version control
}

// suites lists packages of tests that other packages run. They may import what tests may, and only
// tests and tools import them.
var suites = map[string]bool{
	"gpu/gputest":      true,
	"internal/mutants": true,
}

// sideways lists the imports allowed within a floor, with reasons.
var sideways = map[arrow]string{
	{"internal/zstdec", "internal/zstfile"}:              "is its decoder",
	{"internal/container", "internal/errs"}:              "returns its errors",
	{"internal/gzaccess", "internal/gzfile"}:             "decodes members",
	{"internal/gzaccess", "internal/gzindex"}:            "makes and uses checkpoints",
	{"internal/gzaccess", "internal/index"}:              "makes an index of a file",
	{"internal/gzrecover", "internal/gzfile"}:            "reads headers and trailers",
	{"internal/gzrecover", "internal/index"}:             "reads damaged files, names kinds of damage",
	{"internal/pzfile", "internal/index"}:                "makes an index of a file",
	{"internal/zstfile", "internal/index"}:               "makes an index of a file",
	{"internal/codec/deflate", "internal/codec/huffman"}: "codes symbols with Huffman codes",
	{"internal/codec/deflate", "lz77"}:                   "codes sequences, a type of lz77",

	{"gpu", "lz77"}:  "results hold sequences",
	{"gpu", "lzseq"}: "results hold lzseq's streams",

	{"gpu/gputest", "gpu"}:                 "tests devices",
	{"gpu/gputest", "gpu/internal/host"}:   "tests the times that its devices take",
	{"gpu/gputest", "lz77"}:                "compares with the CPU's match finders",
	{"gpu/gputest", "lzseq"}:               "compares with the CPU's streams",
	{"gpu/gputest", "internal/codec/rans"}: "compares with the CPU's coders",

	{"gpu/internal/host", "gpu"}:                 "implements the devices",
	{"gpu/internal/host", "lz77"}:                "parses candidates into sequences",
	{"gpu/internal/host", "lzseq"}:               "splits sequences into streams",
	{"gpu/internal/host", "internal/codec/rans"}: "prepares lane groups",

	{"gpu/opengl", "gpu"}:               "is a device",
	{"gpu/opengl", "gpu/internal/host"}: "is the driver below it",
	{"gpu/opengl", "gpu/kernels"}:       "runs the kernels",

	{"gpu/webgpu", "gpu"}:               "is a device",
	{"gpu/webgpu", "gpu/internal/host"}: "is the driver below it",
	{"gpu/webgpu", "gpu/kernels"}:       "runs the kernels",

	{"gzip", ""}: "compresses through its Writer",

	{"internal/codec/huffman", "fse"}: "codes the weights of zstd's Huffman tables with FSE",

	{"internal/cli", "internal/cli/internal/foreign"}:      "reads other formats",
	{"internal/cli", "internal/cli/internal/train"}:        "makes dictionaries",
	{"internal/cli/internal/train", "lz77"}:                "finds what samples repeat of a dictionary",
	{"internal/cli/internal/train", "internal/codec/zstd"}: "makes the tables of a dictionary",

	{"internal/cli", "archive"}: "makes, lists and extracts archives",
	{"internal/cli", "parity"}:  "repairs files",

	{"internal/cli", "internal/refdec"}: "is a second decoder, for -t --deep",
	{"internal/cli", "internal/refzst"}: "likewise",

	{"internal/cli", "internal/plot"}: "draws what -b measures",

	{"internal/cli/remote", "internal/cli"}: "opens URLs for it",

	{"internal/corpus", "internal/testenv"}: "finds PZ_CORPUS",

	{"internal/deflatetest", "internal/corpus"}: "fills stored blocks",

	{"internal/mutants", ""}: "decodes files through it",

	{"lz77", "lz77/internal/optimal"}: "exports its parser and its types",

	{"lzseq", "lz77"}: "codes sequences, a type of lz77",

	{"internal/merge", ""}:       "decompresses blocks to see which are intact",
	{"internal/merge", "parity"}: "restores what no copy has",

	{"pipeline", "pipeline/internal/offload"}: "passes blocks to a device through its coordinator",

	{"internal/codec/rans", "internal/codec/rans/internal/ctx"}:   "exports its context-coded streams",
	{"internal/codec/rans", "internal/codec/rans/internal/model"}: "shares tables and costs with them",

	{"internal/codec/rans/internal/ctx", "internal/codec/rans/internal/model"}: "shares tables, costs",

	{"zipmethod", ""}: "compresses through its Writer",

	{"internal/codec/zstd", "fse"}:                    "codes sequences with FSE",
	{"internal/codec/zstd", "internal/codec/huffman"}: "codes literals with Huffman codes",
	{"internal/codec/zstd", "lz77"}:                   "codes sequences, a type of lz77",
}

// foreign lists the modules that packages and their tests may import, and these packages. A module's
// path covers all its packages.
var foreign = map[string][]string{
	"github.com/klauspost/cpuid/v2": {"simd"},
	"github.com/cespare/xxhash/v2": {"internal/refzst", "internal/zstdec", "internal/zstfile", "parity",
		"pipeline", "internal/codec/zstd"},
	"github.com/klauspost/reedsolomon": {"parity"}, // importers of the other packages need not build it
	"github.com/spf13/pflag":           {"internal/cli"},
	"golang.org/x/sys":                 {"internal/cli", "internal/container", "internal/ldm"},
	"golang.org/x/term":                {"internal/cli"},
	"github.com/cogentcore/webgpu":     {"gpu/webgpu"},
	"github.com/go-gl/gl":              {"gpu/opengl"},
	// Writes and reads the standard formats, for comparison; S2 and snappy for the command. No importer
	// needs these packages.
	"github.com/klauspost/compress": {"internal/bench", "internal/cli/internal/foreign", "internal/peertest"},
	// For the command alone.
	"github.com/landlock-lsm/go-landlock": {"internal/cli"},
	"github.com/dsnet/compress":           {"internal/cli/internal/foreign"},
	"github.com/andybalholm/brotli":       {"internal/cli/internal/foreign"}, // for tests: writes brotli
	"github.com/mikelolasagasti/xz":       {"internal/cli/internal/foreign"},
	"github.com/pierrec/lz4/v4":           {"internal/cli/internal/foreign"},
}

// small lists the modules that any test may import. The library itself needs them, so that tests
// cost an importer nothing more.
var small = map[string]bool{
	"github.com/klauspost/cpuid/v2": true,
	"github.com/cespare/xxhash/v2":  true,
	"golang.org/x/sys":              true, // of cpuid
}

// optional lists modules and the build constraint that their imports need.
var optional = map[string]string{
	"github.com/cogentcore/webgpu": "webgpu && cgo",
	"github.com/go-gl/gl":          "opengl && cgo && linux",
}

// cgo lists the packages that may use cgo, and the build constraint it needs.
var cgo = map[string]string{
	"gpu/webgpu": "webgpu && cgo",
	"gpu/opengl": "opengl && cgo && linux",

	"internal/bench": "libdeflate && cgo",
}

// linked lists the packages that only these main packages may import: importing one links a GPU
// driver and its binding into the program, or net/http.
var linked = map[string][]string{
	"internal/cli/remote": {"cmd/pz", "gpu/pz"},

	"gpu/webgpu": {"gpu/pz", "gpu/day", "examples/profile", "internal/bench"},
	"gpu/opengl": {"gpu/pz", "gpu/day", "examples/profile", "internal/bench"},
}
