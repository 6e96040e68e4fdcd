package pzbeam

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn4x1[context.Context, string, func(*Finding) bool, func(string), error](&reportFn{})
	register.Function1x2(reportKey)
	register.Iter1[Finding]()
}

// Report writes findings, a PCollection<Finding>, to a file: one JSON object a line, in the order
// of files, streams and blocks. Without any finding it writes no file. One worker holds all
// findings in memory.
func Report(s beam.Scope, findings beam.PCollection, filename string) {
	s = s.Scope("pzbeam.Report")
	keyed := beam.ParDo(s, reportKey, findings)
	beam.ParDo(s, &reportFn{filename}, beam.GroupByKey(s, keyed))
}

func reportKey(f Finding) (string, Finding) { return "", f }

// reportFn writes a report.
type reportFn struct{ Filename string }

// ProcessElement writes all findings, and emits the name of the file.
func (fn *reportFn) ProcessElement(
	ctx context.Context, _ string, findings func(*Finding) bool, emit func(string),
) error {
	var all []Finding
	var f Finding
	for findings(&f) {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Stream, b.Stream),
			cmp.Compare(a.Block, b.Block), cmp.Compare(a.ContentOffset, b.ContentOffset))
	})
	staging := canonical(fn.Filename) + ".pzbeam"
	err := publish(ctx, fn.Filename, staging, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		for i := range all {
			if err := enc.Encode(&all[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return about(fn.Filename, err)
	}
	emit(fn.Filename)
	return clean(ctx, staging)
}
