//go:build amd64 && !noasm

package simd

// assembled says whether there is assembly in this build.
const assembled = true
