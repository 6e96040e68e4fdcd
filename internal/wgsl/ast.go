package wgsl

// Module is a parsed kernel.
type Module struct {
	Decls []*Decl // constants, variables, buffers and functions, in the order of the text
	Main  *Func
	Size  int // invocations of a workgroup
}

// Decl is a declaration outside functions: a variable or a function. The other field is nil.
type Decl struct {
	Var  *Var
	Func *Func
}

// Space says where a variable lives.
type Space uint8

const (
	Const     Space = iota // a constant of the module
	Let                    // a value with a name
	Local                  // a variable of a function
	Param                  // a parameter
	Private                // a variable of the module, one for each invocation
	Workgroup              // a variable of the module, one for each workgroup
	Storage                // a buffer
)

// Var is a variable or a constant.
type Var struct {
	Name    string
	Type    Type
	Space   Space
	Line    int
	Value   *Expr  // of a Const
	Builtin string // of a Param of main
	Binding int    // of Storage
	Write   bool   // Storage: not read-only

	positive bool // certainly above 0
}

// fixed reports whether v cannot be assigned.
func (v *Var) fixed() bool { return v.Space <= Let || v.Space == Param }

// Func is a function.
type Func struct {
	Name   string
	Params []*Var
	Result Type // the zero Type if it has none
	Body   []*Stmt
	Line   int
}

// StmtKind is the kind of a statement.
type StmtKind uint8

const (
	If       StmtKind = iota // X, Body, Else
	For                      // Init, X, Step, Body; Init, X and Step may be nil
	Return                   // X may be nil
	Break                    //
	Continue                 //
	Declare                  // Var; X is nil for a zero value
	Assign                   // Target Op X; Op is "=" or an operator
	Step                     // Target Op; Op is "++" or "--"
	CallStmt                 // X is a Call without a value
	Atomic                   // Op is the function, Target the atomic, X the argument
	Barrier                  // workgroupBarrier
	Uniform                  // Var = workgroupUniformLoad(Target)
)

// Stmt is a statement.
type Stmt struct {
	Kind       StmtKind
	Line       int
	Op         string
	Var        *Var
	Target     *Expr
	X          *Expr
	Init, Step *Stmt
	Body, Else []*Stmt
	ElseIf     bool // Else is one If that follows the else without a brace
}

// ExprKind is the kind of an expression.
type ExprKind uint8

const (
	Literal   ExprKind = iota // Text; N is its value, 1 for true
	Ref                       // Var
	Index                     // Args[0] [ Args[1] ]
	Member                    // component N of the vector Args[0]
	Unary                     // Op Args[0]
	Binary                    // Args[0] Op Args[1]
	Call                      // Func(Args)
	Builtin                   // the built-in function Op of Args
	Construct                 // Type(Args); no Args for a zero value
)

// Expr is an expression.
type Expr struct {
	Kind ExprKind
	Type Type
	Line int
	Op   string
	Text string
	N    uint32
	Var  *Var
	Func *Func
	Args []*Expr

	value    bool // in parentheses: not assignable, no pointer
	positive bool // certainly above 0
}

// Root returns the variable that x is, or is a part of; nil for none.
func (x *Expr) Root() *Var {
	switch {
	case x.value:
		return nil
	case x.Kind == Ref:
		return x.Var
	case x.Kind == Index, x.Kind == Member:
		return x.Args[0].Root()
	}
	return nil
}
