// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings in plain words, and the picture of a deadlock.

#include "Machine.h"

#include <algorithm>
#include <bit>

using namespace dgemm;
using namespace dgemm::emu;

const char *dgemm::toString(AsyncOrder order) {
  switch (order) {
  case AsyncOrder::Lazy:
    return "lazy";
  case AsyncOrder::Eager:
    return "eager";
  case AsyncOrder::Random:
    return "random";
  }
  return "lazy";
}

Result<AsyncOrder> dgemm::parseAsyncOrder(const std::string &text) {
  for (AsyncOrder order :
       {AsyncOrder::Lazy, AsyncOrder::Eager, AsyncOrder::Random})
    if (text == toString(order))
      return order;
  return Status::error("order of asynchronous work: expected lazy, eager or "
                       "random, found '" +
                       text + "'");
}

const char *dgemm::toString(FindingKind kind) {
  switch (kind) {
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::StepLimit:
    return "step-limit";
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::Uninitialized:
    return "uninitialized";
  case FindingKind::ProxyFence:
    return "proxy-fence";
  case FindingKind::Accumulator:
    return "accumulator";
  case FindingKind::Race:
    return "race";
  case FindingKind::BarrierMisuse:
    return "barrier-misuse";
  case FindingKind::ByteCount:
    return "byte-count";
  case FindingKind::ExitState:
    return "exit-state";
  case FindingKind::ClusterExit:
    return "cluster-exit";
  case FindingKind::Divergence:
    return "divergence";
  case FindingKind::BadDescriptor:
    return "bad-descriptor";
  case FindingKind::GridDependency:
    return "grid-dependency";
  case FindingKind::HostFault:
    return "host-fault";
  }
  return "finding";
}

std::string dgemm::toString(const EmulatorReport &report) {
  std::string out;
  for (const Finding &finding : report.findings) {
    out += std::string(toString(finding.kind)) + ": " + finding.message;
    if (!finding.location.empty())
      out += "\n    at " + finding.location;
    if (finding.count > 1)
      out += "\n    seen " + std::to_string(finding.count) + " times";
    out += "\n";
  }
  const EmulatorStatistics &s = report.statistics;
  out += "emulator: " + std::to_string(s.clusters) + " clusters, " +
         std::to_string(s.wgmmas) + " WGMMAs, " + std::to_string(s.tmaLoads) +
         " TMA loads (" + std::to_string(s.tmaLoadBytes) + " bytes), " +
         std::to_string(s.tmaStores) + " TMA stores (" +
         std::to_string(s.tmaStoreBytes) + " bytes), " +
         std::to_string(report.findings.size()) + " findings" +
         (report.completed ? "" : ", stopped early") + "\n";
  if (s.sharedAccesses)
    out += "shared memory: " + std::to_string(s.sharedLoadBytes) +
           " bytes loaded, " + std::to_string(s.sharedStoreBytes) +
           " bytes stored, " + std::to_string(s.sharedAccesses) +
           " warp accesses in " + std::to_string(s.sharedWavefronts) +
           " wavefronts (" + std::to_string(s.idealWavefronts) +
           " without bank conflicts)\nglobal memory: " +
           std::to_string(s.globalLoadBytes) + " bytes loaded, " +
           std::to_string(s.globalStoreBytes) + " bytes stored\n";
  return out;
}

std::string emu::plural(int64_t n, const char *what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string Machine::siteText(SiteId id) const {
  if (!launch.sites || id >= launch.sites->size())
    return "an unknown place";
  const Site &site = (*launch.sites)[id];
  if (site.op.empty())
    return "the end of the kernel";
  std::string text = site.op + ", op " + std::to_string(site.ordinal) +
                     " of @" + site.function;
  return site.location.empty() ? text : site.location + " (" + text + ")";
}

void Machine::report(FindingKind kind, SiteId site, std::string message,
                     bool fatal) {
  // A rule broken by every thread in every iteration is one finding: the first
  // is kept in full, the others are counted.
  const std::string key =
      std::to_string(int(kind)) + ":" + std::to_string(site) + ":" +
      message.substr(0, message.find_first_of("0123456789"));
  constexpr size_t kMostFindings = 64;
  auto [it, fresh] = findingIndex.try_emplace(key, findings.size());
  if (!fresh) {
    if (it->second < findings.size())
      ++findings[it->second].count;
  } else if (findings.size() < kMostFindings) {
    Finding finding;
    finding.kind = kind;
    finding.message = std::move(message);
    finding.location = site ? siteText(site) : std::string();
    finding.fatal = fatal;
    findings.push_back(std::move(finding));
  }
  if (!fatal)
    return;
  stopped = true;
  // On a fiber this never comes back; the frames of the kernel are dropped.
  if (current)
    switchOut();
}

//===----------------------------------------------------------------------===//
// Deadlocks
//===----------------------------------------------------------------------===//

static std::string lanesText(uint32_t lanes) {
  if (lanes == ~0u)
    return "";
  std::string out = std::popcount(lanes) == 1 ? " lane " : " lanes ";
  bool firstRange = true;
  for (int i = 0; i < 32; ++i) {
    if (!(lanes >> i & 1))
      continue;
    int last = i;
    while (last < 31 && (lanes >> (last + 1) & 1))
      ++last;
    out += (firstRange ? "" : ",") + std::to_string(i);
    if (last > i)
      out += "-" + std::to_string(last);
    firstRange = false;
    i = last;
  }
  return out;
}

static std::string waitText(const Thread &thread) {
  const Cta &cta = *thread.cta;
  switch (thread.wait) {
  case Wait::Mbarrier: {
    const uint64_t offset = thread.waitKey - cta.shared.address();
    const Mbarrier *bar =
        offset / 8 < cta.barrierAt.size() ? cta.barrierAt[offset / 8] : nullptr;
    std::string text = "for parity " + std::to_string(thread.waitPhase) +
                       " of the mbarrier at byte " +
                       std::to_string(int64_t(offset) - kSharedBase);
    if (bar)
      text += ": phase " + std::to_string(bar->phase) + ", " +
              std::to_string(bar->pending) + " of " +
              std::to_string(bar->count) + " arrivals and " +
              std::to_string(bar->tx) + " bytes missing";
    return text;
  }
  case Wait::NamedBarrier: {
    const NamedBarrier &bar = cta.named[thread.waitKey];
    return "at barrier " + std::to_string(thread.waitKey) + ": " +
           std::to_string(bar.arrived) + " of " + std::to_string(bar.expected) +
           " threads have arrived";
  }
  case Wait::Warp:
    return "for the other lanes of its warp";
  case Wait::Wgmma: {
    const Warpgroup &group = cta.warpgroups[thread.tid / 128];
    return "for WGMMA group " + std::to_string(thread.waitKey) + "; " +
           std::to_string(group.groupsComplete) + " are complete (all " +
           std::to_string(group.threads) +
           " threads of the warpgroup must issue it)";
  }
  case Wait::Bulk:
    return "for its TMA stores";
  case Wait::AsyncCopy:
    return "for its asynchronous copies";
  case Wait::Cluster:
    return "at the cluster barrier: " + std::to_string(cta.cluster->arrived) +
           " of " + std::to_string(cta.cluster->alive) +
           " threads have arrived";
  case Wait::Yield:
    return "polling memory or a barrier";
  case Wait::Exited:
    return "nothing: it has exited";
  case Wait::None:
    return "nothing: it can run";
  }
  return "";
}

void Machine::reportDeadlock(const char *headline, FindingKind kind) {
  std::string text = headline;
  SiteId where = 0;
  constexpr unsigned kMostLines = 40;
  unsigned lines = 0;
  for (const Warp *warp : warps) {
    uint32_t left = warp->alive;
    while (left) {
      const unsigned lead = unsigned(std::countr_zero(left));
      const Thread &first = warp->cta->threads[warp->index * 32 + lead];
      uint32_t same = 0;
      for (uint32_t bits = left; bits; bits &= bits - 1) {
        const unsigned lane = unsigned(std::countr_zero(bits));
        const Thread &t = warp->cta->threads[warp->index * 32 + lane];
        if (t.wait == first.wait && t.site == first.site &&
            t.waitKey == first.waitKey && t.waitPhase == first.waitPhase)
          same |= 1u << lane;
      }
      left &= ~same;
      if (!where && first.wait == Wait::Mbarrier)
        where = first.site;
      if (++lines > kMostLines)
        continue;
      text += "\n      CTA " + std::to_string(warp->cta->index) + " warp " +
              std::to_string(warp->index) + lanesText(same) + " waits " +
              waitText(first);
      if (first.wait != Wait::None)
        text += " [" + siteText(first.site) + "]";
    }
  }
  if (lines > kMostLines)
    text += "\n      and " + plural(lines - kMostLines, "more group") +
            " of threads";
  if (!where && current)
    where = current->site;
  current = nullptr;
  report(kind, where, std::move(text), /*fatal=*/true);
}
