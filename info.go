package compress

// Info describes a .pz file as its index has it.
type Info struct {
	Size    int64 // bytes of the file
	Content int64 // bytes of content
	Blocks  int64 // in all streams
	Streams []StreamInfo
}

// StreamInfo describes one stream of a .pz file.
type StreamInfo struct {
	Offset        int64  // of its header in the file
	Size          int64  // bytes in the file, from header to footer
	ContentOffset int64  // of its content in that of the file
	Content       int64  // bytes of content
	Blocks        int64  // number of blocks
	Pipeline      string // that wrote it, "lzseqr" for instance
	BlockSize     int    // bytes of content in a block at most
	Checks        bool   // blocks carry checks of their content
}

// BlockInfo describes one block of a .pz file.
type BlockInfo struct {
	Stream        int    // number of its stream, from 0
	Number        int64  // in its stream, from 0
	Kind          string // "stored", "fill" or "coded"
	Offset        int64  // of its header in the file
	Size          int64  // bytes in the file, header included
	ContentOffset int64  // of its content in that of the file
	Content       int64  // bytes of content
}
