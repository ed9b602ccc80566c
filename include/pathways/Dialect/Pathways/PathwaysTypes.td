//===- PathwaysTypes.td - Types and attributes of pw -------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PATHWAYS_TYPES_TD
#define PATHWAYS_DIALECT_PATHWAYS_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "pathways/Dialect/Pathways/PathwaysDialect.td"

class Pathways_Attr<string name, string attrMnemonic>
    : AttrDef<Pathways_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def PW_ReductionKind
    : I32EnumAttr<"ReductionKind", "How contributions are combined",
                  [I32EnumAttrCase<"Add", 1, "add">,
                   I32EnumAttrCase<"Mul", 2, "mul">,
                   I32EnumAttrCase<"Max", 3, "max">,
                   I32EnumAttrCase<"Min", 4, "min">,
                   I32EnumAttrCase<"Umax", 5, "umax">,
                   I32EnumAttrCase<"Umin", 6, "umin">,
                   I32EnumAttrCase<"And", 7, "and">,
                   I32EnumAttrCase<"Or", 8, "or">,
                   I32EnumAttrCase<"Xor", 9, "xor">]> {
  let cppNamespace = "::mlir::pathways";
  let genSpecializedAttr = 0;
}

def PW_ReductionKindAttr
    : EnumAttr<Pathways_Dialect, PW_ReductionKind, "reduction"> {
  let assemblyFormat = "`<` $value `>`";
}

def PW_MeshAttr : Pathways_Attr<"Mesh", "mesh"> {
  let summary = "A row-major grid of shards with named axes";
  let description = [{
    The axes are in order, the first one major. A mesh without axes has one shard.

    (C1) Axis names are not empty and differ; (C2) sizes are positive; (C3) there
    are at most 2^24 shards.

    ```mlir
    #pw.mesh<"data" = 2, "model" = 2>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Number of shards: the product of the sizes.
    int64_t getNumShards() const;
    /// Position of axis `name`, or -1.
    int64_t getAxisIndex(::llvm::StringRef name) const;
    /// Returns this mesh with another size of axis `index`; null, after a
    /// diagnostic by `emitError`, if the result is not valid.
    MeshAttr withSize(unsigned index, int64_t size,
                      ::llvm::function_ref<::mlir::InFlightDiagnostic()>
                          emitError) const;
    /// Returns the number of shards in a group over `axes`. Fails, without a
    /// diagnostic, on an axis that the mesh lacks or that is named twice.
    ::mlir::FailureOr<int64_t> getGroupSize(::mlir::ArrayAttr axes) const;
  }];
}

def PW_ShardingAttr : Pathways_Attr<"Sharding", "sharding"> {
  let summary = "How an array is cut over mesh axes";
  let description = [{
    Lists, for each dimension of the array, the axes that cut it, major first. With k
    the product of their sizes, each block has ceil(size / k) elements, and the last
    blocks may be short or empty. The array is copied along axes that are not named.
    Along `partial` axes it is contributions, which the reduction combines: add, mul,
    max or min, umax or umin of integers taken as unsigned, or and, or or xor of the
    bits of integers. A dimension
    that ends with `?` is *open*: `pw-propagate-shardings` may append axes to its list,
    and leaves no dimension open.

    (C1) No axis is named twice; (C2) a `partial` list has at least one axis; (C3)
    a partial sharding has no open dimension.

    ```mlir
    #pw.sharding<[{"data"}, {} ] partial add {"model"}>
    #pw.sharding<[{"data", ?}, {?} ]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::ArrayAttr", "lists of axis names">:$dims,
    OptionalParameter<"::mlir::pathways::ReductionKindAttr">:$partialKind,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$partialAxes,
    OptionalArrayRefParameter<"bool",
        "which dimensions are open; empty: none">:$openDims);
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<::mlir::ArrayAttr>":$dims), [{
      return $_get($_ctxt, dims, ::mlir::pathways::ReductionKindAttr(),
                   ::llvm::ArrayRef<::mlir::StringAttr>(),
                   ::llvm::ArrayRef<bool>());
    }]>,
    AttrBuilder<(ins "::llvm::ArrayRef<::mlir::ArrayAttr>":$dims,
                     "::mlir::pathways::ReductionKindAttr":$partialKind,
                     "::llvm::ArrayRef<::mlir::StringAttr>":$partialAxes), [{
      return $_get($_ctxt, dims, partialKind, partialAxes,
                   ::llvm::ArrayRef<bool>());
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isPartial() const { return !getPartialAxes().empty(); }
    bool hasOpenDims() const { return !getOpenDims().empty(); }
    bool isOpen(unsigned dim) const {
      return hasOpenDims() && getOpenDims()[dim];
    }
    /// Returns the sharding with `rank` open dimensions that names no axis.
    static ShardingAttr getOpen(::mlir::MLIRContext *context, int64_t rank);
    /// Returns this sharding without open dimensions.
    ShardingAttr getClosed() const;
    /// Returns this sharding without `partial`: its axes then hold copies.
    ShardingAttr withoutPartial() const;
    /// Parses and prints the part between < and >.
    static ::mlir::FailureOr<ShardingAttr> parseBody(::mlir::AsmParser &parser);
    void printBody(::mlir::AsmPrinter &printer) const;
  }];
}

def PW_ExpectKind
    : I32EnumAttr<"ExpectKind", "How a result is compared with the expected one",
                  [I32EnumAttrCase<"Eq", 1, "eq">,
                   I32EnumAttrCase<"Close", 2, "close">,
                   I32EnumAttrCase<"AlmostEq", 3, "almost_eq">]> {
  let cppNamespace = "::mlir::pathways";
  let genSpecializedAttr = 0;
}

def PW_ExpectAttr : Pathways_Attr<"Expect", "expect"> {
  let summary = "A check of one result against another";
  let description = [{
    Stands on a result of a program and names, by index, the result that has the
    expected value. `pw-run` compares the two after the run, element by element. A NaN
    equals a NaN.

    | kind | an element passes if |
    | --- | --- |
    | `eq` | it equals the expected one; +0 equals -0 |
    | `close` | the two are at least `min_ulp` and at most `max_ulp` units in the last place apart; an infinity equals only itself |
    | `almost_eq` | the absolute difference is at most `tolerance` |

    The distance in units in the last place is that of the bit patterns, taken as sign
    and magnitude: +0 and -0 are 0 apart.

    (C1) `result` is not negative; (C2) only `close` has `min_ulp` and `max_ulp`, with
    0 <= `min_ulp` <= `max_ulp`; (C3) `almost_eq`, and no other kind, has a
    `tolerance`, which is finite and not negative.

    ```mlir
    #pw.expect<eq, result 1>
    #pw.expect<close, result 1, max_ulp 3>
    #pw.expect<close, result 1, min_ulp 1, max_ulp 3>
    #pw.expect<almost_eq, result 1, tolerance 1.000000e-03>
    ```
  }];
  let parameters = (ins "::mlir::pathways::ExpectKind":$kind, "int64_t":$result,
                        "int64_t":$minUlp, "int64_t":$maxUlp,
                        OptionalParameter<"::mlir::FloatAttr">:$tolerance);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ExpectAttr getEq(::mlir::MLIRContext *context, int64_t result);
    static ExpectAttr getClose(::mlir::MLIRContext *context, int64_t result,
                               int64_t minUlp, int64_t maxUlp);
    static ExpectAttr getAlmostEq(::mlir::MLIRContext *context, int64_t result,
                                  double tolerance);
  }];
}

def PW_ArrayType : TypeDef<Pathways_Dialect, "Array"> {
  let mnemonic = "array";
  let summary = "A logical array, cut over a slice";
  let description = [{
    `shape` is global, in elements. `slice` is the symbol of a `pw.slice`. Without
    a sharding, all dimensions are open: the compiler chooses their axes.

    (C1) The shape is static, each size at least 0, with at most 2^48 elements;
    (C2) the element type is f16, bf16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16,
    ui32 or ui64; (C3) the sharding has one list of axes per dimension; (C4) the
    reduction of a partial array fits its elements: umax, umin, and, or and xor are
    for integers, an unsigned array has umax and umin instead of max and min, and an
    i1 array has neither add nor mul.

    The tensors of bodies are signless, so `ui32` in an array is `i32` in the body
    that computes with it. The array says how programs, files and tools read the
    bits; in the body, each operation does (`arith.divui`, `arith.divsi`).

    ```mlir
    !pw.array<64x256xf32, @front, [{"data"}, {"model"} ] partial add {"x"}>
    !pw.array<64x256xf32, @front, [{"data", ?}, {?} ]>
    !pw.array<64x256xf32, @front>
    !pw.array<f32, @front, []>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType,
                        "::mlir::FlatSymbolRefAttr":$slice,
                        "::mlir::pathways::ShardingAttr":$sharding);
  let builders = [
    TypeBuilderWithInferredContext<(ins
        "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
        "::mlir::FlatSymbolRefAttr":$slice,
        "::mlir::pathways::ShardingAttr":$sharding), [{
      return $_get(elementType.getContext(), shape, elementType, slice, sharding);
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// The global view: a tensor of the whole shape, with signless integers.
    ::mlir::RankedTensorType getGlobalTensorType() const;
    /// Returns this type with another sharding, or on another slice.
    ArrayType withSharding(::mlir::pathways::ShardingAttr sharding) const;
    ArrayType withSlice(::mlir::FlatSymbolRefAttr slice) const;
    /// Returns the type of what each index of the leading dimension has. The array
    /// has a leading dimension, which is not cut.
    ArrayType withoutLeadingDim() const;
  }];
}

#endif // PATHWAYS_DIALECT_PATHWAYS_TYPES_TD
