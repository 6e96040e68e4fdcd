package pipeline

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gopz/compress/gpu"
)

// TestDeviceStatus: the status says how long the start took, why it failed, and why the device was
// lost.
func TestDeviceStatus(t *testing.T) {
	if st, ok := NewScheduler(1).DeviceStatus(); ok || st.String() != "" {
		t.Errorf("no device: %+v", st)
	}
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			soft := gpu.NewSoft(Host, gpu.SoftConfig{})
			lazy := gpu.NewLazy(soft.Info(), func() (gpu.Device, error) {
				if fails {
					return nil, errors.New("no driver")
				}
				return soft, nil
			})
			s := NewScheduler(1)
			s.SetDevice(lazy)
			st, ok := s.DeviceStatus()
			if !ok || st.Name != "soft" || st.StartTime != 0 || st.String() != "" {
				t.Errorf("before the start: %+v", st)
			}
			lazy.Start()
			synctest.Wait()
			st, _ = s.DeviceStatus()
			if st.StartTime <= 0 || (st.StartErr != nil) != fails {
				t.Errorf("after the start: %+v", st)
			}
			want := "started in 0s"
			if fails {
				want = "did not start: no driver"
			}
			if got := st.String(); got != want {
				t.Errorf("status %q, want %q", got, want)
			}
			s.device.Load().Lose(errTest)
			if st, _ = s.DeviceStatus(); st.Err != errTest || st.String() != want+"; lost: "+errTest.Error() {
				t.Errorf("after the loss: %+v", st)
			}
		})
	}
	st := gpu.Status{TooSlow: []string{"match", "decode"}}
	if got := st.String(); got != "slower than a worker: match, decode" {
		t.Errorf("too slow: %q", got)
	}
}
