; Every form of LLVM 22's language that a C or C++ compiler may print, each at least once. Comments
; do not survive: LLVM reads this file and prints it anew before Kleene reads it.
source_filename = "a museum \22of\22 forms.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

module asm ".globl assembled"
module asm "assembled: ret"

; ---- types
%empty = type {}
%pair = type { i32, ptr }
%nested = type { %pair, [3 x %pair], <4 x float>, { i8, { i16 } } }
%packed = type <{ i8, i32, %empty }>
%list = type { %list.link, i32 }
%list.link = type { ptr }
%never.defined = type opaque
%"quoted \22type\22" = type { i64 }
%"class.std::vector<int>" = type { ptr, ptr, ptr }
%0 = type { i1, i65 }
%1 = type <{ %0 }>
%huge = type { [4611686018427387904 x i8] }

$comdat.any = comdat any
$comdat.exact = comdat exactmatch
$comdat.largest = comdat largest
$comdat.nodup = comdat nodeduplicate
$comdat.size = comdat samesize
$"comdat quoted" = comdat any

; ---- global variables
@external = external global i32
@external.weak = extern_weak global i32
@external.const = external dso_local constant [0 x i8], align 1
@internal = internal global i32 -7, align 4
@private = private unnamed_addr constant [4 x i8] c"a\00\22\\", align 1
@local.unnamed = local_unnamed_addr global i8 0
@available = available_externally global i32 1
@linkonce = linkonce global i32 1
@linkonce.odr = linkonce_odr constant i32 1, comdat($comdat.any)
@weak = weak global i32 1
@weak.odr = weak_odr hidden global i32 1, comdat($comdat.exact)
@common = common protected global [7 x i16] zeroinitializer, align 16
@appending = appending global [1 x ptr] [ptr @declared], section "llvm.metadata"
@llvm.used = appending global [2 x ptr] [ptr @internal, ptr @private], section "llvm.metadata"
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @plain.void, ptr null }]
@imported = external dllimport global i32
@exported = dllexport global i32 3
@tls = thread_local global i32 1
@tls.ld = thread_local(localdynamic) global i32 1
@tls.ie = thread_local(initialexec) global i32 1
@tls.le = thread_local(localexec) global i32 1
@spaced = addrspace(272) global i32 5, align 8
@outside = externally_initialized global i32 0
@sectioned = global i32 1, section ".my \22section\22", partition "a part", comdat($comdat.size), align 2, code_model "large", !dbg !120
@sanitized = global i32 1, no_sanitize_address, no_sanitize_hwaddress, sanitize_memtag, sanitize_address_dyninit
@attributed = global i32 1 #0
@"with space" = global i32 1, comdat($"comdat quoted")
@"esc\01\C3\A9\5C\22" = global i32 1, comdat($comdat.largest)
@"\01_renamed" = global i32 1, comdat($comdat.nodup)
@llvm.-dash$dollar.dot = global i32 1
@0 = global i32 10
@1 = private constant i32 11
@of.vector = global ptr @1
@annotated = global i32 1, !annotation !130, !associated !131

; ---- constants
@ints = constant { i1, i1, i8, i16, i32, i64, i64, i64, i128, i128, i7, i65 } { i1 true, i1 false, i8 -128, i16 32767, i32 -2147483648, i64 9223372036854775807, i64 -9223372036854775808, i64 549755813888, i128 170141183460469231731687303715884105727, i128 -170141183460469231731687303715884105728, i7 -64, i65 -1 }
@edges = constant [6 x i64] [i64 99999999999, i64 100000000000, i64 -99999999999, i64 -100000000000, i64 549755813887, i64 -549755813889]
@floats = constant { half, bfloat, float, double, x86_fp80, fp128, ppc_fp128 } { half 0xH3C00, bfloat 0xR3F80, float 1.5, double 1.0e-300, x86_fp80 0xK3FFF8000000000000000, fp128 0xL00000000000000003FFF000000000000, ppc_fp128 0xM3FF00000000000000000000000000000 }
@float.odd = constant [8 x double] [double 0x7FF8000000000000, double 0xFFF8000000000001, double 0x7FF0000000000000, double 0xFFF0000000000000, double -0.0, double 0.0, double 0x3FB999999999999A, double 4.940660e-324]
@float.small = constant [4 x float] [float 0x7FF8000000000000, float 0x7FF0000000000000, float 0x3FB99999A0000000, float -2.0]
@half.odd = constant [3 x half] [half 0xH7C00, half 0xH7E01, half 0xH8000]
@bfloat.odd = constant [2 x bfloat] [bfloat 0xRFF80, bfloat 0xR0001]
@nothing = constant { ptr, %empty, [0 x i8], { i32, i32 }, i32, float, <2 x i8>, ptr addrspace(272) } { ptr null, %empty zeroinitializer, [0 x i8] zeroinitializer, { i32, i32 } zeroinitializer, i32 undef, float poison, <2 x i8> poison, ptr addrspace(272) null }
@strings = constant { [3 x i8], [4 x i8], [2 x i16], [3 x i8] } { [3 x i8] c"abc", [4 x i8] c"\00\01\FE\FF", [2 x i16] [i16 1, i16 2], [3 x i8] c";!\22" }
@nest = global %nested { %pair { i32 1, ptr @internal }, [3 x %pair] [%pair zeroinitializer, %pair { i32 2, ptr null }, %pair undef], <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>, { i8, { i16 } } { i8 1, { i16 } { i16 2 } } }
@pack = global %packed <{ i8 1, i32 2, %empty zeroinitializer }>
@unnamed.type = global %1 <{ %0 { i1 true, i65 36893488147419103231 } }>
@vectors = global { <4 x i32>, <2 x ptr>, <3 x i1>, <8 x i8> } { <4 x i32> splat (i32 7), <2 x ptr> <ptr @internal, ptr null>, <3 x i1> <i1 true, i1 false, i1 undef>, <8 x i8> zeroinitializer }
@quoted.type = global %"quoted \22type\22" { i64 1 }
@template = global %"class.std::vector<int>" zeroinitializer
@opaque.pointer = external global %never.defined
@huge = external global %huge
@recursive = global %list { %list.link { ptr @recursive }, i32 1 }
@functions = constant [3 x ptr] [ptr @plain.void, ptr @variadic, ptr @"quoted function"]
@expressions = global [9 x ptr] [ptr getelementptr (i8, ptr @nest, i64 16), ptr getelementptr inbounds (%nested, ptr @nest, i64 0, i32 1, i64 2, i32 1), ptr getelementptr nusw nuw (i8, ptr @nest, i64 4), ptr getelementptr inbounds inrange(-8, 24) (i8, ptr @nest, i64 8), ptr inttoptr (i64 4096 to ptr), ptr addrspacecast (ptr addrspace(272) @spaced to ptr), ptr dso_local_equivalent @declared, ptr no_cfi @declared, ptr blockaddress(@jumps, %"a target")]
@expressions.int = global [5 x i64] [i64 ptrtoint (ptr @nest to i64), i64 add (i64 ptrtoint (ptr @nest to i64), i64 1), i64 sub nuw nsw (i64 ptrtoint (ptr @nest to i64), i64 ptrtoint (ptr @internal to i64)), i64 xor (i64 ptrtoint (ptr @nest to i64), i64 -1), i64 ptrtoaddr (ptr @nest to i64)]
@expressions.small = global i32 trunc (i64 sub (i64 ptrtoint (ptr @functions to i64), i64 ptrtoint (ptr @nest to i64)) to i32)
@expressions.float = global float bitcast (i32 trunc (i64 ptrtoint (ptr @nest to i64) to i32) to float)
@expressions.vector = global <2 x ptr> getelementptr (i8, <2 x ptr> <ptr @nest, ptr @internal>, <2 x i64> <i64 1, i64 2>)
@expressions.element = global ptr getelementptr inbounds ([3 x ptr], ptr @functions, i64 0, i64 extractelement (<2 x i64> <i64 ptrtoint (ptr @nest to i64), i64 0>, i64 0))
@signed = global ptr ptrauth (ptr @declared, i32 1, i64 1234)
@signed.at = global ptr ptrauth (ptr @declared, i32 2, i64 0, ptr @signed.at)
@later.block = global ptr blockaddress(@jumps, %2)

; ---- aliases, ifuncs
@alias = alias i32, ptr @internal
@alias.weak = weak hidden unnamed_addr alias i32, getelementptr inbounds (i8, ptr @nest, i64 4)
@alias.function = internal alias void (), ptr @plain.void
@alias.tls = thread_local(initialexec) alias i32, ptr @tls.ie
@alias.alias = dso_local alias i32, ptr @alias
@chosen = ifunc i32 (i32), ptr @resolver
@chosen.internal = internal ifunc i32 (i32), ptr @resolver, partition "p"

; ---- declarations
declare void @declared()
declare i32 @variadic(ptr, ...)
declare i32 @__gxx_personality_v0(...)
declare i32 @__CxxFrameHandler3(...)
declare extern_weak i32 @weak.function()
declare dllimport void @imported.function()
declare dso_local noundef zeroext i8 @"quoted function"(i8 noundef signext, ptr noalias nonnull)
declare i1 @llvm.type.test(ptr, metadata)
declare void @llvm.experimental.noalias.scope.decl(metadata)
declare !dbg !141 void @declared.debug(i32)
declare target("spirv.Image", void, 1, 0) @targets(target("spirv.Sampler"), target("aarch64.svcount"))
declare void @attributes.all(ptr byval(%pair) align 8, ptr sret(%nested) noalias writable, ptr byref(i32), ptr preallocated(i64), ptr readonly captures(none), ptr writeonly nocapture, ptr readnone, ptr nest, ptr swiftself, ptr dereferenceable(16), ptr dereferenceable_or_null(8), ptr align 64 nofree, ptr captures(address_is_null, ret: address, provenance), ptr initializes((0, 4), (8, 12)), i32 range(i32 -5, 10), float nofpclass(nan inf), i32 inreg, i8 noundef "string" "key"="value", i64 allocalign, ptr allocptr, ptr dead_on_unwind)
declare void @attributes.alloca(ptr inalloca(%pair))
declare void @attributes.swift(ptr swiftasync, ptr swifterror)
declare noundef range(i32 0, 100) i32 @ranged()
declare ptr @returns(ptr returned)
declare noalias nonnull dereferenceable(8) align 16 ptr @result.attributes() #1
declare token @llvm.call.preallocated.setup(i32)
declare ptr @llvm.call.preallocated.arg(token, i32)
declare void @llvm.assume(i1 noundef)
declare float @llvm.experimental.constrained.fadd.f32(float, float, metadata, metadata)
declare i64 @llvm.read_register.i64(metadata)
declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_copy.p0(ptr, ptr)
declare void @llvm.va_end.p0(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg)
declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)
declare i64 @llvm.vscale.i64()
declare ptr @llvm.preserve.array.access.index.p0.p0(ptr, i32 immarg, i32 immarg)
declare void @may.longjmp() returns_twice
declare ptr @allocates(i64) allockind("alloc,uninitialized") allocsize(0) "alloc-family"="malloc"

; ---- binary operations and their flags
define i32 @binary(i32 %a, i32 %b) {
  %add = add i32 %a, %b
  %add.nuw = add nuw i32 %add, 1
  %add.nsw = add nsw i32 %add.nuw, -1
  %add.both = add nuw nsw i32 %add.nsw, 2147483647
  %sub = sub nsw i32 0, %add.both
  %mul = mul nuw i32 %sub, %b
  %udiv = udiv i32 %mul, 3
  %udiv.exact = udiv exact i32 %udiv, %b
  %sdiv = sdiv exact i32 %udiv.exact, 4
  %urem = urem i32 %sdiv, 5
  %srem = srem i32 %urem, %a
  %shl = shl nuw nsw i32 %srem, 6
  %lshr = lshr exact i32 %shl, 7
  %ashr = ashr exact i32 %lshr, %b
  %and = and i32 %ashr, 255
  %or = or disjoint i32 %and, 256
  %or.plain = or i32 %or, %b
  %xor = xor i32 %or.plain, -1
  ret i32 %xor
}

define double @floating(double %a, double %b, <2 x float> %v) {
  %neg = fneg double %a
  %neg.fast = fneg fast double %neg
  %add = fadd nnan ninf double %neg.fast, %b
  %sub = fsub nsz arcp double %add, 0x7FF8000000000000
  %mul = fmul contract afn double %sub, 1.0
  %div = fdiv reassoc double %mul, -0.0
  %rem = frem fast double %div, %b
  %vector = fadd <2 x float> %v, splat (float 1.0)
  %lane = extractelement <2 x float> %vector, i64 1
  %wide = fpext float %lane to double
  %pick = select nnan i1 true, double %wide, double %rem
  ret double %pick
}

; ---- casts
define void @casts(i64 %i, double %d, ptr %p, <2 x i32> %v, float %f) {
  %t1 = trunc i64 %i to i32
  %t2 = trunc nuw i64 %i to i16
  %t3 = trunc nsw i64 %i to i8
  %t4 = trunc nuw nsw i64 %i to i1
  %z1 = zext i8 %t3 to i32
  %z2 = zext nneg i8 %t3 to i64
  %s1 = sext i8 %t3 to i128
  %d1 = fptrunc double %d to float
  %d2 = fptrunc fast double %d to half
  %e1 = fpext float %d1 to double
  %u1 = fptoui double %d to i32
  %u2 = fptosi double %d to i64
  %f1 = uitofp i32 %t1 to float
  %f2 = uitofp nneg i32 %t1 to double
  %f3 = sitofp i64 %i to fp128
  %p1 = ptrtoint ptr %p to i64
  %p2 = inttoptr i64 %p1 to ptr
  %p3 = ptrtoaddr ptr %p to i64
  %p4 = addrspacecast ptr %p to ptr addrspace(270)
  %b1 = bitcast i32 %t1 to float
  %b2 = bitcast <2 x i32> %v to <8 x i8>
  %b3 = bitcast <2 x i32> %v to i64
  %v1 = sext <2 x i32> %v to <2 x i64>
  %v2 = inttoptr <2 x i64> %v1 to <2 x ptr>
  %v3 = ptrtoint <2 x ptr> %v2 to <2 x i64>
  ret void
}

; ---- comparisons
define <2 x i1> @comparisons(i32 %a, ptr %p, float %f, <2 x i32> %v) {
  %c1 = icmp eq i32 %a, 0
  %c2 = icmp ne ptr %p, null
  %c3 = icmp ugt i32 %a, 1
  %c4 = icmp uge i32 %a, 2
  %c5 = icmp ult i32 %a, 3
  %c6 = icmp samesign ule i32 %a, 4
  %c7 = icmp sgt i32 %a, 5
  %c8 = icmp sge i32 %a, 6
  %c9 = icmp slt i32 %a, 7
  %c10 = icmp sle i32 %a, 8
  %f0 = fcmp false float %f, 0.0
  %f1 = fcmp oeq float %f, 0.0
  %f2 = fcmp ogt float %f, 0.0
  %f3 = fcmp oge float %f, 0.0
  %f4 = fcmp olt float %f, 0.0
  %f5 = fcmp ole float %f, 0.0
  %f6 = fcmp one float %f, 0.0
  %f7 = fcmp ord float %f, 0.0
  %f8 = fcmp ueq float %f, 0.0
  %f9 = fcmp ugt float %f, 0.0
  %f10 = fcmp uge float %f, 0.0
  %f11 = fcmp ult float %f, 0.0
  %f12 = fcmp ule float %f, 0.0
  %f13 = fcmp une float %f, 0.0
  %f14 = fcmp uno float %f, 0.0
  %f15 = fcmp nnan ninf true float %f, 0.0
  %vector = icmp slt <2 x i32> %v, splat (i32 3)
  %not = xor <2 x i1> %vector, splat (i1 true)
  ret <2 x i1> %not
}

; ---- memory and atomics
define void @memory(ptr %p, i64 %n, ptr addrspace(272) %q) {
  %one = alloca i32, align 4
  %many = alloca i32, i64 %n, align 16
  %fixed = alloca [4 x i8], i32 3, align 1
  %spaced = alloca i32, align 4, addrspace(272)
  %spaced.many = alloca i8, i64 %n, align 1, addrspace(272)
  %inside = alloca inalloca i32, align 4
  %error = alloca swifterror ptr, align 8
  %typed = alloca %nested, align 16
  %bare = alloca i1
  %l1 = load i32, ptr %p
  %l2 = load volatile i32, ptr %p, align 1
  %l3 = load atomic i32, ptr %p unordered, align 4
  %l4 = load atomic volatile i32, ptr %p syncscope("singlethread") seq_cst, align 4
  %l5 = load atomic i64, ptr %p monotonic, align 8
  %l6 = load atomic ptr, ptr %p acquire, align 8
  %l7 = load i32, ptr addrspace(272) %q, align 4, !tbaa !150, !range !151, !noundef !152
  %l8 = load <4 x float>, ptr getelementptr inbounds (i8, ptr @nest, i64 64), align 16, !nontemporal !153, !invariant.load !152
  %l9 = load ptr, ptr %p, align 8, !nonnull !152, !align !154, !dereferenceable !154
  store i32 1, ptr %p, align 4
  store volatile ptr @declared, ptr %p, align 8
  store atomic i32 %l1, ptr %p release, align 4
  store atomic volatile i32 2, ptr %p syncscope("agent") seq_cst, align 4
  store %pair { i32 1, ptr null }, ptr %p, align 8
  store <2 x ptr> <ptr @internal, ptr null>, ptr %p, align 16
  fence acquire
  fence release
  fence acq_rel
  fence syncscope("singlethread") seq_cst
  %x1 = cmpxchg ptr %p, i32 0, i32 1 seq_cst monotonic, align 4
  %x2 = cmpxchg weak volatile ptr %p, ptr null, ptr @internal syncscope("wave") acq_rel acquire, align 8
  %x3 = cmpxchg weak ptr %p, i8 0, i8 1 monotonic monotonic, align 1
  %x4 = cmpxchg ptr %p, i64 0, i64 1 release seq_cst, align 8
  %x.old = extractvalue { i32, i1 } %x1, 0
  %x.done = extractvalue { i32, i1 } %x1, 1
  %r0 = atomicrmw xchg ptr %p, i32 1 monotonic, align 4
  %r1 = atomicrmw add ptr %p, i32 1 acquire, align 4
  %r2 = atomicrmw sub ptr %p, i32 1 release, align 4
  %r3 = atomicrmw and ptr %p, i32 1 acq_rel, align 4
  %r4 = atomicrmw nand ptr %p, i32 1 seq_cst, align 4
  %r5 = atomicrmw or ptr %p, i32 1 seq_cst, align 4
  %r6 = atomicrmw xor ptr %p, i32 1 seq_cst, align 4
  %r7 = atomicrmw max ptr %p, i32 1 seq_cst, align 4
  %r8 = atomicrmw min ptr %p, i32 1 seq_cst, align 4
  %r9 = atomicrmw umax ptr %p, i32 1 seq_cst, align 4
  %r10 = atomicrmw umin ptr %p, i32 1 seq_cst, align 4
  %r11 = atomicrmw fadd ptr %p, float 1.0 seq_cst, align 4
  %r12 = atomicrmw fsub ptr %p, float 1.0 seq_cst, align 4
  %r13 = atomicrmw fmax ptr %p, float 1.0 seq_cst, align 4
  %r14 = atomicrmw fmin ptr %p, float 1.0 seq_cst, align 4
  %r15 = atomicrmw uinc_wrap ptr %p, i32 1 seq_cst, align 4
  %r16 = atomicrmw udec_wrap ptr %p, i32 1 seq_cst, align 4
  %r17 = atomicrmw usub_cond ptr %p, i32 1 seq_cst, align 4
  %r18 = atomicrmw usub_sat ptr %p, i32 1 seq_cst, align 4
  %r19 = atomicrmw fmaximum ptr %p, double 1.0 seq_cst, align 8
  %r20 = atomicrmw fminimum ptr %p, double 1.0 seq_cst, align 8
  %r21 = atomicrmw volatile xchg ptr %p, ptr null syncscope("agent") seq_cst, align 8
  %r22 = atomicrmw fadd ptr %p, <2 x half> splat (half 0xH3C00) seq_cst, align 4
  ret void
}

; ---- addresses, aggregates, vectors
define <2 x ptr> @addresses(ptr %p, <2 x ptr> %ps, i64 %i, <2 x i64> %is, ptr addrspace(270) %q) {
  %g1 = getelementptr i8, ptr %p, i64 %i
  %g2 = getelementptr inbounds %nested, ptr %p, i64 0, i32 1, i64 %i, i32 1
  %g3 = getelementptr nuw i8, ptr %p, i64 1
  %g4 = getelementptr nusw i8, ptr %p, i64 -1
  %g5 = getelementptr inbounds nuw [10 x i32], ptr @common, i64 0, i64 5
  %g6 = getelementptr nusw nuw i8, ptr %p, i16 3
  %g7 = getelementptr i32, <2 x ptr> %ps, i64 1
  %g8 = getelementptr i32, ptr %p, <2 x i64> %is
  %g9 = getelementptr %pair, <2 x ptr> %ps, <2 x i64> %is, i32 1
  %g10 = getelementptr i8, ptr addrspace(270) %q, i32 1
  %g11 = getelementptr { i8, <{ i16, [2 x ptr] }> }, ptr %p, i64 1, i32 1, i32 1, i64 0
  %g12 = getelementptr i8, ptr %p, <2 x i64> splat (i64 8)
  %g13 = getelementptr <4 x i32>, ptr %p, i64 1
  ret <2 x ptr> %g12
}

define %nested @aggregates(%nested %n, { i32, [2 x i8] } %u) {
  %e1 = extractvalue %nested %n, 0, 1
  %e2 = extractvalue { i32, [2 x i8] } %u, 1, 1
  %e3 = extractvalue %nested %n, 1
  %i1 = insertvalue %nested %n, i32 5, 1, 2, 0
  %i2 = insertvalue %nested poison, %pair { i32 1, ptr null }, 0
  %i3 = insertvalue { i32, [2 x i8] } undef, i8 %e2, 1, 0
  %i4 = insertvalue [2 x ptr] [ptr null, ptr undef], ptr %e1, 0
  ret %nested %i1
}

define <4 x i32> @vectors.fixed(<4 x i32> %v, <2 x float> %f, i32 %i) {
  %e1 = extractelement <4 x i32> %v, i64 0
  %e2 = extractelement <4 x i32> %v, i32 %i
  %i1 = insertelement <4 x i32> poison, i32 %e1, i64 0
  %i2 = insertelement <4 x i32> <i32 1, i32 2, i32 undef, i32 poison>, i32 %i, i32 %e2
  %s1 = shufflevector <4 x i32> %v, <4 x i32> %i2, <4 x i32> <i32 0, i32 5, i32 poison, i32 7>
  %s2 = shufflevector <4 x i32> %i1, <4 x i32> poison, <4 x i32> zeroinitializer
  %s3 = shufflevector <4 x i32> %v, <4 x i32> poison, <2 x i32> <i32 3, i32 2>
  %s4 = shufflevector <2 x i32> %s3, <2 x i32> undef, <8 x i32> poison
  %s5 = shufflevector <4 x i32> %s1, <4 x i32> %s2, <4 x i32> <i32 1, i32 1, i32 1, i32 1>
  %sel = select <4 x i1> <i1 true, i1 false, i1 true, i1 false>, <4 x i32> %s5, <4 x i32> %v
  %mask = icmp eq <4 x i32> %sel, zeroinitializer
  %sel2 = select <4 x i1> %mask, <4 x i32> splat (i32 -1), <4 x i32> zeroinitializer
  ret <4 x i32> %sel2
}

define <vscale x 4 x i32> @vectors.scalable(<vscale x 4 x i32> %v, i32 %i, ptr %p) {
  %e = extractelement <vscale x 4 x i32> %v, i64 0
  %i1 = insertelement <vscale x 4 x i32> poison, i32 %i, i64 0
  %s = shufflevector <vscale x 4 x i32> %i1, <vscale x 4 x i32> poison, <vscale x 4 x i32> zeroinitializer
  %a = add <vscale x 4 x i32> %s, splat (i32 1)
  %g = getelementptr <vscale x 4 x i32>, ptr %p, i64 1
  %c = icmp eq <vscale x 4 x i32> %a, zeroinitializer
  %l = load <vscale x 4 x i32>, ptr %g, align 16
  %m = select <vscale x 4 x i1> %c, <vscale x 4 x i32> %a, <vscale x 4 x i32> %l
  ret <vscale x 4 x i32> %m
}

; ---- select, freeze, phi, va_arg
define i32 @others(i1 %c, i32 %a, ...) {
entry:
  %list = alloca [1 x { i32, i32, ptr, ptr }], align 16
  call void @llvm.va_start.p0(ptr %list)
  %v1 = va_arg ptr %list, i32
  %v2 = va_arg ptr %list, double
  %v3 = va_arg ptr %list, %pair
  call void @llvm.va_end.p0(ptr %list)
  %s1 = select i1 %c, i32 %a, i32 undef
  %s2 = select fast i1 %c, float 1.0, float 2.0
  %s3 = select i1 %c, ptr @internal, ptr null
  %f1 = freeze i32 %s1
  %f2 = freeze { i32, ptr } undef
  br i1 %c, label %left, label %right

left:
  br label %join

right:
  br i1 poison, label %join, label %join

join:
  %p1 = phi i32 [ %f1, %left ], [ 7, %right ], [ 7, %right ]
  %p2 = phi ptr [ @internal, %left ], [ getelementptr inbounds (i8, ptr @nest, i64 8), %right ], [ getelementptr inbounds (i8, ptr @nest, i64 8), %right ]
  %p3 = phi fast float [ %s2, %left ], [ undef, %right ], [ undef, %right ]
  %p4 = phi <2 x i8> [ zeroinitializer, %left ], [ splat (i8 3), %right ], [ splat (i8 3), %right ]
  %p5 = phi { i32, i1 } [ { i32 1, i1 true }, %left ], [ poison, %right ], [ poison, %right ]
  ret i32 %p1
}

; ---- control flow
define void @plain.void() {
  ret void
}

define void @unreachable() {
  unreachable
}

define ptr @jumps(i32 %x, ptr %where) {
  switch i32 %x, label %2 [
    i32 0, label %1
    i32 -1, label %"a target"
    i32 2147483647, label %2
  ]

1:
  switch i64 0, label %2 [
  ]

2:
  switch i128 170141183460469231731687303715884105727, label %3 [
    i128 99999999999999999999, label %"a target"
  ]

3:
  indirectbr ptr %where, [label %"a target", label %last]

"a target":
  indirectbr ptr blockaddress(@jumps, %last), [label %last]

last:
  switch i1 true, label %"-dash" [
    i1 false, label %"quote\22\5C\01"
    i1 true, label %"-dash"
  ]

"-dash":
  br label %"quote\22\5C\01"

"quote\22\5C\01":
  ret ptr %where
}

define i32 @unnamed(i32, i32 %named, i32) {
  %3 = add i32 %0, %1
  br label %4

4:
  %5 = phi i32 [ %3, %2 ], [ %6, %4 ]
  %6 = add i32 %5, %named
  %7 = icmp eq i32 %6, 0
  br i1 %7, label %8, label %4

8:
  ret i32 %6
}

define i32 @"names\22 of locals"(i32 %"a b", i32 %-minus, i32 %dollar$.dot, i32 %"1digit") {
"entry point":
  %"x\01y" = add i32 %"a b", %-minus
  %"\C3\A9" = add i32 %"x\01y", %dollar$.dot
  %i32 = add i32 %"\C3\A9", %"1digit"
  %label = add i32 %i32, 1
  br label %add

add:
  ret i32 %label
}

; ---- calls
define i32 @calls(ptr %f, i32 %i) #2 {
  %error = alloca swifterror ptr, align 8
  call void @declared()
  %r1 = call i32 @ranged()
  %r2 = call i32 (ptr, ...) @variadic(ptr @private, i32 1, double 2.0)
  %r3 = tail call fastcc i32 %f(i32 %i, ptr null)
  %r4 = notail call coldcc i32 %f(i32 noundef %i)
  %r5 = call ghccc i32 %f()
  %r6 = call cc 1023 i32 %f()
  %r7 = call x86_stdcallcc i32 %f()
  %r8 = call fast float %f(float 1.0)
  %r9 = call nnan nsz <2 x float> %f(<2 x float> splat (float 1.0))
  %r10 = call noundef nonnull align 8 dereferenceable(16) ptr @result.attributes()
  %r11 = call range(i32 0, 5) i32 %f(i32 range(i32 1, 9) %i)
  %r12 = call zeroext i8 @"quoted function"(i8 noundef signext 5, ptr noalias nonnull %f) #3
  %r13 = call i32 %f() #3 [ "one"(i32 1, ptr %f), "two"(), "three"(<2 x i8> splat (i8 1), metadata !"in a bundle") ]
  call void @llvm.assume(i1 true) [ "align"(ptr %f, i64 16), "nonnull"(ptr %f) ]
  %r14 = call float @llvm.experimental.constrained.fadd.f32(float 1.0, float 2.0, metadata !"round.dynamic", metadata !"fpexcept.strict") #4
  %r15 = call i64 @llvm.read_register.i64(metadata !160)
  %tested = call i1 @llvm.type.test(ptr %f, metadata !"a type, (quoted)")
  %tested.node = call i1 @llvm.type.test(ptr %f, metadata !152)
  call void @llvm.experimental.noalias.scope.decl(metadata !165)
  call addrspace(0) void %f()
  call void %f(ptr byval(%pair) align 8 %f, ptr sret(%nested) %f, ptr byref(i32) %f)
  call void @attributes.swift(ptr swiftasync %f, ptr swifterror %error)
  call void %f(ptr null, i64 0, %pair zeroinitializer, [2 x i32] [i32 1, i32 2], <2 x i8> <i8 1, i8 2>, half 0xH0000, ptr blockaddress(@jumps, %last))
  call void inttoptr (i64 4096 to ptr)(i32 1)
  call void @alias.function()
  %r16 = call i32 @chosen(i32 1)
  call void null()
  %r17 = call ptr @allocates(i64 8)
  call void @may.longjmp() #5
  call void %f() noreturn nounwind memory(none) "inline"="yes"
  %r18 = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %i, i32 1)
  %r19 = call ptr @llvm.preserve.array.access.index.p0.p0(ptr elementtype([4 x i32]) %f, i32 1, i32 2), !preserve !162
  %r20 = call i32 %f(), !callees !161, !srcloc !154, !heapallocsite !152
  %r21 = call %pair %f(%pair zeroinitializer)
  %r22 = call %pair %f(%pair %r21)
  %r23 = call token @llvm.call.preallocated.setup(i32 1)
  %r24 = call ptr @llvm.call.preallocated.arg(token %r23, i32 0) preallocated(%pair)
  call void %f(ptr preallocated(%pair) %r24) [ "preallocated"(token %r23) ]
  ret i32 %r1
}

define void @musttail.caller(ptr %p, i32 %i) {
  musttail call void @musttail.callee(ptr %p, i32 %i)
  ret void
}

declare void @musttail.callee(ptr, i32)

define swifttailcc void @conventions.swift() {
  ret void
}
define preserve_mostcc void @conventions.preserve() {
  ret void
}
define cc 77 void @conventions.number() {
  ret void
}
define win64cc void @conventions.win() {
  ret void
}
define x86_regcallcc void @conventions.regcall() {
  ret void
}

; ---- inline assembly
define i32 @assembly(i32 %i, ptr %p) {
  call void asm sideeffect "nop; $$ \22quoted\22 \0A", "~{memory},~{dirflag}"()
  %a1 = call i32 asm "mov $1, $0", "=r,r"(i32 %i)
  %a2 = call { i32, i32 } asm sideeffect alignstack inteldialect unwind "cpuid", "={eax},={ebx},{eax},~{ecx}"(i32 %i) #3, !srcloc !154
  call void asm "", "=*m,*m"(ptr elementtype(i32) %p, ptr elementtype([2 x i8]) %p)
  callbr void asm sideeffect "jmp ${0:l}", "!i,!i"()
      to label %through [label %away, label %far]

through:
  %a3 = callbr i32 asm "", "=r,r,!i"(i32 %i)
      to label %end [label %away]

away:
  ret i32 1

far:
  ret i32 %a1

end:
  ret i32 %a3
}

; ---- exceptions of the Itanium kind
define i32 @exceptions(ptr %f) personality ptr @__gxx_personality_v0 {
entry:
  invoke void %f()
          to label %next unwind label %pad

next:
  %r = invoke fastcc noundef i32 (ptr, ...) %f(ptr null, i32 1) #3 [ "tag"(i32 1) ]
          to label %done unwind label %filters

done:
  ret i32 %r

pad:
  %p1 = landingpad { ptr, i32 }
          cleanup
          catch ptr @external
          catch ptr null
  resume { ptr, i32 } %p1

filters:
  %p2 = landingpad { ptr, i32 }
          filter [0 x ptr] zeroinitializer
          filter [2 x ptr] [ptr @external, ptr @internal]
          catch ptr getelementptr inbounds (i8, ptr @nest, i64 8)
  %p3 = insertvalue { ptr, i32 } poison, ptr null, 0
  invoke void @declared()
          to label %never unwind label %only.cleanup

only.cleanup:
  %p4 = landingpad { ptr, i32 }
          cleanup
  br label %never

never:
  unreachable
}

; ---- exceptions of the Windows kind
define void @funclets(ptr %f) personality ptr @__CxxFrameHandler3 {
entry:
  invoke void %f()
          to label %exit unwind label %dispatch

dispatch:
  %cs = catchswitch within none [label %handler, label %other] unwind label %cleanup

handler:
  %cp = catchpad within %cs [ptr null, i32 64, ptr %f]
  call void %f() [ "funclet"(token %cp) ]
  catchret from %cp to label %exit

other:
  %cp2 = catchpad within %cs []
  invoke void %f() [ "funclet"(token %cp2) ]
          to label %other.go unwind label %inner

other.go:
  catchret from %cp2 to label %exit

inner:
  %cs2 = catchswitch within %cp2 [label %inner.handler] unwind label %cleanup

inner.handler:
  %cp3 = catchpad within %cs2 [i32 7]
  catchret from %cp3 to label %other.go

cleanup:
  %cl = cleanuppad within none [i32 1]
  cleanupret from %cl unwind label %last

last:
  %cl2 = cleanuppad within none []
  cleanupret from %cl2 unwind to caller

exit:
  ret void
}

define void @funclets.bare(ptr %f) personality ptr @__CxxFrameHandler3 {
  invoke void %f()
          to label %out unwind label %dispatch

dispatch:
  %1 = catchswitch within none [label %handler] unwind to caller

handler:
  %2 = catchpad within %1 [ptr null, i32 0, ptr null]
  unreachable

out:
  ret void
}

; ---- functions with everything around them
define internal fastcc void @everything(ptr noalias noundef readonly captures(none) %p, ptr sret(i64) align 8 %r, ptr byval(%pair) align 8 %q, i32 signext %s, ptr %t) unnamed_addr addrspace(0) #2 section "text \22x\22" partition "part" comdat($comdat.any) align 32 gc "statepoint-example" prefix i32 5 prologue i8 7 personality ptr @__gxx_personality_v0 !dbg !142 !prof !155 !kcfi_type !156 {
entry:
    #dbg_declare(ptr %q, !170, !DIExpression(), !174)
    #dbg_value(ptr %p, !171, !DIExpression(), !174)
    #dbg_value(i32 5, !172, !DIExpression(DW_OP_LLVM_fragment, 0, 16), !174)
    #dbg_value(!DIArgList(i32 %s, ptr %p), !172, !DIExpression(DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_plus), !174)
    #dbg_value(ptr poison, !173, !DIExpression(), !175)
    #dbg_value(!{}, !172, !DIExpression(), !174)
    #dbg_value(ptr getelementptr inbounds (i8, ptr @nest, i64 8), !173, !DIExpression(DW_OP_deref), !175)
    #dbg_label(!176, !174)
  %x = alloca i64, align 8, !dbg !174, !DIAssignID !177
    #dbg_assign(i1 undef, !172, !DIExpression(), !177, ptr %x, !DIExpression(), !174)
  %y = load i64, ptr %x, align 8, !dbg !175, !annotation !130
    #dbg_assign(i64 %y, !172, !DIExpression(), !177, ptr %x, !DIExpression(DW_OP_plus_uconst, 8), !174)
  store i64 %y, ptr %x, align 8, !dbg !178, !DIAssignID !179
  br label %loop, !dbg !174, !llvm.loop !157

loop:
  %z = phi i64 [ %y, %entry ], [ %w, %loop ], !dbg !175
    #dbg_value(i64 %y, !172, !DIExpression(), !174)
  %w = add i64 %z, 1, !dbg !180
  %c = icmp eq i64 %w, 0, !dbg !DILocation(line: 9, column: 4, scope: !142)
  br i1 %c, label %out, label %loop, !dbg !174, !prof !158, !llvm.loop !157

out:
  ret void, !dbg !174
}

define ptr @resolver() {
  ret ptr @calls
}

define available_externally i32 @available.function(i32 returned %x) noinline optnone {
  ret i32 %x
}

define linkonce_odr hidden void @linkonce.function() nounwind "frame-pointer"="all" comdat($comdat.any) {
  ret void
}

define weak protected void @weak.function.defined() {
  ret void
}

define dso_local i1 @wide(i128 %x, i256 %y, i1 %z) {
  %a = icmp eq i128 %x, -170141183460469231731687303715884105728
  %b = add i256 %y, 57896044618658097711785492504343953926634992332820282019728792003956564819967
  %c = xor i1 %z, true
  %d = and i1 %c, false
  ret i1 %d
}

define void @used.twice(i32 %x) {
  %a = add i32 %x, 1
  %b = add i32 %x, %a
  %c = add i32 %a, %b
  ret void
  uselistorder i32 %x, { 1, 0 }
}

attributes #0 = { "bss-section"="my_bss" }
attributes #1 = { nounwind willreturn memory(argmem: read, inaccessiblemem: readwrite) allockind("alloc") "alloc-family"="x" }
attributes #2 = { mustprogress noinline nounwind uwtable(sync) vscale_range(1,16) "target-cpu"="x86-64" "a-key"="c\0A\22d" }
attributes #3 = { nounwind memory(none) }
attributes #4 = { strictfp }
attributes #5 = { noreturn returns_twice }

!llvm.dbg.cu = !{!100}
!llvm.module.flags = !{!103, !104}
!llvm.ident = !{!105}
!named.metadata = !{!130, !131}

!100 = distinct !DICompileUnit(language: DW_LANG_C11, file: !101, producer: "a \22museum\22, (really)", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, enums: !102, globals: !121)
!101 = !DIFile(filename: "museum \22x\22.c", directory: "/place\\with", checksumkind: CSK_MD5, checksum: "0123456789abcdef0123456789abcdef")
!102 = !{}
!103 = !{i32 2, !"Debug Info Version", i32 3}
!104 = !{i32 1, !"wchar_size", i32 4}
!105 = !{!"an identity"}
!106 = !DIFile(filename: "/absolute/other.h", directory: "/place")
!110 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!111 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !110, size: 64)
!112 = !DISubroutineType(types: !113)
!113 = !{null, !111}
!114 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "pair", file: !101, line: 3, size: 128, elements: !115)
!115 = !{!116}
!116 = !DIDerivedType(tag: DW_TAG_member, name: "first", scope: !114, file: !101, line: 4, baseType: !110, size: 32)
!117 = !DINamespace(name: "space", scope: null)
!120 = !DIGlobalVariableExpression(var: !122, expr: !DIExpression())
!121 = !{!120}
!122 = distinct !DIGlobalVariable(name: "sectioned", linkageName: "_Zsectioned", scope: !117, file: !101, line: 33, type: !110, isLocal: false, isDefinition: true)
!130 = !{!"annotation"}
!131 = !{ptr @internal}
!141 = !DISubprogram(name: "declared_debug", scope: !101, file: !101, line: 40, type: !112, spFlags: DISPFlagOptimized)
!142 = distinct !DISubprogram(name: "every(thing)", linkageName: "_Zeverything", scope: !101, file: !101, line: 50, type: !112, scopeLine: 51, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !100, retainedNodes: !143)
!143 = !{!170, !171, !172, !176}
!144 = distinct !DILexicalBlock(scope: !142, file: !101, line: 52, column: 3)
!145 = !DILexicalBlockFile(scope: !144, file: !106, discriminator: 0)
!146 = distinct !DISubprogram(name: "inlined", linkageName: "_Zinlined", scope: !117, file: !106, line: 80, type: !112, unit: !100, spFlags: DISPFlagDefinition, retainedNodes: !102)
!150 = !{!159, !159, i64 0}
!151 = !{i32 0, i32 10}
!152 = !{}
!153 = !{i32 1}
!154 = !{i64 8}
!155 = !{!"function_entry_count", i64 7}
!156 = !{i32 1234}
!157 = distinct !{!157, !174, !163}
!158 = !{!"branch_weights", i32 1, i32 99}
!159 = !{!"int", !164, i64 0}
!160 = !{!"rsp"}
!161 = !{ptr @ranged, ptr @weak.function}
!162 = distinct !DICompositeType(tag: DW_TAG_array_type, baseType: !110, size: 128, elements: !102)
!163 = !{!"llvm.loop.mustprogress"}
!164 = !{!"root"}
!165 = !{!166}
!166 = distinct !{!166, !167, !"scope"}
!167 = distinct !{!167, !"domain"}
!170 = !DILocalVariable(name: "q", arg: 2, scope: !142, file: !101, line: 50, type: !114)
!171 = !DILocalVariable(name: "p", arg: 1, scope: !142, file: !101, line: 50, type: !111)
!172 = !DILocalVariable(name: "x", scope: !144, file: !101, line: 53, type: !110)
!173 = !DILocalVariable(name: "inner \22name\22", scope: !146, file: !106, line: 81, type: !110)
!174 = !DILocation(line: 54, column: 7, scope: !144)
!175 = !DILocation(line: 82, column: 9, scope: !146, inlinedAt: !178)
!176 = !DILabel(scope: !142, name: "again", file: !101, line: 55)
!177 = distinct !DIAssignID()
!178 = distinct !DILocation(line: 55, column: 11, scope: !145)
!179 = distinct !DIAssignID()
!180 = !DILocation(line: 0, scope: !142)
