package pipeline

// matchShare is the part of a block that finding its sequences stands for in Config.Position, in
// 1/16. At level 8 it takes 90% of the time, at level 9 98%. The rest counts when the block is
// done.
const matchShare = 15

// countMatched adds what the search for the sequences of the block has done since the last call to
// Config.Position. Checkpoints call it.
func (w *worker) countMatched() {
	b := w.block
	if b.run.cfg.Position == nil || w.ws.tuner.block.run != nil { // a sample is no part of the block
		return
	}
	own := len(b.content())
	if at := min(w.ws.matcher.Position(), own); at > 0 {
		b.countPosition((b.Raw - own + at) / 16 * matchShare)
	}
}

// countWhole adds what is left of the block to Config.Position.
func (b *Block) countWhole() {
	if b.run.cfg.Position != nil {
		b.countPosition(b.Raw)
	}
}

// countPosition makes n the number of bytes of the block that Config.Position counts, unless it
// counts more already. A block that returns from a device may begin a stage again.
func (b *Block) countPosition(n int) {
	if n > b.counted {
		b.run.cfg.Position.Add(int64(n - b.counted))
		b.counted = n
	}
}
