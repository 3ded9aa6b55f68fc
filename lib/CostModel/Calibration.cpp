// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Damped least squares (Levenberg-Marquardt) in the logarithms of coefficients
// and times: coefficients stay positive and errors are relative.

#include "dgemm/CostModel/Calibration.h"

#include "LargeModel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace dgemm {

static constexpr int kMaxIterations = 40;
/// Relative errors beyond this count linearly rather than squared.
static constexpr double kOutlier = 0.05;
/// Farthest a coefficient may move from where it began, as a logarithm.
static constexpr double kMaxMove = 2.302585; // a factor of ten
/// Prior width of a coefficient's logarithm: weak, but enough to hold one that
/// the measurements say nothing about.
static constexpr double kPrior = 3;

namespace {
using Vector = std::vector<double>;

/// The fit's state: which fields move, and the measurements with weights.
class Fitter {
public:
  Fitter(const DeviceModel &start, const std::vector<Measurement> &data,
         DeviceField::Fit part)
      : start(start), part(part) {
    // A coefficient of 0 (a device without that effect) stays out of it.
    DeviceModel copy = start;
    for (const DeviceField &field : deviceFields())
      if (field.fit == part && field.access(copy) > 0)
        fields.push_back(&field);
    bool large = part == DeviceField::Fit::Large;
    for (const Measurement &measurement : data)
      if ((measurement.inputs.m > kDecodeMaxM) == large)
        rows.push_back(measurement);
    if (large)
      for (const Measurement &row : rows)
        waves.push_back(tileWaves(rasterWalk(row.inputs, start)));
    setWeights();
    dropWithoutEffect();
  }

  size_t numFields() const { return fields.size(); }
  size_t numRows() const { return rows.size(); }
  const DeviceField &field(size_t i) const { return *fields[i]; }
  /// Coefficients that no row depends on.
  const std::vector<const DeviceField *> &withoutEffect() const {
    return unused;
  }
  /// From now on this field keeps its value.
  void freeze(const DeviceField &field) {
    fields.erase(std::find(fields.begin(), fields.end(), &field));
  }

  /// The model with the fields multiplied by exp(moves).
  DeviceModel deviceAt(const Vector &moves) const {
    DeviceModel device = start;
    for (size_t i = 0; i < fields.size(); ++i)
      fields[i]->access(device) *= std::exp(moves[i]);
    return device;
  }

  double predict(const DeviceModel &device, size_t row) const {
    const CostInputs &inputs = rows[row].inputs;
    return (part == DeviceField::Fit::Large
                ? largeCostOfWaves(inputs, device, waves[row])
                : decodeCost(inputs, device))
        .microseconds;
  }

  /// log(predicted / measured) of every row.
  Vector residuals(const Vector &moves) const {
    DeviceModel device = deviceAt(moves);
    Vector out(rows.size());
    for (size_t i = 0; i < rows.size(); ++i)
      out[i] = std::log(predict(device, i) / rows[i].microseconds);
    return out;
  }

  /// Robust weight of a row at this residual: that of the soft absolute value
  /// sqrt(1 + (r / kOutlier)^2).
  double weight(size_t row, double residual) const {
    double x = residual / kOutlier;
    return weights[row] / std::sqrt(1 + x * x);
  }

  double loss(const Vector &residuals, const Vector &moves) const {
    double sum = 0;
    for (size_t i = 0; i < residuals.size(); ++i) {
      double x = residuals[i] / kOutlier;
      sum += weights[i] * 2 * kOutlier * kOutlier * (std::sqrt(1 + x * x) - 1);
    }
    for (double move : moves)
      sum += priorWeight() * move * move;
    return sum;
  }

  double priorWeight() const { return kOutlier * kOutlier / (kPrior * kPrior); }

  double medianError(const Vector &residuals) const {
    Vector errors;
    for (double residual : residuals)
      errors.push_back(std::abs(std::exp(residual) - 1));
    std::nth_element(errors.begin(), errors.begin() + errors.size() / 2,
                     errors.end());
    return errors[errors.size() / 2];
  }

private:
  /// A kernel that is far from the best of its problem may be slow for reasons
  /// that no model of good kernels needs to know.
  void setWeights() {
    using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int>;
    auto key = [](const CostInputs &in) {
      return Key(in.m, in.n, in.k, in.operandBytes, static_cast<int>(in.l2));
    };
    std::map<Key, double> best;
    for (const Measurement &row : rows) {
      auto [it, inserted] = best.try_emplace(key(row.inputs), row.microseconds);
      if (!inserted)
        it->second = std::min(it->second, row.microseconds);
    }
    bool large = part == DeviceField::Fit::Large;
    for (const Measurement &row : rows) {
      double ratio = best[key(row.inputs)] / row.microseconds;
      weights.push_back(large ? std::sqrt(std::min(1.0, 1.05 * ratio))
                              : std::min(1.0, 1.1 * ratio));
    }
  }

  /// Sets aside the coefficients of features that no row has: the register
  /// form, clusters, promotion, ...
  void dropWithoutEffect() {
    DeviceModel device = start;
    Vector now(rows.size());
    for (size_t i = 0; i < rows.size(); ++i)
      now[i] = predict(device, i);
    auto changes = [&](const DeviceField *field) {
      double &value = field->access(device);
      double old = value;
      value *= 1.1;
      bool any = false;
      for (size_t i = 0; i < rows.size() && !any; ++i)
        any = predict(device, i) != now[i];
      value = old;
      return any;
    };
    std::vector<const DeviceField *> kept;
    for (const DeviceField *field : fields)
      (changes(field) ? kept : unused).push_back(field);
    fields = std::move(kept);
  }

  const DeviceModel &start;
  const DeviceField::Fit part;
  std::vector<const DeviceField *> fields, unused;
  std::vector<Measurement> rows;
  /// Of the large formula: what no fitted coefficient changes.
  std::vector<std::vector<WaveMisses>> waves;
  Vector weights;
};

/// The normal equations J^T W J and J^T W r at one point.
struct NormalEquations {
  std::vector<Vector> matrix;
  Vector gradient;
};
} // namespace

static NormalEquations linearise(const Fitter &fitter, const Vector &moves,
                                 const Vector &residuals) {
  size_t n = fitter.numFields();
  std::vector<Vector> columns(n);
  constexpr double kStep = 1e-4;
  for (size_t j = 0; j < n; ++j) {
    Vector moved = moves;
    moved[j] += kStep;
    columns[j] = fitter.residuals(moved);
    for (size_t i = 0; i < residuals.size(); ++i)
      columns[j][i] = (columns[j][i] - residuals[i]) / kStep;
  }
  NormalEquations out{std::vector<Vector>(n, Vector(n, 0)), Vector(n, 0)};
  for (size_t i = 0; i < residuals.size(); ++i) {
    double weight = fitter.weight(i, residuals[i]);
    for (size_t j = 0; j < n; ++j) {
      double scaled = weight * columns[j][i];
      out.gradient[j] += scaled * residuals[i];
      for (size_t k = 0; k <= j; ++k)
        out.matrix[j][k] += scaled * columns[k][i];
    }
  }
  for (size_t j = 0; j < n; ++j) {
    out.matrix[j][j] += fitter.priorWeight();
    out.gradient[j] += fitter.priorWeight() * moves[j];
    for (size_t k = j + 1; k < n; ++k)
      out.matrix[j][k] = out.matrix[k][j];
  }
  return out;
}

/// Solves a symmetric positive definite system by Cholesky factors; an empty
/// vector when it is not positive definite.
static Vector solve(std::vector<Vector> a, Vector b) {
  size_t n = b.size();
  for (size_t j = 0; j < n; ++j) {
    for (size_t k = 0; k < j; ++k)
      a[j][j] -= a[j][k] * a[j][k];
    if (a[j][j] <= 0)
      return {};
    a[j][j] = std::sqrt(a[j][j]);
    for (size_t i = j + 1; i < n; ++i) {
      for (size_t k = 0; k < j; ++k)
        a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k)
      b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k)
      b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

/// Diagonal of the inverse: variances for unit noise.
static Vector inverseDiagonal(const std::vector<Vector> &matrix) {
  Vector out;
  for (size_t i = 0; i < matrix.size(); ++i) {
    Vector unit(matrix.size(), 0);
    unit[i] = 1;
    Vector column = solve(matrix, unit);
    out.push_back(column.empty() ? std::numeric_limits<double>::infinity()
                                 : column[i]);
  }
  return out;
}

namespace {
struct Fit {
  Vector moves, residuals;
  NormalEquations equations;
  int iterations = 0;
};
} // namespace

static Fit minimise(const Fitter &fitter) {
  size_t n = fitter.numFields();
  Fit fit{Vector(n, 0), {}, {}, 0};
  fit.residuals = fitter.residuals(fit.moves);
  fit.equations = linearise(fitter, fit.moves, fit.residuals);
  double loss = fitter.loss(fit.residuals, fit.moves);
  double damping = 1e-3;
  for (; fit.iterations < kMaxIterations && damping < 1e8; ++fit.iterations) {
    std::vector<Vector> damped = fit.equations.matrix;
    Vector negative(n);
    for (size_t j = 0; j < n; ++j) {
      damped[j][j] *= 1 + damping;
      negative[j] = -fit.equations.gradient[j];
    }
    Vector step = solve(damped, negative);
    Vector next = fit.moves;
    for (size_t j = 0; j < step.size(); ++j)
      next[j] = std::clamp(next[j] + step[j], -kMaxMove, kMaxMove);
    Vector residuals = fitter.residuals(next);
    double nextLoss = fitter.loss(residuals, next);
    if (step.empty() || !(nextLoss < loss)) {
      damping *= 10;
      continue;
    }
    bool converged = loss - nextLoss < 1e-6 * loss;
    fit.moves = std::move(next);
    fit.residuals = std::move(residuals);
    fit.equations = linearise(fitter, fit.moves, fit.residuals);
    loss = nextLoss;
    damping = std::max(damping / 10, 1e-9);
    if (converged)
      break;
  }
  return fit;
}

/// Values, standard errors and what is left of the error.
static void report(const Fitter &fitter, const Fit &fit,
                   const Vector &variances, const DeviceModel &start,
                   CalibrationResult &result) {
  double noise = 0, weights = 0;
  for (size_t i = 0; i < fit.residuals.size(); ++i) {
    double weight = fitter.weight(i, fit.residuals[i]);
    noise += weight * fit.residuals[i] * fit.residuals[i];
    weights += weight;
  }
  double freedom = 1 - double(fitter.numFields()) / fit.residuals.size();
  noise /= std::max(weights * freedom, 1e-12);
  // With unit weights the residuals' own variance; weights below 1 stand for
  // as many fewer measurements.
  result.device = fitter.deviceAt(fit.moves);
  result.device.measured = true;
  result.medianErrorAfter = fitter.medianError(fit.residuals);
  DeviceModel before = start;
  for (size_t j = 0; j < fitter.numFields(); ++j) {
    const DeviceField &field = fitter.field(j);
    double value = field.access(result.device);
    result.coefficients.push_back({field.name, field.unit, field.access(before),
                                   value,
                                   value * std::sqrt(noise * variances[j]),
                                   std::abs(fit.moves[j]) >= kMaxMove * 0.999});
  }
}

Result<CalibrationResult> calibrate(const DeviceModel &start,
                                    const std::vector<Measurement> &data,
                                    DeviceField::Fit part) {
  for (const Measurement &measurement : data)
    if (!(measurement.microseconds > 0) ||
        !std::isfinite(measurement.microseconds))
      return Status::error("calibration: expected positive times, found " +
                           std::to_string(measurement.microseconds));
  Fitter fitter(start, data, part);
  size_t n = fitter.numFields();
  if (fitter.numRows() < 2 * n || fitter.numRows() == 0)
    return Status::error(
        "calibration: expected at least " +
        std::to_string(std::max<size_t>(2 * n, 1)) + " measurements with M " +
        (part == DeviceField::Fit::Large ? "> " : "<= ") +
        std::to_string(kDecodeMaxM) + " for their " + std::to_string(n) +
        " coefficients, found " + std::to_string(fitter.numRows()));

  CalibrationResult result;
  result.measurements = fitter.numRows();
  result.medianErrorBefore = fitter.medianError(fitter.residuals(Vector(n, 0)));
  std::vector<FittedCoefficient> frozen;
  auto keep = [&](const DeviceField &field) {
    DeviceModel before = start;
    double value = field.access(before);
    frozen.push_back({field.name, field.unit, value, value,
                      std::numeric_limits<double>::infinity(), false});
  };
  for (const DeviceField *field : fitter.withoutEffect())
    keep(*field);
  for (;;) {
    Fit fit = minimise(fitter);
    result.iterations += fit.iterations;
    Vector variances = inverseDiagonal(fit.equations.matrix);
    // Hardly narrower than the prior: the measurements do not show this one,
    // so the others are fitted again without it.
    size_t worst = std::max_element(variances.begin(), variances.end()) -
                   variances.begin();
    if (!variances.empty() && variances[worst] > 0.1 / fitter.priorWeight()) {
      const DeviceField &field = fitter.field(worst);
      keep(field);
      fitter.freeze(field);
      continue;
    }
    report(fitter, fit, variances, start, result);
    break;
  }
  result.coefficients.insert(result.coefficients.end(), frozen.begin(),
                             frozen.end());
  return result;
}

} // namespace dgemm
