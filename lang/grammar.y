/* The grammar of ADL: LALR(1), no conflicts.  reference.md says what it means.

   Lexer: OPEQ is += -= *= /= %= **= @=; IMAG is 2i; after a dot, digits are one INT (t.0.1);
   STR_HEAD STR_MID STR_TAIL are the pieces of a string round its {...}, FMT is the form after ':'.
   Every action is one call of the builder (ast/build.h), which also checks assignable places and
   that activity words stand either alone or with arguments.

   After a syntax error the parser resumes at the end of the statement, of the braces, or at the
   next item; what the lexer leaves out meanwhile is decided by lexer_recover. */

%code requires {
#include "lang/parser.h"
}

%code {
#include "lang/lexer.h"
#include "lang/messages.h"

#define YYMAXDEPTH 400000
/* From the first to the last of N symbols; those that are empty have an empty span. */
#define YYLLOC_DEFAULT(current, rhs, n)                                                            \
    do {                                                                                           \
        (current) = (Span){YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end};                            \
        for (int i_ = 1; i_ <= (n); i_++) {                                                        \
            Span s_ = YYRHSLOC(rhs, i_);                                                           \
            if (s_.begin == s_.end) continue;                                                      \
            if ((current).begin == (current).end) (current).begin = s_.begin;                      \
            (current).end = s_.end;                                                                \
        }                                                                                          \
    } while (0)
#define NO_IDENT ((AstIdent){NULL, {0, 0}})
#define NO_TEXT ((AstText){NULL, 0})
#define B (&parser->build)

static int yylex(YYSTYPE *value, Span *span, Parser *parser);
static void yyerror(Span *span, Parser *parser, const char *text);
}

%define api.pure full
%define api.value.type union
%define api.location.type {Span}
%define parse.error custom
%define parse.lac full
%locations
%param {Parser *parser}
%expect 0

/* ---- reserved words ---- */
%token LET "let" VAR "var" FN "fn" IF "if" ELSE "else" FOR "for" WHILE "while" IN "in"
%token BREAK "break" CONTINUE "continue" RETURN "return" MUT "mut" ASSERT "assert"
%token TRUE "true" FALSE "false" STRUCT "struct" CONSTKW "const" EXPORT "export"
%token EXTERN "extern" USE "use" STRIDED "strided" UNDER "_"
%token GRAD "grad" JVP "jvp" SPLIT "split" DEFERRED "deferred" LAUNCH "launch"
%token A_CONST "Const" A_ACTIVE "Active" A_DUP "Duplicated" A_DUPNN "DuplicatedNoNeed"
%token A_BATCH "BatchDuplicated" A_BATCHNN "BatchDuplicatedNoNeed"
/* ---- words only where they stand: also names ---- */
%token <Sym> BY "by" WHERE "where" TEST "test" BENCH "bench" KERNEL "kernel"
%token <Sym> DERIVATIVE "derivative" SHARED "shared" CHECKPOINT "checkpoint" AS "as"
/* ---- the rest ---- */
%token <Sym> ID
%token <AstText> INT FLOAT IMAG STR STR_HEAD STR_MID STR_TAIL FMT
%token <AstOp> OPEQ
%token DOTDOT ".." ARROW "->" OROR "||" ANDAND "&&" POW "**"
%token EQ "==" NE "!=" LE "<=" GE ">="

%precedence LAMBDA
%left "||"
%left "&&"
%nonassoc "==" "!=" '<' '>' "<=" ">="
%left '+' '-'
%left '*' '/' '%' '@'
%precedence UNARY
%right "**"

%type <AstNode *> item opitem fn_item gen field param ptype activity act width ret rule
%type <AstNode *> type tpart dim block stmt ckpt iter range tyann pattern blocklike ifx
%type <AstNode *> expr sexpr lambda lparam post opfun opkw opt operand path arg annarg fors heads
%type <AstNode *> head sub atom string piece
%type <AstListBuilder *> targs generics gens sizes idents fields fieldl params paraml rules
%type <AstListBuilder *> rparams types tparts ptypes ptypel dims stmts patterns lparams ranges
%type <AstListBuilder *> opts optl arglist args headl subs exprs interp
%type <bool> mutq strq
%type <AstIdent> ident

%%

file: items ;
items: %empty
    | items item { build_item(B, $item, @item); }
    | items error
    ;
item: fn_item
    | EXPORT fn_item { $$ = build_fn_marks(B, $fn_item, true, false); }
    | EXPORT KERNEL fn_item { $$ = build_fn_marks(B, $fn_item, true, true); }
    | KERNEL fn_item { $$ = build_fn_marks(B, $fn_item, false, true); }
    | EXPORT ident '=' opitem ';' { $$ = build_export(B, @$, $ident, NO_IDENT, $opitem); }
    | EXPORT '(' ident[a] ',' ident[b] ')' '=' opitem ';'
        { $$ = build_export(B, @$, $a, $b, $opitem); }
    | EXTERN FN ident '(' params ')' ret ';'
        { $$ = build_extern(B, @$, NO_TEXT, $ident, $params, $ret); }
    | EXTERN STR FN ident '(' params ')' ret ';'
        { $$ = build_extern(B, @$, $STR, $ident, $params, $ret); }
    | DERIVATIVE path generics '(' params ')' ret '{' rules '}'
        { $$ = build_derivative(B, @$, $path, $generics, $params, $ret, $rules); }
    | DERIVATIVE path generics '(' params ')' ret '{' error '}' { yyerrok; $$ = NULL; }
    | STRUCT ident sizes '{' fields '}' { $$ = build_struct(B, @$, $ident, $sizes, $fields); }
    | STRUCT ident sizes '{' error '}' { yyerrok; $$ = NULL; }
    | CONSTKW ident ':' type '=' expr ';'
        { $$ = build_const(B, @$, $ident, NO_IDENT, $type, $expr); }
    | CONSTKW ident '=' expr ';' { $$ = build_const(B, @$, $ident, NO_IDENT, NULL, $expr); }
    | CONSTKW '(' ident[a] ',' ident[b] ')' '=' opitem ';'
        { $$ = build_const(B, @$, $a, $b, NULL, $opitem); }
    | USE path ';' { $$ = build_use(B, @$, $path, NO_IDENT, NULL); }
    | USE path AS ident ';' { $$ = build_use(B, @$, $path, $ident, NULL); }
    | USE path ':' idents ';' { $$ = build_use(B, @$, $path, NO_IDENT, $idents); }
    | TEST STR block { $$ = build_test(B, @$, false, $STR, $block); }
    | BENCH STR block { $$ = build_test(B, @$, true, $STR, $block); }
    ;
opitem: path targs { $$ = build_type_apply(B, @$, $path, $targs); }
    | opfun
    | opfun targs { $$ = build_type_apply(B, @$, $opfun, $targs); }
    | opfun '(' arglist ')' { $$ = build_call(B, @$, $opfun, $arglist); }
    ;
targs: '<' types '>' { $$ = $types; } ;
fn_item: FN ident generics '(' params ')' ret block
        { $$ = build_fn(B, @$, $ident, $generics, $params, $ret, $block); }
    ;
generics: %empty { $$ = NULL; } | '<' gens '>' { $$ = $gens; } ;
gens: gen { $$ = build_list(B, $1); } | gens ',' gen { $$ = build_append(B, $1, $3); } ;
gen: ident { $$ = build_generic(B, @$, $1, NO_IDENT); }
    | ident ':' ident { $$ = build_generic(B, @$, $1, $3); }
    ;
sizes: %empty { $$ = NULL; } | '[' idents ']' { $$ = $idents; } ;
idents: ident { $$ = build_list(B, build_name(B, @1, $1)); }
    | idents ',' ident { $$ = build_append(B, $1, build_name(B, @3, $3)); }
    ;
fields: %empty { $$ = NULL; } | fieldl | fieldl ',' { $$ = $1; } ;
fieldl: field { $$ = build_list(B, $1); } | fieldl ',' field { $$ = build_append(B, $1, $3); } ;
field: ident ':' type { $$ = build_field_decl(B, @$, $ident, $type); } ;
params: %empty { $$ = NULL; } | paraml | paraml ',' { $$ = $1; } ;
paraml: param { $$ = build_list(B, $1); } | paraml ',' param { $$ = build_append(B, $1, $3); } ;
param: ident ':' ptype { $$ = build_param(B, @$, $ident, $ptype, NULL); }
    | ident ':' ptype '=' expr { $$ = build_param(B, @$, $ident, $ptype, $expr); }
    ;
ptype: activity mutq strq type { $$ = build_ptype(B, @$, $activity, $mutq, $strq, $type); } ;
activity: %empty { $$ = NULL; } | act ;
act: A_CONST { $$ = build_activity(B, @$, ACT_CONST, NULL); }
    | A_ACTIVE { $$ = build_activity(B, @$, ACT_ACTIVE, NULL); }
    | A_DUP { $$ = build_activity(B, @$, ACT_DUPLICATED, NULL); }
    | A_DUPNN { $$ = build_activity(B, @$, ACT_DUPLICATED_NONEED, NULL); }
    | A_BATCH width { $$ = build_activity(B, @$, ACT_BATCH, $width); }
    | A_BATCHNN width { $$ = build_activity(B, @$, ACT_BATCH_NONEED, $width); }
    ;
width: '<' INT '>' { $$ = build_int(B, @INT, $INT); }
    | '<' ident '>' { $$ = build_name(B, @ident, $ident); }
    ;
mutq: %empty { $$ = false; } | MUT { $$ = true; } ;
strq: %empty { $$ = false; } | STRIDED { $$ = true; } ;
ret: %empty { $$ = NULL; } | ARROW activity type { $$ = build_ret(B, @$, $activity, $type); } ;
rules: rule { $$ = build_list(B, $1); } | rules rule { $$ = build_append(B, $1, $2); } ;
rule: ident '(' rparams ')' block { $$ = build_rule(B, @$, $ident, $rparams, $block); } ;
rparams: %empty { $$ = NULL; } | patterns ;

/* ---- types ---- */
types: type { $$ = build_list(B, $1); } | types ',' type { $$ = build_append(B, $1, $3); } ;
type: path { $$ = build_type_name(B, @$, $path, NULL); }
    | path '[' dims ']' { $$ = build_type_name(B, @$, $path, $dims); }
    | '[' dims ']' type[elem] { $$ = build_type_array(B, @$, $dims, $elem); }
    | '(' ')' { $$ = build_type_tuple(B, @$, NULL); }
    | '(' tparts ')' { $$ = build_type_tuple(B, @$, $tparts); }
    | FN '(' ptypes ')' ret { $$ = build_type_fn(B, @$, $ptypes, $ret); }
    ;
tparts: tpart { $$ = build_list(B, $1); } | tparts ',' tpart { $$ = build_append(B, $1, $3); } ;
tpart: type { $$ = build_type_part(B, @$, NO_IDENT, NULL, $type); }
    | act type { $$ = build_type_part(B, @$, NO_IDENT, $act, $type); }
    | ident ':' type { $$ = build_type_part(B, @$, $ident, NULL, $type); }
    | ident ':' act type { $$ = build_type_part(B, @$, $ident, $act, $type); }
    ;
ptypes: %empty { $$ = NULL; } | ptypel ;
ptypel: ptype { $$ = build_list(B, $1); } | ptypel ',' ptype { $$ = build_append(B, $1, $3); } ;
dims: dim { $$ = build_list(B, $1); } | dims ',' dim { $$ = build_append(B, $1, $3); } ;
dim: expr | UNDER { $$ = build_dim_any(B, @$); } ;

/* ---- statements ---- */
block: '{' stmts '}' { $$ = build_block(B, @$, $stmts, NULL); }
    | '{' stmts sexpr '}' { $$ = build_block(B, @$, $stmts, $sexpr); }
    | '{' stmts error '}' { yyerrok; $$ = build_poison(build_block(B, @$, $stmts, NULL)); }
    ;
stmts: %empty { $$ = NULL; }
    | stmts stmt { $$ = build_append(B, $1, $2); }
    | stmts error ';' { yyerrok; $$ = build_append(B, $1, build_broken(B, @2)); }
    ;
stmt: LET pattern tyann '=' expr ';' { $$ = build_let(B, @$, false, $pattern, $tyann, $expr); }
    | VAR pattern tyann '=' expr ';' { $$ = build_let(B, @$, true, $pattern, $tyann, $expr); }
    | SHARED ident ':' type ';' { $$ = build_shared(B, @$, $ident, $type); }
    | post '=' expr ';' { $$ = build_assign(B, @$, $post, AST_OP_NONE, $expr); }
    | post OPEQ expr ';' { $$ = build_assign(B, @$, $post, $OPEQ, $expr); }
    | sexpr ';' { $$ = build_expr_stmt(B, @$, $sexpr); }
    | ASSERT expr ';' { $$ = build_assert(B, @$, $expr, NULL); }
    | ASSERT expr[cond] ',' expr[message] ';' { $$ = build_assert(B, @$, $cond, $message); }
    | RETURN ';' { $$ = build_return(B, @$, NULL); }
    | RETURN expr ';' { $$ = build_return(B, @$, $expr); }
    | BREAK ';' { $$ = build_break(B, @$); }
    | CONTINUE ';' { $$ = build_continue(B, @$); }
    | blocklike { $$ = build_expr_stmt(B, @$, $blocklike); }
    | FOR pattern IN iter ckpt block { $$ = build_for(B, @$, $pattern, $iter, $ckpt, $block); }
    | WHILE expr ckpt block { $$ = build_while(B, @$, $expr, $ckpt, $block); }
    ;
ckpt: %empty { $$ = NULL; } | CHECKPOINT '(' expr ')' { $$ = $expr; } ;
iter: range | expr ;
range: expr[a] DOTDOT expr[b] { $$ = build_range(B, @$, $a, $b, NULL); }
    | expr[a] DOTDOT expr[b] BY expr[step] { $$ = build_range(B, @$, $a, $b, $step); }
    ;
tyann: %empty { $$ = NULL; }
    | ':' activity type { $$ = build_type_part(B, @$, NO_IDENT, $activity, $type); }
    ;
pattern: ident { $$ = build_pat_name(B, @$, $ident); }
    | UNDER { $$ = build_pat_skip(B, @$); }
    | '(' patterns ')' { $$ = build_pat_tuple(B, @$, $patterns); }
    ;
patterns: pattern { $$ = build_list(B, $1); }
    | patterns ',' pattern { $$ = build_append(B, $1, $3); }
    ;
blocklike: ifx | block ;
ifx: IF expr block { $$ = build_if(B, @$, $expr, $block, NULL); }
    | IF expr block[then] ELSE block[other] { $$ = build_if(B, @$, $expr, $then, $other); }
    | IF expr block[then] ELSE ifx[other] { $$ = build_if(B, @$, $expr, $then, $other); }
    ;

/* ---- expressions: sexpr may not start with a block-like form ---- */
expr: blocklike | post | opfun
    | expr "||" expr { $$ = build_binary(B, @$, AST_OP_OR, $1, $3); }
    | expr "&&" expr { $$ = build_binary(B, @$, AST_OP_AND, $1, $3); }
    | expr "==" expr { $$ = build_binary(B, @$, AST_OP_EQ, $1, $3); }
    | expr "!=" expr { $$ = build_binary(B, @$, AST_OP_NE, $1, $3); }
    | expr '<' expr { $$ = build_binary(B, @$, AST_OP_LT, $1, $3); }
    | expr '>' expr { $$ = build_binary(B, @$, AST_OP_GT, $1, $3); }
    | expr "<=" expr { $$ = build_binary(B, @$, AST_OP_LE, $1, $3); }
    | expr ">=" expr { $$ = build_binary(B, @$, AST_OP_GE, $1, $3); }
    | expr '+' expr { $$ = build_binary(B, @$, AST_OP_ADD, $1, $3); }
    | expr '-' expr { $$ = build_binary(B, @$, AST_OP_SUB, $1, $3); }
    | expr '*' expr { $$ = build_binary(B, @$, AST_OP_MUL, $1, $3); }
    | expr '/' expr { $$ = build_binary(B, @$, AST_OP_DIV, $1, $3); }
    | expr '%' expr { $$ = build_binary(B, @$, AST_OP_MOD, $1, $3); }
    | expr '@' expr { $$ = build_binary(B, @$, AST_OP_MATMUL, $1, $3); }
    | expr "**" expr { $$ = build_binary(B, @$, AST_OP_POW, $1, $3); }
    | '-' expr[arg] %prec UNARY { $$ = build_unary(B, @$, AST_OP_NEG, $arg); }
    | '!' expr[arg] %prec UNARY { $$ = build_unary(B, @$, AST_OP_NOT, $arg); }
    | lambda
    ;
sexpr: post | opfun
    | sexpr "||" expr { $$ = build_binary(B, @$, AST_OP_OR, $1, $3); }
    | sexpr "&&" expr { $$ = build_binary(B, @$, AST_OP_AND, $1, $3); }
    | sexpr "==" expr { $$ = build_binary(B, @$, AST_OP_EQ, $1, $3); }
    | sexpr "!=" expr { $$ = build_binary(B, @$, AST_OP_NE, $1, $3); }
    | sexpr '<' expr { $$ = build_binary(B, @$, AST_OP_LT, $1, $3); }
    | sexpr '>' expr { $$ = build_binary(B, @$, AST_OP_GT, $1, $3); }
    | sexpr "<=" expr { $$ = build_binary(B, @$, AST_OP_LE, $1, $3); }
    | sexpr ">=" expr { $$ = build_binary(B, @$, AST_OP_GE, $1, $3); }
    | sexpr '+' expr { $$ = build_binary(B, @$, AST_OP_ADD, $1, $3); }
    | sexpr '-' expr { $$ = build_binary(B, @$, AST_OP_SUB, $1, $3); }
    | sexpr '*' expr { $$ = build_binary(B, @$, AST_OP_MUL, $1, $3); }
    | sexpr '/' expr { $$ = build_binary(B, @$, AST_OP_DIV, $1, $3); }
    | sexpr '%' expr { $$ = build_binary(B, @$, AST_OP_MOD, $1, $3); }
    | sexpr '@' expr { $$ = build_binary(B, @$, AST_OP_MATMUL, $1, $3); }
    | sexpr "**" expr { $$ = build_binary(B, @$, AST_OP_POW, $1, $3); }
    | '-' expr %prec UNARY { $$ = build_unary(B, @$, AST_OP_NEG, $expr); }
    | '!' expr %prec UNARY { $$ = build_unary(B, @$, AST_OP_NOT, $expr); }
    | lambda
    ;
lambda: '|' lparams '|' expr %prec LAMBDA { $$ = build_lambda(B, @$, $lparams, $expr); } ;
lparams: lparam { $$ = build_list(B, $1); } | lparams ',' lparam { $$ = build_append(B, $1, $3); } ;
lparam: pattern { $$ = build_lambda_param(B, @$, $pattern, NULL); }
    | pattern ':' type { $$ = build_lambda_param(B, @$, $pattern, $type); }
    ;

post: atom
    | post[f] '(' arglist ')' { $$ = build_call(B, @$, $f, $arglist); }
    | post[a] '[' subs ']' { $$ = build_index(B, @$, $a, $subs); }
    | post[a] '.' ident { $$ = build_field(B, @$, $a, $ident); }
    | post[a] '.' INT { $$ = build_part(B, @$, $a, $INT); }
    | opfun '(' arglist ')' { $$ = build_call(B, @$, $opfun, $arglist); }
    | LAUNCH opts operand '(' ranges ';' arglist ')'
        { $$ = build_launch(B, @$, $opts, $operand, $ranges, $arglist); }
    ;
ranges: range { $$ = build_list(B, $1); } | ranges ',' range { $$ = build_append(B, $1, $3); } ;
opfun: opkw opts operand { $$ = build_deriv(B, @$, $opkw, $opts, $operand); } ;
opkw: GRAD { $$ = build_deriv_op(B, @$, DERIV_GRAD, false); }
    | JVP { $$ = build_deriv_op(B, @$, DERIV_JVP, false); }
    | SPLIT { $$ = build_deriv_op(B, @$, DERIV_SPLIT, false); }
    | DEFERRED GRAD { $$ = build_deriv_op(B, @$, DERIV_GRAD, true); }
    | DEFERRED JVP { $$ = build_deriv_op(B, @$, DERIV_JVP, true); }
    | DEFERRED SPLIT { $$ = build_deriv_op(B, @$, DERIV_SPLIT, true); }
    ;
opts: %empty { $$ = NULL; } | '[' optl ']' { $$ = $optl; } ;
optl: opt { $$ = build_list(B, $1); } | optl ',' opt { $$ = build_append(B, $1, $3); } ;
opt: ident { $$ = build_option(B, @$, $ident, NULL); }
    | ident '(' arglist ')' { $$ = build_option(B, @$, $ident, $arglist); }
    ;
operand: path | '(' expr ')' { $$ = build_paren(B, @$, $expr); } | opfun ;
path: ident { $$ = build_name(B, @$, $ident); }
    | path[base] '.' ident { $$ = build_field(B, @$, $base, $ident); }
    ;

arglist: %empty { $$ = build_list(B, NULL); }
    | args | args ',' { $$ = $1; }
    | fors { $$ = build_list(B, $1); }
    | args ',' fors { $$ = build_append(B, $1, $3); }
    ;
args: arg { $$ = build_list(B, $1); } | args ',' arg { $$ = build_append(B, $1, $3); } ;
arg: expr { $$ = build_arg(B, @$, NO_IDENT, $expr); }
    | ident ':' expr { $$ = build_arg(B, @$, $ident, $expr); }
    | annarg { $$ = build_arg(B, @$, NO_IDENT, $annarg); }
    | ident ':' annarg { $$ = build_arg(B, @$, $ident, $annarg); }
    ;
annarg: act { $$ = build_act_arg(B, @$, $act, NULL); }
    | act '(' args ')' { $$ = build_act_arg(B, @$, $act, $args); }
    | A_BATCH '(' args ')'
        { $$ = build_act_arg(B, @$, build_activity(B, @1, ACT_BATCH, NULL), $args); }
    | A_BATCHNN '(' args ')'
        { $$ = build_act_arg(B, @$, build_activity(B, @1, ACT_BATCH_NONEED, NULL), $args); }
    ;
fors: FOR heads ':' expr { $$ = build_comp_body(B, @$, $heads, $expr); } ;
heads: headl { $$ = build_comp(B, @$, $headl, NULL); }
    | headl WHERE expr { $$ = build_comp(B, @$, $headl, $expr); }
    ;
headl: head { $$ = build_list(B, $1); } | headl ',' head { $$ = build_append(B, $1, $3); } ;
head: ident { $$ = build_head(B, @$, build_pat_name(B, @1, $ident), NULL); }
    | pattern IN iter { $$ = build_head(B, @$, $pattern, $iter); }
    ;
subs: sub { $$ = build_list(B, $1); } | subs ',' sub { $$ = build_append(B, $1, $3); } ;
sub: expr
    | expr[a] DOTDOT expr[b] { $$ = build_range(B, @$, $a, $b, NULL); }
    | expr[a] DOTDOT expr[b] BY expr[step] { $$ = build_range(B, @$, $a, $b, $step); }
    | expr[a] DOTDOT { $$ = build_range(B, @$, $a, NULL, NULL); }
    | DOTDOT expr[b] { $$ = build_range(B, @$, NULL, $b, NULL); }
    | DOTDOT { $$ = build_range(B, @$, NULL, NULL, NULL); }
    ;

atom: ident { $$ = build_name(B, @$, $ident); }
    | INT { $$ = build_int(B, @$, $INT); }
    | FLOAT { $$ = build_float(B, @$, $FLOAT); }
    | IMAG { $$ = build_imag(B, @$, $IMAG); }
    | TRUE { $$ = build_bool(B, @$, true); }
    | FALSE { $$ = build_bool(B, @$, false); }
    | string
    | '(' ')' { $$ = build_tuple(B, @$, NULL, NULL); }
    | '(' expr ')' { $$ = build_paren(B, @$, $expr); }
    | '(' expr ',' exprs ')' { $$ = build_tuple(B, @$, $expr, $exprs); }
    | '[' ']' { $$ = build_array(B, @$, NULL); }
    | '[' exprs ']' { $$ = build_array(B, @$, $exprs); }
    | '[' exprs ',' ']' { $$ = build_array(B, @$, $exprs); }
    | '[' fors ']' { $$ = build_widen($fors, @$); }
    ;
exprs: expr { $$ = build_list(B, $1); } | exprs ',' expr { $$ = build_append(B, $1, $3); } ;
string: STR { $$ = build_str(B, @$, $STR, NULL, NO_TEXT); }
    | STR_HEAD interp STR_TAIL { $$ = build_str(B, @$, $STR_HEAD, $interp, $STR_TAIL); }
    ;
interp: piece { $$ = build_list(B, $1); }
    | interp STR_MID piece
        { $$ = build_append(B, build_append(B, $1, build_str_text(B, @2, $2)), $3); }
    ;
piece: expr { $$ = build_str_part(B, @$, $expr, NO_TEXT); }
    | expr FMT { $$ = build_str_part(B, @$, $expr, $FMT); }
    ;

ident: ID { $$ = (AstIdent){$1, @1}; }
    | BY { $$ = (AstIdent){$1, @1}; }
    | WHERE { $$ = (AstIdent){$1, @1}; }
    | TEST { $$ = (AstIdent){$1, @1}; }
    | BENCH { $$ = (AstIdent){$1, @1}; }
    | KERNEL { $$ = (AstIdent){$1, @1}; }
    | DERIVATIVE { $$ = (AstIdent){$1, @1}; }
    | SHARED { $$ = (AstIdent){$1, @1}; }
    | CHECKPOINT { $$ = (AstIdent){$1, @1}; }
    | AS { $$ = (AstIdent){$1, @1}; }
    ;

%%

/* The token with the symbol KIND; messages speak of tokens. */
static int token_of_symbol(yysymbol_kind_t kind) {
    for (int token = 0; token <= YYMAXUTOK; token++)
        if (YYTRANSLATE(token) == kind && kind != YYSYMBOL_YYUNDEF) return token;
    return YYUNDEF;
}

static int yyreport_syntax_error(const yypcontext_t *context, Parser *parser) {
    yysymbol_kind_t kinds[YYNTOKENS];
    int expected[YYNTOKENS];
    int n = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
    if (n < 0) return n;
    for (int i = 0; i < n; i++) expected[i] = token_of_symbol(kinds[i]);
    int token = token_of_symbol(yypcontext_token(context));
    Span span = *yypcontext_location(context);
    message_unexpected(parser, token, span, expected, n);
    lexer_recover(parser, token, span);
    return 0;
}

/* Called for an exhausted stack only. */
static void yyerror(Span *span, Parser *parser, const char *text) {
    (void)text;
    message_too_deep(parser, *span);
    lexer_stop(parser);
}

static int yylex(YYSTYPE *value, Span *span, Parser *parser) {
    return lexer_next(parser, value, span);
}

AstFile *parse_file_comments(ParseSession *session, const SourceFile *file,
                             ParseComments *comments) {
    Parser parser = {.session = session, .file = file, .comments = comments};
    build_init(&parser.build, session, comments);
    lexer_init(&parser);
    yyparse(&parser);
    AstFile *result = build_file(&parser.build, (Span){file->base, file->base + file->len});
    build_free(&parser.build);
    lexer_free(&parser);
    return result;
}

AstFile *parse_file(ParseSession *session, const SourceFile *file) {
    return parse_file_comments(session, file, NULL);
}
