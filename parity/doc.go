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
// [Repair] writes the file as it was. A [ReaderAt] heals what is read through it. Both promise the
// same:
//
//   - A zone heals if at most as many of its slices are damaged as packets of parity are left, and
//     half of the pieces of its catalog are. Slices have 16 KiB, less in zones of less than 2 MiB.
//     It does not matter where the damage is.
//   - Bytes that are missing or too many damage only the slices and packets that they are in.
//   - The section heals with its zone.
//   - A zone whose catalog is lost is known to be intact if it is. If no packet is left, it has no
//     parity.
//   - Files may be joined. Stray bytes in front of the first zone of a file or behind its last one
//     may be another file, so Repair keeps them. A copy of a part of a zone or of its section that
//     came to another place does no harm. A copy of half a zone or more with its section counts as
//     another zone. A file with parity that is content of a zone is content. Of equal files that
//     are joined one may count as stray bytes, if bytes are missing or too many in it.
//   - What is written is what was there, or the report says so.
//
// A Writer takes the memory of a zone, which should be 64 MiB, of its parity, and 20 MB. Repair and
// a ReaderAt take up to three times a zone where they heal one, else little. The first zone with
// more than 256 slices, those of parity included, takes half a second and 74 MiB for tables, once
// in a process.
//
// FORMAT.md, chapter "Sections", defines the bytes.
package parity
