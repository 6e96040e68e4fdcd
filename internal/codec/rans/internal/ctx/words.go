package ctx

import (
	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/kernels"
)

// wordReader reads the words of one lane group. A word has 16 bits.
//
// The kernels read whole vectors. data therefore reaches behind the group's own words to the end of
// the input. Where the input ends too early, refill moves the last words to a padded buffer.
type wordReader struct {
	data   []byte
	tail   int  // bytes of data behind the group's own words
	padded bool // data points into pad
	pad    [2 * (kernels.RoundBytes + kernels.WordSlack)]byte
}

// open reads the head of a group into w and states and returns the rest of src.
func (w *wordReader) open(src []byte, states []uint32) ([]byte, error) {
	words, rest, err := model.OpenGroup(src, states)
	if err != nil {
		return nil, err
	}
	w.data, w.tail, w.padded = words[:len(words)+len(rest)], len(rest), false
	return rest, nil
}

// left returns the number of unread bytes of the group's own words. It is negative if the decoder
// has read beyond them.
func (w *wordReader) left() int { return len(w.data) - w.tail }

// own returns the unread words of the group.
func (w *wordReader) own() []byte { return w.data[:max(w.left(), 0)] }

func (w *wordReader) skip(n int) { w.data = w.data[n:] }

// refill copies the last words to pad, behind which the kernels may read. It returns false if it
// has done so before or if enough data is left.
func (w *wordReader) refill() bool {
	if w.padded || len(w.data) >= kernels.RoundBytes+kernels.WordSlack {
		return false
	}
	n := copy(w.pad[:], w.own())
	clear(w.pad[n:])
	w.data, w.tail, w.padded = w.pad[:], len(w.pad)-n, true
	return true
}
