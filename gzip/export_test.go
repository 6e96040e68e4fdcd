package gzip

// SetAheadFrom changes how much input a Reader decodes itself, and returns what that was.
func SetAheadFrom(n int64) (before int64) {
	before, aheadFrom = aheadFrom, n
	return before
}
