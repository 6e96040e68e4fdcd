package compress

// What tests of package compress_test see of the state behind the API.

// SmallContent is smallContent.
const SmallContent = smallContent

// CacheEntries returns the most entries that r has in its cache.
func (r *ReaderAt) CacheEntries() int { return r.cache.Limit() }

// SetCache makes r use at most the given entries of a cache.
func (r *ReaderAt) SetCache(c *Cache, entries int) { r.cache = c.c.File(entries, blockSource{r}) }

// TakeBlocks takes all blocks that the Writer may have in flight, and returns none of them.
func (w *Writer) TakeBlocks() {
	for w.run.Get() != nil {
	}
}

// TakeBlocks takes all blocks that the Reader may have in flight, and returns none of them.
func (r *Reader) TakeBlocks() {
	for r.run.Get() != nil {
	}
}

// DecoderMemory returns the memory in bytes that r keeps for zstd frames that are decoded in order.
func (r *Reader) DecoderMemory() int64 { return r.sources.zst.DecoderMemory() }
