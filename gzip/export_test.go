package gzip

// SetAheadFrom changes how much input a Reader decodes itself, and returns what that was.
func SetAheadFrom(n int64) (before int64) {
	before, aheadFrom = aheadFrom, n
	return before
}

// IsAhead reports whether workers decode for z.
func IsAhead(z *Reader) bool { return z.ahead != nil }
