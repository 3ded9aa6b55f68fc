# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints tuning records, one for each argument:
#
#   make-records.py VERSIONS "m=64,n=512,k=512; tile = 64x64x64; device=H100"...
#
# A gemm text as --gemm takes it, a schedule, and fields that differ from those
# below as name=value. VERSIONS is lit's %tuning_versions.

import json
import sys

versions, *texts = sys.argv[1:]
for text in texts:
    problem, schedule, *fields = [part.strip() for part in text.split(";")]
    record = {
        "format": 1, "problem": problem, "schedule": schedule, "device": "H200",
        "l2": "dirty", "status": "ok", "median_us": 10.0, "min_us": 9.5,
        "spread": 0.01, "samples": 30, "predicted_us": 11.0,
        "model_pick_us": 12.0, "date": "2026-01-31T12:00:00Z",
    }
    record.update(json.loads("{" + versions + "}"))
    for field in fields:
        name, value = field.split("=", 1)
        record[name] = type(record[name])(value) if name in record else value
    print(json.dumps(record))
