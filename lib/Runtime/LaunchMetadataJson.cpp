// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The JSON form of launch metadata (docs/launch-metadata.md). Reading trusts
// nothing: every field is checked for presence, type and range, unknown fields
// are refused, and errors name the field by its path.

#include "dgemm/Runtime/LaunchMetadata.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <set>

namespace dgemm {

using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Json writeDim(int64_t dim) {
  return dim == kDynamic ? Json("?") : Json(dim);
}

static Json writeScale(const ScaleSpec &scale) {
  return {{"type", toString(scale.type)},
          {"block", {scale.rows, scale.cols}},
          {"major", scale.major == ScaleMajor::MN ? "mn" : "k"}};
}

static Json writeProblem(const Problem &problem) {
  Json json = {{"m", writeDim(problem.m)},          {"n", writeDim(problem.n)},
               {"k", writeDim(problem.k)},          {"a", toString(problem.a)},
               {"b", toString(problem.b)},          {"d", toString(problem.d)},
               {"layout", toString(problem.layout)}};
  if (problem.scaleA.present())
    json["scale_a"] = writeScale(problem.scaleA);
  if (problem.scaleB.present())
    json["scale_b"] = writeScale(problem.scaleB);
  json["accumulate"] = problem.accumulate;
  json["fast_accumulate"] = problem.fastAccumulate;
  return json;
}

static Json writeExpr(const SizeExpr &expr) {
  if (expr.of == Symbol::One && expr.ceilDiv == 1)
    return expr.times;
  if (expr.ceilDiv == 1 && expr.times == 1)
    return toString(expr.of);
  return {{"of", toString(expr.of)},
          {"ceil_div", expr.ceilDiv},
          {"times", expr.times}};
}

static Json writeExprs(const std::vector<SizeExpr> &exprs) {
  Json json = Json::array();
  for (const SizeExpr &expr : exprs)
    json.push_back(writeExpr(expr));
  return json;
}

static Json writeTensorMap(const TensorMapRecipe &recipe) {
  Json json = {{"operand", toString(recipe.operand)},
               {"type", toString(recipe.type)},
               {"dims", writeExprs(recipe.dims)},
               {"strides", writeExprs(recipe.strides)},
               {"box", recipe.box},
               {"swizzle", recipe.swizzle},
               {"l2_promotion", recipe.l2Promotion}};
  if (recipe.lastRows)
    json["last_rows"] = true;
  return json;
}

static Json writeArgument(const KernelArgument &argument) {
  using Kind = KernelArgument::Kind;
  switch (argument.kind) {
  case Kind::TensorMap:
    return {{"kind", "tensor_map"}, {"index", argument.tensorMap}};
  case Kind::Pointer:
    return {{"kind", "pointer"}, {"operand", toString(argument.operand)}};
  case Kind::Size32:
    return {{"kind", "size32"}, {"symbol", toString(argument.symbol)}};
  case Kind::Size64:
    return {{"kind", "size64"}, {"symbol", toString(argument.symbol)}};
  case Kind::RasterGroup:
    return Json::object({{"kind", "raster_group"}});
  case Kind::Alpha:
    return Json::object({{"kind", "alpha"}});
  case Kind::Beta:
    return Json::object({{"kind", "beta"}});
  }
  return {};
}

static Json writeKernel(const KernelMetadata &kernel) {
  Json maps = Json::array(), arguments = Json::array();
  for (const TensorMapRecipe &recipe : kernel.tensorMaps)
    maps.push_back(writeTensorMap(recipe));
  for (const KernelArgument &argument : kernel.arguments)
    arguments.push_back(writeArgument(argument));
  return {
      {"entry", kernel.entry},
      {"schedule", toString(kernel.schedule)},
      {"schedule_source", kernel.scheduleSource},
      {"threads", kernel.threads},
      {"cluster", {kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]}},
      {"dynamic_shared_memory", kernel.dynamicSharedMemory},
      {"tile", {kernel.tileM, kernel.tileN}},
      {"persistent", kernel.persistent},
      {"ctas_per_sm", kernel.ctasPerSM},
      {"split_k", kernel.splitK},
      {"tensor_maps", maps},
      {"arguments", arguments},
      {"workspace",
       {{"per_tile", kernel.workspacePerTile},
        {"per_cta", kernel.workspacePerCta},
        {"fixed", kernel.workspaceFixed}}}};
}

std::string toJson(const LaunchMetadata &metadata) {
  Json kernels = Json::array(), dispatch = Json::array();
  for (const KernelMetadata &kernel : metadata.kernels)
    kernels.push_back(writeKernel(kernel));
  for (const DispatchEntry &entry : metadata.dispatch)
    dispatch.push_back({{"max_m", entry.maxM}, {"kernel", entry.kernel}});
  Json json = {{"version", metadata.version},
               {"chip", metadata.chip},
               {"problem", writeProblem(metadata.problem)},
               {"kernels", kernels},
               {"dispatch", dispatch}};
  // Text that is no UTF-8 is replaced rather than refused: names come from the
  // user's IR, and a name must not make an artifact fail.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Leaves the nest of readers; never leaves this file.
struct FieldError {
  std::string text;
};

/// A JSON value with the path that leads to it.
class Field {
public:
  Field(const Json &json, std::string path)
      : json(json), path(std::move(path)) {}

  [[noreturn]] void expected(const std::string &what) const {
    std::string found =
        json.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (found.size() > 40)
      found = found.substr(0, 40) + "...";
    throw FieldError{path + ": expected " + what + ", found " + found};
  }

  /// The member of an object; members taken are remembered for `close`.
  Field operator[](const char *name) {
    needObject();
    taken.insert(name);
    auto it = json.find(name);
    if (it == json.end())
      throw FieldError{join(name) + ": missing"};
    return Field(*it, join(name));
  }

  bool has(const char *name) const {
    needObject();
    return json.contains(name);
  }

  /// Refuses members that nobody asked for.
  void close() const {
    needObject();
    for (const auto &item : json.items())
      if (!taken.count(item.key()))
        throw FieldError{join(item.key()) + ": unknown field"};
  }

  std::vector<Field> elements() const {
    if (!json.is_array())
      expected("a list");
    std::vector<Field> out;
    for (size_t i = 0; i < json.size(); ++i)
      out.emplace_back(json[i], path + "[" + std::to_string(i) + "]");
    return out;
  }

  std::vector<Field> elements(size_t count) const {
    std::vector<Field> out = elements();
    if (out.size() != count)
      expected("a list of " + std::to_string(count));
    return out;
  }

  int64_t integer(int64_t low, int64_t high) const {
    std::string what = "an integer from " + std::to_string(low) + " to " +
                       std::to_string(high);
    if (!json.is_number_integer())
      expected(what);
    // Beyond int64_t the library would wrap around silently.
    if (json.is_number_unsigned() &&
        json.get<uint64_t>() >
            static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      expected(what);
    int64_t value = json.get<int64_t>();
    if (value < low || value > high)
      expected(what);
    return value;
  }

  int small(int low, int high) const {
    return static_cast<int>(integer(low, high));
  }

  bool boolean() const {
    if (!json.is_boolean())
      expected("true or false");
    return json.get<bool>();
  }

  std::string string() const {
    if (!json.is_string())
      expected("text");
    return json.get<std::string>();
  }

  /// Text that one of the library's parsers takes.
  template <typename T>
  T parsed(Result<T> (*parse)(const std::string &)) const {
    Result<T> value = parse(string());
    if (!value)
      throw FieldError{path + ": " + value.message()};
    return *value;
  }

  const Json &json;
  const std::string path;

private:
  void needObject() const {
    if (!json.is_object())
      expected("an object");
  }
  std::string join(const std::string &name) const {
    return path.empty() ? name : path + "." + name;
  }

  std::set<std::string> taken;
};
} // namespace

/// Factors and constants stay below 2^31, so that a product with a 32-bit size
/// cannot overflow.
static constexpr int64_t kMaxFactor = INT32_MAX;
static constexpr int64_t kMaxBytes = int64_t(1) << 40;

static int64_t readDim(const Field &field) {
  if (field.json.is_string() && field.json == "?")
    return kDynamic;
  return field.integer(0, INT32_MAX);
}

static ScaleSpec readScale(Field field) {
  ScaleSpec scale;
  scale.type = field["type"].parsed(parseDType);
  std::vector<Field> block = field["block"].elements(2);
  scale.rows = block[0].integer(0, INT32_MAX);
  scale.cols = block[1].integer(0, INT32_MAX);
  Field major = field["major"];
  std::string text = major.string();
  if (text != "k" && text != "mn")
    major.expected("k or mn");
  scale.major = text == "mn" ? ScaleMajor::MN : ScaleMajor::K;
  field.close();
  return scale;
}

static Problem readProblem(Field field) {
  Problem problem;
  problem.m = readDim(field["m"]);
  problem.n = readDim(field["n"]);
  problem.k = readDim(field["k"]);
  problem.a = field["a"].parsed(parseDType);
  problem.b = field["b"].parsed(parseDType);
  problem.d = field["d"].parsed(parseDType);
  problem.layout = field["layout"].parsed(parseLayout);
  if (field.has("scale_a"))
    problem.scaleA = readScale(field["scale_a"]);
  if (field.has("scale_b"))
    problem.scaleB = readScale(field["scale_b"]);
  problem.accumulate = field["accumulate"].boolean();
  problem.fastAccumulate = field["fast_accumulate"].boolean();
  field.close();
  if (Status status = verifyProblem(problem); !status)
    throw FieldError{field.path + ": " + status.message()};
  return problem;
}

static SizeExpr readExpr(Field field) {
  if (field.json.is_number())
    return {Symbol::One, 1, field.integer(0, kMaxFactor)};
  if (field.json.is_string())
    return {field.parsed(parseSymbol), 1, 1};
  SizeExpr expr;
  expr.of = field["of"].parsed(parseSymbol);
  expr.ceilDiv = field["ceil_div"].integer(1, kMaxFactor);
  expr.times = field["times"].integer(0, kMaxFactor);
  field.close();
  return expr;
}

static std::vector<SizeExpr> readExprs(const Field &field) {
  std::vector<SizeExpr> exprs;
  for (const Field &element : field.elements())
    exprs.push_back(readExpr(element));
  return exprs;
}

static TensorMapRecipe readTensorMap(Field field) {
  TensorMapRecipe recipe;
  recipe.operand = field["operand"].parsed(parseOperand);
  recipe.type = field["type"].parsed(parseDType);
  if (recipe.type == DType::None)
    field["type"].expected("an element type");
  recipe.dims = readExprs(field["dims"]);
  if (recipe.dims.empty() || recipe.dims.size() > 5)
    field["dims"].expected("a list of 1 to 5");
  recipe.strides = readExprs(field["strides"]);
  if (recipe.strides.size() + 1 != recipe.dims.size())
    field["strides"].expected("a list of " +
                              std::to_string(recipe.dims.size() - 1));
  for (const Field &extent : field["box"].elements(recipe.dims.size()))
    recipe.box.push_back(extent.integer(1, 256));
  recipe.swizzle = field["swizzle"].small(0, 128);
  if (recipe.swizzle != 0 && recipe.swizzle != 32 && recipe.swizzle != 64 &&
      recipe.swizzle != 128)
    field["swizzle"].expected("0, 32, 64 or 128");
  recipe.l2Promotion = field["l2_promotion"].small(0, 256);
  if (recipe.l2Promotion != 0 && recipe.l2Promotion != 64 &&
      recipe.l2Promotion != 128 && recipe.l2Promotion != 256)
    field["l2_promotion"].expected("0, 64, 128 or 256");
  if (field.has("last_rows"))
    recipe.lastRows = field["last_rows"].boolean();
  if (recipe.lastRows && recipe.dims.size() < 2)
    field["last_rows"].expected("false for a map of one dimension");
  field.close();
  return recipe;
}

static KernelArgument readArgument(Field field, size_t tensorMaps) {
  using Kind = KernelArgument::Kind;
  KernelArgument argument;
  Field kindField = field["kind"];
  std::string kind = kindField.string();
  if (kind == "tensor_map") {
    argument.kind = Kind::TensorMap;
    argument.tensorMap =
        field["index"].small(0, static_cast<int>(tensorMaps) - 1);
  } else if (kind == "pointer") {
    argument.kind = Kind::Pointer;
    argument.operand = field["operand"].parsed(parseOperand);
  } else if (kind == "size32" || kind == "size64") {
    argument.kind = kind == "size32" ? Kind::Size32 : Kind::Size64;
    argument.symbol = field["symbol"].parsed(parseSymbol);
  } else if (kind == "raster_group") {
    argument.kind = Kind::RasterGroup;
  } else if (kind == "alpha") {
    argument.kind = Kind::Alpha;
  } else if (kind == "beta") {
    argument.kind = Kind::Beta;
  } else {
    kindField.expected("tensor_map, pointer, size32, size64, raster_group, "
                       "alpha or beta");
  }
  field.close();
  return argument;
}

static KernelMetadata readKernel(Field field) {
  KernelMetadata kernel;
  kernel.entry = field["entry"].string();
  if (kernel.entry.empty())
    field["entry"].expected("a kernel name");
  kernel.schedule = field["schedule"].parsed(parseSchedule);
  kernel.scheduleSource =
      toString(field["schedule_source"].parsed(parseScheduleSource));
  kernel.threads = field["threads"].small(1, 1024);
  std::vector<Field> cluster = field["cluster"].elements(3);
  for (int i = 0; i < 3; ++i)
    kernel.cluster[i] = cluster[i].small(1, 16);
  kernel.dynamicSharedMemory =
      field["dynamic_shared_memory"].integer(0, INT32_MAX);
  std::vector<Field> tile = field["tile"].elements(2);
  kernel.tileM = tile[0].integer(1, INT32_MAX);
  kernel.tileN = tile[1].integer(1, INT32_MAX);
  kernel.persistent = field["persistent"].boolean();
  kernel.ctasPerSM = field["ctas_per_sm"].small(1, 32);
  kernel.splitK = field["split_k"].small(1, 1024);
  for (const Field &recipe : field["tensor_maps"].elements())
    kernel.tensorMaps.push_back(readTensorMap(recipe));
  for (const Field &argument : field["arguments"].elements())
    kernel.arguments.push_back(
        readArgument(argument, kernel.tensorMaps.size()));
  Field workspace = field["workspace"];
  kernel.workspacePerTile = workspace["per_tile"].integer(0, kMaxFactor);
  kernel.workspacePerCta = workspace["per_cta"].integer(0, kMaxFactor);
  kernel.workspaceFixed = workspace["fixed"].integer(0, kMaxBytes);
  workspace.close();
  field.close();
  return kernel;
}

static DispatchEntry readDispatchEntry(Field field, size_t kernels) {
  DispatchEntry entry;
  entry.maxM = field["max_m"].integer(-1, INT32_MAX);
  entry.kernel = field["kernel"].small(0, static_cast<int>(kernels) - 1);
  field.close();
  return entry;
}

static LaunchMetadata readMetadata(const Json &json) {
  Field root(json, "");
  if (!json.is_object())
    throw FieldError{"launch metadata: expected an object"};
  LaunchMetadata metadata;
  // First, since another version may have other fields.
  metadata.version = root["version"].small(0, INT32_MAX);
  if (metadata.version != kLaunchMetadataVersion)
    root["version"].expected("version " +
                             std::to_string(kLaunchMetadataVersion));
  metadata.chip = root["chip"].string();
  metadata.problem = readProblem(root["problem"]);
  for (const Field &kernel : root["kernels"].elements())
    metadata.kernels.push_back(readKernel(kernel));
  if (metadata.kernels.empty())
    root["kernels"].expected("at least one kernel");
  std::vector<Field> rows = root["dispatch"].elements();
  if (rows.empty())
    root["dispatch"].expected("at least one row");
  int64_t last = -1;
  for (size_t i = 0; i < rows.size(); ++i) {
    DispatchEntry entry = readDispatchEntry(rows[i], metadata.kernels.size());
    bool isLast = i + 1 == rows.size();
    if (isLast ? entry.maxM != -1 : entry.maxM <= last)
      rows[i].expected(isLast ? "max_m = -1 in the last row"
                              : "max_m above " + std::to_string(last));
    last = entry.maxM;
    metadata.dispatch.push_back(entry);
  }
  root.close();
  return metadata;
}

Result<LaunchMetadata> parseLaunchMetadata(const std::string &text) {
  try {
    Json json = Json::parse(text);
    return readMetadata(json);
  } catch (const FieldError &error) {
    return Status::error("launch metadata: " + error.text);
  } catch (const Json::exception &error) {
    return Status::error(std::string("launch metadata: no JSON: ") +
                         error.what());
  } catch (const std::bad_alloc &) {
    return Status::error("launch metadata: out of memory");
  }
}

} // namespace dgemm
