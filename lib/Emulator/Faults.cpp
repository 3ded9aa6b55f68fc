// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The signal handler leaves by letting the interrupted thread go on in
// landing(), on the emulated thread's own stack, whose frames are given up.

#include "Faults.h"

#include "Machine.h"

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <sys/mman.h>
#include <ucontext.h>

using namespace dgemm;
using namespace dgemm::emu;

static std::mutex installMutex;
static int installed = 0;
static struct sigaction previous[3];
static constexpr int kSignals[3] = {SIGSEGV, SIGBUS, SIGFPE};
static constexpr size_t kHandlerStack = 64 * 1024;

static thread_local uint64_t faultAddress = 0;
static thread_local int faultSignal = 0;

thread_local Recovery emu::recovery;

std::string emu::faultText() {
  if (faultSignal == SIGFPE)
    return "integer division by zero";
  if (machine->stacks.isGuard(faultAddress))
    return "the thread needs more stack than the emulator gives";
  return "access to address " + std::to_string(faultAddress) +
         ", which is no memory of the launch";
}

static void landing() {
  Machine &m = *machine;
  m.report(FindingKind::HostFault, m.current->site, faultText(), true);
  std::abort(); // a fatal report never comes back to an emulated thread
}

static void handler(int signal, siginfo_t *info, void *rawContext) {
  if (machine && machine->current) {
    faultAddress = reinterpret_cast<uint64_t>(info->si_addr);
    faultSignal = signal;
    const Thread &thread = *machine->current;
    const uint64_t top = reinterpret_cast<uint64_t>(thread.stackTop);
    auto *context = static_cast<ucontext_t *>(rawContext);
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(top - 8);
    context->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&landing);
#elif defined(__aarch64__)
    context->uc_mcontext.sp = top;
    context->uc_mcontext.pc = reinterpret_cast<uint64_t>(&landing);
#endif
    return;
  }
  if (machine && recovery.armed) {
    faultAddress = reinterpret_cast<uint64_t>(info->si_addr);
    faultSignal = signal;
    siglongjmp(recovery.place, 1);
  }
  for (int i = 0; i < 3; ++i) {
    if (kSignals[i] != signal)
      continue;
    // Not ours: with the old handler back, the instruction faults again.
    sigaction(signal, &previous[i], nullptr);
    return;
  }
}

FaultGuard::FaultGuard() {
  void *memory = mmap(nullptr, kHandlerStack, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) {
    stack = memory;
    stack_t alternative{};
    alternative.ss_sp = stack;
    alternative.ss_size = kHandlerStack;
    sigaltstack(&alternative, nullptr);
  }
  std::lock_guard<std::mutex> lock(installMutex);
  if (installed++)
    return;
  struct sigaction action{};
  action.sa_sigaction = handler;
  // The handler does not return through the interrupted frame, so the signal
  // must not stay blocked.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; ++i)
    sigaction(kSignals[i], &action, &previous[i]);
}

FaultGuard::~FaultGuard() {
  {
    std::lock_guard<std::mutex> lock(installMutex);
    if (--installed == 0)
      for (int i = 0; i < 3; ++i)
        sigaction(kSignals[i], &previous[i], nullptr);
  }
  if (!stack)
    return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  munmap(stack, kHandlerStack);
}
