//===- ShardyAttrs.td - Attributes of sdy ------------------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_SHARDY_ATTRS_TD
#define PATHWAYS_DIALECT_SHARDY_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "pathways/Dialect/Shardy/ShardyDialect.td"

class Sdy_Attr<string name, string attrMnemonic> : AttrDef<Sdy_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Sdy_MeshAxisAttr : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "A named axis of a mesh";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
}

def Sdy_MeshAttr : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "A row-major grid of devices with named axes";
  let description = [{
    Without `device_ids`, devices are numbered in order. A mesh without axes and with
    one device is *maximal*: a value is on that device alone. A mesh without both is
    empty.

    (C1) Axis names are not empty and differ; (C2) sizes are positive; (C3)
    `device_ids` are a permutation of the numbers of the devices, or a single number
    that is not negative, without axes.

    ```mlir
    #sdy.mesh<["x"=2, "y"=4]>
    #sdy.mesh<["x"=2], device_ids=[1, 0]>
    ```
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"::mlir::pathways::sdy::MeshAxisAttr">:$axes,
    OptionalArrayRefParameter<"int64_t">:$device_ids);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Number of devices: the product of the sizes.
    int64_t getNumDevices() const;
    /// Size of axis `name`, or 0 if there is none.
    int64_t getAxisSize(::llvm::StringRef name) const;
    bool isMaximal() const { return getAxes().empty() && !getDeviceIds().empty(); }
  }];
}

def Sdy_AxisRefAttr : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "An axis of a mesh, or a part of one";
  let description = [{
    The part `"x":(p)s` of an axis of size n splits it into p, s and n / (p s), the
    first one major, and is the middle one.

    (C1) The name is not empty; (C2) the size of a part is at least 2, and the size
    before it positive.
  }];
  let parameters = (ins StringRefParameter<>:$name,
                        DefaultValuedParameter<"int64_t", "0",
                            "size before the part; 0: the whole axis">:$pre_size,
                        DefaultValuedParameter<"int64_t", "0",
                            "size of the part; 0: the whole axis">:$size);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isWholeAxis() const { return getSize() == 0; }
  }];
}

def Sdy_DimensionShardingAttr : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "How a dimension is cut over axes";
  let description = [{
    The first axis is major. An open dimension, `?`, may be cut further. Priorities
    order decisions about shardings, 0 first.
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"::mlir::pathways::sdy::AxisRefAttr">:$axes,
    "bool":$is_closed,
    DefaultValuedParameter<"int64_t", "-1", "-1: none">:$priority);
}

def Sdy_TensorShardingAttr : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "How a tensor is cut over a mesh";
  let description = [{
    (C1) No axis is named twice, nor are parts of an axis that overlap; (C2) sizes of
    parts divide the axis, where the mesh is known.

    ```mlir
    #sdy.sharding<@mesh, [{"x", "y":(1)2, ?}p1, {} ], replicated={"a"}, unreduced={"b"}>
    ```
  }];
  let parameters = (ins
    "::mlir::Attribute":$mesh_or_ref,
    OptionalArrayRefParameter<"::mlir::pathways::sdy::DimensionShardingAttr">:$dim_shardings,
    OptionalArrayRefParameter<"::mlir::pathways::sdy::AxisRefAttr">:$replicated_axes,
    OptionalArrayRefParameter<"::mlir::pathways::sdy::AxisRefAttr">:$unreduced_axes);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getDimShardings().size(); }
    /// The mesh, looked up from `op` by its name; null, without a diagnostic, if
    /// there is none.
    ::mlir::pathways::sdy::MeshAttr getMesh(::mlir::Operation *op) const;
  }];
}

def Sdy_TensorShardingPerValueAttr
    : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "A sharding for each of several values";
  let description = [{
    ```mlir
    #sdy.sharding_per_value<[<@mesh, [{"x"} ]>, <@mesh, [{} ]>]>
    ```
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"::mlir::pathways::sdy::TensorShardingAttr">:$shardings);
}

def Sdy_ManualAxesAttr : Sdy_Attr<"ManualAxes", "manual_axes"> {
  let summary = "Axes over which a region is written for one shard";
  let description = [{
    (C1) No axis is named twice.

    ```mlir
    #sdy<manual_axes{"x", "y"}>
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$axes);
  let genVerifyDecl = 1;
}

def Sdy_PropagationDirection : I32EnumAttr<"PropagationDirection",
    "Directions in which shardings spread",
    [I32EnumAttrCase<"NONE", 0>, I32EnumAttrCase<"FORWARD", 1>,
     I32EnumAttrCase<"BACKWARD", 2>, I32EnumAttrCase<"BOTH", 3>]> {
  let cppNamespace = "::mlir::pathways::sdy";
  let genSpecializedAttr = 0;
}
def Sdy_PropagationDirectionAttr
    : EnumAttr<Sdy_Dialect, Sdy_PropagationDirection, "propagation_direction">;

#endif // PATHWAYS_DIALECT_SHARDY_ATTRS_TD
