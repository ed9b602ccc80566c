  // The parameters of a stage, and sums of gradients.
  %norms = pw.call @stack_4x256(%norms0, %norms1)
      : (!norms, !norms) -> !two_norms
  %wqkv = pw.call @stack_3x256x256(%wqkv0, %wqkv1)
      : (!wqkv, !wqkv) -> !two_wqkv
  %wo = pw.call @stack_256x256(%wo0, %wo1)
      : (!wo, !wo) -> !two_wo
  %win = pw.call @stack_1024x256(%win0, %win1)
      : (!win, !win) -> !two_win
  %wout = pw.call @stack_1024x256(%wout0, %wout1)
      : (!wout, !wout) -> !two_wout
  %norms_b = pw.call @stack_4x256(%norms2, %norms3)
      : (!norms_b, !norms_b) -> !two_norms_b
  %wqkv_b = pw.call @stack_3x256x256(%wqkv2, %wqkv3)
      : (!wqkv_b, !wqkv_b) -> !two_wqkv_b
  %wo_b = pw.call @stack_256x256(%wo2, %wo3)
      : (!wo_b, !wo_b) -> !two_wo_b
  %win_b = pw.call @stack_1024x256(%win2, %win3)
      : (!win_b, !win_b) -> !two_win_b
  %wout_b = pw.call @stack_1024x256(%wout2, %wout3)
      : (!wout_b, !wout_b) -> !two_wout_b
  %zero_norms, %zero_wqkv, %zero_wo, %zero_win, %zero_wout = pw.call @layer_zeros()
      : () -> (!two_norms, !two_wqkv, !two_wo, !two_win, !two_wout)
  %zero_norms_b, %zero_wqkv_b, %zero_wo_b, %zero_win_b, %zero_wout_b = pw.call @layer_zeros()
      : () -> (!two_norms_b, !two_wqkv_b, !two_wo_b, !two_win_b, !two_wout_b)
  %zero_token, %zero_place = pw.call @table_zeros() : () -> (!table, !table)
  %zero_loss, %zero_norm, %zero_head = pw.call @head_zeros()
      : () -> (!loss, !norm, !head)

  // A piece of text is a micro-batch. Layers are iterations of inner loops.
  %loss, %g_norm, %g_head, %g_norms_b, %g_wqkv_b, %g_wo_b, %g_win_b, %g_wout_b,
  %g_token, %g_place, %g_norms, %g_wqkv, %g_wo, %g_win, %g_wout =
      pw.for 4 schedule "1f1b"
      (%chars = %inputs stepped : !chars -> !piece,
       %next = %targets stepped : !chars_b -> !piece_b,
       %sum_loss = %zero_loss carried : !loss,
       %sum_norm = %zero_norm carried : !norm,
       %sum_head = %zero_head carried : !head,
       %sum_norms_b = %zero_norms_b carried : !two_norms_b,
       %sum_wqkv_b = %zero_wqkv_b carried : !two_wqkv_b,
       %sum_wo_b = %zero_wo_b carried : !two_wo_b,
       %sum_win_b = %zero_win_b carried : !two_win_b,
       %sum_wout_b = %zero_wout_b carried : !two_wout_b,
       %sum_token = %zero_token carried : !table,
       %sum_place = %zero_place carried : !table,
       %sum_norms = %zero_norms carried : !two_norms,
       %sum_wqkv = %zero_wqkv carried : !two_wqkv,
       %sum_wo = %zero_wo carried : !two_wo,
       %sum_win = %zero_win carried : !two_win,
       %sum_wout = %zero_wout carried : !two_wout)
      -> (!loss carried, !norm carried, !head carried, !two_norms_b carried,
          !two_wqkv_b carried, !two_wo_b carried, !two_win_b carried, !two_wout_b carried,
          !table carried, !table carried, !two_norms carried, !two_wqkv carried,
          !two_wo carried, !two_win carried, !two_wout carried) {
    %x0 = pw.call @embed_piece(%chars, %token, %place) label "0F"
        : (!piece, !table, !table) -> !x
    %y0, %xs0, %qkvs0, %ps0, %os0, %zs0, %hs0 = pw.for 2 label "0F"
        (%x = %x0 carried : !x,
         %norms_i = %norms stepped : !two_norms -> !norms,
         %wqkv_i = %wqkv stepped : !two_wqkv -> !wqkv,
         %wo_i = %wo stepped : !two_wo -> !wo,
         %win_i = %win stepped : !two_win -> !win,
         %wout_i = %wout stepped : !two_wout -> !wout)
        -> (!x carried, !two_x stepped, !two_qkv stepped, !two_p stepped, !two_o stepped,
            !two_x stepped, !two_h stepped) {
      %y, %qkv, %p, %o, %z, %h =
          pw.call @layer(%x, %norms_i, %wqkv_i, %wo_i, %win_i, %wout_i)
          : (!x, !norms, !wqkv, !wo, !win, !wout)
          -> (!x, !qkv, !p, !o, !x, !h)
      pw.yield %y, %x, %qkv, %p, %o, %z, %h
          : !x, !x, !qkv, !p, !o, !x, !h
    }
    %x1 = pw.reshard %y0 : !x -> !x_b
    %y1, %xs1, %qkvs1, %ps1, %os1, %zs1, %hs1 = pw.for 2 label "1F"
        (%x = %x1 carried : !x_b,
         %norms_i = %norms_b stepped : !two_norms_b -> !norms_b,
         %wqkv_i = %wqkv_b stepped : !two_wqkv_b -> !wqkv_b,
         %wo_i = %wo_b stepped : !two_wo_b -> !wo_b,
         %win_i = %win_b stepped : !two_win_b -> !win_b,
         %wout_i = %wout_b stepped : !two_wout_b -> !wout_b)
        -> (!x_b carried, !two_x_b stepped, !two_qkv_b stepped, !two_p_b stepped,
            !two_o_b stepped, !two_x_b stepped, !two_h_b stepped) {
      %y, %qkv, %p, %o, %z, %h =
          pw.call @layer(%x, %norms_i, %wqkv_i, %wo_i, %win_i, %wout_i)
          : (!x_b, !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b)
          -> (!x_b, !qkv_b, !p_b, !o_b, !x_b, !h_b)
      pw.yield %y, %x, %qkv, %p, %o, %z, %h
          : !x_b, !x_b, !qkv_b, !p_b, !o_b, !x_b, !h_b
    }
    %next_loss, %q = pw.call @head_piece(%y1, %norm, %head, %next, %sum_loss) label "1F"
        : (!x_b, !norm, !head, !piece_b, !loss) -> (!loss, !q)
    %dy, %next_norm, %next_head =
        pw.call @head_backward_piece(%y1, %q, %norm, %head, %next, %sum_norm, %sum_head)
        donate(%sum_norm, %sum_head) label "1B"
        : (!x_b, !q, !norm, !head, !piece_b, !norm, !head) -> (!x_b, !norm, !head)
    %d1, %next_norms_b, %next_wqkv_b, %next_wo_b, %next_win_b, %next_wout_b =
        pw.for 2 label "1B"
        (%d = %dy carried : !x_b,
         %xs_i = %xs1 stepped reversed : !two_x_b -> !x_b,
         %qkvs_i = %qkvs1 stepped reversed : !two_qkv_b -> !qkv_b,
         %ps_i = %ps1 stepped reversed : !two_p_b -> !p_b,
         %os_i = %os1 stepped reversed : !two_o_b -> !o_b,
         %zs_i = %zs1 stepped reversed : !two_x_b -> !x_b,
         %hs_i = %hs1 stepped reversed : !two_h_b -> !h_b,
         %norms_i = %norms_b stepped reversed : !two_norms_b -> !norms_b,
         %wqkv_i = %wqkv_b stepped reversed : !two_wqkv_b -> !wqkv_b,
         %wo_i = %wo_b stepped reversed : !two_wo_b -> !wo_b,
         %win_i = %win_b stepped reversed : !two_win_b -> !win_b,
         %wout_i = %wout_b stepped reversed : !two_wout_b -> !wout_b,
         %norms_sum = %sum_norms_b stepped reversed : !two_norms_b -> !norms_b,
         %wqkv_sum = %sum_wqkv_b stepped reversed : !two_wqkv_b -> !wqkv_b,
         %wo_sum = %sum_wo_b stepped reversed : !two_wo_b -> !wo_b,
         %win_sum = %sum_win_b stepped reversed : !two_win_b -> !win_b,
         %wout_sum = %sum_wout_b stepped reversed : !two_wout_b -> !wout_b)
        -> (!x_b carried, !two_norms_b stepped reversed, !two_wqkv_b stepped reversed,
            !two_wo_b stepped reversed, !two_win_b stepped reversed,
            !two_wout_b stepped reversed) {
      %dx, %norms_next, %wqkv_next, %wo_next, %win_next, %wout_next =
          pw.call @layer_backward_piece(
              %xs_i, %qkvs_i, %ps_i, %os_i, %zs_i, %hs_i, %d, %norms_i, %wqkv_i,
              %wo_i, %win_i, %wout_i, %norms_sum, %wqkv_sum, %wo_sum, %win_sum,
              %wout_sum)
          donate(%norms_sum, %wqkv_sum, %wo_sum, %win_sum, %wout_sum)
          : (!x_b, !qkv_b, !p_b, !o_b, !x_b, !h_b, !x_b, !norms_b, !wqkv_b, !wo_b,
             !win_b, !wout_b, !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b)
          -> (!x_b, !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b)
      pw.yield %dx, %norms_next, %wqkv_next, %wo_next, %win_next, %wout_next
          : !x_b, !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b
    }
    %d_0 = pw.reshard %d1 : !x_b -> !x
    %d0, %next_norms, %next_wqkv, %next_wo, %next_win, %next_wout =
        pw.for 2 label "0B"
        (%d = %d_0 carried : !x,
         %xs_i = %xs0 stepped reversed : !two_x -> !x,
         %qkvs_i = %qkvs0 stepped reversed : !two_qkv -> !qkv,
         %ps_i = %ps0 stepped reversed : !two_p -> !p,
         %os_i = %os0 stepped reversed : !two_o -> !o,
         %zs_i = %zs0 stepped reversed : !two_x -> !x,
         %hs_i = %hs0 stepped reversed : !two_h -> !h,
         %norms_i = %norms stepped reversed : !two_norms -> !norms,
         %wqkv_i = %wqkv stepped reversed : !two_wqkv -> !wqkv,
         %wo_i = %wo stepped reversed : !two_wo -> !wo,
         %win_i = %win stepped reversed : !two_win -> !win,
         %wout_i = %wout stepped reversed : !two_wout -> !wout,
         %norms_sum = %sum_norms stepped reversed : !two_norms -> !norms,
         %wqkv_sum = %sum_wqkv stepped reversed : !two_wqkv -> !wqkv,
         %wo_sum = %sum_wo stepped reversed : !two_wo -> !wo,
         %win_sum = %sum_win stepped reversed : !two_win -> !win,
         %wout_sum = %sum_wout stepped reversed : !two_wout -> !wout)
        -> (!x carried, !two_norms stepped reversed, !two_wqkv stepped reversed,
            !two_wo stepped reversed, !two_win stepped reversed,
            !two_wout stepped reversed) {
      %dx, %norms_next, %wqkv_next, %wo_next, %win_next, %wout_next =
          pw.call @layer_backward_piece(
              %xs_i, %qkvs_i, %ps_i, %os_i, %zs_i, %hs_i, %d, %norms_i, %wqkv_i,
              %wo_i, %win_i, %wout_i, %norms_sum, %wqkv_sum, %wo_sum, %win_sum,
              %wout_sum)
          donate(%norms_sum, %wqkv_sum, %wo_sum, %win_sum, %wout_sum)
          : (!x, !qkv, !p, !o, !x, !h, !x, !norms, !wqkv, !wo, !win, !wout, !norms,
             !wqkv, !wo, !win, !wout)
          -> (!x, !norms, !wqkv, !wo, !win, !wout)
      pw.yield %dx, %norms_next, %wqkv_next, %wo_next, %win_next, %wout_next
          : !x, !norms, !wqkv, !wo, !win, !wout
    }
    %next_token, %next_place =
        pw.call @embed_backward_piece(%chars, %d0, %sum_token, %sum_place)
        donate(%sum_token, %sum_place) label "0B"
        : (!piece, !x, !table, !table) -> (!table, !table)
    pw.yield %next_loss, %next_norm, %next_head, %next_norms_b, %next_wqkv_b,
             %next_wo_b, %next_win_b, %next_wout_b, %next_token, %next_place,
             %next_norms, %next_wqkv, %next_wo, %next_win, %next_wout
        : !loss, !norm, !head, !two_norms_b, !two_wqkv_b, !two_wo_b, !two_win_b, !two_wout_b,
          !table, !table, !two_norms, !two_wqkv, !two_wo, !two_win, !two_wout
  }
  %g_norms0, %g_norms1 = pw.call @unstack_4x256(%g_norms)
      : (!two_norms) -> (!norms, !norms)
  %g_wqkv0, %g_wqkv1 = pw.call @unstack_3x256x256(%g_wqkv)
      : (!two_wqkv) -> (!wqkv, !wqkv)
  %g_wo0, %g_wo1 = pw.call @unstack_256x256(%g_wo)
      : (!two_wo) -> (!wo, !wo)
  %g_win0, %g_win1 = pw.call @unstack_1024x256(%g_win)
      : (!two_win) -> (!win, !win)
  %g_wout0, %g_wout1 = pw.call @unstack_1024x256(%g_wout)
      : (!two_wout) -> (!wout, !wout)
  %g_norms2, %g_norms3 = pw.call @unstack_4x256(%g_norms_b)
      : (!two_norms_b) -> (!norms_b, !norms_b)
  %g_wqkv2, %g_wqkv3 = pw.call @unstack_3x256x256(%g_wqkv_b)
      : (!two_wqkv_b) -> (!wqkv_b, !wqkv_b)
  %g_wo2, %g_wo3 = pw.call @unstack_256x256(%g_wo_b)
      : (!two_wo_b) -> (!wo_b, !wo_b)
  %g_win2, %g_win3 = pw.call @unstack_1024x256(%g_win_b)
      : (!two_win_b) -> (!win_b, !win_b)
  %g_wout2, %g_wout3 = pw.call @unstack_1024x256(%g_wout_b)
      : (!two_wout_b) -> (!wout_b, !wout_b)
