package section

import "testing"

// TestCheckerFound writes bytes with the magic of a packet in two parts. A magic is found wherever
// it is cut, and behind damage too.
func TestCheckerFound(t *testing.T) {
	damage := "damaged: " + string(make([]byte, PacketHeaderSize))
	for _, front := range []string{"", damage} {
		for magic, want := range map[string]bool{PacketMagic: true, PacketMagic[1:]: false} {
			p := []byte(front + magic + "behind")
			for cut := range len(p) + 1 {
				var c Checker
				c.Write(p[:cut])
				c.Write(p[cut:])
				if c.Found() != want {
					t.Errorf("%q behind %d bytes, cut at %d: found %v", magic, len(front), cut, c.Found())
				}
			}
		}
	}
}
