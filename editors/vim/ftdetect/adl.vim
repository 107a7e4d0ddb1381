autocmd BufNewFile,BufRead *.adl setfiletype adl
