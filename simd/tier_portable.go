//go:build (!amd64 && !arm64) || noasm

package simd

var tierNames = [...]string{"portable"}

func detect() tier { return portable }
