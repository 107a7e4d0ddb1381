# The tables, the lexer and the grammar of the language.  The generated files are built, and shipped
# in the tarball; re2c and Bison are needed in a checkout only.
noinst_HEADERS += \
  %D%/builtins.def %D%/diags.def %D%/keywords.def %D%/math.def %D%/operators.def \
  %D%/options.def %D%/scalars.def

libdslc_la_SOURCES += \
  %D%/lexer.c %D%/lexer.h %D%/grammar.c %D%/grammar.h %D%/messages.c %D%/messages.h %D%/parser.h
BUILT_SOURCES += %D%/grammar.h
MAINTAINERCLEANFILES += %D%/lexer.c %D%/grammar.c %D%/grammar.h
EXTRA_DIST += %D%/lexer.re %D%/grammar.y

RE2C_FLAGS = --input-encoding utf8 -W --no-generation-date -i
BISON_FLAGS = -Wcounterexamples -Werror --no-lines

# re2c finds included rules beside the source, and then in its own share folder.
%D%/lexer.c: %D%/lexer.re
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	  $(RE2C) $(RE2C_FLAGS) -o $@.tmp $(top_srcdir)/lang/lexer.re && mv -f $@.tmp $@
%D%/grammar.c: %D%/grammar.y
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	  $(BISON) $(BISON_FLAGS) --header=$(@D)/grammar.h -o $@ $(top_srcdir)/lang/grammar.y
%D%/grammar.h: %D%/grammar.c
	@test -f $@ || { rm -f $< && $(MAKE) $(AM_MAKEFLAGS) $<; }
	@touch $@
%D%/lexer.lo: %D%/grammar.h
# Bison's own code: some compilers see a use before a value where there is none.
%D%/grammar.lo: AM_CFLAGS += $(GENERATED_CFLAGS)
