package pzbeam

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	beam.RegisterType(typeOf[file]())
	beam.RegisterType(typeOf[part]())
	beam.RegisterType(typeOf[Result]())
	register.DoFn4x1[context.Context, string, func(*part) bool, func(string, Result), error](&joinFn{})
	register.DoFn4x1[context.Context, string, func(*Result) bool, func(Result), error](&cleanFn{})
	register.Iter1[part]()
	register.Iter1[Result]()
	register.Emitter1[Result]()
	register.Emitter2[string, part]()
	register.Emitter2[string, Result]()
}

// file is a file to work on. Its blocks are done in groups. With at most one group it is done as a
// whole.
type file struct {
	Source   string
	Output   string
	Size     int64 // bytes
	ModTime  int64 // nanoseconds since 1970, 0 if unknown
	Blocks   int64
	PerGroup int64 // blocks in a group; the last one may have fewer
}

// time returns when the source was last modified.
func (f *file) time() time.Time { return time.Unix(0, f.ModTime) }

// groups returns the number of work items, at least 1.
func (f *file) groups() int64 {
	if f.PerGroup == 0 {
		return 1
	}
	return max(1, (f.Blocks+f.PerGroup-1)/f.PerGroup)
}

// group returns the blocks first … last−1 of a group.
func (f *file) group(g int64) (first, last int64) {
	return g * f.PerGroup, min(f.Blocks, (g+1)*f.PerGroup)
}

// A Result is about an output file that is complete.
type Result struct {
	Source  string
	Output  string
	Content int64 // bytes of content
	Packed  int64 // bytes of the compressed file
	Lost    int64 // bytes of content that Recover could not save and whose number is known

	Staging string // directory of the parts, while there may be any
}

// part is the result of a group.
type part struct {
	File    file
	Group   int64
	Name    string // of the part file
	Piece   []byte // compress.Piece as bytes, when compressing
	Content int64
	Packed  int64
	Lost    int64
}

// staging returns the directory of a file's parts. It depends on everything that their bytes depend
// on, except for the content.
func (o *Options) staging(f *file) string {
	key := *o
	key.Existing, key.MaxMemory = 0, 0
	data, err := json.Marshal(struct {
		Options Options
		File    file
	}{key, *f})
	if err != nil {
		panic(err) // plain fields
	}
	return fmt.Sprintf("%s/%s/%x", strings.TrimRight(o.Output, "/"), stagingDir, sha256.Sum256(data))
}

// partName returns the name of the part of a group. The group behind the last one is the trailer.
func partName(staging string, group int64) string { return fmt.Sprintf("%s/part-%06d", staging, group) }

// grouped has the methods of a splittable DoFn whose restriction is a range of groups. A group is
// never split, so that parts have the same names in every run.
type grouped struct{}

// CreateInitialRestriction returns all groups of a file.
func (grouped) CreateInitialRestriction(f file) offsetrange.Restriction {
	return offsetrange.Restriction{Start: 0, End: f.groups()}
}

// initialSplits is into how many work items a file is split at first. Runners split further.
const initialSplits = 1000

// SplitRestriction splits a file at the start.
func (grouped) SplitRestriction(_ file, r offsetrange.Restriction) []offsetrange.Restriction {
	return r.EvenSplits(initialSplits)
}

// RestrictionSize returns the bytes of a range of groups, about.
func (grouped) RestrictionSize(f file, r offsetrange.Restriction) float64 {
	return float64(f.Size) * r.Size() / float64(f.groups())
}

// CreateTracker returns a tracker that runners may use to split a range while it is worked on.
func (grouped) CreateTracker(r offsetrange.Restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(offsetrange.NewTracker(r))
}

// claim calls do for each group of the tracker's range that is not split off meanwhile.
func claim(rt *sdf.LockRTracker, do func(group int64) error) error {
	for g := rt.GetRestriction().(offsetrange.Restriction).Start; rt.TryClaim(g); g++ {
		if err := do(g); err != nil {
			return err
		}
	}
	return nil
}

// finish joins parts, a PCollection<KV<string, part>> keyed by outputs, and then removes them. It
// returns the Results.
func finish(s beam.Scope, o Options, parts beam.PCollection) beam.PCollection {
	joined := beam.ParDo(s, &joinFn{Options: o}, beam.GroupByKey(s, parts))
	// The parts stay until the output of joinFn is safe. A bundle of joinFn may run again.
	return beam.ParDo(s, &cleanFn{}, beam.GroupByKey(s, joined))
}

// joinFn joins the parts of a file.
type joinFn struct{ Options Options }

// ProcessElement joins the parts of one file.
func (fn *joinFn) ProcessElement(
	ctx context.Context, output string, parts func(*part) bool, emit func(string, Result),
) error {
	var all []part
	var p part
	for parts(&p) {
		all = append(all, p)
		p = part{}
	}
	f := all[0].File
	r := Result{Source: f.Source, Output: output, Staging: fn.Options.staging(&f)}
	byGroup := make([]*part, f.groups())
	for i := range all {
		g := all[i].Group
		if g < 0 || g >= f.groups() || all[i].File != f {
			return fmt.Errorf("pzbeam: group %d of %s does not belong to %s", g, all[i].File.Source, output)
		}
		byGroup[g] = &all[i] // a group that was done twice has the same part
	}
	names := make([]string, 0, f.groups()+1)
	for g, p := range byGroup {
		if p == nil {
			return fmt.Errorf("pzbeam: group %d of %s is missing", g, output)
		}
		names = append(names, p.Name)
		r.Content, r.Packed, r.Lost = r.Content+p.Content, r.Packed+p.Packed, r.Lost+p.Lost
	}
	if len(byGroup[0].Piece) > 0 {
		trailer, size, err := fn.Options.writeTrailer(ctx, &f, byGroup, r.Staging)
		if err != nil {
			return err
		}
		names = append(names, trailer)
		r.Packed += size
	}
	if err := join(ctx, output, r.Staging, names); err != nil {
		return about(output, err)
	}
	emit(output, r)
	return nil
}

// cleanFn removes the parts of files that are complete.
type cleanFn struct{}

// ProcessElement removes the parts of one file.
func (*cleanFn) ProcessElement(
	ctx context.Context, output string, results func(*Result) bool, emit func(Result),
) error {
	var r Result
	for done := false; results(&r); done = true {
		if done {
			continue
		}
		if err := clean(ctx, r.Staging); err != nil {
			return about(output, err)
		}
		r.Staging = ""
		count(ctx, &r)
		emit(r)
	}
	return nil
}

// perGroup returns how many blocks of a compressed file make a group.
func (o *Options) perGroup(content, blocks int64) int64 {
	if blocks == 0 {
		return 1
	}
	average := int64(math.Ceil(float64(content) / float64(blocks)))
	return o.groupBlocks(content, max(1, average))
}
