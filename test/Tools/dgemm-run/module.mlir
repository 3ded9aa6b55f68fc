// A module as input: sizes it leaves open come from the command line, ops
// around the GEMM do not matter, and every launch gives the same bits.

// RUN: dgemm-run %s --m=37 --device=emulator --repeat=3 --order=random | FileCheck %s
// CHECK: problem: m=37,n=64,k=128,a=bf16,b=bf16,d=f32,layout=nt
// CHECK: over 2368 of 2368 elements
// CHECK: result: right

// RUN: dgemm-run %s --m=37 --device=emulator --data=positive --seed=9 | FileCheck %s --check-prefix=POSITIVE
// POSITIVE: result: right

// RUN: dgemm-run %s --m=130 --device=emulator --report --schedule="tile = 64x64x64, consumers = 1 cooperative, stages = 2, regs = [0, 0]" | FileCheck %s --check-prefix=USER
// USER: schedule: tile = 64x64x64, {{.*}}stages = 2{{.*}}(user)
// USER: kernel: f_kernel{{.*}} 2 stages, cluster 1x1x1
// USER: tiles: 3 of 64x64
// USER: predicted:
// USER: result: right

// RUN: not dgemm-run %s --device=emulator 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: dgemm-run: size m is left open by the problem; give --m=

// RUN: not dgemm-run %s --m=8 --n=65 --device=emulator 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: dgemm-run: size n: the problem has 64, found 65

// RUN: not dgemm-run %s --m=8 --schedule="tile = 64x64x64, stages = 999" --device=emulator 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: dgemm-run: {{.*}}stages

func.func @f(%a: tensor<?x128xbf16>, %b: tensor<64x128xbf16>,
             %d: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %r = dgemm.matmul nt
         ins(%a, %b : tensor<?x128xbf16>, tensor<64x128xbf16>)
         outs(%d : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

func.func private @bystander(i32) -> i32
