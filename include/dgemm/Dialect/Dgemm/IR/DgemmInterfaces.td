// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Interfaces through which passes see ops that carry a schedule, whatever
// family of GEMM they are.

#ifndef DGEMM_INTERFACES
#define DGEMM_INTERFACES

include "mlir/IR/OpBase.td"

def Dgemm_ScheduledOpInterface : OpInterface<"ScheduledOpInterface"> {
  let cppNamespace = "::mlir::dgemm";
  let description = [{
    An op that is a GEMM problem and may carry the decision how to compute it.
    Passes that decide write through this interface and passes that act read
    through it, so neither names the op.
  }];
  let methods = [
    InterfaceMethod<"The problem, with unknown sizes as ::dgemm::kDynamic.",
                    "::dgemm::Problem", "getProblem">,
    InterfaceMethod<"A ScheduleAttr or a DispatchAttr; null when undecided.",
                    "::mlir::Attribute", "getScheduleAttr">,
    InterfaceMethod<"Sets or (with null) removes the decision.", "void",
                    "setScheduleAttr", (ins "::mlir::Attribute":$schedule)>,
    InterfaceMethod<"Who decided: \"user\", \"tuned\" or \"model\"; null when "
                    "not said.",
                    "::mlir::StringAttr", "getSourceAttr">,
    InterfaceMethod<"Sets or (with null) removes who decided.", "void",
                    "setSourceAttr", (ins "::mlir::StringAttr":$source)>
  ];
}

#endif // DGEMM_INTERFACES
