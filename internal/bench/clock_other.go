//go:build !unix

package main

import "time"

// hasProcessTime says whether processTime counts. Without it samples have the wall time twice.
const hasProcessTime = false

func processTime() time.Duration { return 0 }
