// RUN: pw-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{mesh has an axis without a name}}
#mesh_c1 = #pw.mesh<"" = 2>
// -----
// expected-error@+1 {{mesh has axis "x" twice}}
#mesh_c1_twice = #pw.mesh<"x" = 2, "x" = 3>
// -----
// expected-error@+1 {{expected mesh axis "x" to have a positive size, got 0}}
#mesh_c2 = #pw.mesh<"x" = 0>
// -----
// expected-error@+1 {{expected mesh axis "x" to have a positive size, got -3}}
#mesh_c2_negative = #pw.mesh<"x" = -3>
// -----
// expected-error@+1 {{mesh has more than 16777216 shards}}
#mesh_c3 = #pw.mesh<"x" = 4097, "y" = 4096>
// -----
// expected-error@+1 {{mesh has more than 16777216 shards}}
#mesh_c3_huge = #pw.mesh<"x" = 9223372036854775807, "y" = 9223372036854775807>
// -----
// expected-error@+1 {{integer value too large}}
#mesh_overflow = #pw.mesh<"x" = 9223372036854775808>
// -----
// expected-error@+1 {{expected string}}
#mesh_syntax = #pw.mesh<x = 2>
// -----
// expected-error@+1 {{expected the index of a result, got -1}}
#expect_c1 = #pw.expect<eq, result -1>
// -----
// expected-error@+1 {{only 'close' has 'min_ulp' and 'max_ulp'}}
#expect_c2 = #pw.expect<eq, result 1, max_ulp 3>
// -----
// expected-error@+1 {{expected 0 <= min_ulp <= max_ulp, got 4 and 3}}
#expect_c2_order = #pw.expect<close, result 1, min_ulp 4, max_ulp 3>
// -----
// expected-error@+1 {{expected 'almost_eq', and no other check, to have a tolerance}}
#expect_c3 = #pw.expect<almost_eq, result 1>
// -----
// expected-error@+1 {{expected 'almost_eq', and no other check, to have a tolerance}}
#expect_c3_eq = #pw.expect<eq, result 1, tolerance 1.0>
// -----
// expected-error@+1 {{expected a finite tolerance that is not negative, got -1}}
#expect_c3_negative = #pw.expect<almost_eq, result 1, tolerance -1.0>
// -----
// expected-error@+1 {{expected a check (eq, close, almost_eq), got 'near'}}
#expect_kind = #pw.expect<near, result 1>
// -----
// expected-error@+1 {{sharding names axis "x" twice}}
#sharding_c1 = #pw.sharding<[{"x"}, {"x"}]>
// -----
// expected-error@+1 {{sharding names axis "x" twice}}
#sharding_c1_partial = #pw.sharding<[{"x"}] partial add {"x"}>
// -----
// expected-error@+1 {{sharding names an axis without a name}}
#sharding_c1_name = #pw.sharding<[{""}]>
// -----
// expected-error@+1 {{sharding has a reduction, but no partial axes}}
#sharding_c2 = #pw.sharding<[{"x"}] partial add {}>
// -----
// expected-error@+1 {{expected a reduction (add, mul, max, min, umax, umin, and, or, xor), got 'sub'}}
#sharding_kind = #pw.sharding<[{"x"}] partial sub {"y"}>
// -----
// expected-error@+1 {{array has a dynamic size '?'; shapes are static, known before inputs exist}}
func.func private @array_c1_dynamic(!pw.array<?xf32, @s, [{}]>)
// -----
// expected-error@+1 {{array has more than 281474976710656 elements}}
func.func private @array_c1_elements(!pw.array<9223372036854775807x2xf32, @s, [{}, {}]>)
// -----
// A size of 0 does not hide the others.
// expected-error@+1 {{array has more than 281474976710656 elements}}
func.func private @array_c1_zero(!pw.array<0x4294967296x4294967296xf32, @s, [{}, {}, {}]>)
// -----
// expected-error@+1 {{expected element type f16, bf16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16, ui32 or ui64, got 'si8'}}
func.func private @array_c2(!pw.array<4xsi8, @s, [{}]>)
// -----
// expected-error@+1 {{expected element type f16, bf16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16, ui32 or ui64, got 'tensor<2xf32>'}}
func.func private @array_c2_tensor(!pw.array<4xtensor<2xf32>, @s, [{}]>)
// -----
// expected-error@+1 {{array has 2 dimensions, but its sharding has 1}}
func.func private @array_c3(!pw.array<4x4xf32, @s, [{}]>)
// -----
// expected-error@+1 {{array is partial: expected i1 to be combined by max, min, umax, umin, and, or or xor, got add}}
func.func private @array_c4(!pw.array<4xi1, @s, [{}] partial add {"x"}>)
// -----
// expected-error@+1 {{array is partial: expected umax for unsigned integers, got max of ui32}}
func.func private @array_c4_max(!pw.array<4xui32, @s, [{}] partial max {"x"}>)
// -----
// expected-error@+1 {{array is partial: expected umin for unsigned integers, got min of ui8}}
func.func private @array_c4_min(!pw.array<4xui8, @s, [{}] partial min {"x"}>)
// -----
// expected-error@+1 {{array is partial: expected integers, got xor of f32}}
func.func private @array_c4_xor(!pw.array<4xf32, @s, [{}] partial xor {"x"}>)
// -----
// expected-error@+1 {{array is partial: expected integers, got umin of bf16}}
func.func private @array_c4_umin(!pw.array<4xbf16, @s, [{}] partial umin {"x"}>)
// -----
// expected-error@+1 {{sharding is partial and has an open dimension; all axes of a partial sharding must be known}}
func.func private @sharding_c3(!pw.array<4xf32, @s, [{?}] partial add {"x"}>)
// -----
// expected-error@+1 {{expected '?' behind the axes}}
func.func private @sharding_order(!pw.array<4xf32, @s, [{?, "x"}]>)
