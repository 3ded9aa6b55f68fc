// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// GEMMs whose operands are in registers: dgemm.load_global, dgemm.mma_sync and
// dgemm.wgmma_registers, by their numbers and by the faults they may have.

#include "SmallKernel.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace dgemm;
using namespace dgemm::test;

namespace {

const char *mlirType(DType type) {
  switch (type) {
  case DType::BF16:
    return "bf16";
  case DType::F16:
    return "f16";
  case DType::F8E5M2:
    return "f8E5M2";
  default:
    return "f8E4M3FN";
  }
}

/// D (m x n, FP32) = A (m x k) B^T (n x k), rows of whole 16 bytes: one warp
/// for each tile of 16x8.
struct WarpGemm : SmallKernel {
  std::vector<double> x, y;

  /// `wide`: 16 bytes a load, so that K is permuted in A and B alike.
  WarpGemm(DType typeA, DType typeB, bool wide, int64_t rows, int64_t columns,
           int64_t depth) {
    m = rows;
    n = columns;
    k = depth;
    tileM = 16;
    tileN = 8;
    a = smallIntegers(typeA, size_t(m * k), 1, x);
    b = smallIntegers(typeB, size_t(n * k), 2, y);
    d.assign(size_t(m * n) * 4, 0xFF);
    const std::string bytes = std::to_string(sizeOf(typeA));
    const std::string types = std::string("{a_type = ") + mlirType(typeA) +
                              ", b_type = " + mlirType(typeB) + "}";
    body = R"(
      %g = llvm.lshr %lane, %c2 : i32
      %t = llvm.and %lane, %c3 : i32
      %np = llvm.add %n, %c7 : i32
      %tiles_n = llvm.udiv %np, %c8 : i32
      %tm = llvm.udiv %cta, %tiles_n : i32
      %tn = llvm.urem %cta, %tiles_n : i32
      %row_base = llvm.mul %tm, %c16 : i32
      %col_base = llvm.mul %tn, %c8 : i32
      %row0 = llvm.add %row_base, %g : i32
      %row1 = llvm.add %row0, %c8 : i32
      %colB = llvm.add %col_base, %g : i32
      %in0 = llvm.icmp "ult" %row0, %m : i32
      %in1 = llvm.icmp "ult" %row1, %m : i32
      %inB = llvm.icmp "ult" %colB, %n : i32
      %row_bytes = llvm.mul %k, %c)" +
           bytes + R"( : i32
      %o0 = llvm.mul %row0, %row_bytes : i32
      %o1 = llvm.mul %row1, %row_bytes : i32
      %oB = llvm.mul %colB, %row_bytes : i32
      %zero = llvm.mlir.constant(0.0 : f32) : f32
    )";
    const auto load = [&](const std::string &name, const std::string &from,
                          const std::string &row, const std::string &offset,
                          const std::string &inRow, const std::string &inK,
                          const std::string &type) {
      body += "%" + name + "_o = llvm.add %" + row + ", %" + offset +
              " : i32\n%" + name + "_p = llvm.getelementptr %" + from + "[%" +
              name + "_o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8\n%" + name +
              "_i = llvm.and %" + inRow + ", %" + inK + " : i1\n%" + name +
              " = dgemm.load_global %" + name + "_p if %" + name +
              "_i {no_allocate, evict_first} : " + type + "\n";
    };
    const std::string carried = "(f32, f32, f32, f32)";
    const std::string step = wide ? "64" : "32";
    body +=
        "%step = llvm.mlir.constant(" + step + " : i32) : i32\n" +
        "%out:4 = scf.for %kb = %c0 to %row_bytes step %step "
        "iter_args(%x0 = %zero, %x1 = %zero, %x2 = %zero, %x3 = %zero) -> " +
        carried + " : i32 {\n";
    body += std::string("%first = llvm.mul %t, %c") + (wide ? "16" : "4") +
            " : i32\n%off0 = llvm.add %kb, %first : i32\n"
            "%inK0 = llvm.icmp \"ult\" %off0, %row_bytes : i32\n";
    if (wide) {
      const std::string v4 = "vector<4xi32>";
      load("va", "a", "o0", "off0", "in0", "inK0", v4);
      load("vc", "a", "o1", "off0", "in1", "inK0", v4);
      load("vb", "b", "oB", "off0", "inB", "inK0", v4);
      for (const char *v : {"va", "vc", "vb"})
        for (int i = 0; i < 4; ++i) {
          const std::string at = std::to_string(i);
          body += std::string("%") + v + at + " = llvm.extractelement %" + v +
                  "[%c" + at + " : i32] : " + v4 + "\n";
        }
      body += "%y:4 = dgemm.mma_sync (%va0, %vc0, %va1, %vc1) (%vb0, %vb1) "
              "(%x0, %x1, %x2, %x3) " +
              types +
              "\n%z:4 = dgemm.mma_sync (%va2, %vc2, %va3, %vc3) (%vb2, %vb3) "
              "(%y#0, %y#1, %y#2, %y#3) " +
              types + "\n";
    } else {
      body += "%off1 = llvm.add %off0, %c16 : i32\n"
              "%inK1 = llvm.icmp \"ult\" %off1, %row_bytes : i32\n";
      load("a0", "a", "o0", "off0", "in0", "inK0", "i32");
      load("a1", "a", "o1", "off0", "in1", "inK0", "i32");
      load("a2", "a", "o0", "off1", "in0", "inK1", "i32");
      load("a3", "a", "o1", "off1", "in1", "inK1", "i32");
      load("b0", "b", "oB", "off0", "inB", "inK0", "i32");
      load("b1", "b", "oB", "off1", "inB", "inK1", "i32");
      body += "%z:4 = dgemm.mma_sync (%a0, %a1, %a2, %a3) (%b0, %b1) (%x0, "
              "%x1, %x2, %x3) " +
              types + "\n";
    }
    body += "scf.yield %z#0, %z#1, %z#2, %z#3 : f32, f32, f32, f32\n}\n"
            "%t2 = llvm.mul %t, %c2 : i32\n"
            "%col0 = llvm.add %col_base, %t2 : i32\n"
            "%col1 = llvm.add %col0, %c1 : i32\n";
    for (int i = 0; i < 4; ++i) {
      const std::string at = std::to_string(i);
      const std::string row = std::to_string(i / 2),
                        column = std::to_string(i % 2);
      body += "%in_c" + at + " = llvm.icmp \"ult\" %col" + column +
              ", %n : i32\n%in_d" + at + " = llvm.and %in" + row + ", %in_c" +
              at + " : i1\nscf.if %in_d" + at + " {\n%r" + at +
              " = llvm.mul %row" + row + ", %n : i32\n%e" + at +
              " = llvm.add %r" + at + ", %col" + column + " : i32\n%p" + at +
              " = llvm.getelementptr %d[%e" + at +
              "] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32\nllvm.store %out#" +
              at + ", %p" + at + " : f32, !llvm.ptr<1>\n}\n";
    }
  }

  /// Largest difference to the exact product.
  double error() const {
    double worst = 0;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += x[size_t(i * k + l)] * y[size_t(j * k + l)];
        const double difference =
            std::fabs(sum - double(result(size_t(i * n + j))));
        worst =
            difference > worst || std::isnan(difference) ? difference : worst;
      }
    return worst;
  }
};

struct Types {
  DType a, b;
};

class MmaSync : public testing::TestWithParam<Types> {};

TEST_P(MmaSync, RaggedGemmIsExact) {
  const auto [typeA, typeB] = GetParam();
  for (bool wide : {false, true})
    for (AsyncOrder order : {AsyncOrder::Lazy, AsyncOrder::Random}) {
      // K ends inside an instruction.
      WarpGemm gemm(typeA, typeB, wide, 41, 19, 208);
      const EmulatorReport report = gemm.run(order, 3);
      EXPECT_TRUE(report.clean()) << toString(report);
      EXPECT_EQ(gemm.error(), 0) << (wide ? "wide" : "narrow");
    }
}

INSTANTIATE_TEST_SUITE_P(All, MmaSync,
                         testing::Values(Types{DType::BF16, DType::BF16},
                                         Types{DType::F16, DType::F16},
                                         Types{DType::F8E4M3FN,
                                               DType::F8E4M3FN},
                                         Types{DType::F8E5M2, DType::F8E5M2},
                                         Types{DType::F8E4M3FN, DType::F8E5M2}),
                         [](const auto &info) {
                           return std::string(mlirType(info.param.a)) + "_" +
                                  mlirType(info.param.b);
                         });

TEST(MmaSyncFaults, DivergedWarpIsFound) {
  SmallKernel kernel;
  kernel.d.assign(4, 0);
  kernel.body = R"(
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %low = llvm.icmp "ult" %lane, %c16 : i32
    scf.if %low {
      %x:4 = dgemm.mma_sync (%c1, %c1, %c1, %c1) (%c1, %c1) (%zero, %zero, %zero, %zero) {a_type = bf16, b_type = bf16}
    } else {
      %y:4 = dgemm.mma_sync (%c1, %c1, %c1, %c1) (%c1, %c1) (%zero, %zero, %zero, %zero) {a_type = bf16, b_type = bf16}
    })";
  const EmulatorReport report = kernel.run(AsyncOrder::Lazy, 1);
  EXPECT_EQ(kinds(report), toString(FindingKind::Divergence))
      << toString(report);
}

TEST(LoadGlobal, PredicateSparesTheAccess) {
  for (bool inside : {false, true}) {
    SmallKernel kernel;
    kernel.a.assign(64, 0x5A);
    kernel.d.assign(4, 0xFF);
    // Bytes 64 .. 79 of an allocation of 64.
    kernel.body = std::string(R"(
      %c64 = llvm.mlir.constant(64 : i32) : i32
      %in = llvm.mlir.constant()") +
                  (inside ? "true" : "false") + R"() : i1
      %p = llvm.getelementptr %a[%c64] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      %x = dgemm.load_global %p if %in : vector<4xi32>
      %e = llvm.extractelement %x[%c3 : i32] : vector<4xi32>
      %one = llvm.icmp "eq" %lane, %c0 : i32
      scf.if %one { llvm.store %e, %d : i32, !llvm.ptr<1> })";
    const EmulatorReport report = kernel.run(AsyncOrder::Lazy, 1);
    EXPECT_EQ(kinds(report),
              inside ? toString(FindingKind::OutOfBounds) : std::string())
        << toString(report);
    if (!inside)
      EXPECT_EQ(kernel.d, std::vector<unsigned char>(4, 0));
  }
}

TEST(LoadGlobal, MisalignedAddressIsFound) {
  // The op and a plain vector load alike.
  for (const char *load :
       {"dgemm.load_global %p : vector<4xi32>",
        "llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>",
        "llvm.load %p : !llvm.ptr<1> -> vector<4xi32>"}) {
    SmallKernel kernel;
    kernel.a.assign(64, 0);
    kernel.d.assign(4, 0);
    kernel.body = std::string(R"(
      %p = llvm.getelementptr %a[%c8] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      %x = )") + load;
    const EmulatorReport report = kernel.run(AsyncOrder::Lazy, 1);
    EXPECT_EQ(kinds(report), toString(FindingKind::Misaligned))
        << load << "\n"
        << toString(report);
  }
}

//===----------------------------------------------------------------------===//
// WGMMA with A in registers
//===----------------------------------------------------------------------===//

/// D (64 x 8) = A (64 x K) B: one instruction. A row is 32 bytes. `pinned`: A
/// goes through the fence.
SmallKernel wgmmaKernel(DType type, bool transB, bool pinned) {
  SmallKernel kernel;
  kernel.threads = 128;
  kernel.sharedBytes = 1024;
  const std::string a = "!llvm.struct<(i32, i32, i32, i32)>";
  const std::string acc = "!llvm.struct<(f32, f32, f32, f32)>";
  const std::string flight = "!dgemm.inflight<64x8xf32>";
  std::string &s = kernel.body;
  s = R"(
    %g = llvm.lshr %lane, %c2 : i32
    %t = llvm.and %lane, %c3 : i32
    %warp = llvm.lshr %tid, %c5 : i32
    %wrow = llvm.mul %warp, %c16 : i32
    %row = llvm.add %wrow, %g : i32
    // B: 16 pieces of 16 bytes, the two of a row 128 bytes apart.
    %copier = llvm.icmp "ult" %tid, %c16 : i32
    scf.if %copier {
  )";
  if (transB)
    s += "%from = llvm.mul %tid, %c16 : i32\n%to = llvm.mul %tid, %c16 : i32\n";
  else
    s += R"(
      %r = llvm.and %tid, %c7 : i32
      %c = llvm.lshr %tid, %c3 : i32
      %r32 = llvm.mul %r, %c32 : i32
      %cc = llvm.mul %c, %c16 : i32
      %from = llvm.add %r32, %cc : i32
      %to = llvm.mul %tid, %c16 : i32
    )";
  s += R"(
      %src = llvm.getelementptr %b[%from] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      %dst = llvm.getelementptr %smem[%to] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %piece = dgemm.load_global %src : vector<4xi32>
      llvm.store %piece, %dst {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    }
    nvvm.barrier
    %first = llvm.mul %row, %c32 : i32
    %t4 = llvm.mul %t, %c4 : i32
    %off = llvm.add %first, %t4 : i32
  )";
  s += "%a_none = llvm.mlir.poison : " + a +
       "\n%d_none = llvm.mlir.zero : " + acc + "\n";
  std::string last = "%a_none";
  for (int i = 0; i < 4; ++i) {
    const std::string at = std::to_string(i);
    const int bytes = i % 2 * 8 * 32 + i / 2 * 16;
    s += "%by" + at + " = llvm.mlir.constant(" + std::to_string(bytes) +
         " : i32) : i32\n%o" + at + " = llvm.add %off, %by" + at +
         " : i32\n%p" + at + " = llvm.getelementptr %a[%o" + at +
         "] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8\n%w" + at +
         " = dgemm.load_global %p" + at + " : i32\n%s" + at +
         " = llvm.insertvalue %w" + at + ", " + last + "[" + at + "] : " + a +
         "\n";
    last = "%s" + at;
  }
  if (pinned)
    s += "%h, %ra = dgemm.wgmma_fence (%d_none : " + acc + ") pin(%s3 : " + a +
         ") -> (" + flight + ") pinned (" + a + ")\n";
  else
    s += "%h = dgemm.wgmma_fence (%d_none : " + acc + ") -> (" + flight + ")\n";
  const std::string t = mlirType(type);
  // Leading and stride offset 128 and 256 bytes, no swizzle.
  s += R"(
    %si = llvm.ptrtoint %smem : !llvm.ptr<3> to i32
    %mask = llvm.mlir.constant(262143 : i32) : i32
    %sm = llvm.and %si, %mask : i32
    %sh = llvm.lshr %sm, %c4 : i32
    %sz = llvm.zext %sh : i32 to i64
    %offsets = llvm.mlir.constant(68720001024 : i64) : i64
    %desc = llvm.or %sz, %offsets : i64
  )";
  s += "%x = dgemm.wgmma_registers %" + std::string(pinned ? "ra" : "s3") +
       ", %desc, %h {n = 8 : i32, k = " + std::to_string(32 / sizeOf(type)) +
       " : i32, a_type = " + t + ", b_type = " + t + ", scale_d = \"one\"" +
       (transB ? ", trans_b" : "") + "} : " + a + ", " + flight +
       "\nnvvm.wgmma.commit.group.sync.aligned\n%y = dgemm.wgmma_wait 0 "
       "resolve(%x : " +
       flight + ") -> (" + acc + ")\n";
  s += "%t2 = llvm.mul %t, %c2 : i32\n%rowd = llvm.mul %row, %c8 : i32\n"
       "%base = llvm.add %rowd, %t2 : i32\n";
  for (int i = 0; i < 4; ++i) {
    const std::string at = std::to_string(i);
    s += "%e" + at + " = llvm.mlir.constant(" +
         std::to_string(i % 2 + i / 2 * 64) + " : i32) : i32\n%q" + at +
         " = llvm.add %base, %e" + at + " : i32\n%dp" + at +
         " = llvm.getelementptr %d[%q" + at +
         "] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32\n%v" + at +
         " = llvm.extractvalue %y[" + at + "] : " + acc + "\nllvm.store %v" +
         at + ", %dp" + at + " : f32, !llvm.ptr<1>\n";
  }
  return kernel;
}

TEST(WgmmaRegisters, OneInstructionIsExact) {
  for (DType type : {DType::BF16, DType::F16, DType::F8E4M3FN, DType::F8E5M2})
    for (bool transB : {false, true}) {
      if (transB && sizeOf(type) == 1)
        continue;
      const size_t k = size_t(32 / sizeOf(type));
      for (AsyncOrder order :
           {AsyncOrder::Lazy, AsyncOrder::Eager, AsyncOrder::Random}) {
        SmallKernel kernel = wgmmaKernel(type, transB, true);
        std::vector<double> x, y;
        kernel.a = smallIntegers(type, 64 * k, 1, x);
        kernel.b = smallIntegers(type, 8 * k, 2, y);
        kernel.d.assign(64 * 8 * 4, 0xFF);
        const EmulatorReport report = kernel.run(order, 5);
        ASSERT_TRUE(report.clean()) << toString(report);
        for (size_t i = 0; i < 64; ++i)
          for (size_t j = 0; j < 8; ++j) {
            double sum = 0;
            for (size_t l = 0; l < k; ++l)
              sum += x[i * k + l] * (transB ? y[l * 8 + j] : y[j * k + l]);
            ASSERT_EQ(kernel.result(i * 8 + j), sum)
                << mlirType(type) << " " << i << " " << j;
          }
      }
    }
}

TEST(WgmmaRegisters, UnfencedRegistersAreFound) {
  SmallKernel kernel = wgmmaKernel(DType::BF16, false, false);
  kernel.a.assign(64 * 32, 0);
  kernel.b.assign(8 * 32, 0);
  kernel.d.assign(64 * 8 * 4, 0xFF);
  const EmulatorReport report = kernel.run(AsyncOrder::Lazy, 1);
  EXPECT_EQ(kinds(report), toString(FindingKind::Accumulator))
      << toString(report);
}

} // namespace
