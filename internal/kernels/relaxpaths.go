package kernels

// PathParse is the state of an optimal parser that goes forward through a chunk. It keeps up to
// three paths to each position: the cheapest, the cheapest that ends with a literal, and the
// second-cheapest. The portable twin of its kernels is (*Parser).parse of package optimal, which
// says how it works.
//
// Nodes of eight positions make a block. A match updates the nodes of all its lengths, a block at a
// time, from the longest down. It stops in front of a block after MaxMisses consecutive ones that
// it did not change.
//
// The kernels decide without branches which edge is the cheapest to a position, and what state is
// behind it. Both are hard to predict. A load that overlaps an earlier store in part takes long. So
// blocks are loaded and stored whole, and the literal edges to the next position do not go there.
type PathParse struct {
	At, End int // next position of the chunk, 1 or more; where the kernel stops
	From    int // position of the chunk in Src
	Size    int // positions of the chunk

	MinNew    int // length of the shortest candidate, 1 or more
	MinRepeat int // length of the shortest match at a repeat offset, 1 … MinNew
	Nice      int // length of a match that is taken at once, up to MaxNicePath
	MaxMisses int
	Drop      uint64 // bits of 4 bytes that a match at a repeat offset need not have

	Src           []byte     // PathSrcSlack+Nice bytes follow each position in front of End
	Best, Literal Paths      // the cheapest paths, and those that end with a literal
	Second        Paths      // the second-cheapest, if Nodes is not nil; MinRepeat is 2 or more then
	Literals      [][3]int32 // price of the literal at each position, by place in its run
	FirstCand     []uint32   // as in PathCosts
	Cands         []uint64   // as in SearchMultiHash, with the code of the offset

	RunClass *[320]uint8        // index of Match, below 16, by run
	Match    *[16][4][320]int32 // by kind of offset; PathSlack entries precede and follow it
	Offset   *[256]int32        // by code
	Runs     *PathRuns
	Empty    int32 // price of an empty run
	MaxLag   int32 // how much dearer a path that ends with a literal may be

	LiteralCost int32  // of the cheapest path to At that ends with a literal
	LiteralFrom uint32 // flag of the path in front of that

	MaxSecondLag int32 // as MaxLag, for second-cheapest paths that are extended
}

// Paths holds a path to each position.
type Paths struct {
	Nodes  []PathNodes // by blocks of positions
	States []PathState // behind each path, once the position had its turn
}

// holds reports whether p has room for size positions and the one behind them.
func (p *Paths) holds(size int) bool { return len(p.Nodes) > size/PathBlock && len(p.States) > size }

// PathRuns holds what a literal adds to the price of its run, by the length of the run before.
type PathRuns struct {
	More     [320]int32
	Compared [320]int32 // for paths that are compared as if they had long runs
}

const (
	// PathUnreached is the cost of a position that has no path.
	PathUnreached = 1<<31 - 1
	// PathFromLiteral is the length of a literal edge from the path that ends with a literal.
	PathFromLiteral = 1 << 30
	// PathFromSecond is ORed to the length of an edge from the second-cheapest path. A literal edge
	// from the cheapest path has length 0.
	PathFromSecond = 1 << 31
	// MaxNicePath is the greatest Nice.
	MaxNicePath = 300
	// PathSrcSlack is the number of bytes that the kernel loads at once.
	PathSrcSlack = 32
)

// PathBlock is the number of nodes in PathNodes.
const PathBlock = 8

// PathNodes holds the ends of the cheapest paths known to PathBlock consecutive positions.
type PathNodes struct {
	Cost   [PathBlock]int32
	Length [PathBlock]uint32 // of the last edge
	Offset [PathBlock]uint32 // of the last match
}

// Set sets node k.
func (b *PathNodes) Set(k uint, cost int32, length, offset uint32) {
	b.Cost[k], b.Length[k], b.Offset[k] = cost, length, offset
}

// Copy sets node k to that of c.
func (b *PathNodes) Copy(k uint, c *PathNodes) {
	b.Cost[k], b.Length[k], b.Offset[k] = c.Cost[k], c.Length[k], c.Offset[k]
}

// PathState is the state of the coder behind a path: repeat offsets, none of which reaches beyond
// the beginning of the content, and the number of literals since the last match.
type PathState struct {
	Repeats [3]uint32
	Run     uint32
}

// RelaxPaths relaxes the edges of the positions from At to End. It returns false if there is no
// kernel. It panics if an argument is out of range.
func RelaxPaths(p *PathParse) bool {
	if p.At < 1 || p.At >= p.End || p.End > p.Size || p.From < 0 ||
		p.From+p.End+p.Nice+PathSrcSlack > len(p.Src) || p.Nice < 4 || p.Nice > MaxNicePath ||
		p.MinRepeat < 1 || p.MinRepeat > p.MinNew || p.MinNew > p.Nice || p.MaxMisses < 1 ||
		!p.Best.holds(p.Size) || !p.Literal.holds(p.Size) ||
		p.Second.Nodes != nil && (p.MinRepeat < 2 || !p.Second.holds(p.Size)) ||
		len(p.FirstCand) <= p.Size || len(p.Literals) < p.Size || int(p.FirstCand[p.Size]) > len(p.Cands) {
		panic("kernels: PathParse out of range")
	}
	return relaxPathsKernel(p)
}
