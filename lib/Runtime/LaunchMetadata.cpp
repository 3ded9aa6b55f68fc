// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Spellings of operands and symbols, size expressions, kernel selection and
// the row lengths a caller gets when it names none.

#include "dgemm/Runtime/LaunchMetadata.h"

#include <algorithm>

namespace dgemm {

const char *toString(Operand operand) {
  switch (operand) {
  case Operand::A:
    return "a";
  case Operand::B:
    return "b";
  case Operand::C:
    return "c";
  case Operand::D:
    return "d";
  case Operand::ScaleA:
    return "scale_a";
  case Operand::ScaleB:
    return "scale_b";
  case Operand::Workspace:
    return "workspace";
  }
  return "a";
}

Result<Operand> parseOperand(const std::string &text) {
  for (Operand operand : {Operand::A, Operand::B, Operand::C, Operand::D,
                          Operand::ScaleA, Operand::ScaleB, Operand::Workspace})
    if (text == toString(operand))
      return operand;
  return Status::error("unknown operand '" + text +
                       "'; expected a, b, c, d, scale_a, scale_b or "
                       "workspace");
}

const char *toString(Symbol symbol) {
  switch (symbol) {
  case Symbol::One:
    return "one";
  case Symbol::M:
    return "m";
  case Symbol::N:
    return "n";
  case Symbol::K:
    return "k";
  case Symbol::LdA:
    return "lda";
  case Symbol::LdB:
    return "ldb";
  case Symbol::LdC:
    return "ldc";
  case Symbol::LdD:
    return "ldd";
  case Symbol::LdScaleA:
    return "ld_scale_a";
  case Symbol::LdScaleB:
    return "ld_scale_b";
  }
  return "one";
}

Result<Symbol> parseSymbol(const std::string &text) {
  for (Symbol symbol :
       {Symbol::One, Symbol::M, Symbol::N, Symbol::K, Symbol::LdA, Symbol::LdB,
        Symbol::LdC, Symbol::LdD, Symbol::LdScaleA, Symbol::LdScaleB})
    if (text == toString(symbol))
      return symbol;
  return Status::error("unknown symbol '" + text +
                       "'; expected one, m, n, k, lda, ldb, ldc, ldd, "
                       "ld_scale_a or ld_scale_b");
}

static int64_t valueOf(Symbol symbol, const LaunchSizes &sizes) {
  switch (symbol) {
  case Symbol::One:
    return 1;
  case Symbol::M:
    return sizes.m;
  case Symbol::N:
    return sizes.n;
  case Symbol::K:
    return sizes.k;
  case Symbol::LdA:
    return sizes.lda;
  case Symbol::LdB:
    return sizes.ldb;
  case Symbol::LdC:
    return sizes.ldc;
  case Symbol::LdD:
    return sizes.ldd;
  case Symbol::LdScaleA:
    return sizes.ldScaleA;
  case Symbol::LdScaleB:
    return sizes.ldScaleB;
  }
  return 0;
}

int64_t evaluate(const SizeExpr &expr, const LaunchSizes &sizes) {
  return ceilDiv(valueOf(expr.of, sizes), std::max<int64_t>(expr.ceilDiv, 1)) *
         expr.times;
}

uint64_t LaunchOperands::address(Operand operand) const {
  switch (operand) {
  case Operand::A:
    return a;
  case Operand::B:
    return b;
  case Operand::C:
    return c;
  case Operand::D:
    return d;
  case Operand::ScaleA:
    return scaleA;
  case Operand::ScaleB:
    return scaleB;
  case Operand::Workspace:
    return workspace;
  }
  return 0;
}

Result<int> LaunchMetadata::selectKernel(int64_t m) const {
  for (const DispatchEntry &entry : dispatch)
    if (entry.maxM < 0 || m <= entry.maxM) {
      if (entry.kernel < 0 || entry.kernel >= static_cast<int>(kernels.size()))
        return Status::error("dispatch: expected a kernel below " +
                             std::to_string(kernels.size()) + ", found " +
                             std::to_string(entry.kernel));
      return entry.kernel;
    }
  return Status::error("dispatch: no kernel for m = " + std::to_string(m));
}

/// Elements of the smallest multiple of 16 bytes that holds `length` elements.
static int64_t padTo16Bytes(int64_t length, DType type) {
  int64_t unit = 16 / std::max<int64_t>(sizeOf(type), 1);
  return ceilDiv(length, unit) * unit;
}

static int64_t scaleRow(const ScaleSpec &scale, int64_t rows, int64_t k) {
  if (!scale.present())
    return 0;
  if (scale.major == ScaleMajor::K)
    return scale.cols == 0 ? 1 : ceilDiv(k, scale.cols);
  return padTo16Bytes(scale.rows == 0 ? 1 : ceilDiv(rows, scale.rows),
                      scale.type);
}

LaunchSizes defaultSizes(const Problem &problem, int64_t m, int64_t n,
                         int64_t k) {
  bool aTransposed =
      problem.layout == Layout::TN || problem.layout == Layout::TT;
  bool bTransposed =
      problem.layout == Layout::NT || problem.layout == Layout::TT;
  LaunchSizes sizes;
  sizes.m = m;
  sizes.n = n;
  sizes.k = k;
  sizes.lda = padTo16Bytes(aTransposed ? m : k, problem.a);
  sizes.ldb = padTo16Bytes(bTransposed ? k : n, problem.b);
  sizes.ldc = sizes.ldd = padTo16Bytes(n, problem.d);
  sizes.ldScaleA = scaleRow(problem.scaleA, m, k);
  sizes.ldScaleB = scaleRow(problem.scaleB, n, k);
  return sizes;
}

} // namespace dgemm
