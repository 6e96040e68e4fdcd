// Package archive shows a tar archive as a file system, without unpacking it.
//
// [Open] reads the headers of a tar file, which may be compressed as .pz, .zst or .gz, and returns
// an [FS]. Opening or reading a file of it decompresses only the blocks that have its content. So
// [http.FileServerFS] serves an archive, also parts of its files, and [fs.WalkDir] lists one.
//
//	f, err := os.Open("photos.tar.pz")
//	…
//	fsys, err := archive.Open(f, size)
//	…
//	http.Handle("/", http.FileServerFS(fsys))
//
// A [Writer] writes archives with a list of their entries, so that opening one reads little. Open
// reads the headers of all others.
//
// [Contents] does the same for a directory of compressed files: it shows what they contain.
//
// Names of an FS are those of the headers, cleaned as if the archive were unpacked into an empty
// directory that nothing can leave: "/a", "./a", "b/../a" and "../a" are all "a". Of several
// entries with one name the last one counts. Directories without an entry exist if something is in
// them. Of a file or link, and a directory of that name with something in it, only the one that
// comes first exists. Symbolic links are followed within the archive; those that lead out of it do
// not exist. Hard links lead to the last file in front of them that has the name.
package archive
