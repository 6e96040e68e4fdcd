package archtest

import "strings"

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

// packages has the floor of every package of the module by its path below the module's, "" for the
// root.
var packages = floors(map[floor]string{
	ground: `
		internal/binlog internal/bitio internal/blockcache internal/container internal/cpu internal/cut
		internal/errs internal/finder internal/kernels internal/measuring internal/pieces internal/plot
		internal/section internal/suffix internal/zstframe pipeline/internal/fifo simd`,
	codecs: `
		fse gpu gpu/internal/host gpu/internal/kernels gpu/opengl gpu/webgpu internal/codec/deflate
		internal/codec/huffman internal/codec/inflate internal/codec/rans internal/codec/rans/internal/ctx
		internal/codec/rans/internal/model internal/codec/zstd internal/ldm internal/lzprice
		internal/match internal/optimal internal/x86 lz77 lzseq`,
	engine: `
		internal/gzaccess internal/gzfile internal/gzindex internal/hook
		internal/index internal/pzfile internal/train internal/zstfile pipeline pipeline/internal/offload`,
	library: `. gzip httprange internal/bridge internal/merge parity zipmethod zstd`,
	programs: `
		archive httpcompress internal/cli internal/cli/internal/foreign
		internal/cli/remote internal/refdec internal/refzst`,
	commands: `cmd/pz gpu/pz`,
	tools:    `examples/profile gpu/day gpu/internal/interp internal/bench internal/seqdump`,
	workshop: `
		gpu/internal/gputest internal/archtest internal/bcetest internal/blackbox/bbtest
		internal/blackbox/damage internal/blackbox/devices internal/blackbox/output
		internal/blackbox/randomaccess internal/blackbox/recovery internal/blackbox/references
		internal/blackbox/standard internal/blackbox/streams internal/blackbox/tools internal/corpus
		internal/deflatetest internal/mutants internal/peertest internal/testenv internal/wgsl packaging`,
})

func floors(list map[floor]string) map[string]floor {
	packages := map[string]floor{}
	for level, names := range list {
		for _, name := range strings.Fields(names) {
			packages[strings.TrimPrefix(name, ".")] = level
		}
	}
	return packages
}

// sideways lists the imports allowed within a floor, and all of the workshop: importer, imported
// package, and what for.
var sideways = imports(`
gpu lz77: results hold sequences
gpu lzseq: results hold lzseq's streams
gpu/internal/gputest gpu/internal/host: tests the times that its devices take
gpu/internal/gputest gpu: tests devices
gpu/internal/gputest internal/codec/rans: compares with the CPU's coders
gpu/internal/gputest internal/corpus: generates content
gpu/internal/gputest internal/finder: knows the segments of a parse
gpu/internal/gputest internal/testenv: finds its settings
gpu/internal/gputest lz77: compares with the CPU's match finders
gpu/internal/gputest lzseq: compares with the CPU's streams
gpu/internal/host gpu: implements the devices
gpu/internal/host internal/codec/rans: prepares lane groups
gpu/internal/host lzseq: splits sequences into streams
gpu/opengl gpu/internal/host: is the driver below it
gpu/opengl gpu/internal/kernels: runs the kernels
gpu/opengl gpu: is a device
gpu/webgpu gpu/internal/host: is the driver below it
gpu/webgpu gpu/internal/kernels: runs the kernels
gpu/webgpu gpu: is a device
gzip .: compresses through its Writer
gzip internal/bridge: resumes in a member that it has begun
internal/blackbox/bbtest .: decodes files through it
internal/blackbox/bbtest gpu: makes devices
internal/blackbox/bbtest internal/bridge: writes with any pipeline
internal/blackbox/bbtest internal/codec/zstd: makes frames
internal/blackbox/bbtest internal/corpus: generates content
internal/blackbox/bbtest internal/gzfile: makes headers
internal/blackbox/bbtest internal/section: makes sections
internal/blackbox/bbtest internal/testenv: finds its settings
internal/blackbox/bbtest internal/zstfile: makes seek tables
internal/blackbox/bbtest internal/zstframe: makes headers
internal/blackbox/bbtest lz77: makes sequences
internal/blackbox/bbtest pipeline: makes devices
internal/bridge .: lends its abilities
internal/cli archive: makes, lists and extracts archives
internal/cli internal/cli/internal/foreign: reads other formats
internal/cli internal/train: makes dictionaries
internal/cli internal/codec/zstd: tells a wrong dictionary from damage
internal/cli internal/errs: says which dictionary is needed
internal/cli internal/plot: draws what -b measures
internal/cli internal/refdec: is a second decoder, for -t --deep
internal/cli internal/refzst: likewise
internal/cli parity: repairs files
internal/cli/remote internal/cli: opens URLs for it
internal/codec/deflate internal/codec/huffman: codes symbols with Huffman codes
internal/codec/deflate internal/optimal: gives it prices
internal/codec/deflate lz77: codes sequences, a type of lz77
internal/codec/huffman fse: codes the weights of zstd's Huffman tables with FSE
internal/codec/rans internal/codec/rans/internal/ctx: exports its context-coded streams
internal/codec/rans internal/codec/rans/internal/model: shares tables and costs with them
internal/codec/rans/internal/ctx internal/codec/rans/internal/model: shares tables, costs
internal/codec/zstd fse: codes sequences with FSE
internal/codec/zstd internal/codec/huffman: codes literals with Huffman codes
internal/codec/zstd internal/optimal: gives it prices
internal/codec/zstd lz77: codes sequences, a type of lz77
internal/container internal/errs: returns its errors
internal/corpus internal/testenv: finds PZ_CORPUS
internal/deflatetest internal/corpus: fills stored blocks
internal/finder simd: compares bytes
internal/gzaccess internal/gzfile: decodes members
internal/gzaccess internal/gzindex: makes and uses checkpoints
internal/gzaccess internal/index: makes an index of a file
internal/gzfile internal/index: reads damaged files, names kinds of damage
internal/kernels internal/cpu: chooses the tier
internal/kernels simd: compares bytes
internal/lzprice internal/optimal: gives it prices
internal/lzprice lz77: names the limits of its sequences
internal/lzprice lzseq: prices its layouts
internal/match internal/optimal: parses by it at high levels
internal/match lz77: parses by it at other levels
internal/merge .: decompresses blocks to see which are intact
internal/merge internal/bridge: looks for a seek table
internal/merge parity: restores what no copy has
internal/mutants .: decodes files through it
internal/mutants internal/testenv: finds its settings
internal/mutants simd: runs every tier of kernels
internal/optimal lz77: makes sequences, a type of lz77
internal/pzfile internal/index: makes an index of a file
internal/zstfile internal/index: makes an index of a file
lzseq lz77: codes sequences, a type of lz77
parity .: names formats, returns its errors
parity internal/bridge: has a Writer end streams
pipeline pipeline/internal/offload: passes blocks to a device through its coordinator
simd internal/cpu: chooses the tier
zipmethod .: compresses through its Writer
zstd .: compresses through its Writer
zstd internal/bridge: chooses the window of a frame
`)

func imports(list string) map[arrow]bool {
	imports := map[arrow]bool{}
	for line := range strings.Lines(strings.TrimSpace(list)) {
		names, _, _ := strings.Cut(line, ":")
		from, to, _ := strings.Cut(names, " ")
		imports[arrow{strings.TrimPrefix(from, "."), strings.TrimPrefix(to, ".")}] = true
	}
	return imports
}

// foreign lists the modules that packages and their tests may import, and these packages. A
// module's path covers all its packages.
var foreign = map[string][]string{
	"github.com/klauspost/cpuid/v2": {"internal/cpu"},
	"github.com/cespare/xxhash/v2": {"internal/refzst", "internal/zstfile", "parity",
		"pipeline", "internal/codec/zstd", "zstd"},
	"github.com/klauspost/reedsolomon": {"parity"}, // importers of the other packages need not build it
	"github.com/spf13/pflag":           {"internal/cli"},
	"golang.org/x/sys":                 {"internal/cli", "internal/container", "internal/ldm"},
	"golang.org/x/term":                {"internal/cli"},
	"github.com/cogentcore/webgpu":     {"gpu/webgpu"},
	"github.com/go-gl/gl":              {"gpu/opengl"},
	// Writes and reads the standard formats, for comparison; S2 and snappy for the command. No
	// importer needs these packages.
	"github.com/klauspost/compress": {"internal/bench", "internal/cli/internal/foreign", "internal/peertest"},
	// For the command alone.
	"github.com/landlock-lsm/go-landlock": {"internal/cli"},
	"github.com/dsnet/compress":           {"internal/cli/internal/foreign"},
	"github.com/andybalholm/brotli":       {"internal/cli/internal/foreign"}, // for tests: writes brotli
	"github.com/mikelolasagasti/xz":       {"internal/cli/internal/foreign"},
	"github.com/pierrec/lz4/v4":           {"internal/cli/internal/foreign"},
	"github.com/ulikunitz/xz":             {"internal/cli/internal/foreign"},
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
	"gpu/webgpu":     "webgpu && cgo",
	"gpu/opengl":     "opengl && cgo && linux",
	"internal/bench": "libdeflate && cgo",
}

// blocks lists the building blocks that programs use besides the library.
var blocks = []string{"gpu", "pipeline", "simd"}

// linked lists the packages that only these main packages may import: importing one links a GPU
// driver and its binding into the program, or net/http.
var linked = map[string][]string{
	"internal/cli/remote": {"cmd/pz", "gpu/pz"},
	"gpu/webgpu":          {"gpu/pz", "gpu/day", "examples/profile", "internal/bench"},
	"gpu/opengl":          {"gpu/pz", "gpu/day", "examples/profile", "internal/bench"},
}
