package refdec

import (
	"encoding/hex"
	"strings"
)

// defaultTables are the default tables of the byte streams, as the document lists them.
var defaultTables = [...]string{
	`c3 33 82 ad 16 8f c7 a0 a8 9e 22 c4 4c a3 4d 51 5f 60 ab b2 ba be ba ae aa a6 a6 a2
	a2 80 3e 51 69 e4 08 da 40 9a 89 d3 30 d0 42 cc 13 85 30 07 85 48 9d 84 94 22 86 18
	82 2a 0f 2a 33 66 0d 03 f5 b5 26 8e 19 69 66 0d 5c 72 8d 91 e9 92 5b ce b3 52 40 a7
	55 0d 83 18 e3 a1 c7 43 0f`,
	`31 0b 5a 0c 41 09 d2 44 89 59 d0 62 14 43 c8 20 86 88 31 08 62 0c 11 53 0c 31 84 08
	11 22 22 22 22 44 44 44 44 98 a0 94 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88
	88 88 88 88 88 88 88 88 88 88 88 88 88 88 20 44 88 88 88 88 88 88 88 88 88 88 88 88
	88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 08 11 21 c8 93 a4 9b af 20 9e
	6b ba 82 76 b3 f9 02 ca b1 66 a9 f3 5d a6 28 e3 01 06 08 83 d5 d2 69 b0 55 36 c9 fa
	9a 41 1a a8 18 64 6d 81 14 55 54 21 c8 34 11 44 92 08 e2 ed 65 05 77 03`,
	`cf ca 0b ab 4b 4f 30 6f de fa 4d 47 9d 74 cf 55 37 9d 74 d2 41 07 5d 74 cf 15 77 1c
	72 85 59 b3 76 ad 1a 30 60 a1 9e 4c 26 53 87 61 18 22 22 22 22 22 22 00`,
	`38 c6 2a b2 90 84 04 24 5c 76 83 69 93 c6 ec 18 b1 61 a1 be b8 ae ac a6 80 4e 26 d2
	68 24 0a 89 42 99 09 f3 44 18 a7 69 90 83 94 83 94 52 08 29 84 10 42 08 11 42 08 11
	21 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22
	22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22
	22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22
	22 22 22 22 22 22 22 22 22 22 22 24`,
	`68 c2 c3 d5 07 df 77 d0 29 c7 d8 b6 6a cd 92 29 93 56 ad da 32 51 59 5b 58 51 54 51
	55 55 55 41 26 93 a9 34 22 85 40 21 50 08 f3 3c 53 e6 71 1e c7 71 9a 06 12 65 90 72
	18 86 41 4a 29 07 29 c5 20 84 10 42 08 21 a5 14 42 08 21 84 10 42 84 88 88 88 88 88
	88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88
	88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88
	88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 28 00`,
}

// defaultTable returns the default table of a byte stream.
func defaultTable(stream int) (*table, error) {
	if stream >= len(defaultTables) {
		return nil, corrupt("byte stream %d has no default table", stream)
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(defaultTables[stream]), ""))
	if err != nil {
		return nil, err
	}
	t := new(table)
	return t, parseTable(&byteReader{b}, t)
}
