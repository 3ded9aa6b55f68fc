// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "dgemm/Tuner/Plant.h"

#include <charconv>

namespace dgemm::tuner {

static constexpr std::pair<Plant, const char *> kNames[] = {
    {Plant::None, "none"},         {Plant::Slow, "slow"},
    {Plant::Wrong, "wrong"},       {Plant::Hang, "hang"},
    {Plant::Fault, "fault"},       {Plant::CompileError, "compile-error"},
    {Plant::Spill, "slow-warning"}};

const char *toString(Plant plant) {
  for (auto [known, name] : kNames)
    if (known == plant)
      return name;
  return "";
}

Result<Plant> parsePlant(const std::string &text) {
  for (auto [plant, name] : kNames)
    if (text == name)
      return plant;
  return Status::error("planted fault: expected slow, wrong, hang, fault, "
                       "compile-error or slow-warning, found '" +
                       text + "'");
}

Result<std::map<int, Plant>> parsePlants(const std::string &text) {
  std::map<int, Plant> plants;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    size_t at = part.find('@');
    Result<Plant> plant = parsePlant(part.substr(0, at));
    if (!plant)
      return plant.status();
    int number = -1;
    if (at != std::string::npos)
      std::from_chars(part.data() + at + 1, part.data() + part.size(), number);
    if (number < 0)
      return Status::error("planted fault '" + part +
                           "': expected @ and a candidate's number");
    plants[number] = *plant;
  }
  return plants;
}

/// Inserts instructions at the start of every kernel.
static void insertAtEntry(std::string &ptx, const std::string &code) {
  for (size_t entry = ptx.find(".entry"); entry != std::string::npos;
       entry = ptx.find(".entry", entry)) {
    size_t body = ptx.find("\n{", entry);
    if (body == std::string::npos)
      return;
    ptx.insert(body + 2, "\n{\n" + code + "}\n");
    entry = body + code.size();
  }
}

void plantInto(Plant plant, std::string &ptx, LaunchMetadata &metadata) {
  switch (plant) {
  case Plant::Slow:
    // 300 us.
    insertAtEntry(ptx, ".reg .pred %pl_p;\n"
                       ".reg .b64 %pl_t, %pl_e;\n"
                       "mov.u64 %pl_e, %globaltimer;\n"
                       "add.u64 %pl_e, %pl_e, 300000;\n"
                       "$pl_wait:\n"
                       "mov.u64 %pl_t, %globaltimer;\n"
                       "setp.lt.u64 %pl_p, %pl_t, %pl_e;\n"
                       "@%pl_p bra $pl_wait;\n");
    break;
  case Plant::Hang:
    insertAtEntry(ptx, "$pl_hang:\nnanosleep.u32 1000;\nbra.uni $pl_hang;\n");
    break;
  case Plant::Fault:
    insertAtEntry(ptx, "trap;\n");
    break;
  case Plant::Wrong:
    for (KernelMetadata &kernel : metadata.kernels)
      for (TensorMapRecipe &map : kernel.tensorMaps)
        if (map.operand == Operand::B)
          map.swizzle = 0;
    break;
  case Plant::None:
  case Plant::CompileError:
  case Plant::Spill:
    break;
  }
}

} // namespace dgemm::tuner
