// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Switching stacks. Only the registers that the C calling convention keeps
// across calls are saved, since a switch is an ordinary call to its caller.

#include "Fiber.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace dgemm;
using namespace dgemm::emu;

extern "C" void dgemmEmuSwitch(void **saveStackPointer, void *stackPointer);
extern "C" void dgemmEmuStart();

#if defined(__x86_64__)
// The control words of the vector and x87 units are not saved: emulated code
// never changes them.
asm(R"(
.text
.globl dgemmEmuSwitch
.hidden dgemmEmuSwitch
.type dgemmEmuSwitch, @function
dgemmEmuSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size dgemmEmuSwitch, .-dgemmEmuSwitch
.globl dgemmEmuStart
.hidden dgemmEmuStart
.type dgemmEmuStart, @function
dgemmEmuStart:
  movq %r12, %rdi
  callq *%rbx
  ud2
.size dgemmEmuStart, .-dgemmEmuStart
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl dgemmEmuSwitch
.hidden dgemmEmuSwitch
.type dgemmEmuSwitch, @function
dgemmEmuSwitch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size dgemmEmuSwitch, .-dgemmEmuSwitch
.globl dgemmEmuStart
.hidden dgemmEmuStart
.type dgemmEmuStart, @function
dgemmEmuStart:
  mov x0, x20
  blr x19
  brk #1
.size dgemmEmuStart, .-dgemmEmuStart
)");
#else
#error "the emulator's fibers are written for x86-64 and AArch64"
#endif

void emu::switchContext(Context &from, const Context &to) {
  dgemmEmuSwitch(&from.stackPointer, to.stackPointer);
}

void emu::prepareContext(Context &context, char *stackTop,
                         void (*entry)(void *), void *argument) {
  void **slot = reinterpret_cast<void **>(stackTop);
#if defined(__x86_64__)
  // Popped by the switch: r15 r14 r13 r12 rbx rbp, then the return address.
  // At dgemmEmuStart the stack pointer is a multiple of 16, as before a call.
  slot -= 7;
  slot[0] = slot[1] = slot[2] = nullptr;
  slot[3] = argument;
  slot[4] = reinterpret_cast<void *>(entry);
  slot[5] = nullptr;
  slot[6] = reinterpret_cast<void *>(&dgemmEmuStart);
#else
  slot -= 20;
  std::memset(slot, 0, 160);
  slot[0] = reinterpret_cast<void *>(entry);
  slot[1] = argument;
  slot[11] = reinterpret_cast<void *>(&dgemmEmuStart);
#endif
  context.stackPointer = slot;
}

StackPool::~StackPool() {
  if (base)
    munmap(base, count * kStackBytes);
}

Status StackPool::reserve(size_t wanted) {
  if (wanted <= count)
    return Status::success();
  if (base)
    munmap(base, count * kStackBytes);
  count = 0;
  void *memory = mmap(nullptr, wanted * kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    base = nullptr;
    return Status::error("emulator: no memory for " + std::to_string(wanted) +
                         " thread stacks: " + std::strerror(errno));
  }
  base = static_cast<char *>(memory);
  count = wanted;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t i = 0; i < count; ++i)
    mprotect(base + i * kStackBytes, page, PROT_NONE);
  return Status::success();
}

bool StackPool::isGuard(uint64_t address) const {
  const uint64_t start = reinterpret_cast<uint64_t>(base);
  if (!base || address < start || address >= start + count * kStackBytes)
    return false;
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return (address - start) % kStackBytes < page;
}
