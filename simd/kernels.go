//go:build (amd64 || arm64) && !noasm

package simd

// maxCallBytes is the most bytes that a function in assembly works on in one call, some 50 µs: the runtime cannot interrupt it, and a garbage collection
// would have to wait. A parse with two tables begins no match beyond that many, but ends the one it is in, however long: 64 MiB of one byte take the lazy kernel some 13 ms.
const maxCallBytes = 1 << 17

// maxCallSequences is the most sequences that a function in assembly works on in one call: some 5 µs if what they copy is near, 50 µs if half of it has to come from memory.
const maxCallSequences = 1 << 10

const sequenceSize = 12 // bytes
