// Package binlog holds tables of binary logarithms. They come from integers only, so that every
// machine makes the same choices. They are data and not computed at start-up, which would take
// longer than a small file.
package binlog

// Unit is the logarithm of 2.
const Unit = 1 << 16
