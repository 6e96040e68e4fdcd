module github.com/gopz/compress

go 1.26
