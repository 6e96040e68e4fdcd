package errs

import (
	"context"
	"errors"
)

// Cause returns why a context has ended. The error reads like the cause of the context. errors.Is
// finds both the cause and the error of the context.
func Cause(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return &causeError{cause, err}
}

// causeError reads like the cause of a context and is also the context's error.
type causeError struct{ cause, err error }

func (e *causeError) Error() string   { return e.cause.Error() }
func (e *causeError) Unwrap() []error { return []error{e.cause, e.err} }
