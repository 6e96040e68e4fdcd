//go:build race

package lz77

const raceDetector = true
