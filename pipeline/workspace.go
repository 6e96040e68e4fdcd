package pipeline

// workspace is all the scratch memory of one worker. It grows to what the blocks need and is then reused.
type workspace struct {
	payload payload
}

// payload is what one stage leaves for the next.
type payload struct{}

func (ws *workspace) incompressible(src []byte) bool { return true }
