// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What the worker process does with one device: holds the operands of a
// problem, checks candidates, times them. Two kinds: a GPU, and the cost model
// with noise, on which everything around measuring is tested.

#ifndef DGEMM_TUNER_MEASURINGDEVICE_H
#define DGEMM_TUNER_MEASURINGDEVICE_H

#include "dgemm/Runtime/DriverApi.h"
#include "dgemm/Runtime/LaunchMetadata.h"
#include "dgemm/Tuner/Plant.h"
#include "dgemm/TuningDB/TuningRecord.h"

#include <memory>
#include <string>
#include <vector>

namespace dgemm::tuner {

/// Files of a compiled kernel; both empty on the model device.
struct KernelFiles {
  std::string image;    ///< cubin or PTX
  std::string metadata; ///< launch metadata as JSON
};

/// A schedule to be checked and timed.
struct CandidateRequest {
  int id = 0;
  Schedule schedule;
  KernelFiles files;
  Plant plant = Plant::None; ///< obeyed by the model device
};

struct DeviceDescription {
  std::string name;   ///< "NVIDIA H200", "model:H200"
  std::string method; ///< how times are taken: "cupti", "events", "model"
};

/// How a check ended; Ok: the candidate may be timed.
struct CheckOutcome {
  RecordStatus status = RecordStatus::Ok;
  std::string note;
};

/// One measurement of several candidates, interleaved.
struct Rounds {
  int warmups = 1, repeats = 3;
  double pauseMs = 0; ///< before each launch
};

class MeasuringDevice {
public:
  virtual ~MeasuringDevice() = default;

  /// Makes the device ready. `timeoutSeconds`: a kernel that runs longer
  /// counts as hanging.
  virtual Result<DeviceDescription> open(L2State l2, double timeoutSeconds) = 0;
  /// Drops what belongs to the former problem and makes operands.
  virtual Status setProblem(const Problem &problem, const LaunchSizes &sizes,
                            uint64_t seed) = 0;
  /// Loads a candidate, runs it once on poisoned D and compares. The first
  /// right one of a problem is compared with float64; its D is what the others
  /// are compared with.
  virtual CheckOutcome check(const CandidateRequest &candidate) = 0;
  /// Microseconds of each counted launch, for each id. The error of a device
  /// that cannot be used any more sets lost().
  virtual Result<std::vector<std::vector<double>>>
  time(const std::vector<int> &ids, const Rounds &rounds) = 0;
  /// Forgets a candidate.
  virtual void drop(int id) = 0;

  /// True after a hang or a fault: the process has to end, freeing nothing.
  virtual bool lost() const { return false; }
};

/// A Hopper GPU, the first one the driver lists. `driver`: another than the
/// process's own; `flushBytes`: what an L2 flush writes or reads.
std::unique_ptr<MeasuringDevice>
makeCudaDevice(const cuda::DriverApi *driver = nullptr,
               int64_t flushBytes = int64_t(768) << 20);
/// Times of the cost model for "H200", ..., off by 3 % for each schedule and by
/// 0.5 % for each launch, seeded by the schedule's text. Errors: an unknown
/// device.
Result<std::unique_ptr<MeasuringDevice>>
makeModelDevice(const std::string &model);

} // namespace dgemm::tuner

#endif // DGEMM_TUNER_MEASURINGDEVICE_H
