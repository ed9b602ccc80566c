plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  plan.layout 0 tensor<8xf32> [{"d"}]
  plan.kernel @k {
    plan.segment @main (tensor<4xf32>, out tensor<4xf32>)
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
  }
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 256 credits 2
  plan.buffer @y on @s layout 0 at 128 bytes 16 stride 256 credits 2
  plan.buffer @z on @t layout 0 at 0 bytes 16 stride 128 credits 2
  plan.feed @feed on @s argument @a -> @x
  plan.gang @run on @s kernel @k reads [@x] writes [@y] {
    plan.run @main [@x, @y]
  }
  plan.send @send on @s @y to @recv
  plan.recv @recv on @t @z from @send
  plan.fetch @fetch on @t @z -> result @r
  plan.edge @feed -> @run data same
  plan.edge @run -> @feed credit same tokens 2
  plan.edge @run -> @send data same
  plan.edge @send -> @run credit same tokens 2
  plan.edge @send -> @recv data pieces
  plan.edge @recv -> @fetch data same
  plan.edge @fetch -> @send credit pieces tokens 2
  plan.argument @a feed @feed
  plan.result @r fetch @fetch
}
