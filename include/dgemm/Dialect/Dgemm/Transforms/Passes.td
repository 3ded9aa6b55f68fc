// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes of the problem and schedule levels (L0, L1). They decide and write
// attributes; the passes in KernelPasses.td act on what stands there.

#ifndef DGEMM_PASSES
#define DGEMM_PASSES

include "mlir/Pass/PassBase.td"

def DgemmApplyTuningPass : Pass<"dgemm-apply-tuning"> {
  let summary = "decide what measurements have decided already";
  let description = [{
    Gives each `dgemm.matmul` without a schedule the one that a tuning database
    has for its problem on this device, and `source = "tuned"`; with a run-time
    M a `#dgemm.dispatch` table whose rows are the ranges of M that were tuned,
    and whose other rows are `undecided`. What the database knows nothing of is
    left for `dgemm-select-schedule`, and what is decided already stays. A
    record is looked up for exactly this M, else for the bucket of M
    (docs/tuning.md).

    A record whose schedule this problem or target forbids is not used. Lines of
    the database that hold no usable record are warnings that name file, line
    and reason.

    Remarks of category `dgemm-schedule` give the record's figures (passed) or
    why none was used (missed); an empty database has nothing to say.

    ```mlir
    %r = dgemm.matmul nt ins(%a, %b : tensor<4096x7168xbf16>, tensor<4096x7168xbf16>) outs(%d : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    ```

    becomes, where the database has a record, the same op with
    `{schedule = #dgemm.schedule<tile = ...>, source = "tuned"}`.
  }];
  let options = [
    Option<"db", "db", "std::string", /*default=*/"\"shipped\"",
           "File of tuning records, used before the shipped table; shipped: "
           "that table alone; none: nothing">,
    Option<"deviceName", "device", "std::string", /*default=*/"\"h200\"",
           "Device whose records are used: h100, h200, h800 or h20">,
    Option<"maxKernels", "max-kernels", "int", /*default=*/"8",
           "Tuned kernels of one matmul with a run-time M, at most">
  ];
  let dependentDialects = ["::mlir::dgemm::DgemmDialect"];
  let statistics = [
    Statistic<"numTuned", "tuned", "Number of tuned schedules written">,
    Statistic<"numMissed", "missed", "Number of rows without a usable record">
  ];
}

def DgemmSelectSchedulePass : Pass<"dgemm-select-schedule"> {
  let summary = "decide how every undecided matmul is computed";
  let description = [{
    Gives each `dgemm.matmul` without a schedule the one that the cost model
    ranks first for its problem, and `source = "model"`; with a run-time M a
    `#dgemm.dispatch` table where different ranges want different schedules.
    With the option `schedule` every undecided matmul gets that one, and
    `source = "user"`.

    A schedule that stands there already is never replaced, and of a table only
    the `undecided` rows are filled in; like the chosen
    one it is checked against the problem and the target (`dgemm.target` of an
    enclosing op, else sm_90a), and what it breaks is an error with numbers.

    Remarks of category `dgemm-schedule` say what was chosen (passed), which
    candidates came after it (analysis) and what was turned down (missed).

    ```mlir
    %r = dgemm.matmul nt ins(%a, %b : tensor<4096x7168xbf16>, tensor<4096x7168xbf16>) outs(%d : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    ```

    becomes the same op with
    `{schedule = #dgemm.schedule<tile = ...>, source = "model"}`.
  }];
  let options = [
    Option<"deviceName", "device", "std::string", /*default=*/"\"h200\"",
           "Device whose clocks and bandwidths the cost model takes: h100, "
           "h200, h800 or h20">,
    Option<"schedule", "schedule", "std::string", /*default=*/"\"\"",
           "Schedule for every undecided matmul, as between the brackets of "
           "#dgemm.schedule<...>">
  ];
  let dependentDialects = ["::mlir::dgemm::DgemmDialect"];
  let statistics = [
    Statistic<"numKept", "kept", "Number of schedules found and kept">,
    Statistic<"numSelected", "selected", "Number of schedules written">
  ];
}

def DgemmVerifyTargetPass
    : Pass<"dgemm-verify-target", "::mlir::ModuleOp"> {
  let summary = "attach the target and refuse what no kernel can be made for";
  let description = [{
    Attaches `#dgemm.target` to the module as `dgemm.target`. A chip other than
    sm_90a and a PTX version outside 80 to 90 are refused, since the code
    generator would end the process over them. A target that stands there
    already is kept when it names the same chip and PTX version, and is an
    error otherwise.

    ```mlir
    module attributes {dgemm.target = #dgemm.target<chip = "sm_90a", ptx = 80>} { }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "Architecture as ptxas names it">,
    Option<"ptx", "ptx", "int64_t", /*default=*/"80",
           "PTX ISA version times ten">
  ];
  let dependentDialects = ["::mlir::dgemm::DgemmDialect"];
}

#endif // DGEMM_PASSES
