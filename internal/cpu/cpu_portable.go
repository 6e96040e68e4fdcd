//go:build (!amd64 && !arm64) || noasm

package cpu

var tierNames = [...]string{"portable"}

func detect() Tier { return Portable }
