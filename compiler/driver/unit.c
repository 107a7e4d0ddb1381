#include "driver/unit.h"

#include <string.h>

#include "ad/ad.h"
#include "driver/assemble.h"
#include "driver/dirs.h"
#include "driver/driver.h"
#include "lower/lower.h"
#include "opt/device.h"
#include "opt/opt.h"

static const Span nowhere = {0, 0};

/* ---- printing and verifying between passes ---- */

static bool wanted(const TextList *names, const char *name) {
    for (uint32_t k = 0; k < names->len; k++)
        if (!strcmp(names->at[k], name) || !strcmp(names->at[k], "all")) return true;
    return false;
}

/* Stress builds verify always. */
static bool verifies(const Options *options) {
#ifdef ADL_STRESS
    return true;
#endif
    return options->verify;
}

static void after_pass(void *data, const char *pass, IrModule *module) {
    Unit *unit = data;
    const Options *options = &unit->session->options;
    timing_note(unit->timing, pass);
    if (wanted(&options->print_after, pass)) {
        StrBuf text = {0};
        ir_print_module(&text, module);
        fprintf(stderr, "; after %s\n%s", pass, text.text ? text.text : "");
        strbuf_free(&text);
    }
    if (!verifies(options)) return;
    const char *fault = ir_verify(module);
    if (fault)
        diag_report(unit->session->diags, DIAG_INTERNAL, nowhere, "after '%s': %s", pass, fault);
    timing_note(unit->timing, "verify");
}

/* ---- stages ---- */

static uint32_t wanted_roots(const Unit *unit) {
    if (unit->meets_requests) return 1u << ROOT_OPEN;
    switch (unit->session->options.command) {
    case COMMAND_RUN: return 1u << ROOT_MAIN;
    case COMMAND_TEST: return 1u << ROOT_TEST;
    case COMMAND_BENCH: return 1u << ROOT_BENCH;
    case COMMAND_GRADCHECK: return 1u << ROOT_CHECK;
    case COMMAND_CHECK:
    case COMMAND_EXPLAIN:
        return 1u << ROOT_EXPORT | 1u << ROOT_MAIN | 1u << ROOT_TEST | 1u << ROOT_BENCH;
    default: break;
    }
    uint32_t main = unit->session->options.emit == EMIT_PTX ? 0 : 1u << ROOT_MAIN;
    return 1u << ROOT_EXPORT | main;
}

bool unit_is_separate(const Unit *unit) {
    const Options *o = &unit->session->options;
    return o->command == COMMAND_COMPILE && o->emit == EMIT_OBJ && !unit->meets_requests;
}

/* For C programs: in an executable nobody calls what is exported. */
static bool makes_objects(const Options *o) {
    if (o->command != COMMAND_COMPILE) return false;
    bool shared = o->emit == EMIT_DEFAULT && (o->shared || o->relocatable || o->header);
    return shared || o->emit == EMIT_OBJ || o->emit == EMIT_ASM || o->emit == EMIT_LLVM ||
           o->emit == EMIT_HEADER;
}

int unit_check(Unit *unit) {
    Session *s = unit->session;
    CheckOptions options = {.include_dirs = s->options.include_dirs.at,
                            .ninclude_dirs = s->options.include_dirs.len,
                            .stdlib_dir = unit->paths->stdlib,
                            .device = s->options.emit == EMIT_PTX,
                            .objects = makes_objects(&s->options),
                            .open = unit_is_separate(unit),
                            .given = unit->given,
                            .ngiven = unit->ngiven,
                            .remarks = s->options.remarks.len > 0};
    if (!options.stdlib_dir) {
        diag_report(s->diags, DIAG_INSTALLATION, nowhere, "the standard library was not found");
        return STATUS_USAGE;
    }
    unit->checker = checker_new(s->arena, s->interner, &s->sources, s->diags, &options);
    unit->program = check_program(unit->checker, unit->file, wanted_roots(unit));
    return STATUS_DONE;
}

/* With --target=ptx, but for --emit=ptx, which writes what the program loads itself. */
static bool is_for_device(const Options *o) {
    return o->target && !strncmp(o->target, "ptx", 3) && o->emit != EMIT_PTX;
}

/* ---- a module, and that of what it launches ---- */

static void each_module(Unit *unit, void (*stage)(Unit *unit, IrModule *module)) {
    stage(unit, unit->module);
    if (unit->module->kernels && !diags_errors(unit->session->diags))
        stage(unit, unit->module->kernels);
}

static void lowered(Unit *unit, IrModule *module) {
    if (!diags_errors(unit->session->diags)) after_pass(unit, "lower", module);
}

/* On a device shadows must be added to where they stand, which is the optimiser's work. */
static int level_of(const Unit *unit, const IrModule *module) {
    int level = unit->session->options.opt_level;
    return module->device && level < 1 ? 1 : level;
}

static void prepare(Unit *unit, IrModule *module) {
    OptHooks hooks = {after_pass, unit};
    opt_before_ad(module, level_of(unit, module), &hooks);
}

/* What only a device cannot have is no error: what needs a derivative that was not made is launched
   on the CPU. */
static void leave_kernels(IrModule *module) {
    bool *whole = ad_find_whole(module->kernels);
    for (uint32_t i = 0; i < module->funcs.len; i++) {
        const IrFunc *func = module->funcs.at[i];
        IrLaunch *launch = func->launch;
        if (!launch || !launch->func || whole[launch->func->id]) continue;
        IrUnlaunched unlaunched = {func->pos, launch->name,
                                   "its derivative cannot be made for a device"};
        vec_push(&module->unlaunched, unlaunched);
        launch->func->flags &= ~(uint32_t)IR_FUNC_ROOT;
        launch->func = NULL;
    }
}

static void differentiate(Unit *unit, IrModule *module) {
    Session *s = unit->session;
    bool whole = module == unit->module;
    Diags *diags = whole ? s->diags : diags_new(s->arena, &s->sources);
    ad_run(module, diags);
    bool good = !diags_errors(diags);
    if (good) after_pass(unit, "differentiate", module);
    else if (!whole) leave_kernels(unit->module);
    if (!whole) diags_free(diags);
}

static void optimise(Unit *unit, IrModule *module) {
    OptHooks hooks = {after_pass, unit};
    opt_after_ad(module, level_of(unit, module), &hooks);
}

int unit_lower(Unit *unit) {
    Session *s = unit->session;
    LowerOptions options = {.unchecked = s->options.checks == CHECKS_NONE,
                            .check_overflow = s->options.checks == CHECKS_ALL,
                            .device = s->options.emit == EMIT_PTX,
                            .launches = is_for_device(&s->options),
                            .roots = wanted_roots(unit)};
    unit->module = lower_program(unit->program, &s->sources, s->diags, &options);
    const TextList *remarks = &s->options.remarks;
    unit->module->remarks = wanted(remarks, "ad") || wanted(remarks, "all");
    if (is_for_device(&s->options))
        unit->module->launches = s->options.launch_from ? s->options.launch_from : 1;
    unit->module->fused = s->options.opt_level > 0;
    unit->module->explain = unit->explain;
    if (unit->module->kernels) unit->module->kernels->fused = unit->module->fused;
    each_module(unit, lowered);
    return STATUS_DONE;
}

int unit_prepare(Unit *unit) {
    each_module(unit, prepare);
    return STATUS_DONE;
}

int unit_differentiate(Unit *unit) {
    each_module(unit, differentiate);
    return STATUS_DONE;
}

int unit_optimise(Unit *unit) {
    each_module(unit, optimise);
    if (unit->module->launches) {
        device_prepare(unit->module);
        after_pass(unit, "device", unit->module);
    }
    return STATUS_DONE;
}

void unit_free(Unit *unit) {
    if (unit->module) ir_module_free(unit->module);
    if (unit->checker) checker_free(unit->checker);
    unit->module = NULL;
    unit->checker = NULL;
}

/* What PTX is for: with --emit=ptx what --target=ptx:sm_80 says, else the oldest that is supported.
 */
static const char *device_of(const Unit *unit) {
    const Options *o = &unit->session->options;
    bool said = o->emit == EMIT_PTX && o->target && !strncmp(o->target, "ptx:", 4);
    return said ? o->target + 4 : "sm_75";
}

/* The devices that get machine code, in an array of the session's. */
static uint32_t list_devices(const Unit *unit, const char *const **list) {
    Session *s = unit->session;
    const char *target = s->options.target;
    if (!target || strncmp(target, "ptx:", 4) != 0) return 0;
    const char **devices = ARENA_ARRAY(s->arena, const char *, strlen(target)), *at = target + 4;
    uint32_t n = 0;
    while ((devices[n] = assemble_next_device(s, &at))) n++;
    *list = devices;
    return n;
}

static const char *libdevice_of(const Unit *unit) {
    const char *cuda = unit->paths->cuda;
    if (!cuda) return NULL;
    return arena_printf(unit->session->arena, "%s/nvvm/libdevice/libdevice.10.bc", cuda);
}

static void tell_of_device(void *data, Pos pos, const char *text) {
    diag_report(data, DIAG_REMARK_DEVICE, (Span){pos, pos}, "%s", text);
}

CodegenOptions unit_codegen_options(const Unit *unit) {
    const Options *o = &unit->session->options;
    bool in_process = o->command == COMMAND_RUN || o->command == COMMAND_TEST ||
                      o->command == COMMAND_BENCH || o->command == COMMAND_GRADCHECK;
    bool program =
        o->command == COMMAND_COMPILE && !unit->meets_requests && !o->shared && !o->relocatable;
    const char *const *devices = NULL;
    uint32_t ndevices = is_for_device(o) ? list_devices(unit, &devices) : 0;
    bool tells = wanted(&o->remarks, "gpu") || wanted(&o->remarks, "all");
    const char *cpu = o->cpu;
    if (cpu && !strcmp(cpu, "baseline")) cpu = NULL;
    else if (!cpu && in_process) cpu = "native";
    return (CodegenOptions){.opt_level = o->opt_level,
                            .debug = o->debug_info,
                            .cpu = cpu,
                            .pic = true,
                            .fast_math = o->fast_math,
                            .deterministic = o->deterministic,
                            .threads = o->threads,
                            .check_overlap = o->checks == CHECKS_ALL,
                            .sanitize = o->sanitize,
                            .program = program,
                            .weak_main = o->emit != EMIT_DEFAULT,
                            .entries = o->command == COMMAND_GRADCHECK,
                            .verify = verifies(o),
                            .prefix = o->prefix,
                            .device = device_of(unit),
                            .libdevice = libdevice_of(unit),
                            .whole = is_for_device(o),
                            .assemble = assemble,
                            .assemble_data = (void *)(uintptr_t)unit,
                            .devices = devices,
                            .ndevices = ndevices,
                            .remark = tells ? tell_of_device : NULL,
                            .remark_data = unit->session->diags,
                            .producer = "dslc " ADL_VERSION};
}
