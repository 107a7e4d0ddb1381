" Syntax of ADL
if exists("b:current_syntax")
  finish
endif

syntax keyword adlKeyword let var fn struct const export extern use mut strided assert in as by
syntax keyword adlKeyword where test bench kernel derivative shared checkpoint
syntax keyword adlConditional if else
syntax keyword adlRepeat for while
syntax keyword adlStatement break continue return
syntax keyword adlOperator grad jvp split deferred launch
syntax keyword adlActivity Const Active Duplicated DuplicatedNoNeed
syntax keyword adlActivity BatchDuplicated BatchDuplicatedNoNeed
syntax keyword adlBoolean true false
syntax keyword adlConstant inf nan pi
syntax keyword adlSkip _
syntax keyword adlType bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 str index

syntax match adlNumber "\<\d[0-9_]*\%(\.\d[0-9_]*\)\?\%([eE][+-]\?\d[0-9_]*\)\?\w*"
syntax match adlNumber "\<0[xX][0-9a-fA-F_]\+\%(\.[0-9a-fA-F_]\+\)\?\%([pP][+-]\?\d\+\)\?\w*"
syntax match adlEscape contained "\\[ntr\\\"0]\|\\x\x\x\|{{\|}}"
syntax region adlInterpolation contained start="{" end="}" oneline contains=adlNumber,adlType
syntax region adlString start=+"+ skip=+\\\\\|\\"+ end=+"+ oneline
      \ contains=adlEscape,adlInterpolation
syntax match adlFunction "\%(\<fn\s\+\)\@<=\w\+"

syntax match adlComment "//.*$" contains=adlTodo
syntax match adlDoc "///\%(/\)\@!.*$" contains=adlTodo
syntax region adlComment start="/\*" end="\*/" contains=adlComment,adlTodo
syntax keyword adlTodo contained TODO FIXME

highlight default link adlKeyword Keyword
highlight default link adlConditional Conditional
highlight default link adlRepeat Repeat
highlight default link adlStatement Statement
highlight default link adlOperator Operator
highlight default link adlActivity StorageClass
highlight default link adlBoolean Boolean
highlight default link adlConstant Constant
highlight default link adlSkip Special
highlight default link adlType Type
highlight default link adlNumber Number
highlight default link adlEscape SpecialChar
highlight default link adlInterpolation Special
highlight default link adlString String
highlight default link adlFunction Function
highlight default link adlComment Comment
highlight default link adlDoc SpecialComment
highlight default link adlTodo Todo

setlocal commentstring=//\ %s comments=s1:/*,mb:*,ex:*/,:///,://
setlocal shiftwidth=4 expandtab textwidth=100

let b:current_syntax = "adl"
