package parity

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/internal/testenv"
)

// A fragment is a part of a file: a packet, or bytes that are none.
type fragment struct {
	head []byte // of a packet: the header up to the check of the body
	body []byte // of a packet, or the bytes
}

const sealedHead = 40 // bytes of a packet's header in front of its checks

// takeApart finds the packets of a file.
func takeApart(data []byte) (list []fragment) {
	for len(data) > 0 {
		at := bytes.Index(data, []byte(section.PacketMagic))
		if at < 0 {
			return append(list, fragment{body: data})
		}
		if at > 0 {
			list = append(list, fragment{body: data[:at]})
		}
		data = data[at:]
		n := len(section.PacketMagic)
		if h, ok := section.ParsePacket(data); ok && len(data) >= h.Length() {
			n = h.Length()
			list = append(list, fragment{data[:sealedHead], data[section.PacketHeaderSize:n]})
		} else {
			list = append(list, fragment{body: data[:n]})
		}
		data = data[n:]
	}
	return list
}

// putTogether returns the file of fragments, with right checks of packets.
func putTogether(list []fragment) (data []byte) {
	for _, p := range list {
		if p.head != nil {
			head := binary.LittleEndian.AppendUint32(slices.Clone(p.head), section.Checksum(p.body))
			data = append(data, head...)
			data = binary.LittleEndian.AppendUint32(data, section.Checksum(head))
		}
		data = append(data, p.body...)
	}
	return data
}

// packetsOf returns the numbers of the parts that are packets of the same section as fragment i.
func packetsOf(list []fragment, i int) (same []int) {
	for k, p := range list {
		if p.head != nil && bytes.Equal(p.head[:36], list[i].head[:36]) {
			same = append(same, k)
		}
	}
	return same
}

// changeField changes a field of the header of packets. All of a section state the same.
func changeField(r *rand.Rand, list []fragment, packets []int) {
	fields := []struct{ at, size int }{{8, 8}, {16, 8}, {24, 4}, {28, 4}, {32, 2}, {34, 1}, {35, 1}, {36, 4}}
	f := fields[r.IntN(len(fields))]
	var x [8]byte
	switch r.IntN(3) {
	case 0:
		x[r.IntN(8)] = 1 << r.IntN(8)
	case 1:
		binary.LittleEndian.PutUint64(x[:], r.Uint64N(200))
	default:
		binary.LittleEndian.PutUint64(x[:], []uint64{1 << 6, 1 << 16, 1 << 28, 1<<62 + 1, 1 << 14}[r.IntN(5)])
	}
	add := r.IntN(2) == 0
	for _, i := range packets {
		head := slices.Clone(list[i].head)
		for k := range f.size {
			if add {
				head[f.at+k] += x[k]
			} else {
				head[f.at+k] ^= x[k]
			}
		}
		list[i].head = head
	}
}

// fixID makes the hash of the catalog in packets that of the pieces there are.
func fixID(list []fragment, packets []int) {
	h, ok := section.ParsePacket(putTogether(list[packets[0] : packets[0]+1]))
	if !ok {
		return
	}
	catalog := make([]byte, h.Pieces()*h.PieceSize())
	for _, i := range packets {
		if n := int(binary.LittleEndian.Uint32(list[i].head[36:])); n < h.Pieces() {
			copy(catalog[n*h.PieceSize():], list[i].body)
		}
	}
	id := xxhash.Sum64(catalog[:section.EntrySize*h.Slices()])
	for _, i := range packets {
		list[i].head = slices.Clone(list[i].head)
		binary.LittleEndian.PutUint64(list[i].head[16:], id)
	}
}

// change makes one change.
func change(r *rand.Rand, list []fragment) []fragment {
	i, k := r.IntN(len(list)), r.IntN(len(list))
	if list[i].head == nil {
		i = r.IntN(len(list))
	}
	packets := []int{i}
	if list[i].head != nil && r.IntN(4) > 0 {
		packets = packetsOf(list, i)
	}
	switch c := r.IntN(10); {
	case c == 0:
		return slices.Insert(list, k, list[i])
	case c == 1 && len(list) > 1:
		return slices.Delete(list, i, i+1)
	case c == 2:
		list[i], list[k] = list[k], list[i]
	case c < 6 && list[i].head != nil:
		changeField(r, list, packets)
	case len(list[i].body) > 0:
		body := slices.Clone(list[i].body)
		for range 1 + r.IntN(3) {
			body[r.IntN(len(body))] ^= 1 << r.IntN(8)
		}
		if r.IntN(8) == 0 {
			body = body[:r.IntN(len(body)+1)]
		}
		list[i].body = body
		if list[i].head != nil && r.IntN(2) == 0 {
			fixID(list, packetsOf(list, i))
		}
	}
	return list
}

// mutate returns a changed file whose packets have right checks.
func mutate(r *rand.Rand, data []byte) []byte {
	list := takeApart(data)
	for range 1 + r.IntN(4) {
		if len(list) > 0 {
			list = change(r, list)
		}
	}
	return putTogether(list)
}

// mutantSamples returns small files with parity.
func mutantSamples(t testing.TB) (files [][]byte) {
	r := newRand(40)
	for _, o := range []Options{
		{1, compress.PZ}, {10, compress.PZ}, {40, compress.Zstd}, {100, compress.PZ},
	} {
		files = append(files, write(t, o, randomZones(r, 1, 1, 300)...).data,
			write(t, o, randomZones(r, 3, 100, 6000)...).data)
	}
	zeros := write(t, Options{30, compress.PZ}, make([]byte, 2000), make([]byte, 2000)).data
	return append(files, zeros, slices.Concat(files[0], files[2]), files[3][50:])
}

// TestForgedPadding has a section whose packets state a smaller zone. The catalog is right for the
// last slice with the byte that is missing, but padding is zeros: the slice cannot be healed.
func TestForgedPadding(t *testing.T) {
	list := takeApart(write(t, Options{100, compress.PZ}, random(newRand(41), 100)).data)
	list[0].body = slices.Clone(list[0].body)
	list[0].body[70] ^= 1
	for i := range list {
		if list[i].head != nil {
			list[i].head = slices.Clone(list[i].head)
			list[i].head[24]--
		}
	}
	data := putTogether(list)
	if report, err := Verify(bytes.NewReader(data), int64(len(data))); err == nil ||
		len(report.Zones) != 1 || report.Zones[0].State != Lost {
		t.Errorf("%+v, %v", report, err)
	}
}

// checkForged repairs a file as FuzzPackets says. It verifies each zone of the result as a file of
// its own, and reports whether all are healed.
func checkForged(t *testing.T, data []byte) bool {
	data, report, err := repaired(t, data)
	if err != nil {
		return false
	}
	for i, z := range report.Zones {
		zone := data[z.Offset:]
		h, ok := section.Packet{}, false
		for _, frame := range []section.Zone{{}, {Zstd: true}} {
			if at := z.Size + int64(frame.HeaderSize()); !ok && at < int64(len(zone)) {
				h, ok = section.ParsePacket(zone[at:])
			}
		}
		if !ok || int64(h.Size) != z.Size || z.Size+h.SectionSize() > int64(len(zone)) {
			t.Fatalf("zone %d of %+v has no section", i, report)
		}
		zone = zone[:z.Size+h.SectionSize()]
		again, err := Verify(bytes.NewReader(zone), int64(len(zone)))
		// In front of it zones may be missing, and at the end.
		if n := len(again.Zones); n == 0 || again.Zones[n-1].State != Intact || (err == nil) && !h.Last {
			t.Fatalf("zone %d of %+v: %+v, %v", i, report, again, err)
		}
	}
	return true
}

// FuzzPackets changes packets and what is around them, with right checks. If Repair returns no
// error, each zone that it writes is intact. The file may not be, for Repair copies what it takes
// for stray bytes.
func FuzzPackets(f *testing.F) {
	for i, file := range mutantSamples(f) {
		f.Add(file, uint64(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		if len(data) < 1<<16 {
			checkForged(t, mutate(newRand(seed), data))
		}
	})
}

// TestMutants does what FuzzPackets does, for many seeds. What is allocated is in proportion to the
// file.
func TestMutants(t *testing.T) {
	files := mutantSamples(t)
	rounds := 2000
	if testenv.All() {
		rounds = 100_000
	}
	for _, seed := range testenv.Seeds(t, 1) {
		r := newRand(seed)
		healed := 0
		for range rounds {
			data := mutate(r, files[r.IntN(len(files))])
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if checkForged(t, data) {
				healed++
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > uint64(64*len(data)+64<<20) {
				t.Errorf("%d bytes allocated for %d", took, len(data))
			}
		}
		t.Logf("seed %d: %d of %d healed", seed, healed, rounds)
		if healed == 0 || healed == rounds {
			t.Error("all mutants are the same")
		}
	}
}
