package parity

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/internal/testenv"
)

// packetsIn returns the packets of a file, which are parts of data.
func packetsIn(data []byte) (list [][]byte) {
	for {
		i := bytes.Index(data, []byte(section.PacketMagic))
		if i < 0 {
			return list
		}
		data = data[i:]
		n := 1
		if h, ok := section.ParsePacket(data); ok && h.Length() <= len(data) {
			n = h.Length()
			list = append(list, data[:n])
		}
		data = data[n:]
	}
}

// placeOf returns where a part of data begins.
func placeOf(data, part []byte) int { return cap(data) - cap(part) }

// seal gives a packet right checks.
func seal(p []byte) {
	binary.LittleEndian.PutUint32(p[40:], section.Checksum(p[section.PacketHeaderSize:]))
	binary.LittleEndian.PutUint32(p[44:], section.Checksum(p[:44]))
}

// changeField changes a field of the header of packets in the same way.
func changeField(r *rand.Rand, packets [][]byte) {
	fields := []struct{ at, size int }{{8, 8}, {16, 8}, {24, 4}, {28, 4}, {32, 2}, {34, 1}, {35, 1}, {36, 4}}
	f := fields[r.IntN(len(fields))]
	limits := []uint64{1 << 6, 1 << 16, 1 << 28, 1<<62 + 1, 1 << 14}
	x := []uint64{1 << r.IntN(64), r.Uint64N(200), limits[r.IntN(len(limits))]}[r.IntN(3)]
	add := r.IntN(2) == 0
	for _, p := range packets {
		var field [8]byte
		copy(field[:f.size], p[f.at:])
		v := binary.LittleEndian.Uint64(field[:])
		if add {
			v += x
		} else {
			v ^= x
		}
		binary.LittleEndian.PutUint64(field[:], v)
		copy(p[f.at:][:f.size], field[:])
	}
}

// fixID makes the hash of the catalog in the packets of a section that of the pieces there are.
func fixID(h section.Packet, packets [][]byte) {
	catalog := make([]byte, h.Pieces()*h.PieceSize())
	for _, p := range packets {
		if n := int(binary.LittleEndian.Uint32(p[36:])); n < h.Pieces() {
			copy(catalog[n*h.PieceSize():], p[section.PacketHeaderSize:])
		}
	}
	id := xxhash.Sum64(catalog[:section.EntrySize*h.Slices()])
	for _, p := range packets {
		binary.LittleEndian.PutUint64(p[16:], id)
	}
}

// mutate returns a changed file whose packets have right checks.
func mutate(r *rand.Rand, data []byte) []byte {
	for range 1 + r.IntN(4) {
		data = slices.Clip(bytes.Clone(data))
		list := packetsIn(data)
		if len(list) == 0 {
			return data
		}
		p := list[r.IntN(len(list))]
		same := slices.DeleteFunc(slices.Clone(list), func(o []byte) bool {
			return !bytes.Equal(o[:36], p[:36])
		})
		h, _ := section.ParsePacket(p)
		at := placeOf(data, p)
		switch r.IntN(8) {
		case 0:
			other := placeOf(data, list[r.IntN(len(list))])
			data = slices.Insert(data, other, bytes.Clone(p)...)
			continue
		case 1:
			data = slices.Delete(data, at, at+1+r.IntN(len(p)))
			continue
		case 2:
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		case 3, 4:
			p[r.IntN(len(p))] ^= 1 << r.IntN(8)
			if r.IntN(2) == 0 {
				fixID(h, same)
			}
		case 5:
			changeField(r, [][]byte{p})
		default:
			changeField(r, same)
		}
		for _, p := range same {
			seal(p)
		}
	}
	return data
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

// TestForged has sections whose packets state what cannot be. In the first one they state a smaller
// zone. The catalog is right for the last slice with the byte that is missing, but padding is
// zeros: the slice cannot be healed. In the second one too few pieces of the catalog are left, and
// the hash is that of nothing.
func TestForged(t *testing.T) {
	file := write(t, Options{100, compress.PZ}, random(newRand(41), 100)).data
	smaller, none := bytes.Clone(file), bytes.Clone(file)
	smaller[70] ^= 1
	for _, p := range packetsIn(smaller) {
		p[24]--
		seal(p)
	}
	for i, p := range packetsIn(none) {
		binary.LittleEndian.PutUint64(p[16:], xxhash.Sum64(nil))
		seal(p)
		if i != 1 {
			p[0]++
		}
	}
	for _, data := range [][]byte{smaller, none[50:]} {
		if _, report, err := repaired(t, data); err == nil ||
			len(report.Zones) != 1 || report.Zones[0].State != Lost {
			t.Errorf("%+v, %v", report, err)
		}
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
		again, err := Repair(io.Discard, bytes.NewReader(zone), int64(len(zone)))
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
