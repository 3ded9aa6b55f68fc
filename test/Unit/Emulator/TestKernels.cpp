// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of the test kernel, its launch metadata and its reference.

#include "TestKernels.h"

#include <cmath>
#include <cstring>

using namespace dgemm;
using namespace dgemm::test;

static constexpr int kRows = 64, kSlotA = 64 * 128;

static std::string num(int64_t value) { return std::to_string(value); }

int KernelText::sharedBytes() const {
  return stages * (kSlotA + tileN * 128) + kRows * tileN * 2 + 16 * stages;
}

static std::string structType(int n) {
  std::string out = "!llvm.struct<(f32";
  for (int i = 1; i < n / 2; ++i)
    out += ", f32";
  return out + ")>";
}

std::string KernelText::text() const {
  const bool fp8 = type != DType::BF16;
  const int offsetB = stages * kSlotA, slotB = tileN * 128;
  const int offsetD = offsetB + stages * slotB;
  const int full = offsetD + kRows * tileN * 2, empty = full + 8 * stages;
  const std::string regs = structType(tileN);
  const std::string flight = "!dgemm.inflight<64x" + num(tileN) + "xf32>";
  int bytes = kSlotA + slotB;
  bytes += fault == Fault::FewBytes    ? -128
           : fault == Fault::ManyBytes ? 128
                                       : 0;

  std::string s;
  const auto line = [&](const std::string &text) { s += text + "\n"; };
  const auto constant = [&](const std::string &name, int64_t value,
                            const char *t = "i32") {
    line("%" + name + " = llvm.mlir.constant(" + num(value) + " : " + t +
         ") : " + t);
  };
  const auto at = [&](const std::string &name, const std::string &offset) {
    line("%" + name + " = llvm.getelementptr %smem[" + offset +
         "] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8");
  };
  const auto slotAddress = [&](const std::string &name, int base, int stride,
                               const std::string &slot) {
    constant(name + "_s", stride);
    constant(name + "_b", base);
    line("%" + name + "_o = llvm.mul %" + slot + ", %" + name + "_s : i32");
    line("%" + name + "_p = llvm.add %" + name + "_o, %" + name + "_b : i32");
    at(name, "%" + name + "_p");
  };
  const std::string map = ": !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, "
                          "llvm.align = 64 : i64, nvvm.grid_constant}";
  line("module attributes {gpu.container_module} {");
  line("gpu.module @m [#nvvm.target<chip = \"sm_90a\">] {");
  line("llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = "
       "1024 : i64} : !llvm.array<0 x i8>");
  line("llvm.func @gemm(%tmA" + map + ", %tmB" + map + ", %tmD" + map +
       ", %m: i32, %k: i32) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid "
       "= array<i32: 256, 1, 1>" +
       (cluster > 1 ? ", nvvm.cluster_dim = array<i32: 2, 1, 1>" : "") + "} {");
  line("%tid = nvvm.read.ptx.sreg.tid.x : i32");
  line("%cta = nvvm.read.ptx.sreg.ctaid.x : i32");
  if (cluster > 1)
    line("%rank = nvvm.read.ptx.sreg.cluster.ctarank : i32");
  line("%smem = llvm.mlir.addressof @smem : !llvm.ptr<3>");
  constant("c0", 0);
  constant("c1", 1);
  constant("c5", 5);
  constant("c63", 63);
  constant("c64", 64);
  constant("c128", 128);
  constant("ticks", 1000000);
  constant("stages", stages);
  constant("tileK", tileK());
  constant("tileKm1", tileK() - 1);
  constant("tileN", tileN);
  // Tiles are walked along M.
  line("%mu = llvm.add %m, %c63 : i32");
  line("%tiles_m = llvm.udiv %mu, %c64 : i32");
  line("%tile_m = llvm.urem %cta, %tiles_m : i32");
  line("%tile_n = llvm.udiv %cta, %tiles_m : i32");
  line("%row = llvm.mul %tile_m, %c64 : i32");
  line("%col = llvm.mul %tile_n, %tileN : i32");
  line("%ku = llvm.add %k, %tileKm1 : i32");
  line("%blocks = llvm.udiv %ku, %tileK : i32");
  line("%first = llvm.icmp \"eq\" %tid, %c0 : i32");
  line("scf.if %first {");
  for (int i = 0; i < stages; ++i) {
    constant("fo" + num(i), full + 8 * i);
    at("f" + num(i), "%fo" + num(i));
    line("nvvm.mbarrier.init %f" + num(i) + ", %c1 : !llvm.ptr<3>, i32");
    constant("eo" + num(i), empty + 8 * i);
    constant("ec" + num(i), fault == Fault::EmptyCountTwo ? 2 : cluster);
    at("e" + num(i), "%eo" + num(i));
    line("nvvm.mbarrier.init %e" + num(i) + ", %ec" + num(i) +
         " : !llvm.ptr<3>, i32");
  }
  if (fault != Fault::NoInitFence)
    line("nvvm.fence.mbarrier.init");
  line("}");
  if (fault != Fault::NoSetupBarrier)
    line("nvvm.barrier");
  const auto clusterBarrier = [&] {
    line("nvvm.cluster.arrive");
    line("nvvm.cluster.wait");
  };
  if (cluster > 1 && fault != Fault::NoSetupClusterBarrier)
    clusterBarrier();
  line("%is_consumer = llvm.icmp \"ult\" %tid, %c128 : i32");
  line("scf.if %is_consumer {");

  // Consumer.
  line("%lane = llvm.and %tid, %c31 : i32");
  s.insert(s.find("%mu ="), "%c31 = llvm.mlir.constant(31 : i32) : i32\n");
  line("%warp = llvm.lshr %tid, %c5 : i32");
  line("%zero = llvm.mlir.zero : " + regs);
  constant("desc", 4611686293305360384, "i64");
  if (fault == Fault::EndlessLoop) {
    line("%true = llvm.mlir.constant(true) : i1");
    line("scf.while : () -> () { scf.condition(%true) } do { scf.yield }");
  }
  line("%out:3 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%acc = "
       "%zero, %slot = %c0, %phase = %c0) -> (" +
       regs + ", i32, i32) : i32 {");
  slotAddress("fullbar", full, 8, "slot");
  slotAddress("emptybar", empty, 8, "slot");
  slotAddress("sa", 0, kSlotA, "slot");
  slotAddress("sb", offsetB, slotB, "slot");
  line("%parity = llvm.xor %phase, %c" +
       std::string(fault == Fault::WrongParity ? "1" : "0") + " : i32");
  if (fault != Fault::NoFullWait)
    line("nvvm.mbarrier.try_wait.parity %fullbar, %parity, %ticks : "
         "!llvm.ptr<3>, i32, i32");
  for (const char *x : {"a", "b"}) {
    const std::string v = x;
    line("%i" + v + " = llvm.ptrtoint %s" + v + " : !llvm.ptr<3> to i32");
    line("%mask" + v + " = llvm.mlir.constant(262143 : i32) : i32");
    line("%four" + v + " = llvm.mlir.constant(4 : i32) : i32");
    line("%j" + v + " = llvm.and %i" + v + ", %mask" + v + " : i32");
    line("%l" + v + " = llvm.lshr %j" + v + ", %four" + v + " : i32");
    line("%z" + v + " = llvm.zext %l" + v + " : i32 to i64");
    line("%d" + v + "0 = llvm.or %z" + v + ", %desc : i64");
  }
  // With no fence the registers are named anew: what a compiler that forgets
  // it would make of the IR.
  if (fault == Fault::NoWgmmaFence)
    line("%h0 = dgemm.wgmma_undef : " + flight);
  else
    line("%h0 = dgemm.wgmma_fence (%acc : " + regs + ") -> (" + flight + ")");
  for (int i = 0; i < 4; ++i) {
    const int step = fault == Fault::WrongStep && i == 2 ? 3 : 2 * i;
    for (const char *x : {"a", "b"}) {
      const std::string v = x;
      constant("st" + v + num(i), step, "i64");
      line("%x" + v + num(i) + " = llvm.add %d" + v + "0, %st" + v + num(i) +
           " : i64");
    }
    const std::string t = fp8 ? "f8E4M3FN" : "bf16";
    const bool zero = fault == Fault::NoWgmmaFence && i == 0;
    line("%h" + num(i + 1) + " = dgemm.wgmma %xa" + num(i) + ", %xb" + num(i) +
         ", %h" + num(i) + " {n = " + num(tileN) + " : i32, k = " +
         num(fp8 ? 32 : 16) + " : i32, a_type = " + t + ", b_type = " + t +
         ", scale_d = \"" + (zero ? "zero" : "one") + "\"} : " + flight);
  }
  line("nvvm.wgmma.commit.group.sync.aligned");
  line("%leader_lane = llvm.urem %tid, %c128 : i32");
  line("%leader = llvm.icmp \"eq\" %leader_lane, %c0 : i32");
  const auto release = [&] {
    if (fault == Fault::NoRelease)
      return;
    line("scf.if %leader { nvvm.mbarrier.arrive %emptybar : !llvm.ptr<3> }");
    if (cluster == 1 || fault == Fault::NoRemoteRelease)
      return;
    line("%peer = llvm.xor %rank, %c" +
         std::string(fault == Fault::WrongRank ? "0" : "1") + " : i32");
    line("%remote = nvvm.mapa %emptybar, %peer : !llvm.ptr<3> -> "
         "!llvm.ptr<7>");
    line("scf.if %leader { nvvm.mbarrier.arrive %remote : !llvm.ptr<7> }");
  };
  constant("bar_id", 1);
  if (fault == Fault::EarlyRelease)
    release();
  line("%r = dgemm.wgmma_wait " + num(fault == Fault::NoWgmmaWait ? 1 : 0) +
       " resolve(%h4 : " + flight + ") -> (" + regs + ")");
  // All four warps are done with the slot before its one arrival.
  if (fault != Fault::NoReleaseBarrier)
    line("nvvm.barrier id = %bar_id number_of_threads = %c128");
  if (fault != Fault::EarlyRelease)
    release();
  line("%next = llvm.add %slot, %c1 : i32");
  line("%wrap = llvm.icmp \"eq\" %next, %stages : i32");
  line("%next_slot = llvm.select %wrap, %c0, %next : i1, i32");
  line("%flip = llvm.zext %wrap : i1 to i32");
  line("%next_phase = llvm.xor %phase, %flip : i32");
  line("scf.yield %r, %next_slot, %next_phase : " + regs + ", i32, i32");
  line("}");
  // Epilogue: rows of tileN bf16 values.
  constant("c2", 2);
  constant("c3", 3);
  constant("c16", 16);
  constant("dbase", offsetD);
  constant("drow", tileN * 2);
  constant("d8rows", tileN * 16);
  line("%quad = llvm.lshr %lane, %c2 : i32");
  line("%pair = llvm.and %lane, %c3 : i32");
  line("%wrow = llvm.mul %warp, %c16 : i32");
  line("%trow = llvm.add %wrow, %quad : i32");
  line("%rowoff = llvm.mul %trow, %drow : i32");
  line("%pairoff = llvm.mul %pair, %four_e : i32");
  s.insert(s.rfind("%pairoff"),
           "%four_e = llvm.mlir.constant(4 : i32) : i32\n");
  line("%base0 = llvm.add %rowoff, %pairoff : i32");
  line("%base1 = llvm.add %base0, %dbase : i32");
  for (int g = 0; g < tileN / 8; ++g)
    for (int h = 0; h < 2; ++h) {
      const std::string id = num(g) + "_" + num(h);
      const int e = 4 * g + 2 * h;
      line("%lo" + id + " = llvm.extractvalue %out#0[" + num(e) +
           "] : " + regs);
      line("%hi" + id + " = llvm.extractvalue %out#0[" + num(e + 1) +
           "] : " + regs);
      line("%cv" + id + " = nvvm.convert.f32x2.to.bf16x2 %hi" + id + ", %lo" +
           id + " {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>");
      constant("off" + id, g * 16 + h * tileN * 16);
      line("%ad" + id + " = llvm.add %base1, %off" + id + " : i32");
      at("ptr" + id, "%ad" + id);
      line("llvm.store %cv" + id + ", %ptr" + id +
           " {alignment = 4 : i64} : vector<2xbf16>, !llvm.ptr<3>");
    }
  if (fault != Fault::NoProxyFence)
    line("nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = "
         "#nvvm.shared_space<cta>}");
  constant("ebar", 2);
  if (fault != Fault::NoEpilogueBarrier)
    line("nvvm.barrier id = %ebar number_of_threads = %c128");
  line("scf.if %first {");
  at("dmem", "%dbase");
  line("nvvm.cp.async.bulk.tensor.global.shared.cta %tmD, %dmem, box[%col, "
       "%row] : !llvm.ptr, !llvm.ptr<3>");
  line("nvvm.cp.async.bulk.commit.group");
  if (fault != Fault::NoBulkWait)
    line("nvvm.cp.async.bulk.wait_group 0 {read}");
  line("}");
  line("} else {");

  // Producer.
  line("%pfirst = llvm.icmp \"eq\" %tid, %c128 : i32");
  line("scf.if %pfirst {");
  line("%done:2 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%slot = "
       "%c0, %phase = %c1) -> (i32, i32) : i32 {");
  slotAddress("fullbar", full, 8, "slot");
  slotAddress("emptybar", empty, 8, "slot");
  slotAddress("sa", 0, kSlotA, "slot");
  slotAddress("sb", offsetB, slotB, "slot");
  if (fault != Fault::NoEmptyWait)
    line("nvvm.mbarrier.try_wait.parity %emptybar, %phase, %ticks : "
         "!llvm.ptr<3>, i32, i32");
  constant("bytes", bytes);
  line("nvvm.mbarrier.arrive.expect_tx %fullbar, %bytes : !llvm.ptr<3>, i32");
  line("%kk = llvm.mul %kb, %tileK : i32");
  line("%ca = llvm.addrspacecast %sa : !llvm.ptr<3> to !llvm.ptr<7>");
  line("%cb = llvm.addrspacecast %sb : !llvm.ptr<3> to !llvm.ptr<7>");
  line("nvvm.cp.async.bulk.tensor.shared.cluster.global %ca, %tmA, %fullbar, "
       "box[%kk, %row] : !llvm.ptr<7>, !llvm.ptr");
  if (cluster == 1) {
    line("nvvm.cp.async.bulk.tensor.shared.cluster.global %cb, %tmB, "
         "%fullbar, box[%kk, %col] : !llvm.ptr<7>, !llvm.ptr");
  } else {
    constant("half_bytes", slotB / 2);
    constant("half_rows", tileN / 2);
    constant("mask", fault == Fault::WrongMask ? 1 : 3, "i16");
    line("%half_offset = llvm.mul %rank, %half_bytes : i32");
    line("%half_row = llvm.mul %rank, %half_rows : i32");
    line("%half_col = llvm.add %col, %half_row : i32");
    line("%ch = llvm.getelementptr %cb[%half_offset] : (!llvm.ptr<7>, i32) -> "
         "!llvm.ptr<7>, i8");
    line("nvvm.cp.async.bulk.tensor.shared.cluster.global %ch, %tmB, "
         "%fullbar, box[%kk, %half_col] multicast_mask = %mask : "
         "!llvm.ptr<7>, !llvm.ptr");
  }
  line("%next = llvm.add %slot, %c1 : i32");
  line("%wrap = llvm.icmp \"eq\" %next, %stages : i32");
  line("%next_slot = llvm.select %wrap, %c0, %next : i1, i32");
  line("%flip = llvm.zext %wrap : i1 to i32");
  line("%next_phase = llvm.xor %phase, %flip : i32");
  line("scf.yield %next_slot, %next_phase : i32, i32");
  line("}\n}\n}");
  if (cluster > 1 && fault != Fault::NoFinalClusterBarrier)
    clusterBarrier();
  line("llvm.return\n}\n}\n}");
  return s;
}

LaunchMetadata KernelText::metadata() const {
  LaunchMetadata meta;
  meta.problem.a = meta.problem.b = type;
  meta.problem.d = DType::BF16;
  KernelMetadata kernel;
  kernel.entry = "gemm";
  kernel.threads = 256;
  kernel.dynamicSharedMemory = sharedBytes();
  kernel.tileM = kRows;
  kernel.tileN = tileN;
  kernel.persistent = false;
  kernel.cluster[0] = cluster;
  const auto recipe = [&](Operand operand, DType t, Symbol inner, Symbol outer,
                          Symbol stride, int64_t boxInner, int64_t boxOuter,
                          int swizzle) {
    TensorMapRecipe r;
    r.operand = operand;
    r.type = t;
    r.dims = {SizeExpr{inner}, SizeExpr{outer}};
    r.strides = {SizeExpr{stride}};
    r.box = {boxInner, boxOuter};
    r.swizzle = swizzle;
    return r;
  };
  kernel.tensorMaps = {recipe(Operand::A, type, Symbol::K, Symbol::M,
                              Symbol::LdA, tileK(), kRows, 128),
                       recipe(Operand::B, type, Symbol::K, Symbol::N,
                              Symbol::LdB, tileK(), tileN / cluster, 128),
                       recipe(Operand::D, DType::BF16, Symbol::N, Symbol::M,
                              Symbol::LdD, tileN, kRows, 0)};
  for (int i = 0; i < 3; ++i) {
    KernelArgument argument;
    argument.kind = KernelArgument::Kind::TensorMap;
    argument.tensorMap = i;
    kernel.arguments.push_back(argument);
  }
  for (Symbol symbol : {Symbol::M, Symbol::K}) {
    KernelArgument argument;
    argument.kind = KernelArgument::Kind::Size32;
    argument.symbol = symbol;
    kernel.arguments.push_back(argument);
  }
  meta.kernels = {kernel};
  meta.dispatch = {DispatchEntry{}};
  return meta;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// Small integers are exact in every type; -2 .. 2 in E4M3 and BF16.
static double fill(std::vector<unsigned char> &bytes, int64_t index, DType type,
                   uint32_t random) {
  const int value = int(random % 5) - 2;
  if (type == DType::BF16) {
    const float f = float(value);
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    const uint16_t half = uint16_t(bits >> 16);
    std::memcpy(&bytes[size_t(index) * 2], &half, 2);
  } else {
    static const unsigned char codes[5] = {0xC0, 0xB8, 0x00, 0x38, 0x40};
    bytes[size_t(index)] = codes[value + 2];
  }
  return value;
}

static int64_t rowOf(int64_t elements, DType type) {
  const int64_t per = 16 / sizeOf(type);
  return (elements + per - 1) / per * per;
}

GemmRun::GemmRun(const KernelText &kernel, int64_t rows, int64_t columns,
                 int64_t depth)
    : m(rows), n(columns), k(depth) {
  ld = rowOf(k, kernel.type);
  const int64_t ldd = rowOf(n, DType::BF16);
  // Padding bytes hold NaN: nothing may use them.
  a.assign(size_t(m * ld * sizeOf(kernel.type)), 0xFF);
  b.assign(size_t(n * ld * sizeOf(kernel.type)), 0xFF);
  d.assign(size_t(m * ldd * 2), 0xFF);
  std::vector<double> x(size_t(m * k)), y(size_t(n * k));
  uint32_t state = 12345;
  const auto next = [&] {
    state = state * 1664525 + 1013904223;
    return state >> 16;
  };
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      x[size_t(i * k + l)] = fill(a, i * ld + l, kernel.type, next());
  for (int64_t j = 0; j < n; ++j)
    for (int64_t l = 0; l < k; ++l)
      y[size_t(j * k + l)] = fill(b, j * ld + l, kernel.type, next());
  expected.resize(size_t(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += x[size_t(i * k + l)] * y[size_t(j * k + l)];
      expected[size_t(i * n + j)] = sum;
    }
}

LaunchSizes GemmRun::sizes() const {
  LaunchSizes s;
  s.m = m;
  s.n = n;
  s.k = k;
  s.lda = s.ldb = ld;
  s.ldd = rowOf(n, DType::BF16);
  s.ldc = s.ldd;
  return s;
}

LaunchOperands GemmRun::operands() const {
  LaunchOperands o;
  o.a = reinterpret_cast<uint64_t>(a.data());
  o.b = reinterpret_cast<uint64_t>(b.data());
  o.d = reinterpret_cast<uint64_t>(d.data());
  return o;
}

EmulatorOptions GemmRun::options(AsyncOrder order, uint64_t seed) const {
  EmulatorOptions out;
  out.order = order;
  out.seed = seed;
  out.threads = 1;
  const auto buffer = [&](const std::vector<unsigned char> &data,
                          const char *name) {
    out.allocations.push_back(
        {reinterpret_cast<uint64_t>(data.data()), uint64_t(data.size()), name});
  };
  buffer(a, "a");
  buffer(b, "b");
  buffer(d, "d");
  return out;
}

double GemmRun::error() const {
  const int64_t ldd = rowOf(n, DType::BF16);
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      uint16_t half;
      std::memcpy(&half, &d[size_t(i * ldd + j) * 2], 2);
      const uint32_t bits = uint32_t(half) << 16;
      float value;
      std::memcpy(&value, &bits, 4);
      const double e = expected[size_t(i * n + j)];
      difference += (value - e) * (value - e);
      norm += e * e;
    }
  return std::sqrt(difference / (norm > 0 ? norm : 1));
}
