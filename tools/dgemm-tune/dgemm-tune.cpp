// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm-tune: finds the fastest schedules of problems on a device.

#include "Commands.h"
#include "TuneOptions.h"

#include "dgemm/Tools/GemmOption.h"
#include "dgemm/Tuner/Space.h"

#include <cstdio>
#include <cstring>

using namespace dgemm;
using namespace dgemm::tune;

int dgemm::tune::fail(int code, const char *message) {
  std::fprintf(stderr, "dgemm-tune: %s\n", message);
  return code;
}

static int fail(int code, const std::string &message) {
  return dgemm::tune::fail(code, message.c_str());
}

/// The command that the first argument asks for; null: none, so tuning.
static const Command *findCommand(int argc, char **argv) {
  if (argc < 2)
    return nullptr;
  for (const Command *command = kCommands; command->option; ++command) {
    size_t length = std::strlen(command->option);
    if (std::strncmp(argv[1], command->option, length) == 0 &&
        (argv[1][length] == '\0' || argv[1][length] == '='))
      return command;
  }
  return nullptr;
}

static std::string commandHelp() {
  std::string text;
  for (const Command *command = kCommands; command->option; ++command) {
    std::string left = std::string("  ") + command->option;
    left.resize(std::max<size_t>(left.size() + 2, 28), ' ');
    text += left + command->help + "\n";
  }
  return text.empty()
             ? text
             : "Other commands; --help after one explains it:\n" + text;
}

/// Prints the cost model's schedules.
static int list(const TuneOptions &options, const ProblemSet &set,
                const DeviceModel &device) {
  int code = kDone;
  for (const ProblemSetEntry &entry : set.entries) {
    std::printf("%s %s\n", entry.recipe.c_str(), entry.text.c_str());
    Result<LaunchSizes> sizes = launchSizes(entry.gemm);
    if (!sizes) {
      code = fail(kSomeFailed, sizes.message());
      continue;
    }
    Result<tuner::Space> space =
        tuner::Space::create(entry.gemm.problem, device, L2State::Dirty);
    if (!space) {
      code = fail(kSomeFailed, space.message());
      continue;
    }
    std::printf("  %zu legal schedules\n", space->size());
    for (size_t i = 0; i < std::min<size_t>(space->size(), options.top); ++i)
      std::printf("  %10.2f us  %s\n", space->predictedUs(i),
                  toString(space->schedule(i)).c_str());
  }
  return code;
}

int dgemmTuneMain(int argc, char **argv) {
  if (const Command *command = findCommand(argc, argv))
    return command->run(argc, argv);
  TuneOptions options;
  Arguments arguments(
      "(--problems=FILE.json | --gemm=TEXT) [options]\n"
      "Lists the schedules of every problem that are predicted fastest.\n"
      "Ends with 0: done, 1: some failed, 2: bad input, 3: no GPU.");
  declareOptions(arguments, options);
  if (Status s = arguments.parse(argc, argv); !s)
    return fail(kBadInput, s.message());
  if (arguments.wantsHelp()) {
    std::fputs((arguments.help("dgemm-tune") + commandHelp()).c_str(), stdout);
    return kDone;
  }
  if (Status s = checkOptions(arguments, options); !s)
    return fail(kBadInput, s.message());
  Result<ProblemSet> set = readProblems(options);
  if (!set)
    return fail(kBadInput, set.message());
  Result<DeviceModel> device = findDevice(options.device);
  if (!device)
    return fail(kBadInput, device.message());
  return list(options, *set, *device);
}
