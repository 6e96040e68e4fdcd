//go:build amd64 && !noasm

package kernels

import "github.com/gopz/compress/internal/cpu"

func decodeLanesKernel(g *DecodeGroup) bool {
	if cpu.Current() == cpu.Portable {
		return false
	}
	for {
		// The tier avx512 uses this kernel too: one lane group waits for its own results, and
		// longer vectors do not shorten that.
		done, used := decodeLanesAVX2(
			&g.States, (*[slots]uint32)(g.Table), g.Dst[:min(len(g.Dst), maxCallBytes)], g.Words)
		g.Dst, g.Words = g.Dst[done:], g.Words[used:]
		if done < maxCallBytes {
			return true
		}
	}
}

func decodeLanes2Kernel(a, b *DecodeGroup) bool {
	for {
		tabA, tabB := (*[slots]uint32)(a.Table), (*[slots]uint32)(b.Table)
		dstA, dstB := a.Dst[:min(len(a.Dst), maxCallBytes)], b.Dst[:min(len(b.Dst), maxCallBytes)]
		var done, usedA, usedB int
		switch cpu.Current() {
		case cpu.AVX512:
			done, usedA, usedB = decodeLanes2AVX512(
				&a.States, tabA, dstA, a.Words, &b.States, tabB, dstB, b.Words)
		case cpu.AVX2:
			done, usedA, usedB = decodeLanes2AVX2(
				&a.States, tabA, dstA, a.Words, &b.States, tabB, dstB, b.Words)
		default:
			return false
		}
		a.Dst, a.Words = a.Dst[done:], a.Words[usedA:]
		b.Dst, b.Words = b.Dst[done:], b.Words[usedB:]
		if done < maxCallBytes {
			return true
		}
	}
}

func encodeLanesKernel(
	states *[Lanes]uint32, tab *EncodeTable, run, words []byte, p int,
) (at int, ok bool) {
	t := cpu.Current()
	if t == cpu.Portable {
		return 0, false
	}
	for {
		last := run[max(0, len(run)-maxCallBytes):]
		if t == cpu.AVX512 {
			p = encodeLanesAVX512(states, &tab.vector, last, words, p)
		} else {
			p = encodeLanesAVX2(states, &tab.vector, last, words, p)
		}
		if run = run[:len(run)-len(last)]; len(run) == 0 {
			return p, true
		}
	}
}

// buildDecodeTableKernel returns the number of entries that it has written, and the first symbol
// without entries.
func buildDecodeTableKernel(t *DecodeTable, freqs *[256]uint16) (done, sym int) {
	if cpu.Current() == cpu.Portable {
		return 0, 0
	}
	return buildDecodeTableAVX2((*[slots]uint32)(t), freqs)
}
