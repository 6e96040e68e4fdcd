// Package parity adds parity to a file, so that its bytes can be given back after damage. It
// protects any bytes: a compressed file with its headers and indexes, in the formats .pz and .zst.
// Decoders pass over the parity.
//
// A [Writer] copies a file. The caller ends a zone from time to time, and behind each zone the
// Writer adds a section of parity:
//
//	w, err := parity.NewWriter(dst, parity.Options{Percent: 5})
//	…
//	_, err = w.Write(stream) // a .pz stream of 64 MiB
//	err = w.EndZone()
//	…
//	err = w.Close()
//
// A zone heals if at most as many of its slices are damaged as Percent says, wherever they are.
// Slices have 16 KiB, less in zones of less than 2 MiB. Bytes that are missing or too many damage
// only the slices they are in. [Repair] writes the file as it was. [Verify] says what Repair would
// do. A [ReaderAt] heals what is read through it.
//
// A section is made of packets, which may be damaged too. If none of them is left, its zone has no
// parity. Stray bytes in front of the first zone or behind the last one may be another file that
// was joined to this one, so Repair keeps them. A stray copy of half a zone or more, with its
// section, counts as another zone.
//
// A Writer takes the memory of a zone, which should be 64 MiB, of its parity, and 20 MB. Repair,
// Verify and a ReaderAt that heals take up to three times a zone. The first zone with more than 256
// slices, those of parity included, takes half a second and 74 MiB for tables, once in a process.
//
// FORMAT.md, chapter "Sections", defines the bytes.
package parity
