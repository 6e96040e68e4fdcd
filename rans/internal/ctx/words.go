package ctx

import (
	"github.com/gopz/compress/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// chainWords is what is left of the words of a group of a chained stream. Data goes on behind them, to where the input ends, so that a kernel may read ahead.
type chainWords struct {
	data   []byte
	behind int  // bytes of data that are not the group's own
	padded bool // data is in pad
	pad    [2 * (simd.RoundBytes + simd.WordSlack)]byte
}

// open reads the head of a group, and returns what follows its words.
func (w *chainWords) open(src []byte, states []uint32) ([]byte, error) {
	words, rest, err := model.OpenGroup(src, states)
	if err != nil {
		return nil, err
	}
	w.data, w.behind, w.padded = words[:len(words)+len(rest)], len(rest), false
	return rest, nil
}

// left is how many bytes of the group's own are left; less than 0 if it has used more than those.
func (w *chainWords) left() int { return len(w.data) - w.behind }

// own is what is left of the group's own words.
func (w *chainWords) own() []byte { return w.data[:max(w.left(), 0)] }

func (w *chainWords) use(n int) { w.data = w.data[n:] }

// refill moves the last words to where the kernels can read past them, if that has not been done.
func (w *chainWords) refill() bool {
	if w.padded || len(w.data) >= simd.RoundBytes+simd.WordSlack {
		return false
	}
	n := copy(w.pad[:], w.own())
	clear(w.pad[n:])
	w.data, w.behind, w.padded = w.pad[:], len(w.pad)-n, true
	return true
}
