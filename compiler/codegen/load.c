/* Opens the code generator.  Stands in the compiler proper, not in the shared object. */
#include "codegen/codegen.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef const CodegenApi *(*ApiFunction)(void);

static char *failure(const char *path, const char *what) {
    StrBuf text = {0};
    strbuf_printf(&text, "the code generator %s cannot be used: %s", path, what);
    return text.text;
}

const CodegenApi *codegen_open(const char *path, char **error) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        *error = failure(path, dlerror());
        return NULL;
    }
    void *symbol = dlsym(object, "adl_codegen_api");
    ApiFunction api;
    if (!symbol) {
        *error = failure(path, "it is no code generator");
        return NULL;
    }
    memcpy(&api, &symbol, sizeof api);
    if (api()->size != sizeof(CodegenApi)) {
        *error = failure(path, "it is of another version");
        return NULL;
    }
    return api();
}
