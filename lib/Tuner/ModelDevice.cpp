// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A device that answers with the cost model's times: no GPU, every kind of
// fault.

#include "dgemm/Tuner/MeasuringDevice.h"
#include "dgemm/Tuner/Space.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <unistd.h>

namespace dgemm::tuner {

namespace {
class ModelDevice : public MeasuringDevice {
public:
  explicit ModelDevice(DeviceModel model) : model(std::move(model)) {}

  Result<DeviceDescription> open(L2State state, double) override {
    l2 = state;
    return DeviceDescription{"model:" + model.name, "model"};
  }

  Status setProblem(const Problem &about, const LaunchSizes &,
                    uint64_t) override {
    problem = about;
    loaded.clear();
    return Status::success();
  }

  CheckOutcome check(const CandidateRequest &candidate) override {
    switch (candidate.plant) {
    case Plant::Hang:
      for (;;)
        ::sleep(1000);
    case Plant::Fault:
      std::_Exit(3);
    case Plant::Wrong:
      return {RecordStatus::Wrong, "planted"};
    default:
      break;
    }
    Loaded &made = loaded[candidate.id];
    std::string text = toString(candidate.schedule);
    std::seed_seq seed(text.begin(), text.end());
    made.random.seed(seed);
    made.us = predictUs(problem, candidate.schedule, model, l2);
    // What the model does not know, the same for all launches of a schedule.
    made.us *= std::exp(0.03 * std::normal_distribution<>()(made.random));
    if (candidate.plant == Plant::Slow)
      made.us *= 4;
    return {};
  }

  Result<std::vector<std::vector<double>>> time(const std::vector<int> &ids,
                                                const Rounds &rounds) override {
    std::vector<std::vector<double>> samples;
    for (int id : ids) {
      auto candidate = loaded.find(id);
      if (candidate == loaded.end())
        return Status::error("no candidate " + std::to_string(id));
      std::vector<double> &mine = samples.emplace_back();
      for (int i = 0; i < rounds.repeats; ++i)
        mine.push_back(candidate->second.us *
                       std::exp(0.005 * std::normal_distribution<>()(
                                            candidate->second.random)));
    }
    return samples;
  }

  void drop(int id) override { loaded.erase(id); }

private:
  struct Loaded {
    double us = 0;
    std::mt19937_64 random;
  };
  DeviceModel model;
  L2State l2 = L2State::Dirty;
  Problem problem;
  std::map<int, Loaded> loaded;
};
} // namespace

Result<std::unique_ptr<MeasuringDevice>>
makeModelDevice(const std::string &model) {
  Result<DeviceModel> found = findDevice(model);
  if (!found)
    return found.status();
  return std::unique_ptr<MeasuringDevice>(new ModelDevice(*found));
}

} // namespace dgemm::tuner
