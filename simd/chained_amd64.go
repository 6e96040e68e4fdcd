//go:build amd64 && !noasm

package simd

func decodeChainedVector(*ChainLanes, *ChainTable, []byte, []byte) (done, used int, ok bool) {
	return 0, 0, false
}
