// Batch normalizations, against formulas in f64.
// RUN: pw-run %s --topology=1x1x1 | FileCheck %s
// CHECK: [SUCCESS] 1 step, 21 checks

module @m {
  func.func public @main() {
    %x_f32 = stablehlo.constant dense<[[[1.75, 6.25e-2, 1.875, -1.6875], [4.375e-1, -5.0e-1, 1.1875, -1.3125], [1.5, 1.875e-1, 1.625, -6.25e-2]], [[-2.5e-1, 1.125, 1.9375, -5.0e-1], [1.875, 1.6875, -1.3125, 4.375e-1], [8.125e-1, 1.75, 6.875e-1, -1.4375]]]> : tensor<2x3x4xf32>
    %scale_f32 = stablehlo.constant dense<[1.5, -7.5e-1, 5.0e-1]> : tensor<3xf32>
    %offset_f32 = stablehlo.constant dense<[-0.0, -0.0, 0.0]> : tensor<3xf32>
    %mean_f32 = stablehlo.constant dense<[1.8125, -6.25e-1, -1.125]> : tensor<3xf32>
    %variance_f32 = stablehlo.constant dense<[3.125e-1, 8.125e-1, 2.0]> : tensor<3xf32>
    %grad_f32 = stablehlo.constant dense<[[[3.125e-1, -9.375e-1, 1.75, -6.25e-2], [6.875e-1, -1.25e-1, -1.125, 7.5e-1], [1.0625, -1.25, -1.875e-1, -5.625e-1]], [[-1.3125, -1.125, 1.875, 1.5625], [-5.0e-1, 9.375e-1, -1.8125, 1.6875], [1.25e-1, 1.25, -8.75e-1, -5.0e-1]]]> : tensor<2x3x4xf32>
    %i_f32 = "stablehlo.batch_norm_inference"(%x_f32, %scale_f32, %offset_f32, %mean_f32, %variance_f32) <{epsilon = 1.25e-1 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
    %t_f32:3 = "stablehlo.batch_norm_training"(%x_f32, %scale_f32, %offset_f32) <{epsilon = 1.25e-1 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
    %g_f32:3 = "stablehlo.batch_norm_grad"(%x_f32, %scale_f32, %mean_f32, %variance_f32, %grad_f32) <{epsilon = 1.25e-1 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
    check.expect_almost_eq_const %i_f32, dense<[[[-1.4173667e-1, -3.968627, 1.4173667e-1, -7.937254], [-8.2300895e-1, -9.682459e-2, -1.4039564, 5.325352e-1], [9.0036756e-1, 4.5018378e-1, 9.432422e-1, 3.6443448e-1]], [[-4.6773105, -1.5591035, 2.8347334e-1, -5.244257], [-1.9364917, -1.7912548, 5.325352e-1, -8.2300895e-1], [6.6455704e-1, 9.861169e-1, 6.2168235e-1, -1.07186615e-1]]]>, tolerance = 1.0e-5 : tensor<2x3x4xf32>
    check.expect_almost_eq_const %t_f32#0, dense<[[[1.4015436, -5.5157524e-1, 1.5462191, -2.5770319], [-7.632328e-2, 4.9610132e-1, -5.3426296e-1, 9.9220264e-1], [4.0907362e-1, -2.1006483e-1, 4.6803918e-1, -3.2799596e-1]], [[-9.132639e-1, 6.781663e-1, 1.6185569, -1.2026149], [-9.5404094e-1, -8.3955604e-1, 9.9220264e-1, -7.632328e-2], [8.4763005e-2, 5.270048e-1, 2.5797436e-2, -9.766172e-1]]]>, tolerance = 1.0e-5 : tensor<2x3x4xf32>
    check.expect_almost_eq_const %t_f32#1, dense<[5.390625e-1, 3.125e-1, 6.328125e-1]>, tolerance = 1.0e-5 : tensor<3xf32>
    check.expect_almost_eq_const %t_f32#2, dense<[1.5546265, 1.3837891, 9.984741e-1]>, tolerance = 1.0e-5 : tensor<3xf32>
    check.expect_almost_eq_const %g_f32#0, dense<[[[2.0706843e-1, -3.853466e-1, 3.3009143, 3.9243343], [-2.5179434e-1, 1.7256965e-1, 1.3161588, -6.8286544e-1], [2.7532578e-1, -4.5320335e-1, -1.5957801e-1, -2.0507814e-1]], [[-8.205225e-1, -2.2223868, 3.501339, 6.03156], [9.823661e-1, -1.7211579e-1, 1.3020386, -1.026391], [-1.2368823e-2, 3.273231e-1, -3.4920868e-1, -1.1591031e-1]]]>, tolerance = 1.0e-5 : tensor<2x3x4xf32>
    check.expect_almost_eq_const %g_f32#1, dense<[3.1004899, 2.186622, 1.6747909]>, tolerance = 1.0e-5 : tensor<3xf32>
    check.expect_almost_eq_const %g_f32#2, dense<[2.0625, 5.0e-1, -9.375e-1]>, tolerance = 1.0e-5 : tensor<3xf32>
    %x_f64 = stablehlo.constant dense<[[[1.75, 6.25e-2, 1.875, -1.6875], [4.375e-1, -5.0e-1, 1.1875, -1.3125], [1.5, 1.875e-1, 1.625, -6.25e-2]], [[-2.5e-1, 1.125, 1.9375, -5.0e-1], [1.875, 1.6875, -1.3125, 4.375e-1], [8.125e-1, 1.75, 6.875e-1, -1.4375]]]> : tensor<2x3x4xf64>
    %scale_f64 = stablehlo.constant dense<[1.5, -7.5e-1, 5.0e-1]> : tensor<3xf64>
    %offset_f64 = stablehlo.constant dense<[-0.0, -0.0, 0.0]> : tensor<3xf64>
    %mean_f64 = stablehlo.constant dense<[1.8125, -6.25e-1, -1.125]> : tensor<3xf64>
    %variance_f64 = stablehlo.constant dense<[3.125e-1, 8.125e-1, 2.0]> : tensor<3xf64>
    %grad_f64 = stablehlo.constant dense<[[[3.125e-1, -9.375e-1, 1.75, -6.25e-2], [6.875e-1, -1.25e-1, -1.125, 7.5e-1], [1.0625, -1.25, -1.875e-1, -5.625e-1]], [[-1.3125, -1.125, 1.875, 1.5625], [-5.0e-1, 9.375e-1, -1.8125, 1.6875], [1.25e-1, 1.25, -8.75e-1, -5.0e-1]]]> : tensor<2x3x4xf64>
    %i_f64 = "stablehlo.batch_norm_inference"(%x_f64, %scale_f64, %offset_f64, %mean_f64, %variance_f64) <{epsilon = 1.25e-1 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<2x3x4xf64>
    %t_f64:3 = "stablehlo.batch_norm_training"(%x_f64, %scale_f64, %offset_f64) <{epsilon = 1.25e-1 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<2x3x4xf64>, tensor<3xf64>, tensor<3xf64>)
    %g_f64:3 = "stablehlo.batch_norm_grad"(%x_f64, %scale_f64, %mean_f64, %variance_f64, %grad_f64) <{epsilon = 1.25e-1 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<2x3x4xf64>) -> (tensor<2x3x4xf64>, tensor<3xf64>, tensor<3xf64>)
    check.expect_almost_eq_const %i_f64, dense<[[[-1.4173667737846019e-1, -3.9686269665968856, 1.4173667737846019e-1, -7.937253933193771], [-8.230089610690761e-1, -9.682458365518541e-2, -1.4039564630001886, 5.325352101035198e-1], [9.003675719981713e-1, 4.5018378599908565e-1, 9.432422182837986e-1, 3.6443449342783124e-1]], [[-4.677310353489187, -1.5591034511630621, 2.8347335475692037e-1, -5.244257063003028], [-1.9364916731037085, -1.79125479762093, 5.325352101035198e-1, -8.230089610690761e-1], [6.645570174272217e-1, 9.861168645694258e-1, 6.216823711415945e-1, -1.0718661571406801e-1]]]>, tolerance = 1.0e-12 : tensor<2x3x4xf64>
    check.expect_almost_eq_const %t_f64#0, dense<[[[1.4015436662568614, -5.515752493010875e-1, 1.5462191414833764, -2.577031902472294], [-7.632327769721765e-2, 4.9610130503191474e-1, -5.342629438805236e-1, 9.922026100638295e-1], [4.0907362281173454e-1, -2.1006483333575557e-1, 4.6803919006387645e-1, -3.279959678400394e-1]], [[-9.132639373673743e-1, 6.781662901242879e-1, 1.6185568790966336, -1.2026148878204037], [-9.540409712152207e-1, -8.395560546693941e-1, 9.922026100638295e-1, -7.632327769721765e-2], [8.4763002924954e-2, 5.270047573160184e-1, 2.5797435672812088e-2, -9.766172076136005e-1]]]>, tolerance = 1.0e-12 : tensor<2x3x4xf64>
    check.expect_almost_eq_const %t_f64#1, dense<[5.390625e-1, 3.125e-1, 6.328125e-1]>, tolerance = 1.0e-12 : tensor<3xf64>
    check.expect_almost_eq_const %t_f64#2, dense<[1.55462646484375, 1.3837890625, 9.9847412109375e-1]>, tolerance = 1.0e-12 : tensor<3xf64>
    check.expect_almost_eq_const %g_f64#0, dense<[[[2.070684271075942e-1, -3.853465916226887e-1, 3.3009143380092962, 3.924334254916117], [-2.5179434697413583e-1, 1.7256964857710652e-1, 1.3161587545920233, -6.82865462122326e-1], [2.753257674045091e-1, -4.532033354215454e-1, -1.5957801482872e-1, -2.0507814209668168e-1]], [[-8.205224838862424e-1, -2.2223868085825753, 3.501338858364775, 6.0315600131286935], [9.82366088334902e-1, -1.7211578334122282e-1, 1.3020385028089752, -1.0263910162156193], [-1.2368823164431289e-2, 3.273230980790358e-1, -3.492086740724919e-1, -1.1591030580734074e-1]]]>, tolerance = 1.0e-12 : tensor<2x3x4xf64>
    check.expect_almost_eq_const %g_f64#1, dense<[3.1004898176538167, 2.18662184754627, 1.6747908705323131]>, tolerance = 1.0e-12 : tensor<3xf64>
    check.expect_almost_eq_const %g_f64#2, dense<[2.0625, 5.0e-1, -9.375e-1]>, tolerance = 1.0e-12 : tensor<3xf64>
    %x_bf16 = stablehlo.constant dense<[[[1.75, 6.25e-2, 1.875, -1.6875], [4.375e-1, -5.0e-1, 1.1875, -1.3125], [1.5, 1.875e-1, 1.625, -6.25e-2]], [[-2.5e-1, 1.125, 1.9375, -5.0e-1], [1.875, 1.6875, -1.3125, 4.375e-1], [8.125e-1, 1.75, 6.875e-1, -1.4375]]]> : tensor<2x3x4xbf16>
    %scale_bf16 = stablehlo.constant dense<[1.5, -7.5e-1, 5.0e-1]> : tensor<3xbf16>
    %offset_bf16 = stablehlo.constant dense<[-0.0, -0.0, 0.0]> : tensor<3xbf16>
    %mean_bf16 = stablehlo.constant dense<[1.8125, -6.25e-1, -1.125]> : tensor<3xbf16>
    %variance_bf16 = stablehlo.constant dense<[3.125e-1, 8.125e-1, 2.0]> : tensor<3xbf16>
    %grad_bf16 = stablehlo.constant dense<[[[3.125e-1, -9.375e-1, 1.75, -6.25e-2], [6.875e-1, -1.25e-1, -1.125, 7.5e-1], [1.0625, -1.25, -1.875e-1, -5.625e-1]], [[-1.3125, -1.125, 1.875, 1.5625], [-5.0e-1, 9.375e-1, -1.8125, 1.6875], [1.25e-1, 1.25, -8.75e-1, -5.0e-1]]]> : tensor<2x3x4xbf16>
    %i_bf16 = "stablehlo.batch_norm_inference"(%x_bf16, %scale_bf16, %offset_bf16, %mean_bf16, %variance_bf16) <{epsilon = 1.25e-1 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> tensor<2x3x4xbf16>
    %t_bf16:3 = "stablehlo.batch_norm_training"(%x_bf16, %scale_bf16, %offset_bf16) <{epsilon = 1.25e-1 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> (tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>)
    %g_bf16:3 = "stablehlo.batch_norm_grad"(%x_bf16, %scale_bf16, %mean_bf16, %variance_bf16, %grad_bf16) <{epsilon = 1.25e-1 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>, tensor<2x3x4xbf16>) -> (tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>)
    check.expect_almost_eq_const %i_bf16, dense<[[[-1.4173667e-1, -3.968627, 1.4173667e-1, -7.937254], [-8.2300895e-1, -9.682459e-2, -1.4039564, 5.325352e-1], [9.0036756e-1, 4.5018378e-1, 9.432422e-1, 3.6443448e-1]], [[-4.6773105, -1.5591035, 2.8347334e-1, -5.244257], [-1.9364917, -1.7912548, 5.325352e-1, -8.2300895e-1], [6.6455704e-1, 9.861169e-1, 6.2168235e-1, -1.07186615e-1]]]>, tolerance = 7.0e-2 : tensor<2x3x4xbf16>
    check.expect_almost_eq_const %t_bf16#0, dense<[[[1.4015436, -5.5157524e-1, 1.5462191, -2.5770319], [-7.632328e-2, 4.9610132e-1, -5.3426296e-1, 9.9220264e-1], [4.0907362e-1, -2.1006483e-1, 4.6803918e-1, -3.2799596e-1]], [[-9.132639e-1, 6.781663e-1, 1.6185569, -1.2026149], [-9.5404094e-1, -8.3955604e-1, 9.9220264e-1, -7.632328e-2], [8.4763005e-2, 5.270048e-1, 2.5797436e-2, -9.766172e-1]]]>, tolerance = 7.0e-2 : tensor<2x3x4xbf16>
    check.expect_almost_eq_const %t_bf16#1, dense<[5.390625e-1, 3.125e-1, 6.328125e-1]>, tolerance = 7.0e-2 : tensor<3xbf16>
    check.expect_almost_eq_const %t_bf16#2, dense<[1.5546265, 1.3837891, 9.984741e-1]>, tolerance = 7.0e-2 : tensor<3xbf16>
    check.expect_almost_eq_const %g_bf16#0, dense<[[[2.0706843e-1, -3.853466e-1, 3.3009143, 3.9243343], [-2.5179434e-1, 1.7256965e-1, 1.3161588, -6.8286544e-1], [2.7532578e-1, -4.5320335e-1, -1.5957801e-1, -2.0507814e-1]], [[-8.205225e-1, -2.2223868, 3.501339, 6.03156], [9.823661e-1, -1.7211579e-1, 1.3020386, -1.026391], [-1.2368823e-2, 3.273231e-1, -3.4920868e-1, -1.1591031e-1]]]>, tolerance = 7.0e-2 : tensor<2x3x4xbf16>
    check.expect_almost_eq_const %g_bf16#1, dense<[3.1004899, 2.186622, 1.6747909]>, tolerance = 7.0e-2 : tensor<3xbf16>
    check.expect_almost_eq_const %g_bf16#2, dense<[2.0625, 5.0e-1, -9.375e-1]>, tolerance = 7.0e-2 : tensor<3xbf16>
    return
  }
}
