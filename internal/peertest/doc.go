// Package peertest holds the tests and benchmarks that compare this module with
// github.com/klauspost/compress, which this package calls the peer. It has no other content.
//
// The tests are in one place for the sake of importers. For a program, "go mod tidy" also loads the
// tests of every package that the program imports, directly or not. It downloads the modules that
// these tests need. No package imports this one, so its tests cost an importer nothing.
// internal/archtest guards that.
package peertest
