package optimal

// progress says how far a parse is.
type progress struct {
	size     int // of the content of the block, in bytes
	prepared int // bytes of content that preparing the match finder stands for
	position int // see Position

	preparing func() // checkpoint while the match finder is prepared, made once
}

// Sorting suffixes and building intervals takes 42% of the time of a parse with LCPIntervals, and
// 28 checkpoints for 32 KiB of content. The time between two of them varies little. So each stands
// for preparedStep bytes of content, and all of them for no more than preparedPart/16 of the block.
const (
	preparedStep = 1 << 9
	preparedPart = 7
)

// beginBlock begins a block of size bytes.
func (g *progress) beginBlock(size int) { g.size, g.prepared, g.position = size, 0, 0 }

// preparingCheckpoint returns the checkpoint for a match finder that takes long to prepare. It
// counts its calls.
func (o *Parser) preparingCheckpoint() func() {
	if o.preparing == nil {
		o.preparing = func() {
			o.position = min(o.position+preparedStep, o.size/16*preparedPart)
			o.prepared = o.position
			o.checkpoint()
		}
	}
	return o.preparing
}

// reach records that n bytes of content are parsed.
func (g *progress) reach(n int) {
	g.position = g.prepared + int(int64(n)*int64(g.size-g.prepared)/int64(g.size))
}

// Position returns how far the parse is, in bytes of content: those parsed, and a part of the
// others for preparing the match finder. It never falls during a parse. Outside of one it is 0.
func (o *Parser) Position() int { return o.position }
