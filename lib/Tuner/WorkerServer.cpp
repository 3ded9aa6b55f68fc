// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The worker's side of the line protocol.

#include "dgemm/Tuner/Worker.h"

#include "WorkerJson.h"

#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace dgemm::tuner {

namespace {
/// Lines from a descriptor.
class LineReader {
public:
  explicit LineReader(int input) : input(input) {}
  /// False at the end of the input.
  bool next(std::string &line) {
    for (;;) {
      if (size_t end = held.find('\n'); end != std::string::npos) {
        line = held.substr(0, end);
        held.erase(0, end + 1);
        return true;
      }
      char buffer[4096];
      ssize_t count = ::read(input, buffer, sizeof(buffer));
      if (count == 0 || (count < 0 && errno != EINTR))
        return false;
      if (count > 0)
        held.append(buffer, size_t(count));
    }
  }

private:
  int input;
  std::string held;
};

class Server {
public:
  Json answer(const Json &request) {
    std::string what = textOf(request, "do");
    if (what == "open")
      return open(request);
    if (!device)
      return refusal("no device was opened");
    if (what == "problem")
      return problem(request);
    if (what == "check")
      return check(request);
    if (what == "time")
      return time(request);
    if (what == "drop") {
      device->drop(intOf(request, "id"));
      return Json{{"ok", true}};
    }
    return refusal("unknown request '" + what + "'");
  }

  bool lost() const { return device && device->lost(); }

private:
  static Json refusal(const std::string &why) {
    return Json{{"ok", false}, {"error", why}};
  }

  Json open(const Json &request) {
    std::string name = textOf(request, "device");
    if (name == "cuda") {
      device = makeCudaDevice();
    } else {
      auto made = makeModelDevice(name.substr(name.find(':') + 1));
      if (!made)
        return refusal(made.message());
      device = std::move(*made);
    }
    Result<L2State> l2 = parseL2State(textOf(request, "l2"));
    if (!l2)
      return refusal(l2.message());
    Result<DeviceDescription> opened =
        device->open(*l2, numberOf(request, "timeout"));
    if (!opened)
      return refusal(opened.message());
    return Json{
        {"ok", true}, {"name", opened->name}, {"method", opened->method}};
  }

  Json problem(const Json &request) {
    Result<GemmText> gemm = parseGemm(textOf(request, "gemm"));
    if (!gemm)
      return refusal(gemm.message());
    Result<LaunchSizes> sizes = sizesFromJson(request);
    if (!sizes)
      return refusal(sizes.message());
    if (Status s = device->setProblem(gemm->problem, *sizes,
                                      uint64_t(intOf(request, "seed")));
        !s)
      return refusal(s.message());
    return Json{{"ok", true}};
  }

  Json check(const Json &request) {
    CandidateRequest candidate;
    candidate.id = intOf(request, "id");
    candidate.files = {textOf(request, "image"), textOf(request, "metadata")};
    Result<Schedule> schedule = parseSchedule(textOf(request, "schedule"));
    if (!schedule)
      return refusal(schedule.message());
    candidate.schedule = *schedule;
    Result<Plant> plant = parsePlant(textOf(request, "plant"));
    if (!plant)
      return refusal(plant.message());
    candidate.plant = *plant;
    CheckOutcome outcome = device->check(candidate);
    return Json{{"ok", true},
                {"status", toString(outcome.status)},
                {"note", outcome.note},
                {"lost", device->lost()}};
  }

  Json time(const Json &request) {
    std::vector<int> ids;
    if (auto field = request.find("ids");
        field != request.end() && field->is_array())
      for (const Json &id : *field)
        if (id.is_number_integer())
          ids.push_back(id.get<int>());
    Rounds rounds;
    rounds.warmups = intOf(request, "warmups");
    rounds.repeats = intOf(request, "repeats");
    rounds.pauseMs = numberOf(request, "pause");
    auto samples = device->time(ids, rounds);
    if (!samples)
      return refusal(samples.message());
    return Json{{"ok", true}, {"samples", *samples}};
  }

  std::unique_ptr<MeasuringDevice> device;
};
} // namespace

int serveRequests(int input, int output) {
  LineReader reader(input);
  Server server;
  std::string line;
  while (reader.next(line)) {
    Json request = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    std::string answer = printLine(server.answer(request));
    for (size_t done = 0; done < answer.size();) {
      ssize_t count =
          ::write(output, answer.data() + done, answer.size() - done);
      if (count < 0 && errno != EINTR)
        return 1;
      done += count > 0 ? size_t(count) : 0;
    }
    // Leaving in order would wait for a kernel that may never end.
    if (server.lost())
      std::_Exit(1);
  }
  return 0;
}

int workerMain() {
  int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (output < 0)
    return 1;
  // Libraries that print would break the protocol.
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return serveRequests(STDIN_FILENO, output);
}

} // namespace dgemm::tuner
