package archtest

// exception names a place that may break a limit. A long line has no name: its exception covers the
// whole file.
type exception struct {
	rule rule
	file string
	name string
}

// exceptions lists the places that may break a limit, each with its reason.
var exceptions = map[exception]string{
	{longFunc, "internal/codec/inflate/fast.go", "fastPortable"}:        "one loop; a call would spill",
	{longFunc, "lz77/double.go", "Matcher.parseDoublePortable"}:         "one loop; a call would spill",
	{longFunc, "lz77/single.go", "Matcher.parseSinglePortable"}:         "one loop; a call would spill",
	{longFunc, "lz77/doublelazy.go", "Matcher.parseDoubleLazyPortable"}: "one loop; a call would spill",
}
