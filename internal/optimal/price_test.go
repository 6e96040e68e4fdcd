package optimal

import (
	"math"
	"testing"
)

func TestLog2Price(t *testing.T) {
	for x := uint32(1); x < 1<<26; x += 1 + x/100 {
		if got, want := float64(log2Price(x))/PriceBit, math.Log2(float64(x)); math.Abs(got-want) > 0.004 {
			t.Fatalf("log2(%d) = %.4f, want %.4f", x, got, want)
		}
	}
}

func TestSymbolPrices(t *testing.T) {
	var prices [4]int32
	SymbolPrices(prices[:], []uint32{1 << 20, 1 << 19, 1 << 19, 0}, 0, 15*PriceBit)
	if prices != [4]int32{PriceBit, 2 * PriceBit, 2 * PriceBit, 15 * PriceBit} {
		t.Errorf("got %v", prices)
	}
	SymbolPrices(prices[:], []uint32{1, 1 << 24, 1 << 24, 0}, 3*PriceBit/2, 20*PriceBit)
	if prices[1] != 3*PriceBit/2 || prices[0] <= 20*PriceBit-1 {
		t.Errorf("with bounds: got %v", prices)
	}
	SymbolPrices(prices[:], make([]uint32, 4), 0, 15*PriceBit)
	if prices != [4]int32{} {
		t.Errorf("without counts: got %v", prices)
	}
}
