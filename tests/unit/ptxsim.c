/* The PTX simulator: what programs do beyond single instructions, and each kind of mistake that it
   must find. */
#include "tests/ptxsim/harness.h"
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

/* Registers, the pointer x in %rd1, the thread's number in the block in %r1, over the grid in %r2,
   and %rd2 = x + 8 * %r2. */
#define ENTRY(name, more)                                                                          \
    ".visible .entry " name "(.param .u64 x)\n" more "{\n"                                         \
    ".reg .b64 %rd<20>;\n.reg .b32 %r<20>;\n.reg .f64 %fd<20>;\n.reg .pred %p<20>;\n"              \
    "ld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, %tid.x;\n"              \
    "mov.u32 %r2, %ntid.x;\nmov.u32 %r3, %ctaid.x;\nmad.lo.s32 %r2, %r2, %r3, %r1;\n"              \
    "mul.wide.u32 %rd2, %r2, 8;\nadd.s64 %rd2, %rd1, %rd2;\n"

/* Runs kernel k of TEXT on doubles, in place. */
static void run_doubles(const char *text, unsigned blocks, unsigned threads, double *x,
                        size_t count) {
    assemble(text, "sm_75");
    device_start();
    CUdeviceptr memory = device_copy(x, count * sizeof *x);
    CUresult state =
        device_run(device_kernel(device_load(text), "k"), blocks, threads, (void *[]){&memory});
    ck_assert_msg(state == CUDA_SUCCESS, "%s", ptxsim_message());
    device_read(x, memory, count * sizeof *x);
    device_stop();
}

START_TEST(barriers_order_shared_memory) {
    /* Each block turns its part round. */
    static const char text[] = HEAD ".shared .align 8 .b8 s[64];\n" ENTRY(
        "k", "") "ld.global.f64 %fd1, [%rd2];\nmov.u64 %rd3, s;\nmul.wide.u32 %rd4, %r1, 8;\n"
                 "add.s64 %rd5, %rd3, %rd4;\nst.shared.f64 [%rd5], %fd1;\nbar.sync 0;\n"
                 "sub.s64 %rd6, %rd3, %rd4;\nld.shared.f64 %fd2, [%rd6+56];\nst.global.f64 [%rd2], "
                 "%fd2;\n"
                 "ret;\n}\n";
    double x[16];
    for (int i = 0; i < 16; i++) x[i] = i;
    run_doubles(text, 2, 8, x, 16);
    for (int i = 0; i < 16; i++) ck_assert_double_eq(x[i], i < 8 ? 7 - i : 23 - i);
}
END_TEST

START_TEST(shuffles_add_a_warp) {
    static const char text[] = HEAD ENTRY(
        "k", "") "ld.global.f64 %fd1, [%rd2];\nmov.u32 %r4, 16;\n"
                 "again:\nmov.b64 {%r5, %r6}, %fd1;\n"
                 "shfl.sync.down.b32 %r7|%p1, %r5, %r4, 31, -1;\n"
                 "shfl.sync.down.b32 %r8, %r6, %r4, 31, 0xffffffff;\n"
                 "mov.b64 %fd2, {%r7, %r8};\nadd.rn.f64 %fd1, %fd1, %fd2;\nshr.u32 %r4, %r4, 1;\n"
                 "setp.ne.s32 %p2, %r4, 0;\n@%p2 bra again;\n"
                 "setp.ne.s32 %p3, %r1, 0;\n@%p3 bra done;\nst.global.f64 [%rd2], "
                 "%fd1;\ndone:\nret;\n}\n";
    double x[32], sum = 0;
    for (int i = 0; i < 32; i++) sum += x[i] = i * i;
    run_doubles(text, 1, 32, x, 32);
    ck_assert_double_eq(x[0], sum);
}
END_TEST

START_TEST(other_shuffles) {
    /* up by 1, crosswise, from lane 3 of a segment of 8. */
    static const char text[] = HEAD ENTRY(
        "k",
        "") "shfl.sync.up.b32 %r4, %r1, 1, 0, -1;\nshfl.sync.bfly.b32 %r5, %r1, 1, 31, -1;\n"
            "shfl.sync.idx.b32 %r6, %r1, 3, 0x181f, -1;\nbar.warp.sync 0xffffffff;\n"
            "mul.lo.s32 %r4, %r4, 10000;\nmad.lo.s32 %r4, %r5, 100, %r4;\nadd.s32 %r4, %r4, %r6;\n"
            "cvt.rn.f64.s32 %fd1, %r4;\nst.global.f64 [%rd2], %fd1;\nret;\n}\n";
    double x[32] = {0};
    run_doubles(text, 1, 32, x, 32);
    for (int i = 0; i < 32; i++)
        ck_assert_double_eq(x[i], (i ? i - 1 : 0) * 10000 + (i ^ 1) * 100 + (i / 8 * 8 + 3));
}
END_TEST

START_TEST(calls_pass_values) {
    /* Factorials by recursion, with two results of one call in one parameter. */
    static const char text[] = HEAD
        ".func (.param .b64 out) fact(.param .b64 n)\n{\n.reg .f64 %fd<6>;\n.reg .pred %p<2>;\n"
        "ld.param.f64 %fd1, [n];\nsetp.gt.f64 %p1, %fd1, 0d3FF0000000000000;\n@%p1 bra more;\n"
        "st.param.f64 [out+0], 0d3FF0000000000000;\nret;\nmore:\n"
        "add.rn.f64 %fd2, %fd1, 0dBFF0000000000000;\n"
        "{\n.param .b64 arg;\nst.param.f64 [arg+0], %fd2;\n.param .b64 got;\n"
        "call.uni (got), fact, (arg);\nld.param.f64 %fd3, [got+0];\n}\n"
        "mul.rn.f64 %fd4, %fd3, %fd1;\nst.param.f64 [out+0], %fd4;\nret;\n}\n"
        ".func (.param .align 8 .b8 out[16]) two(.param .b64 n)\n{\n.reg .f64 %fd<3>;\n"
        "ld.param.f64 %fd1, [n];\nneg.f64 %fd2, %fd1;\nst.param.v2.f64 [out], {%fd1, %fd2};\n"
        "ret;\n}\n" ENTRY(
            "k",
            "") "ld.global.f64 %fd1, [%rd2];\n"
                "{\n.param .b64 arg;\nst.param.f64 [arg], %fd1;\n.param .b64 got;\n"
                "call.uni (got), fact, (arg);\nld.param.f64 %fd2, [got];\n}\n"
                "{\n.param .b64 arg;\nst.param.f64 [arg], %fd2;\n.param .align 8 .b8 got[16];\n"
                "call.uni (got), two, (arg);\nld.param.f64 %fd3, [got+8];\n}\n"
                "st.global.f64 [%rd2], %fd3;\nret;\n}\n";
    double x[4] = {1, 3, 5, 10};
    run_doubles(text, 1, 4, x, 4);
    ck_assert_double_eq(x[0], -1);
    ck_assert_double_eq(x[1], -6);
    ck_assert_double_eq(x[2], -120);
    ck_assert_double_eq(x[3], -3628800);
}
END_TEST

START_TEST(local_memory_tables_and_jumps) {
    /* A local array written through a generic address, a table in global memory, brx.idx. */
    static const char text[] = HEAD
        ".global .align 8 .b8 t[24] = {0, 0, 0, 0, 0, 0, 240, 63, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0,"
        " 0, 0, 0, 8, 64};\n.global .align 8 .u64 where[1] = {generic(t)};\n" ENTRY(
            "k",
            "") ".local .align 8 .b8 depot[16];\nmov.u64 %rd3, depot;\ncvta.local.u64 %rd4, %rd3;\n"
                "ld.global.f64 %fd1, [%rd2];\nst.f64 [%rd4+8], %fd1;\nld.local.f64 %fd2, "
                "[%rd3+8];\n"
                "isspacep.local %p1, %rd4;\n@!%p1 bra end;\n"
                "and.b32 %r4, %r1, 1;\nld.global.u64 %rd5, [where];\ncvta.to.global.u64 %rd6, "
                "%rd5;\n"
                "list: .branchtargets zero, one;\nbrx.idx %r4, list;\n"
                "zero:\nld.global.nc.f64 %fd3, [%rd6+16];\nbra.uni join;\n"
                "one:\nld.global.nc.v2.f64 {%fd4, %fd3}, [t];\n"
                "join:\nmul.rn.f64 %fd5, %fd2, %fd3;\nst.global.f64 [%rd2], %fd5;\nend:\nret;\n}\n";
    double x[2] = {10, 100};
    run_doubles(text, 1, 2, x, 2);
    ck_assert_double_eq(x[0], 30);
    ck_assert_double_eq(x[1], 200);
}
END_TEST

START_TEST(atomics_of_all_blocks_meet) {
    /* Adds, and the largest by a loop round compare-and-swap with a plain first read. */
    static const char text[] = HEAD ENTRY(
        "k",
        "") "cvt.rn.f64.s32 %fd1, %r2;\natom.global.add.f64 %fd2, [%rd1], %fd1;\n"
            "red.global.add.u64 [%rd1+8], 3;\nld.global.u64 %rd5, [%rd1+16];\n"
            "again:\nmov.b64 %fd3, %rd5;\nmax.f64 %fd4, %fd3, %fd1;\nmov.b64 %rd6, %fd4;\n"
            "atom.global.cas.b64 %rd7, [%rd1+16], %rd5, %rd6;\nsetp.ne.s64 %p1, %rd7, %rd5;\n"
            "mov.u64 %rd5, %rd7;\n@%p1 bra again;\n"
            "atom.global.inc.u32 %r4, [%rd1+24], 6;\natom.global.dec.u32 %r4, [%rd1+28], 6;\n"
            "atom.global.min.s32 %r4, [%rd1+32], %r2;\natom.global.exch.b32 %r4, [%rd1+36], 5;\n"
            "atom.global.or.b32 %r4, [%rd1+40], %r2;\natom.global.xor.b32 %r4, [%rd1+44], %r2;\n"
            "atom.global.and.b32 %r4, [%rd1+48], %r2;\nret;\n}\n";
    double x[7] = {0.5, 0, 3, 0, 0, 0, 0};
    run_doubles(text, 4, 8, x, 7);
    uint64_t count;
    uint32_t words[8];
    memcpy(&count, &x[1], sizeof count);
    memcpy(words, &x[3], sizeof words);
    ck_assert_double_eq(x[0], 0.5 + 31 * 16);
    ck_assert_int_eq(count, 96);
    ck_assert_double_eq(x[2], 31);
    ck_assert_int_eq(words[0], 32 % 7);
    ck_assert_int_eq(words[1], 3); /* 0 -> 6, 5, ... : -32 mod 7 */
    ck_assert_int_eq(words[2], 0);
    ck_assert_int_eq(words[3], 5);
    ck_assert_int_eq(words[4], 31);
    ck_assert_int_eq(words[5], 0);
    ck_assert_int_eq(words[6], 0);
}
END_TEST

START_TEST(grids_have_three_dimensions) {
    static const char text[] = HEAD
        ".visible .entry k(.param .u64 x)\n{\n.reg .b64 %rd<5>;\n.reg .b32 %r<20>;\n"
        "ld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd1, %rd1;\n"
        "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %ctaid.z;\n"
        "mov.u32 %r4, %nctaid.x;\nmov.u32 %r5, %nctaid.y;\nmov.u32 %r6, %ntid.x;\n"
        "mov.u32 %r7, %ntid.y;\nmov.u32 %r8, %ntid.z;\nmov.u32 %r9, %tid.x;\nmov.u32 %r10, "
        "%tid.y;\n"
        "mov.u32 %r11, %tid.z;\nmad.lo.s32 %r12, %r3, %r5, %r2;\nmad.lo.s32 %r12, %r12, %r4, %r1;\n"
        "mad.lo.s32 %r12, %r12, %r8, %r11;\nmad.lo.s32 %r12, %r12, %r7, %r10;\n"
        "mad.lo.s32 %r12, %r12, %r6, %r9;\nmul.wide.u32 %rd2, %r12, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
        "st.global.u32 [%rd3], %r12;\nret;\n}\n";
    assemble(text, "sm_75");
    uint32_t x[2 * 3 * 4 * 5 * 3 * 2];
    device_start();
    CUdeviceptr memory = device_copy(NULL, sizeof x);
    CUfunction k = device_kernel(device_load(text), "k");
    ck_assert_int_eq(cuLaunchKernel(k, 2, 3, 4, 5, 3, 2, 0, NULL, (void *[]){&memory}, NULL), 0);
    device_read(x, memory, sizeof x);
    for (unsigned i = 0; i < sizeof x / sizeof *x; i++) ck_assert_uint_eq(x[i], i);
    device_stop();
}
END_TEST

/* ---- texts that must not load -----------------------------------------------------------------
 */

START_TEST(bad_texts_are_refused) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {HEAD ".entry k()\n{\nfrobnicate.f64 %fd1;\n}\n", "line 6: unknown instruction"},
        {HEAD ".entry k()\n{\n.reg .f64 %f<3>;\nadd.wide.f64 %f1, %f1, %f2;\n}\n",
         "line 7: 'add' has no '.wide'"},
        {HEAD ".entry k()\n{\n.reg .f32 %f<3>;\nsin.approx.f64 %f1, %f2;\n}\n",
         "line 7: 'sin' does not take the type"},
        {HEAD ".entry k()\n{\n.reg .f32 %f<3>;\nadd.rn.f64 %f1, %f1, %f2;\n}\n",
         "line 7: 'add' wants 64 bits, the register has 32"},
        {HEAD ".entry k()\n{\n.reg .f64 %f<3>;\nfma.f64 %f1, %f1, %f2, %f1;\n}\n",
         "line 7: a rounding is missing"},
        {HEAD ".entry k()\n{\n.reg .f64 %f<3>;\nadd.rn.f64 %f1, %f2;\n}\n",
         "line 7: 'add' takes 3 operands, not 2"},
        {HEAD ".entry k()\n{\n.reg .f64 %f<3>;\nadd.rn.f64 %f1, %f2, %f3;\n}\n",
         "line 7: unexpected '%f3'"},
        {HEAD ".entry k()\n{\nbra nowhere;\n}\n", "no label 'nowhere'"},
        {HEAD ".entry k()\n{\na: ret;\na: ret;\n}\n", "line 7: 'a' is declared twice"},
        {HEAD ".func f(.param .b64 a)\n{\nret;\n}\n.entry k()\n{\ncall f;\n}\n",
         "line 10: 'f' takes 1 and gives 0"},
        {HEAD ".entry k()\n{\nret\n}\n", "line 7: unexpected '}'"},
        {HEAD ".surfref s;\n", "line 4: unexpected '.surfref'"},
        {HEAD ".global .u8 t[2] = {1, 2, 3};\n", "too many values for 't'"},
        {".version 7.0\n.entry k()\n{\nret;\n}\n", "there is no .target"},
        {".version 8.6\n.target sm_100\n.address_size 64\n.entry k()\n{\nret;\n}\n",
         "for sm_100, the device is sm_90"},
    };
    device_start();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CUmodule module;
        char log[200] = "";
        CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void *values[] = {log, (void *)sizeof log};
        CUresult result = cuModuleLoadDataEx(&module, rows[i].text, 2, options, values);
        ck_assert_msg(result == CUDA_ERROR_INVALID_PTX || result == CUDA_ERROR_NO_BINARY_FOR_GPU,
                      "row %zu loads", i);
        ck_assert_msg(strstr(log, rows[i].message) != NULL, "row %zu: %s", i, log);
    }
    device_stop();
}
END_TEST

/* ---- runs that must fail ----------------------------------------------------------------------
 */

/* Memory for the kernels below: 64 doubles. */
static const struct {
    const char *what, *text;
    unsigned blocks, threads;
    const char *message;
} bad_runs[] = {
    {"beyond an allocation", HEAD ENTRY("k", "") "ld.global.f64 %fd1, [%rd1+512];\nret;\n}\n", 1, 1,
     "line 18: the address"},
    {"across its end", HEAD ENTRY("k", "") "ld.global.v2.f64 {%fd1, %fd2}, [%rd1+504];\nret;\n}\n",
     1, 1, "line 18: 16 bytes at 504 of 512 bytes of global memory"},
    {"before it", HEAD ENTRY("k", "") "st.global.f64 [%rd1+-8], 0d3FF0000000000000;\nret;\n}\n", 1,
     1, "line 18: the address"},
    {"not aligned", HEAD ENTRY("k", "") "ld.global.f64 %fd1, [%rd1+4];\nret;\n}\n", 1, 1,
     "are not aligned"},
    {"beyond shared memory",
     HEAD ".shared .align 8 .b8 s[16];\n" ENTRY("k", "") "ld.shared.f64 %fd1, [s+16];\nret;\n}\n",
     1, 1, "line 19: 8 bytes at 16 of 16 bytes of shared memory"},
    {"a shared address used as a global one",
     HEAD ".shared .align 8 .b8 s[16];\n" ENTRY(
         "k", "") "mov.u64 %rd3, s;\nld.global.f64 %fd1, [%rd3];\nret;\n}\n",
     1, 1, "line 20: the address"},
    {"a generic address used as a local one",
     HEAD ENTRY("k", "") ".local .align 8 .b8 d[8];\nmov.u64 %rd3, d;\ncvta.local.u64 %rd3, %rd3;\n"
                         "st.local.f64 [%rd3], 0d3FF0000000000000;\nret;\n}\n",
     1, 1, "of local memory"},
    {"shared memory nobody wrote",
     HEAD ".shared .align 8 .b8 s[16];\n" ENTRY(
         "k", "") "ld.shared.f64 %fd1, [s];\nadd.rn.f64 %fd2, %fd1, %fd1;\n"
                  "setp.lt.f64 %p1, %fd2, 0d0000000000000000;\n@%p1 bra end;\nend: ret;\n}\n",
     1, 1, "line 22: a condition depends on what line 19 read, which nobody wrote"},
    {"local memory nobody wrote",
     HEAD ENTRY("k", "") ".local .align 8 .b8 d[8];\nmov.u64 %rd3, d;\nld.local.u64 %rd4, [%rd3];\n"
                         "add.s64 %rd4, %rd4, %rd1;\nld.global.f64 %fd1, [%rd4];\nret;\n}\n",
     1, 1, "line 22: an address depends on what line 20 read, which nobody wrote"},
    {"a register never set", HEAD ENTRY("k", "") "@%p9 bra end;\nend: ret;\n}\n", 1, 1,
     "a condition depends on a register that was never set"},
    {"a division by zero",
     HEAD ENTRY(
         "k",
         "") "mov.u32 %r4, 0;\ndiv.s32 %r5, %r1, %r4;\nsetp.eq.s32 %p1, %r5, 0;\n@%p1 bra end;\n"
             "end: ret;\n}\n",
     1, 1, "a condition depends on what line 19"},
    {"a race of two threads on shared memory",
     HEAD ".shared .align 8 .b8 s[16];\n" ENTRY("k", "") "st.shared.u32 [s], %r1;\nret;\n}\n", 1, 2,
     "line 19: a race on byte 0 of shared memory: thread 0 of block 0 wrote it, thread 1 of block 0"
     " writes it"},
    {"a read before the barrier",
     HEAD ".shared .align 8 .b8 s[16];\n" ENTRY(
         "k", "") "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra rest;\nst.shared.u32 [s], %r1;\nrest:\n"
                  "ld.shared.u32 %r4, [s];\nbar.sync 0;\nret;\n}\n",
     1, 2, "wrote it, thread 1 of block 0 reads it"},
    {"a write after others read",
     HEAD ENTRY("k", "") "ld.global.f64 %fd1, [%rd1];\nsetp.ne.s32 %p1, %r1, 5;\n@%p1 bra end;\n"
                         "st.global.f64 [%rd1], %fd1;\nend: ret;\n}\n",
     1, 6, "read it, thread 5 of block 0 writes it"},
    {"two blocks at one place, with a barrier",
     HEAD ENTRY("k", "") "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra rest;\nst.global.u32 [%rd1], %r3;\n"
                         "rest:\nbar.sync 0;\nret;\n}\n",
     2, 2, "thread 0 of block 0 wrote it, thread 0 of block 1 writes it"},
    {"an atomic beside a plain write",
     HEAD ENTRY("k", "") "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra other;\n"
                         "red.global.add.u32 [%rd1], 1;\nret;\nother:\nst.global.u32 [%rd1], 1;\n"
                         "ret;\n}\n",
     1, 2, "updated it, thread 1 of block 0 writes it"},
    {"a plain read of what others update",
     HEAD ENTRY("k", "") "red.global.add.u32 [%rd1], 1;\nld.global.u32 %r4, [%rd1];\nret;\n}\n", 1,
     2, "a race on byte 0 of global memory: thread 0 of block 0 read it, thread 1"},
    {"ld.global.nc of what is written",
     HEAD ENTRY("k", "") "st.global.u32 [%rd2], 1;\nld.global.nc.u32 %r4, [%rd2];\nret;\n}\n", 1, 1,
     "ld.global.nc of memory that this launch writes"},
    {"a barrier that some do not reach",
     HEAD ENTRY("k", "") "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra end;\nbar.sync 0;\nend: ret;\n}\n", 1,
     4, "line 20: thread 0 has ended while others wait here"},
    {"two barriers at once",
     HEAD ENTRY("k", "") "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra other;\nbar.sync 0;\nret;\nother:\n"
                         "bar.sync 0;\nret;\n}\n",
     1, 4, "line 20: a divergent barrier: other threads wait at line 23"},
    {"a shuffle with lanes that have ended",
     HEAD ENTRY("k", "") "setp.eq.s32 %p1, %r1, 3;\n@%p1 bra end;\n"
                         "shfl.sync.down.b32 %r4, %r1, 1, 31, -1;\nend: ret;\n}\n",
     1, 32, "lane 3 of the mask has ended"},
    {"a shuffle beside a barrier",
     HEAD ENTRY("k", "") "setp.eq.s32 %p1, %r1, 3;\n@%p1 bra other;\n"
                         "shfl.sync.down.b32 %r4, %r1, 1, 31, -1;\nret;\nother:\nbar.sync 0;\n"
                         "ret;\n}\n",
     1, 32, "waits for lanes that do not come"},
    {"a loop without end", HEAD ENTRY("k", "") "again: bra again;\n}\n", 1, 1,
     "more than 100000 instructions"},
    {"calls without end",
     HEAD ".func f()\n{\ncall.uni f;\nret;\n}\n" ENTRY("k", "") "call.uni f;\nret;\n}\n", 1, 1,
     "64 calls deep"},
    {"a function without a body",
     HEAD ".extern .func f();\n" ENTRY("k", "") "call.uni f;\nret;\n}\n", 1, 1, "'f' has no body"},
    {"trap", HEAD ENTRY("k", "") "trap;\n}\n", 3, 2,
     "line 18: trap (k, block 0,0,0, thread 0,0,0)"},
};

/* Whoever waits for the kernel gets the failure, and whoever calls after that. */
static void check_bad_run(size_t row) {
    double x[64] = {0};
    device_start();
    CUdeviceptr memory = device_copy(x, sizeof x);
    CUfunction k = device_kernel(device_load(bad_runs[row].text), "k");
    CUresult launched = cuLaunchKernel(k, bad_runs[row].blocks, 1, 1, bad_runs[row].threads, 1, 1,
                                       0, NULL, (void *[]){&memory}, NULL);
    ck_assert_msg(launched == CUDA_SUCCESS, "%s: the launch itself fails", bad_runs[row].what);
    ck_assert_msg(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED, "%s: runs", bad_runs[row].what);
    ck_assert_msg(strstr(ptxsim_message(), bad_runs[row].message) != NULL, "%s: %s",
                  bad_runs[row].what, ptxsim_message());
    ck_assert_int_eq(cuMemcpyDtoH_v2(x, memory, sizeof x), CUDA_ERROR_LAUNCH_FAILED);
    device_stop();
}

START_TEST(bad_runs_fail) {
    setenv("PTXSIM_STEPS", "100000", 1);
    for (size_t i = 0; i < sizeof bad_runs / sizeof *bad_runs; i++) check_bad_run(i);
}
END_TEST

/* What a branch does not depend on may be unknown: selp takes the other one. */
START_TEST(unknown_values_may_be_dropped) {
    static const char text[] = HEAD ".shared .align 8 .b8 s[16];\n" ENTRY(
        "k",
        "") "ld.shared.f64 %fd1, [s];\nsetp.lt.f64 %p1, %fd1, 0d0000000000000000;\n"
            "setp.ne.s32 %p2, %r1, %r1;\nand.pred %p3, %p1, %p2;\n"
            "selp.f64 %fd2, %fd1, 0d3FF0000000000000, %p3;\nst.global.f64 [%rd2], %fd2;\nret;\n}\n";
    double x[1] = {0};
    run_doubles(text, 1, 1, x, 1);
    ck_assert_double_eq(x[0], 1);
}
END_TEST

#define NAMES(shared) "mov.u64 %rd3, " #shared ";\n"

START_TEST(launch_limits) {
    static const char text[] = HEAD ENTRY("k", ".maxntid 64, 1, 1\n") "ret;\n}\n" ENTRY(
        "exact", ".reqntid 8, 2, 1\n") "ret;\n}\n";
    /* Each entry has what it names alone. */
    static const char large[] =
        HEAD ".shared .align 8 .b8 s[49152];\n.shared .align 8 .b8 t[8];\n" ENTRY("k", "") NAMES(s)
            NAMES(t) "ret;\n}\n" ENTRY("l", "") NAMES(s) NAMES(s) "ret;\n}\n";
    assemble(text, "sm_75");
    device_start();
    CUmodule module = device_load(text);
    CUfunction k = device_kernel(module, "k"), exact = device_kernel(module, "exact");
    CUdeviceptr memory = device_copy(NULL, 8);
    void *args[] = {&memory};
    ck_assert_int_eq(device_run(k, 5, 64, args), CUDA_SUCCESS);
    ck_assert_int_eq(device_run(k, 5, 65, args), CUDA_ERROR_INVALID_VALUE);
    ck_assert_ptr_nonnull(strstr(ptxsim_message(), ".maxntid"));
    ck_assert_int_eq(device_run(k, 0, 64, args), CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(device_run(k, 1, 0, args), CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(cuLaunchKernel(k, 1, 65536, 1, 1, 1, 1, 0, NULL, args, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(cuLaunchKernel(k, 1, 1, 1, 1, 1, 65, 0, NULL, args, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(cuLaunchKernel(exact, 1, 1, 1, 8, 2, 1, 0, NULL, args, NULL), CUDA_SUCCESS);
    ck_assert_int_eq(cuLaunchKernel(exact, 1, 1, 1, 16, 1, 1, 0, NULL, args, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    module = device_load(large);
    ck_assert_int_eq(device_run(device_kernel(module, "k"), 1, 1, args), CUDA_ERROR_INVALID_VALUE);
    ck_assert_ptr_nonnull(strstr(ptxsim_message(), "shared memory"));
    ck_assert_int_eq(device_run(device_kernel(module, "l"), 1, 1, args), CUDA_SUCCESS);
    CUfunction none;
    ck_assert_int_eq(cuModuleGetFunction(&none, module, "nothing"), CUDA_ERROR_NOT_FOUND);
    device_stop();
}
END_TEST

START_TEST(memory_calls_are_checked) {
    setenv("PTXSIM_MEMORY", "1000", 1);
    char bytes[64] = {0};
    CUdeviceptr a, b;
    ck_assert_int_eq(cuMemAlloc_v2(&a, 8), CUDA_ERROR_NOT_INITIALIZED);
    device_start();
    ck_assert_int_eq(cuMemAlloc_v2(&a, 600), CUDA_SUCCESS);
    ck_assert_int_eq(cuMemAlloc_v2(&b, 600), CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(cuMemcpyDtoH_v2(bytes, a, 8), CUDA_ERROR_ILLEGAL_ADDRESS); /* unwritten */
    ck_assert_int_eq(cuMemsetD8_v2(a, 7, 600), CUDA_SUCCESS);
    ck_assert_int_eq(cuMemcpyDtoH_v2(bytes, a + 592, 8), CUDA_SUCCESS);
    ck_assert_int_eq(bytes[7], 7);
    ck_assert_int_eq(cuMemcpyDtoH_v2(bytes, a + 593, 8), CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(cuMemcpyHtoD_v2(a + 600, bytes, 1), CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(cuMemAlloc_v2(&b, 16), CUDA_SUCCESS);
    ck_assert_int_eq(cuMemcpyDtoD_v2(b, a, 16), CUDA_SUCCESS);
    ck_assert_int_eq(cuMemFree_v2(a + 8), CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(cuMemFree_v2(a), CUDA_SUCCESS);
    ck_assert_int_eq(cuMemFree_v2(a), CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(cuMemcpyDtoH_v2(bytes, a, 8), CUDA_ERROR_INVALID_VALUE);
    device_stop();
    ck_assert_int_eq(cuMemAlloc_v2(&a, 8), CUDA_ERROR_INVALID_CONTEXT);
}
END_TEST

START_TEST(devices_are_as_asked_for) {
    setenv("PTXSIM_CC", "75", 1);
    int value = 0;
    char name[64];
    device_start();
    ck_assert_int_eq(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0),
                     CUDA_SUCCESS);
    ck_assert_int_eq(value, 7);
    ck_assert_int_eq(cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
    ck_assert_str_eq(name, "PTX simulator (sm_75)");
    device_stop();
    setenv("PTXSIM_DEVICES", "0", 1);
    ck_assert_int_eq(cuInit(0), CUDA_ERROR_NO_DEVICE);
    const char *text = NULL;
    ck_assert_int_eq(cuGetErrorName(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
    ck_assert_str_eq(text, "CUDA_ERROR_NO_DEVICE");
}
END_TEST

/* Programs open it by name, as they open the driver. */
START_TEST(stands_in_for_the_driver) {
    const char *folder = getenv("ADL_BUILD_DIR");
    if (!folder) return;
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/ptxsim/.libs/libcuda.so.1", folder);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    static const char *const names[] = {
        "cuInit",
        "cuDeviceGetCount",
        "cuDeviceGet",
        "cuDeviceGetName",
        "cuDeviceGetAttribute",
        "cuDevicePrimaryCtxRetain",
        "cuDevicePrimaryCtxRelease",
        "cuCtxSetCurrent",
        "cuModuleLoadDataEx",
        "cuModuleUnload",
        "cuModuleGetFunction",
        "cuMemAlloc_v2",
        "cuMemFree_v2",
        "cuMemcpyHtoD_v2",
        "cuMemcpyDtoH_v2",
        "cuMemcpyDtoD_v2",
        "cuMemsetD8_v2",
        "cuMemsetD8Async",
        "cuLaunchKernel",
        "cuCtxSynchronize",
        "cuGetErrorName",
        "cuGetErrorString",
        "cuStreamCreate",
        "cuEventCreate",
        "cuEventRecord",
        "cuEventElapsedTime",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(dlsym(library, names[i]) != NULL, "%s", names[i]);
    ck_assert_ptr_null(dlsym(library, "ptx_parse"));
    dlclose(library);
}
END_TEST

UNIT_MAIN("ptxsim", barriers_order_shared_memory, shuffles_add_a_warp, other_shuffles,
          calls_pass_values, local_memory_tables_and_jumps, atomics_of_all_blocks_meet,
          grids_have_three_dimensions, bad_texts_are_refused, bad_runs_fail,
          unknown_values_may_be_dropped, launch_limits, memory_calls_are_checked,
          devices_are_as_asked_for, stands_in_for_the_driver)
