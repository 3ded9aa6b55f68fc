# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# The lit suite. Features say what this machine has; a test that needs one
# names it in REQUIRES and is skipped elsewhere:
#
#   ptxas      an assembler that answers `ptxas --version`
#   gpu        an NVIDIA driver with at least one device
#   sm_90a     that device is a Hopper
#   asserts    dgemm was built with assertions
#   numpy      Python has NumPy

import os
import re
import shutil
import subprocess

import lit.formats

config.name = "dgemm"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Unit", "Inputs", "lib", "Output"]
config.test_source_root = os.path.dirname(__file__)


def answer(command):
    """Standard output of a command, or None when it cannot be run."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def find_ptxas():
    """The assembler, looked for where the compiler looks for it."""
    places = [shutil.which("ptxas")]
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            places.append(os.path.join(os.environ[variable], "bin", "ptxas"))
    places.append("/usr/local/cuda/bin/ptxas")
    for place in places:
        if place and answer([place, "--version"]):
            return place
    return None


def device_capability():
    """Compute capability of the first GPU as text ("9.0"), or None."""
    text = answer(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    return text.split()[0] if text and text.split() else None


path = [config.dgemm_tools_dir, config.llvm_tools_dir]
ptxas = find_ptxas()
if ptxas:
    config.available_features.add("ptxas")
    path.append(os.path.dirname(ptxas))
capability = device_capability()
if capability:
    config.available_features.add("gpu")
    if capability == "9.0":
        config.available_features.add("sm_90a")
if config.dgemm_asserts:
    config.available_features.add("asserts")
if answer([config.python, "-c", "import numpy"]) is not None:
    config.available_features.add("numpy")

# Variables that name a toolkit change what upstream's PTX emission does, so
# tests run without them; the folder of ptxas is on the path instead.
for variable in ("CUDA_HOME", "CUDA_ROOT", "CUDA_PATH"):
    config.environment.pop(variable, None)
for variable in list(config.environment):
    if variable.startswith(("DGEMM_", "XDG_CACHE")):
        del config.environment[variable]
# No test reads or fills the user's own kernel cache.
config.environment["DGEMM_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
config.environment["PATH"] = os.pathsep.join(path + [config.environment.get("PATH", "")])



def tuning_versions():
    """What tuning records of this build say of their versions, as JSON."""
    def number(file, pattern):
        with open(os.path.join(config.dgemm_source_root, file)) as text:
            return re.search(pattern, text.read()).group(1)

    llvm = number("cmake/LLVMVersion.cmake", r"DGEMM_LLVM_VERSION ([0-9.]+)")
    generation = number("include/dgemm/Support/Version.h", r"kKernelGeneration = (\d+)")
    return f'"dgemm":"0.1.0","llvm":"{llvm}","ptxas":"13.0.88","generation":{generation}'


config.substitutions.append(("%tuning_versions", tuning_versions()))
config.substitutions.append(("%dgemm_src_root", config.dgemm_source_root))
config.substitutions.append(("%dgemm_tools", config.dgemm_tools_dir))
config.substitutions.append(("%dgemm_libs", config.dgemm_lib_dir))
config.substitutions.append(("%llvm_tools", config.llvm_tools_dir))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%examples", os.path.join(config.dgemm_source_root, "examples")))
if ptxas:
    config.substitutions.append(("%ptxas", ptxas))
