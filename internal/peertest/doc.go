// Package peertest holds the tests and benchmarks that compare this module with
// github.com/klauspost/compress, which this package calls the peer. It has no other content.
//
// The tests are in one place because "go mod tidy" in a program also loads the tests of every
// package that the program imports, directly or not, and downloads the modules they need. Here they
// cost an importer nothing: no package imports this one. internal/archtest guards that.
package peertest
