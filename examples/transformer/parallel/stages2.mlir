// The second half of the layers on another island.
pw.slice @s mesh <"data" = 1, "model" = 1>
pw.slice @t mesh <"data" = 1, "model" = 1> apart_from [@s]
!chars = !pw.array<4x128xi8, @s, [{"data"}, {}]>
!table = !pw.array<128x256xf32, @s>
!x = !pw.array<512x256xf32, @s>
!qkv = !pw.array<3x512x256xf32, @s>
!p = !pw.array<4x4x128x128xf32, @s>
!o = !pw.array<512x256xf32, @s>
!h = !pw.array<512x1024xf32, @s>
!norms = !pw.array<4x256xf32, @s>
!wqkv = !pw.array<3x256x256xf32, @s, [{}, {}, {"model"}]>
!wo = !pw.array<256x256xf32, @s>
!win = !pw.array<1024x256xf32, @s, [{"model"}, {}]>
!wout = !pw.array<1024x256xf32, @s>
!clock = !pw.array<2xf32, @s>
!chars_b = !pw.array<4x128xi8, @t, [{"data"}, {}]>
!x_b = !pw.array<512x256xf32, @t>
!qkv_b = !pw.array<3x512x256xf32, @t>
!p_b = !pw.array<4x4x128x128xf32, @t>
!o_b = !pw.array<512x256xf32, @t>
!h_b = !pw.array<512x1024xf32, @t>
!norms_b = !pw.array<4x256xf32, @t>
!wqkv_b = !pw.array<3x256x256xf32, @t, [{}, {}, {"model"}]>
!wo_b = !pw.array<256x256xf32, @t>
!win_b = !pw.array<1024x256xf32, @t, [{"model"}, {}]>
!wout_b = !pw.array<1024x256xf32, @t>
!clock_b = !pw.array<2xf32, @t>
!norm = !pw.array<2x256xf32, @t>
!head = !pw.array<128x256xf32, @t, [{"model"}, {}]>
!q = !pw.array<512x128xf32, @t>
!loss = !pw.array<f32, @t>
