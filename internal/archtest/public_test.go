package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// checkCounts counts the names that each public package exports, and what stands at the top of the
// tree.
func checkCounts(tr *tree) (found []finding) {
	counts, folders := map[string]int{}, map[string]bool{}
	for dir, names := range publicPackages(tr) {
		counts[cmp.Or(dir, "compress")] = len(names)
	}
	for name := range tr.exists {
		first, _, below := strings.Cut(name, "/")
		switch {
		case below && first[0] != '.':
			folders[first] = true
		case strings.HasSuffix(name, "_test.go"):
			counts["root tests"]++
		case path.Ext(name) == ".go":
			counts["root files"]++
		}
	}
	counts["top folders"] = len(folders)
	for key, n := range counts {
		if most := maxCounts[key]; n > most {
			text := fmt.Sprintf("the public line allows %d", most)
			found = append(found, finding{key: key, size: n, text: text})
		}
	}
	return found
}

// checkExported finds exported declarations of public packages that name a type of an internal
// package: as an alias, as the type of a constant or variable, or in the signature of a function or
// method, a field or an embedded type. What a package has an alias of counts as the alias only.
func checkExported(tr *tree) (found []finding) {
	for dir, names := range publicPackages(tr) {
		uses, aliased := map[string][]string{}, map[string]bool{}
		for name, objects := range names {
			for _, object := range objects {
				uses[name] = append(uses[name], internalTypes(object)...)
			}
			for _, use := range uses[name] {
				aliased[use] = aliased[use] || isAlias(objects[0])
			}
		}
		for name, list := range uses {
			at := names[name][0]
			for _, use := range slices.Compact(slices.Sorted(slices.Values(list))) {
				if aliased[use] && !isAlias(at) {
					continue
				}
				name := strings.TrimPrefix(dir+"."+name, ".")
				use = strings.TrimPrefix(use, tr.module+"/")
				text := "an exported declaration names an internal type"
				found = append(found, finding{key: name + " " + use, pos: tr.pos(at.Pos()), text: text})
			}
		}
	}
	return found
}

func isAlias(object types.Object) bool {
	name, ok := object.(*types.TypeName)
	return ok && name.IsAlias()
}

// names has what a package declares by its exported names. Files of different build tags may
// declare one name twice.
type names map[string][]types.Object

// publicPackages returns the packages of the module that other programs may import, by their
// directories.
func publicPackages(tr *tree) map[string]names {
	dirs := tr.packages()
	im := importer{tr, dirs, map[string]*types.Package{}, map[string]names{}}
	for dir, files := range dirs {
		if files[0].ast.Name.Name != "main" && !isInternal(dir) {
			im.Import(path.Join(tr.module, dir))
		}
	}
	maps.DeleteFunc(im.names, func(dir string, _ names) bool { return isInternal(dir) })
	return im.names
}

func isInternal(pkg string) bool { return slices.Contains(strings.Split(pkg, "/"), "internal") }

// importer checks the types of packages, all files of a package at once, whatever their build tags
// are. It knows no packages outside the module: their types are invalid, and errors do not count.
type importer struct {
	tr    *tree
	dirs  map[string][]*file
	done  map[string]*types.Package
	names map[string]names // by directory
}

// Import implements types.Importer.
func (im importer) Import(name string) (*types.Package, error) {
	if im.done[name] != nil {
		return im.done[name], nil
	}
	dir, inside := strings.CutPrefix(name, im.tr.module)
	if dir = strings.TrimPrefix(dir, "/"); !inside || im.dirs[dir] == nil {
		im.done[name] = types.NewPackage(name, path.Base(name))
		im.done[name].MarkComplete()
		return im.done[name], nil
	}
	var files []*ast.File
	for _, f := range im.dirs[dir] {
		if !f.test() {
			files = append(files, f.ast)
		}
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: im, IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {}}
	im.done[name], _ = config.Check(name, im.tr.fset, files, info)
	im.names[dir] = names{}
	for _, f := range files {
		for _, id := range topLevel(f) {
			if id.IsExported() {
				im.names[dir][id.Name] = append(im.names[dir][id.Name], info.Defs[id])
			}
		}
	}
	return im.done[name], nil
}

// topLevel returns the names that a file declares, without those of methods.
func topLevel(f *ast.File) (names []*ast.Ident) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name)
				case *ast.ValueSpec:
					names = append(names, spec.Names...)
				}
			}
		}
	}
	return names
}

// internalType matches a type of an internal package.
var internalType = regexp.MustCompile(`[\w./-]*/internal(/[\w-]+)*\.\w+`)

// internalTypes returns the types of internal packages that an exported declaration names. Of a
// type these are its exported methods, promoted ones included, and its exported fields.
func internalTypes(object types.Object) []string {
	var names strings.Builder
	add := func(t types.Type) { names.WriteString(types.TypeString(t, (*types.Package).Path) + "\n") }
	switch t := object.Type().(type) {
	case *types.Alias:
		if isAlias(object) {
			add(t.Rhs())
		} else {
			add(t)
		}
	case *types.Named:
		if _, ok := object.(*types.TypeName); !ok {
			add(t)
			break
		}
		for method := range types.NewMethodSet(types.NewPointer(t)).Methods() {
			if method.Obj().Exported() {
				add(method.Type())
			}
		}
		addFields(t.Underlying(), add)
	default:
		add(t)
	}
	return internalType.FindAllString(names.String(), -1)
}

// addFields adds a type, and of a struct only its exported fields and what it embeds.
func addFields(t types.Type, add func(types.Type)) {
	s, ok := t.(*types.Struct)
	if !ok {
		add(t)
		return
	}
	for field := range s.Fields() {
		if field.Exported() {
			add(field.Type())
		} else if field.Embedded() {
			addFields(field.Type().Underlying(), add)
		}
	}
}
