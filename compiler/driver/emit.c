#include "driver/emit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ast/parse.h"
#include "driver/carried.h"
#include "driver/driver.h"
#include "driver/output.h"
#include "emit/header.h"

static const Span nowhere = {0, 0};

static int write_text(Session *s, const char *path, StrBuf *text) {
    bool good = output_write(s, path, text->text ? text->text : "", text->len);
    strbuf_free(text);
    return good ? STATUS_DONE : STATUS_USAGE;
}

/* Where a text goes: -o, else standard output. */
static const char *text_output(const Session *s) {
    return s->options.output ? s->options.output : "-";
}

int emit_ast(Session *s, const SourceFile *file) {
    ParseSession parse = {s->arena, s->interner, s->diags, 1};
    AstFile *ast = parse_file(&parse, file);
    if (diags_errors(s->diags)) return STATUS_ERROR;
    StrBuf text = {0};
    ast_dump(&text, &ast->node);
    return write_text(s, text_output(s), &text);
}

int emit_text(Unit *unit) {
    StrBuf text = {0};
    if (unit->module) ir_print_module(&text, unit->module);
    else
        for (uint32_t k = 0; k < unit->program->instances.len; k++)
            instance_dump(&text, unit->program->instances.at[k]);
    return write_text(unit->session, text_output(unit->session), &text);
}

static int write_header(Unit *unit, const char *path) {
    StrBuf text = {0};
    /* The include guard comes from the header's name, or from the source's where it has none. */
    const char *name = strcmp(path, "-") ? path : unit->file->path;
    emit_header(&text, unit->module, name, unit->session->options.prefix);
    return write_text(unit->session, path, &text);
}

static int generate(Unit *unit, const CodegenApi *codegen, CodegenKind kind, const char *path) {
    char *error = NULL;
    StrBuf bytes = {0};
    CodegenOptions options = unit_codegen_options(unit);
    StrBuf carried = {0};
    if (kind == CODEGEN_OBJECT && !unit->meets_requests) carried_write(&carried, unit);
    options.carried = carried.text;
    options.carried_len = carried.len;
    bool good = codegen->emit(unit->module, &options, kind, &bytes, &error);
    strbuf_free(&carried);
    if (!good) {
        bool told = diags_errors(unit->session->diags) > 0; /* by what the generator called */
        if (!told) diag_report(unit->session->diags, DIAG_INTERNAL, nowhere, "%s", error);
        free(error);
        strbuf_free(&bytes);
        return told ? STATUS_ERROR : STATUS_FAULT;
    }
    return write_text(unit->session, path, &bytes);
}

static int generate_object(Unit *unit, const CodegenApi *codegen, TextList *objects) {
    const Session *s = unit->session;
    const char *folder = getenv("TMPDIR");
    const char *path =
        s->options.save_temps
            ? output_name(s, unit->file->path, ".o")
            : arena_printf(s->arena, "%s/dslc-%ld-%s%u.o", folder ? folder : "/tmp", (long)getpid(),
                           unit->meets_requests ? "d" : "", objects->len);
    vec_push(objects, path);
    return generate(unit, codegen, CODEGEN_OBJECT, path);
}

/* What a kernel cannot have on a device shows when it is generated, and is the source's fault. */
static int generate_ptx(Unit *unit, const CodegenApi *codegen) {
    Session *s = unit->session;
    char *error = NULL;
    StrBuf text = {0};
    CodegenOptions options = unit_codegen_options(unit);
    if (!unit->module->exports.len) {
        diag_report(s->diags, DIAG_NO_KERNEL, nowhere, "%s exports no kernel", unit->file->path);
        return STATUS_ERROR;
    }
    if (codegen->emit(unit->module, &options, CODEGEN_PTX, &text, &error))
        return write_text(s, output_name(s, unit->file->path, ".ptx"), &text);
    diag_report(s->diags, DIAG_DEVICE, nowhere, "%s", error);
    free(error);
    strbuf_free(&text);
    return STATUS_ERROR;
}

int emit_code(Unit *unit, const CodegenApi *codegen, TextList *objects) {
    Session *s = unit->session;
    const Options *o = &s->options;
    const char *source = unit->file->path;
    if (o->header) {
        int status = write_header(unit, o->header);
        if (status != STATUS_DONE) return status;
    }
    int status;
    switch ((EmitKind)o->emit) {
    case EMIT_OBJ: {
        const char *path = output_name(s, source, ".o");
        status = generate(unit, codegen, CODEGEN_OBJECT, path);
        if (status == STATUS_DONE && o->depfile && !output_depfile(s, path, unit->paths->stdlib))
            status = STATUS_USAGE;
        return status;
    }
    case EMIT_ASM: return generate(unit, codegen, CODEGEN_ASSEMBLY, output_name(s, source, ".s"));
    case EMIT_LLVM: return generate(unit, codegen, CODEGEN_LLVM, output_name(s, source, ".ll"));
    case EMIT_PTX: return generate_ptx(unit, codegen);
    case EMIT_HEADER: return write_header(unit, output_name(s, source, ".h"));
    case EMIT_DEFAULT: return generate_object(unit, codegen, objects);
    default: break;
    }
    diag_report(s->diags, DIAG_NOT_IMPLEMENTED, nowhere,
                "this kind of output is not supported yet");
    return STATUS_USAGE;
}
