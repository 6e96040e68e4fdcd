package rans

import (
	"sync"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/kernels"
)

// Little content has up to five default tables for a few hundred symbols each, so that building
// them would take longer than coding. They are built once. Nothing changes them.

var defaultDecodeTables = sync.OnceValue(func() *[model.Defaults]kernels.DecodeTable {
	var t [model.Defaults]kernels.DecodeTable
	for i := range t {
		t[i].Build((*[256]uint16)(model.Default(i)))
	}
	return &t
})

var defaultEncodeTables = sync.OnceValue(func() *[model.Defaults]kernels.EncodeTable {
	var t [model.Defaults]kernels.EncodeTable
	for i := range t {
		t[i].Build((*[256]uint16)(model.Default(i)))
	}
	return &t
})

// encodeTable returns the table that encodes the segment. It may be in e, until the next call.
func (e *Encoder) encodeTable(s *segment) *kernels.EncodeTable {
	if s.isDefault {
		return &defaultEncodeTables()[s.stream]
	}
	e.tab.Build((*[256]uint16)(&s.freq))
	return &e.tab
}
