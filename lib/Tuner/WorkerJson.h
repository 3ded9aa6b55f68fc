// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Fields of the worker's lines, for both sides. A field that is missing or of
// another type reads as empty, so the JSON library never throws.

#ifndef DGEMM_LIB_TUNER_WORKERJSON_H
#define DGEMM_LIB_TUNER_WORKERJSON_H

#include "dgemm/Runtime/LaunchMetadata.h"

#include <nlohmann/json.hpp>
#include <string>

namespace dgemm::tuner {

using Json = nlohmann::json;

inline std::string textOf(const Json &json, const char *key) {
  auto field = json.find(key);
  return field != json.end() && field->is_string() ? field->get<std::string>()
                                                   : std::string();
}
inline double numberOf(const Json &json, const char *key) {
  auto field = json.find(key);
  return field != json.end() && field->is_number() ? field->get<double>() : 0;
}
inline int intOf(const Json &json, const char *key) {
  return int(numberOf(json, key));
}
inline std::string printLine(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

inline Json sizesToJson(const LaunchSizes &s) {
  return Json{s.m,   s.n,   s.k,        s.lda,     s.ldb,
              s.ldc, s.ldd, s.ldScaleA, s.ldScaleB};
}
inline Result<LaunchSizes> sizesFromJson(const Json &request) {
  LaunchSizes s;
  int64_t *fields[] = {&s.m,   &s.n,   &s.k,        &s.lda,     &s.ldb,
                       &s.ldc, &s.ldd, &s.ldScaleA, &s.ldScaleB};
  auto list = request.find("sizes");
  if (list == request.end() || !list->is_array() ||
      list->size() != std::size(fields))
    return Status::error("field 'sizes': expected nine sizes");
  for (size_t i = 0; i < std::size(fields); ++i) {
    if (!(*list)[i].is_number_integer())
      return Status::error("field 'sizes': expected whole numbers");
    *fields[i] = (*list)[i].get<int64_t>();
  }
  return s;
}

} // namespace dgemm::tuner

#endif // DGEMM_LIB_TUNER_WORKERJSON_H
