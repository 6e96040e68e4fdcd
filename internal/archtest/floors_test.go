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
		internal/binlog internal/bitio internal/blockcache internal/container internal/cut internal/errs
		internal/measuring internal/pieces internal/plot internal/section internal/suffix
		internal/zstframe lz77/internal/base pipeline/internal/fifo simd`,
	codecs: `
		fse gpu gpu/internal/host gpu/kernels gpu/opengl gpu/webgpu internal/codec/deflate
		internal/codec/huffman internal/codec/inflate internal/codec/rans internal/codec/rans/internal/ctx
		internal/codec/rans/internal/model internal/codec/zstd internal/ldm internal/x86 lz77
		lz77/internal/optimal lzseq`,
	engine: `
		internal/gzaccess internal/gzfile internal/gzindex internal/gzrecover internal/index
		internal/pzfile internal/zstdec internal/zstfile pipeline pipeline/internal/offload`,
	library: `. gzip httprange internal/merge parity zipmethod`,
	programs: `
		archive httpcompress internal/cli internal/cli/internal/foreign internal/cli/internal/train
		internal/cli/remote internal/refdec internal/refzst`,
	commands: `cmd/pz gpu/pz`,
	tools:    `examples/profile gpu/day gpu/interp internal/bench internal/seqdump`,
	workshop: `
		gpu/gputest internal/archtest internal/bcetest internal/corpus internal/deflatetest
		internal/mutants internal/peertest internal/testenv internal/wgsl packaging`,
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
gpu/gputest gpu: tests devices
gpu/gputest gpu/internal/host: tests the times that its devices take
gpu/gputest internal/codec/rans: compares with the CPU's coders
gpu/gputest internal/corpus: generates content
gpu/gputest internal/testenv: finds its settings
gpu/gputest lz77: compares with the CPU's match finders
gpu/gputest lzseq: compares with the CPU's streams
gpu/internal/host gpu: implements the devices
gpu/internal/host internal/codec/rans: prepares lane groups
gpu/internal/host lz77: parses candidates into sequences
gpu/internal/host lzseq: splits sequences into streams
gpu/opengl gpu: is a device
gpu/opengl gpu/internal/host: is the driver below it
gpu/opengl gpu/kernels: runs the kernels
gpu/webgpu gpu: is a device
gpu/webgpu gpu/internal/host: is the driver below it
gpu/webgpu gpu/kernels: runs the kernels
gzip .: compresses through its Writer
internal/cli archive: makes, lists and extracts archives
internal/cli internal/cli/internal/foreign: reads other formats
internal/cli internal/cli/internal/train: makes dictionaries
internal/cli internal/codec/zstd: tells a wrong dictionary from damage
internal/cli internal/errs: says which dictionary is needed
internal/cli internal/plot: draws what -b measures
internal/cli internal/refdec: is a second decoder, for -t --deep
internal/cli internal/refzst: likewise
internal/cli parity: repairs files
internal/cli/internal/train internal/codec/zstd: makes the tables of a dictionary
internal/cli/internal/train lz77: finds what samples repeat of a dictionary
internal/cli/remote internal/cli: opens URLs for it
internal/codec/deflate internal/codec/huffman: codes symbols with Huffman codes
internal/codec/deflate lz77: codes sequences, a type of lz77
internal/codec/huffman fse: codes the weights of zstd's Huffman tables with FSE
internal/codec/rans internal/codec/rans/internal/ctx: exports its context-coded streams
internal/codec/rans internal/codec/rans/internal/model: shares tables and costs with them
internal/codec/rans/internal/ctx internal/codec/rans/internal/model: shares tables, costs
internal/codec/zstd fse: codes sequences with FSE
internal/codec/zstd internal/codec/huffman: codes literals with Huffman codes
internal/codec/zstd lz77: codes sequences, a type of lz77
internal/container internal/errs: returns its errors
internal/corpus internal/testenv: finds PZ_CORPUS
internal/deflatetest internal/corpus: fills stored blocks
internal/gzaccess internal/gzfile: decodes members
internal/gzaccess internal/gzindex: makes and uses checkpoints
internal/gzaccess internal/index: makes an index of a file
internal/gzrecover internal/gzfile: reads headers and trailers
internal/gzrecover internal/index: reads damaged files, names kinds of damage
internal/merge .: decompresses blocks to see which are intact
internal/merge parity: restores what no copy has
internal/mutants .: decodes files through it
internal/mutants internal/testenv: finds its settings
internal/mutants simd: runs every tier of kernels
internal/pzfile internal/index: makes an index of a file
internal/zstdec internal/zstfile: is its decoder
internal/zstfile internal/index: makes an index of a file
lz77 lz77/internal/optimal: exports its parser and its types
lzseq lz77: codes sequences, a type of lz77
pipeline pipeline/internal/offload: passes blocks to a device through its coordinator
zipmethod .: compresses through its Writer
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
	"github.com/klauspost/cpuid/v2": {"simd"},
	"github.com/cespare/xxhash/v2": {"internal/refzst", "internal/zstdec", "internal/zstfile", "parity",
		"pipeline", "internal/codec/zstd"},
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

// linked lists the packages that only these main packages may import: importing one links a GPU
// driver and its binding into the program, or net/http.
var linked = map[string][]string{
	"internal/cli/remote": {"cmd/pz", "gpu/pz"},
	"gpu/webgpu":          {"gpu/pz", "gpu/day", "examples/profile", "internal/bench"},
	"gpu/opengl":          {"gpu/pz", "gpu/day", "examples/profile", "internal/bench"},
}
