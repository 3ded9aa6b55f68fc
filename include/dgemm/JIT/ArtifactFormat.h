// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// An artifact as bytes: the named parts that a cache entry holds as files, and
// the bundle, which is one JSON document (docs/launch-metadata.md).

#ifndef DGEMM_JIT_ARTIFACTFORMAT_H
#define DGEMM_JIT_ARTIFACTFORMAT_H

#include "dgemm/JIT/Compiler.h"

#include <map>
#include <string>

namespace dgemm::jit {

inline constexpr int kBundleVersion = 1;

/// File name to content. Empty parts of the artifact have no file.
std::map<std::string, std::string> toParts(const Artifact &artifact);
/// The error names the part that is missing or malformed.
Result<Artifact> fromParts(const std::map<std::string, std::string> &parts);

/// PTX, cubin (base64), launch metadata, resources and the schedule report in
/// one JSON document; the intermediate levels are left out.
std::string toBundle(const Artifact &artifact);
/// Refuses other formats and versions, and names the malformed field.
Result<Artifact> parseBundle(const std::string &json);

} // namespace dgemm::jit

#endif // DGEMM_JIT_ARTIFACTFORMAT_H
