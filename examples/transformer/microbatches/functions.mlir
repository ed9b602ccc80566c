//===----------------------------------------------------------------------===//
// Micro-batches and scans over the layers of a stage
//===----------------------------------------------------------------------===//

// For each shape of parameters: those of two layers as one array, and back.
func.func private @stack_4x256(%a: tensor<4x256xf32>, %b: tensor<4x256xf32>)
    -> tensor<2x4x256xf32> {
  %empty = tensor.empty() : tensor<2x4x256xf32>
  %0 = tensor.insert_slice %a into %empty[0, 0, 0] [1, 4, 256] [1, 1, 1]
      : tensor<4x256xf32> into tensor<2x4x256xf32>
  %1 = tensor.insert_slice %b into %0[1, 0, 0] [1, 4, 256] [1, 1, 1]
      : tensor<4x256xf32> into tensor<2x4x256xf32>
  return %1 : tensor<2x4x256xf32>
}

func.func private @unstack_4x256(%ab: tensor<2x4x256xf32>)
    -> (tensor<4x256xf32>, tensor<4x256xf32>) {
  %a = tensor.extract_slice %ab[0, 0, 0] [1, 4, 256] [1, 1, 1]
      : tensor<2x4x256xf32> to tensor<4x256xf32>
  %b = tensor.extract_slice %ab[1, 0, 0] [1, 4, 256] [1, 1, 1]
      : tensor<2x4x256xf32> to tensor<4x256xf32>
  return %a, %b : tensor<4x256xf32>, tensor<4x256xf32>
}

func.func private @stack_3x256x256(%a: tensor<3x256x256xf32>, %b: tensor<3x256x256xf32>)
    -> tensor<2x3x256x256xf32> {
  %empty = tensor.empty() : tensor<2x3x256x256xf32>
  %0 = tensor.insert_slice %a into %empty[0, 0, 0, 0] [1, 3, 256, 256] [1, 1, 1, 1]
      : tensor<3x256x256xf32> into tensor<2x3x256x256xf32>
  %1 = tensor.insert_slice %b into %0[1, 0, 0, 0] [1, 3, 256, 256] [1, 1, 1, 1]
      : tensor<3x256x256xf32> into tensor<2x3x256x256xf32>
  return %1 : tensor<2x3x256x256xf32>
}

func.func private @unstack_3x256x256(%ab: tensor<2x3x256x256xf32>)
    -> (tensor<3x256x256xf32>, tensor<3x256x256xf32>) {
  %a = tensor.extract_slice %ab[0, 0, 0, 0] [1, 3, 256, 256] [1, 1, 1, 1]
      : tensor<2x3x256x256xf32> to tensor<3x256x256xf32>
  %b = tensor.extract_slice %ab[1, 0, 0, 0] [1, 3, 256, 256] [1, 1, 1, 1]
      : tensor<2x3x256x256xf32> to tensor<3x256x256xf32>
  return %a, %b : tensor<3x256x256xf32>, tensor<3x256x256xf32>
}

func.func private @stack_256x256(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>)
    -> tensor<2x256x256xf32> {
  %empty = tensor.empty() : tensor<2x256x256xf32>
  %0 = tensor.insert_slice %a into %empty[0, 0, 0] [1, 256, 256] [1, 1, 1]
      : tensor<256x256xf32> into tensor<2x256x256xf32>
  %1 = tensor.insert_slice %b into %0[1, 0, 0] [1, 256, 256] [1, 1, 1]
      : tensor<256x256xf32> into tensor<2x256x256xf32>
  return %1 : tensor<2x256x256xf32>
}

func.func private @unstack_256x256(%ab: tensor<2x256x256xf32>)
    -> (tensor<256x256xf32>, tensor<256x256xf32>) {
  %a = tensor.extract_slice %ab[0, 0, 0] [1, 256, 256] [1, 1, 1]
      : tensor<2x256x256xf32> to tensor<256x256xf32>
  %b = tensor.extract_slice %ab[1, 0, 0] [1, 256, 256] [1, 1, 1]
      : tensor<2x256x256xf32> to tensor<256x256xf32>
  return %a, %b : tensor<256x256xf32>, tensor<256x256xf32>
}

func.func private @stack_1024x256(%a: tensor<1024x256xf32>, %b: tensor<1024x256xf32>)
    -> tensor<2x1024x256xf32> {
  %empty = tensor.empty() : tensor<2x1024x256xf32>
  %0 = tensor.insert_slice %a into %empty[0, 0, 0] [1, 1024, 256] [1, 1, 1]
      : tensor<1024x256xf32> into tensor<2x1024x256xf32>
  %1 = tensor.insert_slice %b into %0[1, 0, 0] [1, 1024, 256] [1, 1, 1]
      : tensor<1024x256xf32> into tensor<2x1024x256xf32>
  return %1 : tensor<2x1024x256xf32>
}

func.func private @unstack_1024x256(%ab: tensor<2x1024x256xf32>)
    -> (tensor<1024x256xf32>, tensor<1024x256xf32>) {
  %a = tensor.extract_slice %ab[0, 0, 0] [1, 1024, 256] [1, 1, 1]
      : tensor<2x1024x256xf32> to tensor<1024x256xf32>
  %b = tensor.extract_slice %ab[1, 0, 0] [1, 1024, 256] [1, 1, 1]
      : tensor<2x1024x256xf32> to tensor<1024x256xf32>
  return %a, %b : tensor<1024x256xf32>, tensor<1024x256xf32>
}

// Sums of gradients begin with these: of the layers of a stage, and of the others.
func.func private @layer_zeros()
    -> (tensor<2x4x256xf32>, tensor<2x3x256x256xf32>, tensor<2x256x256xf32>,
        tensor<2x1024x256xf32>, tensor<2x1024x256xf32>) {
  %norms = arith.constant dense<0.0> : tensor<2x4x256xf32>
  %wqkv = arith.constant dense<0.0> : tensor<2x3x256x256xf32>
  %wo = arith.constant dense<0.0> : tensor<2x256x256xf32>
  %win = arith.constant dense<0.0> : tensor<2x1024x256xf32>
  %wout = arith.constant dense<0.0> : tensor<2x1024x256xf32>
  return %norms, %wqkv, %wo, %win, %wout
      : tensor<2x4x256xf32>, tensor<2x3x256x256xf32>, tensor<2x256x256xf32>,
        tensor<2x1024x256xf32>, tensor<2x1024x256xf32>
}

func.func private @table_zeros() -> (tensor<128x256xf32>, tensor<128x256xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<128x256xf32>
  return %zeros, %zeros : tensor<128x256xf32>, tensor<128x256xf32>
}

func.func private @head_zeros()
    -> (tensor<f32>, tensor<2x256xf32>, tensor<128x256xf32>) {
  %loss = arith.constant dense<0.0> : tensor<f32>
  %norm = arith.constant dense<0.0> : tensor<2x256xf32>
  %head = arith.constant dense<0.0> : tensor<128x256xf32>
  return %loss, %norm, %head : tensor<f32>, tensor<2x256xf32>, tensor<128x256xf32>
}

// The functions from above on the characters of one piece. Those that compute a loss or
// gradients add them to the sums over the micro-batches.
func.func private @embed_piece(%chars: tensor<128xi8>, %token: tensor<128x256xf32>,
                               %place: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %piece = tensor.expand_shape %chars [[0, 1]] output_shape [1, 128]
      : tensor<128xi8> into tensor<1x128xi8>
  %x = func.call @embed(%piece, %token, %place)
      : (tensor<1x128xi8>, tensor<128x256xf32>, tensor<128x256xf32>)
      -> tensor<128x256xf32>
  return %x : tensor<128x256xf32>
}

func.func private @embed_backward_piece(
    %chars: tensor<128xi8>, %d: tensor<128x256xf32>, %token: tensor<128x256xf32>,
    %place: tensor<128x256xf32>) -> (tensor<128x256xf32>, tensor<128x256xf32>) {
  %piece = tensor.expand_shape %chars [[0, 1]] output_shape [1, 128]
      : tensor<128xi8> into tensor<1x128xi8>
  %g_token, %g_place = func.call @embed_backward(%piece, %d)
      : (tensor<1x128xi8>, tensor<128x256xf32>)
      -> (tensor<128x256xf32>, tensor<128x256xf32>)
  %token_sum = arith.addf %token, %g_token : tensor<128x256xf32>
  %place_sum = arith.addf %place, %g_place : tensor<128x256xf32>
  return %token_sum, %place_sum : tensor<128x256xf32>, tensor<128x256xf32>
}

func.func private @head_piece(
    %x: tensor<128x256xf32>, %norm: tensor<2x256xf32>, %head: tensor<128x256xf32>,
    %next: tensor<128xi8>, %loss: tensor<f32>) -> (tensor<f32>, tensor<128x128xf32>) {
  %piece = tensor.expand_shape %next [[0, 1]] output_shape [1, 128]
      : tensor<128xi8> into tensor<1x128xi8>
  %own, %q = func.call @head(%x, %norm, %head, %piece)
      : (tensor<128x256xf32>, tensor<2x256xf32>, tensor<128x256xf32>, tensor<1x128xi8>)
      -> (tensor<f32>, tensor<128x128xf32>)
  %sum = arith.addf %loss, %own : tensor<f32>
  return %sum, %q : tensor<f32>, tensor<128x128xf32>
}

func.func private @head_backward_piece(
    %x: tensor<128x256xf32>, %q: tensor<128x128xf32>, %norm: tensor<2x256xf32>,
    %head: tensor<128x256xf32>, %next: tensor<128xi8>, %norm_sum: tensor<2x256xf32>,
    %head_sum: tensor<128x256xf32>)
    -> (tensor<128x256xf32>, tensor<2x256xf32>, tensor<128x256xf32>) {
  %piece = tensor.expand_shape %next [[0, 1]] output_shape [1, 128]
      : tensor<128xi8> into tensor<1x128xi8>
  %d, %g_norm, %g_head = func.call @head_backward(%x, %q, %norm, %head, %piece)
      : (tensor<128x256xf32>, tensor<128x128xf32>, tensor<2x256xf32>,
         tensor<128x256xf32>, tensor<1x128xi8>)
      -> (tensor<128x256xf32>, tensor<2x256xf32>, tensor<128x256xf32>)
  %norm_next = arith.addf %norm_sum, %g_norm : tensor<2x256xf32>
  %head_next = arith.addf %head_sum, %g_head : tensor<128x256xf32>
  return %d, %norm_next, %head_next
      : tensor<128x256xf32>, tensor<2x256xf32>, tensor<128x256xf32>
}

func.func private @layer_backward_piece(
    %x: tensor<128x256xf32>, %qkv: tensor<3x128x256xf32>, %p: tensor<1x4x128x128xf32>,
    %o: tensor<128x256xf32>, %z: tensor<128x256xf32>, %h: tensor<128x1024xf32>,
    %dy: tensor<128x256xf32>, %norms: tensor<4x256xf32>, %wqkv: tensor<3x256x256xf32>,
    %wo: tensor<256x256xf32>, %win: tensor<1024x256xf32>, %wout: tensor<1024x256xf32>,
    %norms_sum: tensor<4x256xf32>, %wqkv_sum: tensor<3x256x256xf32>, %wo_sum: tensor<256x256xf32>,
    %win_sum: tensor<1024x256xf32>, %wout_sum: tensor<1024x256xf32>)
    -> (tensor<128x256xf32>, tensor<4x256xf32>, tensor<3x256x256xf32>,
        tensor<256x256xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>) {
  %dx, %g_norms, %g_wqkv, %g_wo, %g_win, %g_wout =
      func.call @layer_backward(%x, %qkv, %p, %o, %z, %h, %dy, %norms, %wqkv,
                                %wo, %win, %wout)
      : (tensor<128x256xf32>, tensor<3x128x256xf32>, tensor<1x4x128x128xf32>,
         tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x1024xf32>,
         tensor<128x256xf32>, tensor<4x256xf32>, tensor<3x256x256xf32>,
         tensor<256x256xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>)
      -> (tensor<128x256xf32>, tensor<4x256xf32>, tensor<3x256x256xf32>,
          tensor<256x256xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>)
  %norms_next = arith.addf %norms_sum, %g_norms : tensor<4x256xf32>
  %wqkv_next = arith.addf %wqkv_sum, %g_wqkv : tensor<3x256x256xf32>
  %wo_next = arith.addf %wo_sum, %g_wo : tensor<256x256xf32>
  %win_next = arith.addf %win_sum, %g_win : tensor<1024x256xf32>
  %wout_next = arith.addf %wout_sum, %g_wout : tensor<1024x256xf32>
  return %dx, %norms_next, %wqkv_next, %wo_next, %win_next, %wout_next
      : tensor<128x256xf32>, tensor<4x256xf32>, tensor<3x256x256xf32>,
        tensor<256x256xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>
}
