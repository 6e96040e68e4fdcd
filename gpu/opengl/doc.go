// Package opengl runs the GPU kernels through OpenGL 4.3 without a window, on Linux. It is for
// machines that have an OpenGL driver but none that package webgpu can use. It is a building block:
// a minor release may change it.
//
// It is built with the tag opengl, which needs cgo, a C compiler and the headers of EGL and OpenGL.
// A blank import registers the driver "opengl" with package gpu. Without the tag, and on other
// systems, the package is empty. The program opens libEGL when it looks for GPUs, so it starts
// without it. With the tag egl the build needs no headers of X11 and GLX.
//
// Mesa may write to standard error while it looks for GPUs. EGL_LOG_LEVEL=fatal in the environment
// of the process prevents that.
package opengl
