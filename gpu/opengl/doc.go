// Package opengl runs kernels through OpenGL 4.3, without a window, on Linux: for machines that have such a driver but none for what package webgpu knows.
// It is built in with the tag opengl, which needs cgo, a C compiler and the headers of EGL and OpenGL. Without the tag there are the same functions, and they fail with
// [ErrNotBuilt].
//
// With the tag egl as well the program needs libEGL alone; without it the binding links libGL, too.
//
// Mesa may write to standard error while it looks for GPUs; EGL_LOG_LEVEL=fatal in the environment of the process keeps it from that.
package opengl

import "errors"

// ErrNotBuilt is the error of a build without the tag.
var ErrNotBuilt = errors.New(`this build has no OpenGL support; build with, on Linux: CGO_ENABLED=1 go build -tags "opengl egl" ./cmd/pz`)
