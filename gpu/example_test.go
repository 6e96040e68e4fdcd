package gpu_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
)

// A device does the stages of all blocks. The device "soft" is the CPU itself; [gpu.Open] opens the
// best GPU by the name "". A device never changes the output.
func Example() {
	device, err := gpu.Open("soft")
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	scheduler := compress.NewScheduler(2) // has the device for good
	content := bytes.Repeat([]byte("one potato, two potatoes, "), 10_000)
	plain, err := compress.AppendEncode(nil, content)
	if err != nil {
		log.Fatal(err)
	}

	file, err := compress.AppendEncode(nil, content, compress.WithScheduler(scheduler),
		compress.WithDevice(device, gpu.BackendGPU, gpu.BackendGPU))
	if err != nil {
		log.Fatal(err)
	}
	status, _ := scheduler.DeviceStatus()
	fmt.Println(status.Name, status.Err, bytes.Equal(file, plain))
	// Output: soft <nil> true
}
