package simd

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC32C adds p to a CRC32C (RFC 3720, appendix B.4), 0 at first, as crc32.Update does. The portable twin is that of the standard library, which has
// assembly of its own.
func CRC32C(sum uint32, p []byte) uint32 {
	sum, p = crc32cKernel(sum, p)
	return crc32.Update(sum, castagnoli, p)
}
