package container

// A SerialDecoder decodes the units of a file one after the other, because each depends on the
// state that the one before leaves. Its units hold consecutive parts of the input. The content of
// a unit need not be that of its part: what has no room goes to the units that follow, which may
// be empty.
//
// Decode may be called on any goroutine, by one at a time.
type SerialDecoder interface {
	// Decode decodes content of at most the Spec's BlockSize into s.Buf. src is the input that
	// follows that of the calls before. Decode keeps what it cannot decode yet, perhaps in src's
	// memory, and returns memory for the src of a later unit, perhaps the same.
	//
	// After s.Stop has been set, later calls set it again and decode nothing.
	Decode(s *Serial, src []byte) (free []byte)
}

// Serial is a unit's part of serial decoding. The zero value is that of a unit that is independent
// of the others.
type Serial struct {
	Decoder SerialDecoder // of the file
	End     error         // what follows the unit's input: nil if there may be more, else the read error

	// Results of Decode.
	Buf     []byte // history and content; the memory serves the next Decode
	History int    // bytes in front of the content
	Used    int64  // bytes of the file used so far
	Total   int64  // bytes of content so far
	Stop    error  // what follows the content: nil if there may be more, io.EOF, or an error
}

// Content returns the content that Decode has decoded.
func (s *Serial) Content() []byte { return s.Buf[s.History:] }
