// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Artifacts to files and bundles, and back.

#include "dgemm/JIT/ArtifactFormat.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace json = llvm::json;

namespace dgemm::jit {

/// JSON holds UTF-8 only; locations may carry file names that are not.
static std::string text(const std::string &bytes) {
  return json::fixUTF8(bytes);
}

static json::Value toJson(const std::vector<KernelResources> &resources) {
  json::Array array;
  for (const KernelResources &kernel : resources) {
    json::Array warnings;
    for (const std::string &warning : kernel.warnings)
      warnings.push_back(text(warning));
    array.push_back(json::Object{{"entry", text(kernel.entry)},
                                 {"registers", kernel.registers},
                                 {"spill_stores", kernel.spillStores},
                                 {"spill_loads", kernel.spillLoads},
                                 {"stack_frame", kernel.stackFrame},
                                 {"shared_memory", kernel.sharedMemory},
                                 {"warnings", std::move(warnings)}});
  }
  return array;
}

static bool fromJson(const json::Value &value, KernelResources &kernel,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("entry", kernel.entry) &&
         map.map("registers", kernel.registers) &&
         map.map("spill_stores", kernel.spillStores) &&
         map.map("spill_loads", kernel.spillLoads) &&
         map.map("stack_frame", kernel.stackFrame) &&
         map.map("shared_memory", kernel.sharedMemory) &&
         map.map("warnings", kernel.warnings);
}

static Result<std::vector<KernelResources>>
resourcesFromJson(const json::Value &value) {
  std::vector<KernelResources> resources;
  json::Path::Root root("resources");
  const json::Array *array = value.getAsArray();
  if (!array)
    return Status::error("resources: expected an array");
  for (const json::Value &element : *array) {
    KernelResources kernel;
    if (!fromJson(element, kernel, root))
      return Status::error(llvm::toString(root.getError()));
    resources.push_back(std::move(kernel));
  }
  return resources;
}

static Result<json::Value> parseJson(const std::string &document) {
  llvm::Expected<json::Value> value = json::parse(document);
  if (!value)
    return Status::error("malformed JSON: " +
                         llvm::toString(value.takeError()));
  return std::move(*value);
}

static std::string print(const json::Value &value) {
  return llvm::formatv("{0:2}\n", value).str();
}

namespace {
/// Parts that are plain text, in one table for both directions.
struct TextPart {
  const char *file;
  std::string Artifact::*member;
};
} // namespace
static constexpr TextPart textParts[] = {
    {"kernel.ptx", &Artifact::ptx},
    {"ptxas.log", &Artifact::ptxasLog},
    {"report.txt", &Artifact::scheduleReport},
    {"scheduled.mlir", &Artifact::scheduledIR},
    {"kernel.mlir", &Artifact::kernelIR},
    {"machine.mlir", &Artifact::l3IR},
    {"nvvm.mlir", &Artifact::nvvmIR},
    {"kernel.ll", &Artifact::llvmIR},
};

std::map<std::string, std::string> toParts(const Artifact &artifact) {
  std::map<std::string, std::string> parts;
  for (const TextPart &part : textParts)
    if (const std::string &content = artifact.*part.member; !content.empty())
      parts[part.file] = content;
  if (!artifact.cubin.empty())
    parts["kernel.cubin"] =
        std::string(artifact.cubin.begin(), artifact.cubin.end());
  parts["launch.json"] = dgemm::toJson(artifact.metadata);
  parts["resources.json"] = print(toJson(artifact.resources));
  return parts;
}

Result<Artifact> fromParts(const std::map<std::string, std::string> &parts) {
  for (const char *required : {"kernel.ptx", "launch.json", "resources.json"})
    if (!parts.count(required))
      return Status::error(std::string(required) + " is missing");
  Artifact artifact;
  for (const TextPart &part : textParts)
    if (auto it = parts.find(part.file); it != parts.end())
      artifact.*part.member = it->second;
  if (auto it = parts.find("kernel.cubin"); it != parts.end())
    artifact.cubin.assign(it->second.begin(), it->second.end());

  Result<LaunchMetadata> metadata =
      parseLaunchMetadata(parts.at("launch.json"));
  if (!metadata)
    return Status::error("launch.json: " + metadata.message());
  artifact.metadata = std::move(*metadata);
  Result<json::Value> value = parseJson(parts.at("resources.json"));
  if (!value)
    return Status::error("resources.json: " + value.message());
  auto resources = resourcesFromJson(*value);
  if (!resources)
    return resources.status();
  artifact.resources = std::move(*resources);
  return artifact;
}

std::string toBundle(const Artifact &artifact) {
  // The metadata document is embedded as JSON, not as a string, so that a
  // reader parses once. It was printed by us, so it parses.
  json::Value metadata = nullptr;
  if (Result<json::Value> parsed = parseJson(dgemm::toJson(artifact.metadata)))
    metadata = std::move(*parsed);
  json::Object bundle{{"format", "dgemm-bundle"},
                      {"version", kBundleVersion},
                      {"metadata", std::move(metadata)},
                      {"ptx", text(artifact.ptx)},
                      {"resources", toJson(artifact.resources)},
                      {"schedule_report", text(artifact.scheduleReport)},
                      {"ptxas_log", text(artifact.ptxasLog)}};
  if (!artifact.cubin.empty())
    bundle["cubin"] = llvm::encodeBase64(artifact.cubin);
  return print(std::move(bundle));
}

Result<Artifact> parseBundle(const std::string &document) {
  Result<json::Value> value = parseJson(document);
  if (!value)
    return Status::error("bundle: " + value.message());
  json::Object *bundle = value->getAsObject();
  if (!bundle || bundle->getString("format") != "dgemm-bundle")
    return Status::error("not a dgemm bundle: expected an object with "
                         "\"format\": \"dgemm-bundle\"");
  std::optional<int64_t> version = bundle->getInteger("version");
  if (version != kBundleVersion)
    return Status::error(
        "bundle version " +
        (version ? std::to_string(*version) : std::string("missing")) +
        ": expected " + std::to_string(kBundleVersion));

  Artifact artifact;
  const json::Value *metadata = bundle->get("metadata");
  if (!metadata)
    return Status::error("bundle: metadata is missing");
  Result<LaunchMetadata> launch = parseLaunchMetadata(print(*metadata));
  if (!launch)
    return Status::error("bundle: metadata: " + launch.message());
  artifact.metadata = std::move(*launch);

  auto ptx = bundle->getString("ptx");
  if (!ptx)
    return Status::error("bundle: ptx is missing or not a string");
  artifact.ptx = ptx->str();
  if (const json::Value *cubin = bundle->get("cubin")) {
    auto encoded = cubin->getAsString();
    if (!encoded)
      return Status::error("bundle: cubin is not a string");
    if (llvm::Error error = llvm::decodeBase64(*encoded, artifact.cubin))
      return Status::error("bundle: cubin: " +
                           llvm::toString(std::move(error)));
  }
  if (const json::Value *list = bundle->get("resources")) {
    auto resources = resourcesFromJson(*list);
    if (!resources)
      return Status::error("bundle: " + resources.message());
    artifact.resources = std::move(*resources);
  }
  artifact.scheduleReport =
      bundle->getString("schedule_report").value_or("").str();
  artifact.ptxasLog = bundle->getString("ptxas_log").value_or("").str();
  return artifact;
}

} // namespace dgemm::jit
