// Command seqdump prints the blocks of a .pz file for developers of codecs:
//
//	go run ./internal/seqdump FILE.pz [BLOCK]
//
// Without a block number it prints the stream sizes of each block, one block a line. With one it
// prints the sequences of that block.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/pipeline"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "seqdump:", err)
		os.Exit(1)
	}
}

func run(args []string, w io.Writer) error {
	only := int64(-1)
	if len(args) == 2 {
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return err
		}
		only = n
	} else if len(args) != 1 {
		return errors.New("usage: seqdump FILE.pz [BLOCK]")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(w)
	if err := dump(out, bufio.NewReaderSize(f, 1<<20), only); err != nil {
		return err
	}
	return out.Flush()
}

// dump prints the first stream of r, or block only of it if that is not negative.
func dump(w io.Writer, r *bufio.Reader, only int64) error {
	p, err := r.Peek(pzfile.LeastHeader)
	if err != nil {
		return err
	}
	n, err := pzfile.HeaderSize(p)
	if err != nil {
		return err
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(r, head); err != nil {
		return err
	}
	h, err := pzfile.ParseHeader(head)
	if err != nil {
		return err
	}
	if only < 0 {
		fmt.Fprintf(w, "%6s %-7s %9s %9s %8s %9s %9s %9s %8s %8s %9s\n",
			"block", "form", "raw", "payload", "seqs", "lits", "tokens",
			"offsets", "litlens", "matlens", "extra")
	}
	var streams lzseq.Streams
	if h.Small {
		if h.Only.Kind == 0 || only > 0 {
			return nil
		}
		return readBlock(w, r, 0, h.Only, &streams, only >= 0)
	}
	for i := int64(0); ; i++ {
		p, err := r.Peek(pzfile.BlockHeaderSize) // the end of a stream is longer
		if err != nil {
			return err
		}
		if pzfile.IsEndMarker(p) {
			return nil
		}
		e, _, err := pzfile.ParseBlockHeader(p, &h, i)
		if err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
		if _, err := r.Discard(e.HeaderSize()); err != nil {
			return err
		}
		if only >= 0 && i != only {
			if _, err := r.Discard(e.Payload); err != nil {
				return err
			}
			continue
		}
		if err := readBlock(w, r, i, e, &streams, only >= 0); err != nil {
			return err
		}
	}
}

// readBlock prints a block whose payload is next in r.
func readBlock(
	w io.Writer, r io.Reader, number int64, e pzfile.Entry, s *lzseq.Streams, sequences bool,
) error {
	payload := make([]byte, e.Payload)
	if _, err := io.ReadFull(r, payload); err != nil {
		return err
	}
	if err := dumpBlock(w, number, e, payload, s, sequences); err != nil {
		return fmt.Errorf("block %d: %w", number, err)
	}
	return nil
}

func dumpBlock(
	w io.Writer, number int64, e pzfile.Entry, payload []byte, s *lzseq.Streams, sequences bool,
) error {
	if e.Kind != pzfile.Coded {
		name := map[container.Kind]string{pzfile.Stored: "stored", pzfile.Fill: "fill"}[e.Kind]
		_, err := fmt.Fprintf(w, "%6d %-7s %9d %9d\n", number, name, e.Raw, e.Payload)
		return err
	}
	layout, err := pipeline.DecodeStreams(s, payload, e.Raw)
	if err != nil {
		return err
	}
	if !sequences {
		_, err := fmt.Fprintf(w, "%6d layout%d %9d %9d %8d %9d %9d %9d %8d %8d %9d\n",
			number, payload[0], e.Raw, e.Payload, len(s.Tokens), len(s.Lits), len(s.Tokens),
			len(s.Offsets), len(s.LitLens), len(s.MatchLens), len(s.Extra))
		return err
	}
	at, lits := 0, s.Lits
	fmt.Fprintf(w, "%9s %6s %6s %8s  literals\n", "at", "lits", "match", "offset")
	err = s.Sequences(layout, e.Raw, func(seqs []lz77.Sequence) error {
		for _, q := range seqs {
			fmt.Fprintf(w, "%9d %6d %6d %8d  %.60q\n",
				at, q.LitLen, q.MatchLen, q.Offset, lits[:q.LitLen])
			at += int(q.LitLen + q.MatchLen)
			lits = lits[q.LitLen:]
		}
		return nil
	})
	if err == nil {
		_, err = fmt.Fprintf(w, "%9d %6d %6s %8s  %.60q\n", at, len(lits), "", "", lits)
	}
	return err
}
