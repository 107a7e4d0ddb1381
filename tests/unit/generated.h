/* Generated code in tests: the code generator, and the runtime's functions for it. */
#ifndef ADL_TESTS_UNIT_GENERATED_H
#define ADL_TESTS_UNIT_GENERATED_H

#include "base/strbuf.h"
#include "codegen/codegen.h"

/* From the file that the environment's ADL_CODEGEN names, else from the build's folder. */
const CodegenApi *codegen_api(void);
/* MODULE's code, with this program's runtime; a failing test otherwise. */
CodegenCode *codegen_load(const IrModule *module, const CodegenOptions *options);
/* What `print` in generated code wrote. */
extern StrBuf codegen_printed;

#endif
