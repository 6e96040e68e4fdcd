package refdec

// A choice is something that an encoder may do in several ways. A number says in which.
type choice string

const (
	choiceBlockSize     choice = "block size 2^"
	choiceFlags         choice = "flags of a header"
	choiceWindow        choice = "window 2^"
	choiceBlock         choice = "first four bits of a block header" // bit 3 is 0 in short ones
	choiceSmall         choice = "byte 4 of a small stream"          // without bit 7
	choiceSection       choice = "kind of a section"
	choiceLayout        choice = "layout"
	choiceOwn           choice = "kind of own content"
	choiceSources       choice = "number of sources"
	choiceHead          choice = "segment head + 16 · byte stream"
	choiceGroups        choice = "lane groups of a block"
	choiceClass         choice = "class in a frequency table"
	choiceRun           choice = "log2 of n of class 15"
	choiceLength        choice = "long length in bytes + 8 · byte stream + 64 · layout"
	choicePlace         choice = "bits 6 and 7 of a token + 4 · layout"
	choiceCode          choice = "e of an offset code + 32 · layout"
	choiceDictionary    choice = "match in a dictionary with layout"
	choiceDense         choice = "flags of layout 3"
	choiceRanges        choice = "filtered ranges"    // 2 stands for more
	choiceStep          choice = "step of the filter" // 0 branch, 1 access
	choiceMap           choice = "bits of a context from second"
	choiceTables        choice = "log2 of the tables of a segment"
	choiceContextGroups choice = "lane groups of a context-coded stream"
	choiceMark          choice = "mark of a literal that is not the first"
	choiceSecond        choice = "context-coded segments behind the first"
)

// chosen is called with the choices that decoders meet, if it is not nil. A test counts them with
// it. No other decoder may run then.
var chosen func(c choice, value int)

func chose(c choice, value int) {
	if chosen != nil {
		chosen(c, value)
	}
}
