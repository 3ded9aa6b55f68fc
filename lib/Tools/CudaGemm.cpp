// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading and running one GEMM.

#include "dgemm/Tools/CudaGemm.h"

namespace dgemm {

Result<std::unique_ptr<CudaGemm>>
CudaGemm::create(std::shared_ptr<cuda::Device> device,
                 const LaunchMetadata &metadata, std::string_view image,
                 HostOperands &host) {
  std::unique_ptr<CudaGemm> gemm(new CudaGemm(host));
  auto loaded = cuda::LoadedArtifact::load(device, metadata, image);
  if (!loaded)
    return loaded.status();
  gemm->loaded = *loaded;
  Result<DeviceOperands> operands = DeviceOperands::upload(device, host);
  if (!operands)
    return operands.status();
  gemm->operands.emplace(std::move(*operands));
  auto stream = cuda::Stream::create(device);
  if (!stream)
    return stream.status();
  gemm->stream = std::move(*stream);
  return gemm;
}

Status CudaGemm::launch(const LaunchOptions &options, CUstream onStream) const {
  return cuda::launch(*loaded, host.sizes, operands->addresses(), options,
                      onStream);
}

Status CudaGemm::runOnce(const LaunchOptions &options, double timeoutSeconds) {
  host.resetOutput();
  if (Status s = operands->uploadOutput(); !s)
    return s;
  if (Status s = launch(options, stream->get()); !s)
    return s;
  Result<bool> done = stream->waitFor(timeoutSeconds);
  if (!done) {
    lost = true;
    return done.status();
  }
  if (!*done) {
    lost = true;
    return Status::error("the kernel did not end within " +
                         std::to_string(timeoutSeconds) + " s");
  }
  return operands->downloadOutput();
}

std::string deviceModel(const cuda::DeviceInfo &info) {
  for (const char *model : {"H200", "H100", "H800"})
    if (info.name.find(model) != std::string::npos)
      return model;
  // After H200, whose name it begins.
  return info.name.find("H20") != std::string::npos ? "H20" : "H200";
}

} // namespace dgemm
