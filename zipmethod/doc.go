// Package zipmethod compresses and decompresses files of archive/zip: method 8, Deflate, faster
// than archive/zip itself, and method 93, zstd, which archive/zip does not know.
//
//	w := zip.NewWriter(file)
//	w.RegisterCompressor(zipmethod.Zstd, zipmethod.Compressor(zipmethod.Zstd))
//	f, err := w.CreateHeader(&zip.FileHeader{Name: "a.txt", Method: zipmethod.Zstd})
//
//	r, err := zip.NewReader(file, size)
//	r.RegisterDecompressor(zipmethod.Zstd, zipmethod.Decompressor(zipmethod.Zstd))
//
// Every program that reads zip files knows Deflate. Fewer know zstd: 7-Zip 26.02 and zipfile of
// Python 3.14 do, unzip 6.00 does not.
//
// Workers of the scheduler compress large files, content below 64 KiB the goroutine of the caller.
// Writers and readers are used again for the next file after a Close.
package zipmethod
