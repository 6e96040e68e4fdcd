package cli

import "testing"

func TestMachineMemory(t *testing.T) {
	if n := machineMemory(); n < 64<<20 {
		t.Errorf("%d bytes", n)
	}
}
