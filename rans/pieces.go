package rans

import "encoding/binary"

// Symbols of a chained run go through a buffer in which they stand round by round. Between that and the pieces of the lanes they are moved by squares of eight lanes
// and eight rounds.

// gather fills buf with the symbols of rounds from r on.
func gather(buf, run []byte, r int) {
	n := len(buf) / lanes
	for l := 0; l < lanes; l += 8 {
		rows := rowsOf(run, l, r, n)
		i := 0
		for ; i+8 <= n; i += 8 {
			x0, x1, x2, x3, x4, x5, x6, x7 := transpose(load(rows[0], i), load(rows[1], i), load(rows[2], i), load(rows[3], i),
				load(rows[4], i), load(rows[5], i), load(rows[6], i), load(rows[7], i))
			out := buf[i*lanes+l:][:7*lanes+8]
			store(out, 0, x0)
			store(out, lanes, x1)
			store(out, 2*lanes, x2)
			store(out, 3*lanes, x3)
			store(out, 4*lanes, x4)
			store(out, 5*lanes, x5)
			store(out, 6*lanes, x6)
			store(out, 7*lanes, x7)
		}
		for ; i < n; i++ {
			for k, row := range rows {
				buf[i*lanes+l+k] = row[i]
			}
		}
	}
}

// scatter is the reverse of gather.
func scatter(run, buf []byte, r int) {
	n := len(buf) / lanes
	for l := 0; l < lanes; l += 8 {
		rows := rowsOf(run, l, r, n)
		i := 0
		for ; i+8 <= n; i += 8 {
			in := buf[i*lanes+l:][:7*lanes+8]
			x0, x1, x2, x3, x4, x5, x6, x7 := transpose(load(in, 0), load(in, lanes), load(in, 2*lanes), load(in, 3*lanes),
				load(in, 4*lanes), load(in, 5*lanes), load(in, 6*lanes), load(in, 7*lanes))
			store(rows[0], i, x0)
			store(rows[1], i, x1)
			store(rows[2], i, x2)
			store(rows[3], i, x3)
			store(rows[4], i, x4)
			store(rows[5], i, x5)
			store(rows[6], i, x6)
			store(rows[7], i, x7)
		}
		for ; i < n; i++ {
			for k, row := range rows {
				row[i] = buf[i*lanes+l+k]
			}
		}
	}
}

// rowsOf returns n symbols from number r on of the pieces of eight lanes.
func rowsOf(run []byte, lane, r, n int) (rows [8][]byte) {
	for k := range rows {
		rows[k] = run[piece(len(run), lane+k)+r:][:n]
	}
	return rows
}

func load(p []byte, i int) uint64 { return binary.LittleEndian.Uint64(p[i : i+8 : len(p)]) }

func store(p []byte, i int, x uint64) { binary.LittleEndian.PutUint64(p[i:i+8:len(p)], x) }

// transpose makes byte i of number k byte k of number i: squares of four bytes change places, then of two, then bytes.
func transpose(x0, x1, x2, x3, x4, x5, x6, x7 uint64) (y0, y1, y2, y3, y4, y5, y6, y7 uint64) {
	const m4, m2, m1 = 0xffffffff, 0x0000ffff0000ffff, 0x00ff00ff00ff00ff
	y0, y4 = x0&m4|x4<<32, x0>>32|x4&^m4
	y1, y5 = x1&m4|x5<<32, x1>>32|x5&^m4
	y2, y6 = x2&m4|x6<<32, x2>>32|x6&^m4
	y3, y7 = x3&m4|x7<<32, x3>>32|x7&^m4
	x0, x2 = y0&m2|y2&m2<<16, y0>>16&m2|y2&^m2
	x1, x3 = y1&m2|y3&m2<<16, y1>>16&m2|y3&^m2
	x4, x6 = y4&m2|y6&m2<<16, y4>>16&m2|y6&^m2
	x5, x7 = y5&m2|y7&m2<<16, y5>>16&m2|y7&^m2
	y0, y1 = x0&m1|x1&m1<<8, x0>>8&m1|x1&^m1
	y2, y3 = x2&m1|x3&m1<<8, x2>>8&m1|x3&^m1
	y4, y5 = x4&m1|x5&m1<<8, x4>>8&m1|x5&^m1
	y6, y7 = x6&m1|x7&m1<<8, x6>>8&m1|x7&^m1
	return y0, y1, y2, y3, y4, y5, y6, y7
}
