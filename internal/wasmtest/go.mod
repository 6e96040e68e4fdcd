// Tests of the command as a WebAssembly program, with a runtime that only they need.
module github.com/gopz/compress/internal/wasmtest

go 1.26.0

require github.com/tetratelabs/wazero v1.12.0

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dsnet/compress v0.0.1 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	github.com/klauspost/reedsolomon v1.14.2 // indirect
	github.com/landlock-lsm/go-landlock v0.11.2 // indirect
	github.com/mikelolasagasti/xz v1.0.1 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	github.com/ulikunitz/xz v0.5.17 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.47.0 // indirect
	kernel.org/pub/linux/libs/security/libcap/psx v1.2.78 // indirect
)

require github.com/gopz/compress v0.0.0

replace github.com/gopz/compress => ../..
