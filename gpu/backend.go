package gpu

import (
	"fmt"
	"strings"
	"time"
)

// Backend says where a stage runs.
type Backend uint8

// The backends.
const (
	// BackendAuto runs a stage on the device if that saves the workers time, and while the device
	// keeps up with them. Without a device it is BackendCPU.
	BackendAuto Backend = iota
	// BackendCPU never runs a stage on the device.
	BackendCPU
	// BackendGPU runs a stage on the device, however long the blocks have to wait. The CPU does
	// only those that the device cannot do or fails at.
	BackendGPU
	// BackendFused is BackendGPU, with a whole block in one request where device and level allow
	// that. It is for both stages together.
	BackendFused
)

var backendNames = [...]string{"auto", "cpu", "gpu", "fused"}

// String returns "auto", "cpu", "gpu" or "fused".
func (b Backend) String() string {
	if int(b) < len(backendNames) {
		return backendNames[b]
	}
	return fmt.Sprintf("Backend(%d)", uint8(b))
}

// Strict reports whether b insists on a device.
func (b Backend) Strict() bool { return b == BackendGPU || b == BackendFused }

// Status describes the device of a scheduler, for people.
type Status struct {
	Name string
	// StartTime is how long the start of the device took. It is 0 if the device has not started, or
	// does not know.
	StartTime time.Duration
	StartErr  error // why a device that starts late did not start
	// TooSlow lists the work that BackendAuto does not give to the device any more, because a
	// worker does it faster: "match", "fused", "encode", "decode".
	TooSlow []string
	Err     error // why the device is lost; nil if it is not
}

// String returns the status as a sentence without its name, such as "started in 85ms; slower than a
// worker: match".
func (s *Status) String() string {
	var list []string
	switch {
	case s.StartErr != nil:
		list = append(list, "did not start: "+s.StartErr.Error())
	case s.StartTime > 0:
		list = append(list, fmt.Sprintf("started in %v", s.StartTime.Round(time.Millisecond)))
	}
	if len(s.TooSlow) > 0 {
		list = append(list, "slower than a worker: "+strings.Join(s.TooSlow, ", "))
	}
	if s.Err != nil {
		list = append(list, "lost: "+s.Err.Error())
	}
	return strings.Join(list, "; ")
}
