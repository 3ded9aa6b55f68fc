// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of the kernel and machine types, and every way to misspell them.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{rows must be 16 or a positive multiple of 64, found 32}}
func.func private @f(!dgemm.fragment<32x8xf32>)

// -----

// expected-error @+1 {{rows must be 16 or a positive multiple of 64, found 0}}
func.func private @f(!dgemm.fragment<0x8xf32>)

// -----

// expected-error @+1 {{columns must be a positive multiple of 8, found 12}}
func.func private @f(!dgemm.fragment<64x12xf32>)

// -----

// expected-error @+1 {{columns must be a positive multiple of 8, found 0}}
func.func private @f(!dgemm.fragment<64x0xf32>)

// -----

// expected-error @+1 {{accumulators are f32, found 'bf16'}}
func.func private @f(!dgemm.fragment<64x8xbf16>)

// -----

// expected-error @+1 {{expected rows x columns x type, found 1 sizes}}
func.func private @f(!dgemm.fragment<64xf32>)

// -----

// expected-error @+1 {{expected rows x columns x type, found 3 sizes}}
func.func private @f(!dgemm.inflight<64x8x2xf32>)

// -----

// expected-error @+1 {{expected static shape}}
func.func private @f(!dgemm.fragment<64x?xf32>)

// -----

// expected-error @+1 {{expected '<'}}
func.func private @f(!dgemm.fragment)

// -----

// expected-error @+1 {{expected '>'}}
func.func private @f(!dgemm.inflight<64x8xf32, 4>)

// -----

// expected-error @+1 {{expected non-function type}}
func.func private @f(!dgemm.fragment<64x8x>)

// -----

// expected-error @+1 {{a WGMMA has 64 rows, found 128}}
func.func private @f(!dgemm.inflight<128x8xf32>)

// -----

// expected-error @+1 {{a WGMMA has at most 256 columns, found 264}}
func.func private @f(!dgemm.inflight<64x264xf32>)

// -----

// expected-error @+1 {{columns must be a positive multiple of 8, found 4}}
func.func private @f(!dgemm.inflight<64x4xf32>)

// -----

// expected-error @+1 {{accumulators are f32, found 'i32'}}
func.func private @f(!dgemm.inflight<64x8xi32>)

// -----

// expected-error @+1 {{tile sizes must be positive, found 0x64}}
func.func private @f(!dgemm.tile<0x64xbf16>)

// -----

// expected-error @+1 {{tile sizes must be positive, found 64x0}}
func.func private @f(!dgemm.tile<64x0xbf16>)

// -----

// expected-error @+1 {{tile elements must be integers or floats, found 'index'}}
func.func private @f(!dgemm.tile<64x64xindex>)

// -----

// expected-error @+1 {{swizzle must be 0, 32, 64 or 128 bytes, found 96}}
func.func private @f(!dgemm.tile<64x64xbf16, swizzle = 96>)

// -----

// expected-error @+1 {{expected 'swizzle'}}
func.func private @f(!dgemm.tile<64x64xbf16, pitch = 128>)

// -----

// expected-error @+1 {{expected '='}}
func.func private @f(!dgemm.tile<64x64xbf16, swizzle 128>)

// -----

// expected-error @+1 {{expected integer value}}
func.func private @f(!dgemm.tile<64x64xbf16, swizzle = wide>)

// -----

!tile = !dgemm.tile<64x64xbf16, swizzle = 128>
// expected-error @+1 {{a ring needs at least 2 slots, found 1}}
func.func private @f(!dgemm.ring<1 x [!tile, !tile]>)

// -----

!tile = !dgemm.tile<64x64xbf16, swizzle = 128>
// expected-error @+1 {{a ring holds at least the tiles of A and B, found 1 members}}
func.func private @f(!dgemm.ring<2 x [!tile]>)

// -----

!tile = !dgemm.tile<64x64xbf16, swizzle = 128>
// expected-error @+1 {{ring members must be tiles, found 'f32'}}
func.func private @f(!dgemm.ring<2 x [!tile, f32]>)
