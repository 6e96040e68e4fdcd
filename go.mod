module github.com/gopz/compress

go 1.26.0

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/klauspost/compress v1.20.3
	github.com/klauspost/cpuid/v2 v2.4.2
	github.com/spf13/pflag v1.0.10
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
)

require (
	github.com/andybalholm/brotli v1.2.8
	github.com/cogentcore/webgpu v0.23.0
	github.com/go-gl/gl v0.0.0-20231021071112-07e5d0ea2e71
	github.com/mikelolasagasti/xz v1.0.1
	github.com/pierrec/lz4/v4 v4.1.33
)

require github.com/dsnet/compress v0.0.1

require github.com/klauspost/reedsolomon v1.14.2

require github.com/ulikunitz/xz v0.5.17

require (
	github.com/landlock-lsm/go-landlock v0.11.2
	kernel.org/pub/linux/libs/security/libcap/psx v1.2.78 // indirect
)
