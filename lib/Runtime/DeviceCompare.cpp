// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The comparing kernels, as PTX text for the driver's JIT, and their launch.

#include "dgemm/Runtime/DeviceCompare.h"

#include <algorithm>
#include <cmath>

namespace dgemm::cuda {

static constexpr unsigned kThreads = 512;
static constexpr int64_t kMaxRowBlocks = 1056; // eight for each of 132 SMs

namespace {
/// How elements of a type are read.
struct ElementCode {
  DType type;
  const char *name;
  /// Loads [%at] into %bits (32 bits wide, for guards) and %value (float).
  const char *load;
};

/// What a kernel adds up.
struct Totals {
  unsigned mismatches = 0, guardViolations = 0;
  double errorSquares = 0, referenceSquares = 0;
};
} // namespace

static constexpr ElementCode kElements[] = {
    {DType::BF16, "bf16",
     "ld.global.u16 %half, [%at];\n"
     "  cvt.u32.u16 %bits, %half;\n"
     "  shl.b32 %wide, %bits, 16;\n"
     "  mov.b32 %value, %wide;\n"},
    {DType::F16, "f16",
     "ld.global.u16 %half, [%at];\n"
     "  cvt.u32.u16 %bits, %half;\n"
     "  cvt.f32.f16 %value, %half;\n"},
    {DType::F32, "f32",
     "ld.global.u32 %bits, [%at];\n"
     "  mov.b32 %value, %bits;\n"},
};

// A block takes every gridDim.x-th row, its threads every 512th column. Block 0
// also looks at the guards. "@LOAD@" reads an element at %at.
static const char *const kTemplate = R"(
.visible .entry dgemm_compare_@NAME@(
  .param .u64 p_d, .param .u64 p_ref, .param .u32 p_rows, .param .u32 p_cols,
  .param .u32 p_stride, .param .u64 p_row_norms, .param .u64 p_col_norms,
  .param .f32 p_rounding, .param .f32 p_typical, .param .u32 p_guard,
  .param .u32 p_guard_words, .param .u64 p_totals)
{
  .reg .pred %p, %bad;
  .reg .b16 %half;
  .reg .b32 %rows, %cols, %stride, %row, %col, %step, %threads, %thread;
  .reg .b32 %bits, %wide, %guard, %wanted, %words, %misses, %breaks, %other;
  .reg .f32 %value, %ref, %diff, %allowed, %rounding, %typical, %rownorm;
  .reg .f32 %colnorm, %err, %sum, %moved, %finite;
  .reg .f64 %big;
  .reg .b64 %d, %r, %rn, %cn, %out, %at, %offset, %behind, %span;

  ld.param.u64 %d, [p_d];
  ld.param.u64 %r, [p_ref];
  ld.param.u32 %rows, [p_rows];
  ld.param.u32 %cols, [p_cols];
  ld.param.u32 %stride, [p_stride];
  ld.param.u64 %rn, [p_row_norms];
  ld.param.u64 %cn, [p_col_norms];
  ld.param.f32 %rounding, [p_rounding];
  ld.param.f32 %typical, [p_typical];
  ld.param.u32 %guard, [p_guard];
  ld.param.u32 %words, [p_guard_words];
  ld.param.u64 %out, [p_totals];
  mov.u32 %thread, %tid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %row, %ctaid.x;
  mov.u32 %step, %nctaid.x;
  mov.u32 %misses, 0;
  mov.u32 %breaks, 0;
  mov.f32 %err, 0f00000000;
  mov.f32 %sum, 0f00000000;
  and.b32 %wanted, %guard, @MASK@;

  setp.ne.u32 %p, %row, 0;
  @%p bra next_row;
  mul.wide.u32 %span, %rows, %stride;
  mul.lo.u64 %span, %span, @SIZE@;
  add.u64 %behind, %d, %span;
  mov.u32 %col, %thread;
next_word:
  setp.ge.u32 %p, %col, %words;
  @%p bra next_row;
  mul.wide.u32 %offset, %col, 4;
  add.u64 %at, %behind, %offset;
  ld.global.u32 %bits, [%at];
  setp.ne.u32 %bad, %bits, %guard;
  @%bad add.u32 %breaks, %breaks, 1;
  add.u64 %offset, %offset, 4;
  sub.u64 %at, %d, %offset;
  ld.global.u32 %bits, [%at];
  setp.ne.u32 %bad, %bits, %guard;
  @%bad add.u32 %breaks, %breaks, 1;
  add.u32 %col, %col, %threads;
  bra next_word;

next_row:
  setp.ge.u32 %p, %row, %rows;
  @%p bra reduce;
  mul.wide.u32 %offset, %row, 4;
  add.u64 %at, %rn, %offset;
  ld.global.f32 %rownorm, [%at];
  mul.f32 %rownorm, %rownorm, %typical;
  mov.u32 %col, %thread;
next_col:
  setp.ge.u32 %p, %col, %stride;
  @%p bra row_done;
  mul.wide.u32 %offset, %row, %stride;
  cvt.u64.u32 %at, %col;
  add.u64 %offset, %offset, %at;
  mul.lo.u64 %offset, %offset, @SIZE@;
  setp.lt.u32 %p, %col, %cols;
  @%p bra element;
  add.u64 %at, %d, %offset;
  @LOAD@
  setp.ne.u32 %bad, %bits, %wanted;
  @%bad add.u32 %breaks, %breaks, 1;
  bra col_done;
element:
  add.u64 %at, %r, %offset;
  @LOAD@
  mov.f32 %ref, %value;
  add.u64 %at, %d, %offset;
  @LOAD@
  mul.wide.u32 %offset, %col, 4;
  add.u64 %at, %cn, %offset;
  ld.global.f32 %colnorm, [%at];
  sub.f32 %diff, %value, %ref;
  abs.f32 %allowed, %ref;
  mul.f32 %allowed, %allowed, %rounding;
  fma.rn.f32 %allowed, %rownorm, %colnorm, %allowed;
  abs.f32 %value, %diff;
  setp.le.f32 %p, %value, %allowed;
  not.pred %bad, %p;
  @%bad add.u32 %misses, %misses, 1;
  testp.finite.f32 %p, %diff;
  @!%p bra col_done;
  fma.rn.f32 %err, %diff, %diff, %err;
  fma.rn.f32 %sum, %ref, %ref, %sum;
col_done:
  add.u32 %col, %col, %threads;
  bra next_col;
row_done:
  add.u32 %row, %row, %step;
  bra next_row;

reduce:
@REDUCE@
  and.b32 %other, %thread, 31;
  setp.ne.u32 %p, %other, 0;
  @%p bra done;
  red.global.add.u32 [%out], %misses;
  red.global.add.u32 [%out+4], %breaks;
  cvt.f64.f32 %big, %err;
  red.global.add.f64 [%out+8], %big;
  cvt.f64.f32 %big, %sum;
  red.global.add.f64 [%out+16], %big;
done:
  ret;
}
)";

static void replaceAll(std::string &text, const std::string &from,
                       const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Sums of a warp, one exchange for each power of two.
static std::string warpReduction() {
  std::string text;
  for (int lane : {16, 8, 4, 2, 1}) {
    std::string mask = ", " + std::to_string(lane) + ", 31, 0xffffffff;\n";
    for (const char *count : {"%misses", "%breaks"})
      text += std::string("  shfl.sync.bfly.b32 %other, ") + count + mask +
              "  add.u32 " + count + ", " + count + ", %other;\n";
    for (const char *sum : {"%err", "%sum"})
      text += std::string("  shfl.sync.bfly.b32 %moved, ") + sum + mask +
              "  add.f32 " + sum + ", " + sum + ", %moved;\n";
  }
  return text;
}

std::string comparePtx() {
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (const ElementCode &element : kElements) {
    std::string kernel = kTemplate;
    replaceAll(kernel, "@NAME@", element.name);
    replaceAll(kernel, "@LOAD@", element.load);
    replaceAll(kernel, "@SIZE@", std::to_string(sizeOf(element.type)));
    replaceAll(kernel, "@MASK@",
               sizeOf(element.type) == 2 ? "0xffff" : "0xffffffff");
    replaceAll(kernel, "@REDUCE@", warpReduction());
    text += kernel;
  }
  return text;
}

bool DeviceComparer::supports(DType type) {
  return std::any_of(
      std::begin(kElements), std::end(kElements),
      [&](const ElementCode &element) { return element.type == type; });
}

Result<std::unique_ptr<DeviceComparer>>
DeviceComparer::create(std::shared_ptr<Device> device) {
  std::unique_ptr<DeviceComparer> made(new DeviceComparer);
  made->device = device;
  Result<std::unique_ptr<LoadedModule>> module =
      LoadedModule::load(device, comparePtx());
  if (!module)
    return module.status();
  made->module = std::move(*module);
  for (const ElementCode &element : kElements) {
    Result<KernelFunction> found = made->module->function(
        std::string("dgemm_compare_") + element.name, 0, kThreads);
    if (!found)
      return found.status();
    made->kernels[element.type] = *found;
  }
  Result<DeviceBuffer> totals = DeviceBuffer::allocate(device, sizeof(Totals));
  if (!totals)
    return totals.status();
  made->totals = std::move(*totals);
  return made;
}

Result<CompareResult> DeviceComparer::compare(const CompareInputs &inputs,
                                              const Stream &stream) {
  auto kernel = kernels.find(inputs.type);
  if (kernel == kernels.end())
    return Status::error(std::string("nothing compares elements of type ") +
                         toString(inputs.type) + " on the device");
  if (inputs.rows < 1 || inputs.cols < 1)
    return CompareResult();
  if (Status s = totals.fill(0, stream.get()); !s)
    return s;
  uint64_t d = inputs.d, reference = inputs.reference,
           rowNorms = inputs.rowNorms, colNorms = inputs.colNorms,
           out = totals.address();
  unsigned rows = unsigned(inputs.rows), cols = unsigned(inputs.cols),
           stride = unsigned(inputs.stride), guard = 0x01010101u * inputs.guard,
           guardWords = unsigned(inputs.guardBytes / 4);
  float rounding = inputs.rounding, typical = inputs.typical;
  void *arguments[] = {&d,       &reference, &rows,       &cols,
                       &stride,  &rowNorms,  &colNorms,   &rounding,
                       &typical, &guard,     &guardWords, &out};
  LaunchConfig config;
  config.gridX = unsigned(std::min(inputs.rows, kMaxRowBlocks));
  config.blockX = kThreads;
  config.stream = stream.get();
  {
    ContextScope scope(*device);
    if (!scope.status())
      return scope.status();
    if (Status s = device->api().check(
            device->api().cuLaunchKernelEx(&config, kernel->second.handle,
                                           arguments, nullptr),
            "launch of the comparison");
        !s)
      return s;
  }
  if (Status s = stream.synchronize(); !s)
    return s;
  Totals found;
  if (Status s = totals.download(&found, sizeof(found)); !s)
    return s;
  return CompareResult{found.mismatches, found.guardViolations,
                       found.errorSquares, found.referenceSquares};
}

} // namespace dgemm::cuda
