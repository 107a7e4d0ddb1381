/* Kernels for NVIDIA GPUs, from outside. */
#ifndef ADL_CODEGEN_PTX_GENERATE_H
#define ADL_CODEGEN_PTX_GENERATE_H

#include "codegen/codegen.h"

/* The exports of IR, which are kernels lowered for a device, as the entries of one PTX text. */
bool ptx_emit(const IrModule *ir, const CodegenOptions *options, StrBuf *out, char **error);

#endif
