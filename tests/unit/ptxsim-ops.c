/* Each instruction of the PTX simulator against its definition.  A row is an instruction on inputs
   in %d1 to %d3, whose low parts are also in %r1.., %h1.. and %p1..; what it leaves in one of
   %d0, %r0, %h0, %p0 must be the value on the right, which is written as C or worked out by hand.
 */
#include "tests/ptxsim/harness.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Row {
    const char *text;
    char result; /* d r h p */
    uint64_t in[3];
    uint64_t out;
} Row;

#define LOW(x) ((uint64_t)(uint32_t)(x))
#define MIN32 LOW(INT32_MIN)
#define MIN64 ((uint64_t)INT64_MIN)
#define ONES UINT64_MAX

/* Floats by their bits. */
#define F1 UINT64_C(0x3f800000)
#define F2 UINT64_C(0x40000000)
#define F3 UINT64_C(0x40400000)
#define FHALF UINT64_C(0x3f000000)
#define FINF UINT64_C(0x7f800000)
#define FNAN UINT64_C(0x7fffffff)
#define FTINY UINT64_C(0x00000001)
#define FNEG UINT64_C(0x80000000)
#define D1 UINT64_C(0x3ff0000000000000)
#define D2 UINT64_C(0x4000000000000000)
#define D3 UINT64_C(0x4008000000000000)
#define DHALF UINT64_C(0x3fe0000000000000)
#define DINF UINT64_C(0x7ff0000000000000)
#define DNAN UINT64_C(0x7ff8000000000000)
#define DNEG UINT64_C(0x8000000000000000)
#define DEPS UINT64_C(0x3c90000000000000) /* 2^-54 */

static const Row integers[] = {
    {"add.s32 %r0, %r1, %r2;", 'r', {7, LOW(-9)}, LOW(-2)},
    {"add.s32 %r0, %r1, %r2;", 'r', {LOW(INT32_MAX), 1}, MIN32},
    {"add.sat.s32 %r0, %r1, %r2;", 'r', {LOW(INT32_MAX), 1}, LOW(INT32_MAX)},
    {"add.s64 %d0, %d1, %d2;", 'd', {ONES, 1}, 0},
    {"add.s16 %h0, %h1, %h2;", 'h', {0xffff, 2}, 1},
    {"add.cc.u32 %r0, %r1, %r2; addc.u32 %r0, %r3, 0;", 'r', {LOW(-1), 1, 5}, 6},
    {"add.cc.u32 %r0, %r1, %r2; addc.u32 %r0, %r3, 0;", 'r', {LOW(-2), 1, 5}, 5},
    {"add.cc.u32 %r4, %r1, %r2; addc.cc.u32 %r5, %r1, %r1; addc.u32 %r0, %r3, 0;",
     'r',
     {LOW(-1), 1, 5},
     6},
    {"sub.s32 %r0, %r1, %r2;", 'r', {3, 5}, LOW(-2)},
    {"sub.s64 %d0, %d1, %d2;", 'd', {3, 5}, (uint64_t)-2},
    {"sub.cc.u32 %r0, %r1, %r2; subc.u32 %r0, %r3, 0;", 'r', {1, 2, 5}, 4},
    {"sub.cc.u32 %r0, %r1, %r2; subc.u32 %r0, %r3, 0;", 'r', {2, 2, 5}, 5},
    {"mul.lo.s32 %r0, %r1, %r2;", 'r', {LOW(-3), 7}, LOW(-21)},
    {"mul.hi.s32 %r0, %r1, %r2;", 'r', {LOW(-3), 7}, LOW(-1)},
    {"mul.hi.u32 %r0, %r1, %r2;", 'r', {LOW(-1), LOW(-1)}, LOW(-2)},
    {"mul.wide.s32 %d0, %r1, %r2;", 'd', {LOW(-3), 7}, (uint64_t)-21},
    {"mul.wide.u32 %d0, %r1, %r2;", 'd', {LOW(-1), 2}, UINT64_C(0x1fffffffe)},
    {"mul.wide.u16 %r0, %h1, %h2;", 'r', {0xffff, 0xffff}, 0xfffe0001},
    {"mul.lo.s64 %d0, %d1, %d2;", 'd', {(uint64_t)-3, 7}, (uint64_t)-21},
    {"mul.hi.s64 %d0, %d1, %d2;", 'd', {(uint64_t)-3, 7}, ONES},
    {"mul.hi.u64 %d0, %d1, %d2;", 'd', {ONES, ONES}, ONES - 1},
    {"mad.lo.s32 %r0, %r1, %r2, %r3;", 'r', {3, 5, LOW(-20)}, LOW(-5)},
    {"mad.hi.u32 %r0, %r1, %r2, %r3;", 'r', {LOW(-1), LOW(-1), 4}, 2},
    {"mad.wide.s32 %d0, %r1, %r2, %d3;",
     'd',
     {LOW(-2), 3, UINT64_C(1) << 40},
     (UINT64_C(1) << 40) - 6},
    {"mad.lo.cc.u32 %r0, %r1, %r2, %r3; madc.hi.u32 %r0, %r1, %r2, 7;", 'r', {LOW(-1), 1, 1}, 8},
    {"mad.lo.cc.u32 %r4, %r1, %r2, %r3; madc.lo.cc.u32 %r5, %r1, %r2, %r3; addc.u32 %r0, 0, 0;",
     'r',
     {LOW(-1), 1, 1},
     1},
    {"div.s32 %r0, %r1, %r2;", 'r', {LOW(-7), 2}, LOW(-3)},
    {"div.u32 %r0, %r1, %r2;", 'r', {LOW(-7), 2}, LOW(-7) / 2},
    {"div.s64 %d0, %d1, %d2;", 'd', {(uint64_t)-7, 2}, (uint64_t)-3},
    {"rem.s32 %r0, %r1, %r2;", 'r', {LOW(-7), 2}, LOW(-1)},
    {"rem.u64 %d0, %d1, %d2;", 'd', {ONES, 10}, ONES % 10},
    {"neg.s32 %r0, %r1;", 'r', {5}, LOW(-5)},
    {"neg.s64 %d0, %d1;", 'd', {MIN64}, MIN64},
    {"abs.s32 %r0, %r1;", 'r', {LOW(-5)}, 5},
    {"abs.s64 %d0, %d1;", 'd', {(uint64_t)-5}, 5},
    {"min.s32 %r0, %r1, %r2;", 'r', {LOW(-1), 1}, LOW(-1)},
    {"min.u32 %r0, %r1, %r2;", 'r', {LOW(-1), 1}, 1},
    {"max.s64 %d0, %d1, %d2;", 'd', {ONES, 1}, 1},
    {"max.u64 %d0, %d1, %d2;", 'd', {ONES, 1}, ONES},
    {"sad.s32 %r0, %r1, %r2, %r3;", 'r', {LOW(-3), 4, 10}, 17},
    {"sad.u32 %r0, %r1, %r2, %r3;", 'r', {9, 4, 10}, 15},
};

static const Row bits[] = {
    {"and.b32 %r0, %r1, %r2;", 'r', {12, 10}, 8},
    {"or.b64 %d0, %d1, %d2;", 'd', {12, 10}, 14},
    {"xor.b16 %h0, %h1, %h2;", 'h', {12, 10}, 6},
    {"not.b32 %r0, %r1;", 'r', {1}, LOW(-2)},
    {"and.pred %p0, %p1, %p2;", 'p', {1, 0}, 0},
    {"or.pred %p0, %p1, %p2;", 'p', {1, 0}, 1},
    {"xor.pred %p0, %p1, %p2;", 'p', {1, 1}, 0},
    {"not.pred %p0, %p1;", 'p', {1}, 0},
    {"mov.pred %p0, %p1;", 'p', {1}, 1},
    {"shl.b32 %r0, %r1, %r2;", 'r', {3, 31}, MIN32},
    {"shl.b32 %r0, %r1, %r2;", 'r', {3, 32}, 0},
    {"shl.b64 %d0, %d1, %r2;", 'd', {3, 63}, MIN64},
    {"shr.u32 %r0, %r1, %r2;", 'r', {MIN32, 31}, 1},
    {"shr.u32 %r0, %r1, %r2;", 'r', {MIN32, 99}, 0},
    {"shr.s32 %r0, %r1, %r2;", 'r', {MIN32, 31}, LOW(-1)},
    {"shr.s32 %r0, %r1, %r2;", 'r', {MIN32, 99}, LOW(-1)},
    {"shr.s64 %d0, %d1, %r2;", 'd', {MIN64, 62}, (uint64_t)-2},
    {"shr.b64 %d0, %d1, %r2;", 'd', {MIN64, 62}, 2},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", 'r', {0x80000001, 0x40000002, 33}, 0x80000005},
    {"shf.r.wrap.b32 %r0, %r1, %r2, %r3;", 'r', {0x80000001, 0x40000003, 1}, 0xc0000000},
    {"shf.l.clamp.b32 %r0, %r1, %r2, %r3;", 'r', {5, 6, 40}, 5},
    {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", 'r', {5, 6, 40}, 6},
    {"bfe.u32 %r0, %r1, %r2, %r3;", 'r', {0xabcd1234, 8, 12}, 0xd12},
    {"bfe.s32 %r0, %r1, %r2, %r3;", 'r', {0xabcd1234, 8, 12}, 0xfffffd12},
    {"bfe.s32 %r0, %r1, %r2, %r3;", 'r', {0xabcd1234, 24, 20}, 0xffffffab},
    {"bfe.u64 %d0, %d1, %r2, %r3;", 'd', {UINT64_C(0xabcd123400000000), 40, 8}, 0x12},
    {"bfi.b32 %r0, %r1, %r2, 4, 8;", 'r', {0xab, 0xffffffff}, 0xfffffabf},
    {"bfind.u32 %r0, %r1;", 'r', {0x00010000}, 16},
    {"bfind.u32 %r0, %r1;", 'r', {0}, LOW(-1)},
    {"bfind.s32 %r0, %r1;", 'r', {LOW(-3)}, 1},
    {"bfind.shiftamt.u32 %r0, %r1;", 'r', {0x00010000}, 15},
    {"brev.b32 %r0, %r1;", 'r', {0x80000002}, 0x40000001},
    {"brev.b64 %d0, %d1;", 'd', {1}, MIN64},
    {"clz.b32 %r0, %r1;", 'r', {1}, 31},
    {"clz.b64 %r0, %d1;", 'r', {0}, 64},
    {"popc.b32 %r0, %r1;", 'r', {0xf0f0}, 8},
    {"popc.b64 %r0, %d1;", 'r', {ONES}, 64},
    {"prmt.b32 %r0, %r1, %r2, 0x7531;", 'r', {0x33221100, 0x77665544}, 0x77553311},
    {"prmt.b32 %r0, %r1, %r2, 0x98f0;", 'r', {0x33228010, 0xf7665544}, 0xff00ff10},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0x80;", 'r', {0xff, 0x0f, 0x33}, 0x03},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0x96;", 'r', {0xff, 0x0f, 0x33}, 0xff ^ 0x0f ^ 0x33},
    {"mov.b64 %d0, {%r1, %r2};", 'd', {0x11111111, 0x22222222}, UINT64_C(0x2222222211111111)},
    {"mov.b64 {%r4, %r0}, %d1;", 'r', {UINT64_C(0x2222222211111111)}, 0x22222222},
    {"mov.b32 {%h0, %h4}, %r1;", 'h', {0xabcd1234}, 0x1234},
    {"mov.b32 %r0, 0f3F800000;", 'r', {0}, F1},
    {"mov.f64 %d0, 0d3FF0000000000000;", 'd', {0}, D1},
    {"mov.b32 %r0, -2;", 'r', {0}, LOW(-2)},
    {"selp.b32 %r0, %r1, %r2, %p3;", 'r', {5, 6, 1}, 5},
    {"selp.f64 %d0, %d1, %d2, %p3;", 'd', {D1, D2, 0}, D2},
    {"@%p1 mov.b32 %r0, 9;", 'r', {1}, 9},
    {"@!%p1 mov.b32 %r0, 9;", 'r', {1}, 0},
};

static const Row compares[] = {
    {"setp.eq.s32 %p0, %r1, %r2;", 'p', {4, 4}, 1},
    {"setp.ne.b64 %p0, %d1, %d2;", 'p', {4, 4}, 0},
    {"setp.lt.s32 %p0, %r1, %r2;", 'p', {LOW(-1), 1}, 1},
    {"setp.lt.u32 %p0, %r1, %r2;", 'p', {LOW(-1), 1}, 0},
    {"setp.lo.u32 %p0, %r1, %r2;", 'p', {1, 2}, 1},
    {"setp.hs.u32 %p0, %r1, %r2;", 'p', {2, 2}, 1},
    {"setp.le.s64 %p0, %d1, %d2;", 'p', {ONES, 0}, 1},
    {"setp.gt.u64 %p0, %d1, %d2;", 'p', {ONES, 0}, 1},
    {"setp.ge.s16 %p0, %h1, %h2;", 'p', {0xffff, 0}, 0},
    {"setp.lt.f64 %p0, %d1, %d2;", 'p', {D1, D2}, 1},
    {"setp.lt.f64 %p0, %d1, %d2;", 'p', {D1, DNAN}, 0},
    {"setp.ltu.f64 %p0, %d1, %d2;", 'p', {D1, DNAN}, 1},
    {"setp.ne.f64 %p0, %d1, %d2;", 'p', {D1, DNAN}, 0},
    {"setp.neu.f64 %p0, %d1, %d2;", 'p', {D1, DNAN}, 1},
    {"setp.equ.f32 %p0, %r1, %r2;", 'p', {FNAN, F1}, 1},
    {"setp.eq.f32 %p0, %r1, %r2;", 'p', {0, FNEG}, 1},
    {"setp.geu.f32 %p0, %r1, %r2;", 'p', {F1, F2}, 0},
    {"setp.num.f64 %p0, %d1, %d2;", 'p', {D1, DNAN}, 0},
    {"setp.nan.f64 %p0, %d1, %d2;", 'p', {D1, DNAN}, 1},
    {"setp.lt.and.s32 %p0, %r1, %r2, %p3;", 'p', {1, 2, 0}, 0},
    {"setp.lt.or.s32 %p0, %r1, %r2, !%p3;", 'p', {2, 1, 0}, 1},
    {"setp.lt.s32 %p4|%p0, %r1, %r2;", 'p', {1, 2}, 0},
    {"setp.eq.ftz.f32 %p0, %r1, %r2;", 'p', {FTINY, 0}, 1},
    {"testp.finite.f64 %p0, %d1;", 'p', {DINF}, 0},
    {"testp.infinite.f32 %p0, %r1;", 'p', {FINF}, 1},
    {"testp.notanumber.f64 %p0, %d1;", 'p', {DNAN}, 1},
    {"testp.number.f64 %p0, %d1;", 'p', {DNAN}, 0},
    {"testp.normal.f32 %p0, %r1;", 'p', {FTINY}, 0},
    {"testp.subnormal.f32 %p0, %r1;", 'p', {FTINY}, 1},
};

static const Row floats[] = {
    {"add.rn.f64 %d0, %d1, %d2;", 'd', {D1, D2}, D3},
    {"add.rn.f64 %d0, %d1, %d2;", 'd', {D1, DEPS}, D1},
    {"add.rp.f64 %d0, %d1, %d2;", 'd', {D1, DEPS}, D1 + 1},
    {"add.rm.f64 %d0, %d1, %d2;", 'd', {D1, DEPS | DNEG}, D1 - 1},
    {"add.rz.f64 %d0, %d1, %d2;", 'd', {D1, DEPS}, D1},
    {"add.rn.f32 %r0, %r1, %r2;", 'r', {F1, F2}, F3},
    {"add.sat.f32 %r0, %r1, %r2;", 'r', {F1, F2}, F1},
    {"add.ftz.f32 %r0, %r1, %r2;", 'r', {FTINY, 0}, 0},
    {"add.f32 %r0, %r1, %r2;", 'r', {FTINY, 0}, FTINY},
    {"sub.rn.f64 %d0, %d1, %d2;", 'd', {D3, D2}, D1},
    {"mul.rn.f64 %d0, %d1, %d2;", 'd', {D2, DHALF}, D1},
    {"mul.rn.f32 %r0, %r1, %r2;", 'r', {F3, F2}, UINT64_C(0x40c00000)},
    {"div.rn.f64 %d0, %d1, %d2;", 'd', {D1, D2}, DHALF},
    {"div.rn.f64 %d0, %d1, %d2;", 'd', {D1, DNEG}, DINF | DNEG},
    {"div.rn.f64 %d0, %d1, %d2;", 'd', {D1, D3}, UINT64_C(0x3fd5555555555555)},
    {"div.rp.f64 %d0, %d1, %d2;", 'd', {D1, D3}, UINT64_C(0x3fd5555555555556)},
    {"div.approx.f32 %r0, %r1, %r2;", 'r', {F1, F2}, FHALF},
    {"fma.rn.f64 %d0, %d1, %d2, %d3;",
     'd',
     {D1 + 1, D1 - 1, D1 | DNEG},
     UINT64_C(0x3c9ffffffffffffe)},
    {"fma.rn.f32 %r0, %r1, %r2, %r3;", 'r', {F2, F3, F1}, UINT64_C(0x40e00000)},
    {"min.f64 %d0, %d1, %d2;", 'd', {D1, DNAN}, D1},
    {"max.f64 %d0, %d1, %d2;", 'd', {DNEG, 0}, 0},
    {"min.f64 %d0, %d1, %d2;", 'd', {0, DNEG}, DNEG},
    {"max.f32 %r0, %r1, %r2;", 'r', {F1, F2}, F2},
    {"abs.f64 %d0, %d1;", 'd', {D2 | DNEG}, D2},
    {"neg.f32 %r0, %r1;", 'r', {F1}, F1 | FNEG},
    {"neg.f64 %d0, %d1;", 'd', {0}, DNEG},
    {"copysign.f64 %d0, %d1, %d2;", 'd', {DNEG, D2}, D2 | DNEG},
    {"rcp.rn.f64 %d0, %d1;", 'd', {D2}, DHALF},
    {"rcp.approx.ftz.f64 %d0, %d1;", 'd', {D3}, UINT64_C(0x3fd5555500000000)},
    {"rcp.approx.ftz.f64 %d0, %d1;", 'd', {1}, DINF},
    {"sqrt.rn.f64 %d0, %d1;", 'd', {UINT64_C(0x4010000000000000)}, D2},
    {"sqrt.rn.f32 %r0, %r1;", 'r', {UINT64_C(0x40800000)}, F2},
    {"sqrt.rn.f64 %d0, %d1;", 'd', {DNEG}, DNEG},
    {"sqrt.approx.f32 %r0, %r1;", 'r', {UINT64_C(0x40800000)}, F2},
    {"rsqrt.approx.f32 %r0, %r1;", 'r', {UINT64_C(0x40800000)}, FHALF},
    {"rsqrt.approx.f64 %d0, %d1;", 'd', {UINT64_C(0x4010000000000000)}, DHALF},
    {"ex2.approx.f32 %r0, %r1;", 'r', {F1}, F2},
    {"ex2.approx.ftz.f32 %r0, %r1;", 'r', {FNEG}, F1},
    {"lg2.approx.f32 %r0, %r1;", 'r', {F2}, F1},
    {"lg2.approx.f32 %r0, %r1;", 'r', {0}, FINF | FNEG},
    {"sin.approx.f32 %r0, %r1;", 'r', {0}, 0},
    {"cos.approx.f32 %r0, %r1;", 'r', {0}, F1},
    {"tanh.approx.f32 %r0, %r1;", 'r', {FINF}, F1},
};

static const Row conversions[] = {
    {"cvt.u64.u32 %d0, %r1;", 'd', {ONES}, LOW(-1)},
    {"cvt.s64.s32 %d0, %r1;", 'd', {LOW(-4)}, (uint64_t)-4},
    {"cvt.s32.s8 %r0, %r1;", 'r', {0x1ff}, LOW(-1)},
    {"cvt.u32.u16 %r0, %h1;", 'r', {ONES}, 0xffff},
    {"cvt.u32.u64 %r0, %d1;", 'r', {UINT64_C(0x1234567800000005)}, 5},
    {"cvt.sat.s8.s32 %r0, %r1;", 'r', {1000}, 127},
    {"cvt.sat.u8.s32 %r0, %r1;", 'r', {LOW(-5)}, 0},
    {"cvt.rn.f64.s32 %d0, %r1;", 'd', {LOW(-2)}, D2 | DNEG},
    {"cvt.rn.f64.u64 %d0, %d1;", 'd', {ONES}, UINT64_C(0x43f0000000000000)},
    {"cvt.rz.f64.u64 %d0, %d1;", 'd', {ONES}, UINT64_C(0x43efffffffffffff)},
    {"cvt.rn.f32.s64 %r0, %d1;", 'r', {16777217}, UINT64_C(0x4b800000)},
    {"cvt.rp.f32.s64 %r0, %d1;", 'r', {16777217}, UINT64_C(0x4b800001)},
    {"cvt.f64.f32 %d0, %r1;", 'd', {F3}, D3},
    {"cvt.rn.f32.f64 %r0, %d1;", 'r', {D3}, F3},
    {"cvt.rn.f32.f64 %r0, %d1;", 'r', {D1 + 1}, F1},
    {"cvt.rp.f32.f64 %r0, %d1;", 'r', {D1 + 1}, F1 + 1},
    {"cvt.rni.f64.f64 %d0, %d1;", 'd', {UINT64_C(0x4004000000000000)}, D2},        /* 2.5 */
    {"cvt.rmi.f64.f64 %d0, %d1;", 'd', {UINT64_C(0xbff8000000000000)}, D2 | DNEG}, /* -1.5 */
    {"cvt.rpi.f64.f64 %d0, %d1;", 'd', {UINT64_C(0xbff8000000000000)}, D1 | DNEG},
    {"cvt.rzi.f32.f32 %r0, %r1;", 'r', {UINT64_C(0xbfc00000)}, F1 | FNEG},
    {"cvt.rzi.s32.f64 %r0, %d1;", 'r', {UINT64_C(0xbff8000000000000)}, LOW(-1)},
    {"cvt.rzi.s32.f64 %r0, %d1;", 'r', {DINF}, LOW(INT32_MAX)},
    {"cvt.rzi.u32.f64 %r0, %d1;", 'r', {D1 | DNEG}, 0},
    {"cvt.rzi.s32.f32 %r0, %r1;", 'r', {FNAN}, 0},
    {"cvt.rzi.s64.f64 %d0, %d1;", 'd', {DNAN}, MIN64},
    {"cvt.rni.s64.f64 %d0, %d1;", 'd', {UINT64_C(0x400c000000000000)}, 4}, /* 3.5 */
    {"cvt.rzi.u64.f64 %d0, %d1;", 'd', {DINF}, ONES},
    {"cvt.sat.f32.f32 %r0, %r1;", 'r', {F2}, F1},
    {"cvt.sat.f32.f32 %r0, %r1;", 'r', {FNAN}, 0},
    {"cvt.f32.f16 %r0, %h1;", 'r', {0x3c00}, F1},
    {"cvt.f32.f16 %r0, %h1;", 'r', {0x0001}, UINT64_C(0x33800000)},
    {"cvt.f32.f16 %r0, %h1;", 'r', {0xfc00}, FINF | FNEG},
    {"cvt.rn.f16.f32 %h0, %r1;", 'h', {F1}, 0x3c00},
    {"cvt.rn.f16.f32 %h0, %r1;", 'h', {UINT64_C(0x477ff000)}, 0x7c00}, /* 65520 */
    {"cvt.rn.f16.f32 %h0, %r1;", 'h', {UINT64_C(0x477fefff)}, 0x7bff},
    {"cvt.rn.f16.f32 %h0, %r1;", 'h', {UINT64_C(0x33800000)}, 0x0001},
    {"cvt.rn.f16.f32 %h0, %r1;", 'h', {UINT64_C(0xb3000000)}, 0x8000}, /* a tie, to even */
    {"cvt.rz.f16.f32 %h0, %r1;", 'h', {UINT64_C(0x47800000)}, 0x7bff},
};

static const char head[] = ".version 7.0\n.target sm_75\n.address_size 64\n";

static char *add_text(char *at, const char *end, const Row *row, size_t number) {
    at += snprintf(at, (size_t)(end - at),
                   ".visible .entry op%zu(.param .u64 in, .param .u64 out)\n{\n"
                   ".reg .b64 %%d<10>;\n.reg .b32 %%r<10>;\n.reg .b16 %%h<10>;\n"
                   ".reg .pred %%p<10>;\n"
                   "ld.param.u64 %%d9, [in];\ncvta.to.global.u64 %%d9, %%d9;\n"
                   "mov.b64 %%d0, 0;\nmov.b32 %%r0, 0;\nmov.b16 %%h0, 0;\n"
                   "setp.ne.b64 %%p0, %%d0, 0;\n",
                   number);
    for (int i = 1; i <= 3; i++)
        at += snprintf(at, (size_t)(end - at),
                       "ld.global.b64 %%d%d, [%%d9+%d];\ncvt.u32.u64 %%r%d, %%d%d;\n"
                       "cvt.u16.u64 %%h%d, %%d%d;\nand.b64 %%d8, %%d%d, 1;\n"
                       "setp.ne.b64 %%p%d, %%d8, 0;\n",
                       i, 8 * (i - 1), i, i, i, i, i, i);
    const char *widen = row->result == 'r'   ? "cvt.u64.u32 %d0, %r0;"
                        : row->result == 'h' ? "cvt.u64.u16 %d0, %h0;"
                        : row->result == 'p' ? "selp.b64 %d0, 1, 0, %p0;"
                                             : "";
    return at + snprintf(at, (size_t)(end - at),
                         "%s\n%s\nld.param.u64 %%d9, [out];\ncvta.to.global.u64 %%d9, %%d9;\n"
                         "st.global.b64 [%%d9], %%d0;\nret;\n}\n",
                         row->text, widen);
}

static void check_rows(const Row *rows, size_t count) {
    size_t size = sizeof head + count * 2048;
    char *text = malloc(size), *at = text;
    ck_assert_ptr_nonnull(text);
    at += sprintf(at, "%s", head);
    for (size_t i = 0; i < count; i++) at = add_text(at, text + size, &rows[i], i);
    assemble(text, "sm_75");
    device_start();
    CUmodule module = device_load(text);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "op%zu", i);
        uint64_t result = 0;
        CUdeviceptr in = device_copy(rows[i].in, sizeof rows[i].in), out = device_copy(NULL, 8);
        CUresult state = device_run(device_kernel(module, name), 1, 1, (void *[]){&in, &out});
        ck_assert_msg(state == CUDA_SUCCESS, "%s: %s", rows[i].text, ptxsim_message());
        device_read(&result, out, sizeof result);
        ck_assert_msg(result == rows[i].out, "%s gives %#" PRIx64 ", not %#" PRIx64, rows[i].text,
                      result, rows[i].out);
    }
    device_stop();
    free(text);
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof rows / sizeof *rows)

START_TEST(integer_arithmetic) {
    CHECK_ROWS(integers);
}
END_TEST
START_TEST(bits_and_moves) {
    CHECK_ROWS(bits);
}
END_TEST
START_TEST(comparisons) {
    CHECK_ROWS(compares);
}
END_TEST
START_TEST(float_arithmetic) {
    CHECK_ROWS(floats);
}
END_TEST
START_TEST(conversions_between_types) {
    CHECK_ROWS(conversions);
}
END_TEST

UNIT_MAIN("ptxsim-ops", integer_arithmetic, bits_and_moves, comparisons, float_arithmetic,
          conversions_between_types)
