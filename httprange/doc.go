// Package httprange reads parts of a file behind an http or https URL. A [Reader] is an
// [io.ReaderAt] that asks the server for ranges of bytes, so that a program fetches only what it
// uses: the index of an archive, a block of a compressed file. It works with any server that
// supports ranges, and with presigned URLs of object stores.
//
// # Consistency
//
// A Reader returns bytes of one version of the file. It remembers the ETag, the time of
// modification and the size from the first answer and compares those of every other one. If one
// differs, the call and all later ones fail with [ErrChanged]. A strong ETag goes along with each
// request as If-Range. Without one the time of modification does as If-Unmodified-Since, which
// cannot tell two changes in one second apart. Of a server that sends neither, a Reader compares
// the size only.
//
// # Requests
//
// A Reader fetches whole segments and caches them. Calls that need the same segment share one
// request. Requests that wait for their turn are merged with those for places near them. Calls that
// follow one another make it read ahead. A request that fails for a reason that may pass is
// repeated with growing pauses, from the byte on that it has reached.
//
// A server without ranges is an [ErrNoRanges]. [Get] reads its files in order.
//
// # Memory
//
// A Reader takes the memory of its cache, one segment for each request in flight, and while calls
// run as much as the calls ask for.
package httprange
