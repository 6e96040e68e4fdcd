package container

// A SerialDecoder decodes the units of a file one after the other, because each depends on the
// state that the one before leaves. The input may come in the units' payloads, or the decoder has
// it already.
//
// Each unit passes through Prepare, Decode and FinishContent. Calls of Decode come one after the
// other, in the order of the units. All other calls may come at the same time as any others, on any
// goroutines.
type SerialDecoder interface {
	// Prepare may decode ahead what does not depend on the units before.
	Prepare(s *Serial)

	// Decode goes on where the unit before has stopped. It makes room for content in s.Buf, and
	// sets the results. The content may be incomplete until FinishContent returns.
	//
	// The content of a unit need not be that of its input: what has no room goes to the units that
	// follow. After s.Stop has been set, later calls set it again and decode nothing.
	Decode(s *Serial)

	// FinishContent completes the content that Decode has announced.
	FinishContent(s *Serial)

	// Verify compares the checks of the content of a unit. It comes behind FinishContent, in the
	// order of the units, by one goroutine. If a check fails, Verify cuts the content behind what
	// it covers, and sets s.Stop for this unit and all later ones.
	Verify(s *Serial)
}

// Serial is a unit's part of serial decoding. It is a pipeline.Serial: a block with one passes
// through the stages of the pipeline deflate or lzf.
type Serial struct {
	Decoder SerialDecoder // of the file
	Unit    int64         // number of the unit in the file, from 0
	Src     []byte        // payload of the unit; it is the caller's

	// Checkpoint is called by Prepare, Decode and FinishContent between pieces of their work,
	// unless nil. It may panic to abandon the file.
	Checkpoint func()

	// Results of Decode.
	Buf     []byte // history and content
	History int    // bytes in front of the content
	Used    int64  // bytes of the file used so far
	Total   int64  // bytes of content so far
	Stop    error  // what follows the content: nil if there may be more, io.EOF, or an error

	// Results of Verify, in .zst.
	Partly bool  // the content does not reach the end of its frame
	Damage error // of the frame, here or further on; nil if none is known

	// State is the decoder's own, for the same memory to serve the next unit.
	State any
}

// Prepare implements pipeline.Serial.
func (s *Serial) Prepare(src []byte, checkpoint func()) {
	s.Src, s.Checkpoint = src, checkpoint
	s.Decoder.Prepare(s)
}

// Decode implements pipeline.Serial.
func (s *Serial) Decode(src []byte, checkpoint func()) {
	s.Src, s.Checkpoint = src, checkpoint // another worker may have called Prepare
	s.Decoder.Decode(s)
}

// Finish implements pipeline.Serial.
func (s *Serial) Finish(src []byte, checkpoint func()) {
	s.Src, s.Checkpoint = src, checkpoint
	s.Decoder.FinishContent(s)
}

// Content returns the content of the unit.
func (s *Serial) Content() []byte { return s.Buf[s.History:] }
