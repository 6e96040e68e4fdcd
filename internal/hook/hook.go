// Package hook holds what package compress lends to package bridge, which gives it types.
package hook

import (
	"sync/atomic"

	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/internal/container"
)

// Package compress sets these. What returns any returns an option of it. Package bridge documents
// them.
var (
	MemoryTarget func(bytes int64) any
	Position     func(n *atomic.Int64) any
	Streams      func(size int64, end func() error) any
	BadSection   func(saw func()) any
	Unverified   func(ends func(partly bool) bool) any
	Literals     func() any
	FrameWindow  func(window int) any
	OnlyZstd     func(window int64) any
	Pipeline     func(name string) any
	Frames       func() any

	KeepTogether func(w any, size int64)
	Resume       func(r any, open Open)
	CacheStats   func(c any) blockcache.Stats
	DecodedLimit func(r any) int64
)

// Open opens the rest of a file as a Source. It reads nothing. nonBlocking and ready are as in a
// [container.Start], and readAhead is the number of bytes of WithReadAhead.
type Open func(
	limits *container.Limits, workers int, readAhead int64,
) (src container.Source, nonBlocking bool, ready func() bool)
