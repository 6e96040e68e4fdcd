package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

var errSize = errors.New("a size must be a number of bytes, or a number with K, M or G, " +
	"as in 512K, 4M, 1GiB")

// parseSize parses a size in bytes. K, KB and KiB all mean 1024, as in xz and zstd.
func parseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "KMGTkmgtiBb")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || digits[0] == '+' {
		return 0, errSize
	}
	unit := strings.ToUpper(s[len(digits):])
	shift := 0
	if unit != "" && unit != "B" {
		shift = 10 * (strings.IndexByte("KMGT", unit[0]) + 1)
		if rest := unit[1:]; shift == 0 || rest != "" && rest != "B" && rest != "IB" {
			return 0, errSize
		}
	}
	if n > math.MaxInt64>>shift {
		return 0, errors.New("the size is out of range")
	}
	return n << shift, nil
}

// formatSize formats a size with a unit, for people.
func formatSize(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	f, u := float64(n), 0
	for f >= 1024 && u < len(units)-1 {
		f, u = f/1024, u+1
	}
	if u == 0 || f == math.Trunc(f) || f >= 100 {
		return fmt.Sprintf("%.0f %s", f, units[u])
	}
	return fmt.Sprintf("%.1f %s", f, units[u])
}

// sizeOption formats a size for -M, rounded up to the next K or M.
func sizeOption(n int64) string {
	if n > 1<<20 {
		return fmt.Sprintf("%dM", (n-1)>>20+1)
	}
	return fmt.Sprintf("%dK", (n-1)>>10+1)
}
