package measuring

import (
	"math"
	"testing"
	"time"
)

func TestMiddle(t *testing.T) {
	if m := Middle([]float64{9, 1, 5}); m != 5 {
		t.Errorf("of three values: %v", m)
	}
	if m := Middle([]time.Duration{40, 10, 30, 20}); m != 25 {
		t.Errorf("of four values: %v", m)
	}
}

func TestMBps(t *testing.T) {
	if s := MBps(3_000_000, 2*time.Second); s != 1.5 {
		t.Errorf("3 MB in two seconds: %v", s)
	}
	if s := MBps(1, -1); !math.IsInf(s, 1) {
		t.Errorf("in no time: %v", s)
	}
}
