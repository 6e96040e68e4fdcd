package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"
)

// report writes each result as a line of JSON at once.
type report struct {
	mu      sync.Mutex
	out     []io.Writer
	leftOut int
	ended   bool
	errs    []error
}

// The lines. docs/TELEMETRY.md describes their fields.
type (
	machineLine struct {
		Result  string `json:"result"`
		Machine string `json:"machine"`
		Threads int    `json:"threads"`
	}
	adapterLine struct {
		Result string `json:"result"`
		Device string `json:"device"`
		Name   string `json:"name"`
		Kind   string `json:"kind"`
		Driver string `json:"driver"`
	}
	conformLine struct {
		Result  string  `json:"result"`
		Device  string  `json:"device"`
		Test    string  `json:"test"`
		Outcome string  `json:"outcome"`
		Seconds float64 `json:"seconds"`
		Output  string  `json:"output,omitempty"`
	}
	openLine struct {
		Result string  `json:"result"`
		Device string  `json:"device"`
		What   string  `json:"what"`
		First  float64 `json:"first_ms"`
		Second float64 `json:"second_ms,omitempty"`
	}
	transferLine struct {
		Result string  `json:"result"`
		Device string  `json:"device"`
		Bytes  int     `json:"bytes"`
		UpUS   float64 `json:"up_us"`
		DownUS float64 `json:"down_us"`
		Up     float64 `json:"up_gbps"`
		Down   float64 `json:"down_gbps"`
	}
	stageLine struct {
		Result string `json:"result"`
		Device string `json:"device"`
		sizes
		Repeats    int      `json:"repeats"`
		Clock      string   `json:"clock"`
		CPU        float64  `json:"cpu_mbps"`
		DeviceMBps float64  `json:"device_mbps"`
		Host       float64  `json:"host_mbps"`
		Pack       float64  `json:"pack_us"`
		Up         *float64 `json:"up_us,omitempty"`
		Kernels    *float64 `json:"kernels_us,omitempty"`
		Down       *float64 `json:"down_us,omitempty"`
		Submitted  float64  `json:"submitted_us"`
		Unpack     float64  `json:"unpack_us"`
		Verify     float64  `json:"verify_us"`
	}
	kernelLine struct {
		Result string `json:"result"`
		Device string `json:"device"`
		sizes
		Clock      string  `json:"clock"`
		Kernel     string  `json:"kernel"`
		Groups     int     `json:"groups"`
		Dispatches int     `json:"dispatches"`
		US         float64 `json:"us"`
		MBps       float64 `json:"mbps"`
	}
	flightLine struct {
		Result string  `json:"result"`
		Device string  `json:"device"`
		Stage  string  `json:"stage"`
		One    float64 `json:"one_mbps"`
		Two    float64 `json:"two_mbps"`
	}
	fileLine struct {
		Result     string  `json:"result"`
		Device     string  `json:"device"`
		Backend    string  `json:"backend"`
		Threads    int     `json:"threads"`
		Pipeline   string  `json:"pipeline"`
		Level      int     `json:"level"`
		Bytes      int     `json:"bytes"`
		Packed     int     `json:"packed"`
		Repeats    int     `json:"repeats"`
		Compress   float64 `json:"compress_mbps"`
		Decompress float64 `json:"decompress_mbps"`
	}
	constantLine struct {
		Result string `json:"result"`
		Device string `json:"device"`
		Name   string `json:"name"`
		Value  any    `json:"value"` // null if figures are missing
		Unit   string `json:"unit"`
		Rule   string `json:"rule"`
	}
	leftOutLine struct {
		Result string `json:"result"`
		Step   string `json:"step"`
		What   string `json:"what"`
	}
	endLine struct {
		Result  string  `json:"result"`
		Seconds float64 `json:"seconds"`
		LeftOut int     `json:"left_out"`
		Error   string  `json:"error,omitempty"`
	}
)

// sizes identifies the work of a measurement.
type sizes struct {
	Stage  string `json:"stage"`
	K      int    `json:"k,omitempty"` // candidates
	Block  int    `json:"block"`
	Blocks int    `json:"blocks"`
	InOne  int    `json:"content"` // most content of a submission, in bytes
	Bytes  int    `json:"bytes"`   // unit of the speeds: content, or bytes of streams
}

// addLine writes a line.
func (r *report) addLine(line any) {
	p, err := json.Marshal(line)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	if err != nil { // a number that JSON cannot have
		p, _ = json.Marshal(leftOutLine{"left out", "report", fmt.Sprintf("%+v: %v", line, err)})
	}
	for _, w := range r.out {
		if _, err := fmt.Fprintf(w, "%s\n", p); err != nil {
			fmt.Fprintf(os.Stderr, "day: %v\n", err)
		}
	}
}

func (r *report) leaveOut(step, what string) {
	r.addLine(leftOutLine{"left out", step, what})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leftOut++
}

// failed records an error. The program continues, and fails at its end.
func (r *report) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// addEnd writes the last line and returns all errors. Later lines are dropped.
func (r *report) addEnd(took time.Duration) error {
	r.mu.Lock()
	line := endLine{Result: "end", Seconds: rounded(took.Seconds()), LeftOut: r.leftOut}
	err := errors.Join(r.errs...)
	r.mu.Unlock()
	if err != nil {
		line.Error = err.Error()
	}
	defer r.close()
	r.addLine(line)
	return err
}

func (r *report) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

// rounded returns four digits of a number.
func rounded(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

func micros(d time.Duration) float64 { return rounded(float64(d) / 1e3) }
func millis(d time.Duration) float64 { return rounded(float64(d) / 1e6) }
