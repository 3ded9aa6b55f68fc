// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Errors as values. Everything a user can cause (bad input, missing toolkit,
// full disk, absent driver) travels as a Status with readable text; nothing in
// the plain C++ libraries throws across its interface, aborts or prints.

#ifndef DGEMM_SUPPORT_STATUS_H
#define DGEMM_SUPPORT_STATUS_H

#include <optional>
#include <string>
#include <utility>

namespace dgemm {

/// Success, or one error with its text. The text names the operand or file,
/// what was expected and what was found; it has no trailing full stop.
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status success() { return Status(); }
  static Status error(std::string message) {
    Status status;
    status.text = std::move(message);
    return status;
  }

  bool ok() const { return !text.has_value(); }
  explicit operator bool() const { return ok(); }
  /// The error text; empty on success.
  const std::string &message() const {
    static const std::string none;
    return text ? *text : none;
  }

private:
  std::optional<std::string> text;
};

/// A value or a Status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T v) : held(std::move(v)) {}
  Result(Status s) : failure(std::move(s)) {}

  bool ok() const { return held.has_value(); }
  explicit operator bool() const { return ok(); }
  const std::string &message() const { return failure.message(); }
  Status status() const { return ok() ? Status::success() : failure; }

  T &operator*() { return *held; }
  const T &operator*() const { return *held; }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }

private:
  std::optional<T> held;
  Status failure;
};

} // namespace dgemm

#endif // DGEMM_SUPPORT_STATUS_H
