//go:build !libdeflate || !cgo

package main

// libdeflateRestorers is empty: the build tag libdeflate adds libdeflate.
var libdeflateRestorers []restorer
