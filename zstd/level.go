package zstd

import "strings"

// EncoderLevel is one of the four speeds below. The package says which levels they are. That may
// change from release to release.
type EncoderLevel int

const (
	speedNotSet EncoderLevel = iota

	// SpeedFastest is the fastest compression.
	SpeedFastest

	// SpeedDefault balances speed and size. It is the default.
	SpeedDefault

	// SpeedBetterCompression makes smaller output, and takes longer.
	SpeedBetterCompression

	// SpeedBestCompression makes the smallest output.
	SpeedBestCompression

	speedLast
)

// levelNames are the names of the levels.
var levelNames = [speedLast]string{
	SpeedFastest: "fastest", SpeedDefault: "default", SpeedBetterCompression: "better",
	SpeedBestCompression: "best",
}

// valid reports whether e is one of the four speeds.
func (e EncoderLevel) valid() bool { return e > speedNotSet && e < speedLast }

// String returns "fastest", "default", "better" or "best", and "invalid" for any other number.
func (e EncoderLevel) String() string {
	if !e.valid() {
		return "invalid"
	}
	return levelNames[e]
}

// EncoderLevelFromString returns the level with a name that String returns, in lower or upper case,
// and true. For any other string it returns false and [SpeedDefault].
func EncoderLevelFromString(s string) (bool, EncoderLevel) {
	for e := speedNotSet + 1; e < speedLast; e++ {
		if strings.EqualFold(s, e.String()) {
			return true, e
		}
	}
	return false, SpeedDefault
}

// EncoderLevelFromZstd returns the level that comes next to a level of the command zstd: below 3
// [SpeedFastest], below 6 [SpeedDefault], below 10 [SpeedBetterCompression], and from there on
// [SpeedBestCompression].
func EncoderLevelFromZstd(level int) EncoderLevel {
	switch {
	case level < 3:
		return SpeedFastest
	case level < 6:
		return SpeedDefault
	case level < 10:
		return SpeedBetterCompression
	}
	return SpeedBestCompression
}

// engineLevels are the levels of the engine that the four speeds stand for: the first ones whose
// output is not larger than that of klauspost/compress on average. docs/notes/zstd-package.md has
// the figures.
var engineLevels = [speedLast]int{
	SpeedFastest: 1, SpeedDefault: 3, SpeedBetterCompression: 4, SpeedBestCompression: 5,
}
