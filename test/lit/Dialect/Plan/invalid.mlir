// RUN: pw-opt %s -split-input-file -verify-diagnostics
// Each case plants one fault in the same plan. Rules are those of
// docs/plan-format.md; rule 10 cannot be broken in text, which does not say
// first and last actions.

// A name that is not there.
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
  // expected-error@+1 {{'plan.fetch' op refers to buffer 'nowhere', which is not in the plan}}
  plan.fetch @fetch on @t @nowhere -> result @r
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

// -----

// Entries out of order.
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
  // expected-note@+1 {{comes before it}}
  plan.edge @feed -> @run data same
  // expected-error@+1 {{'plan.layout' op is out of order; expected slices, layouts, kernels, buffers, actions, edges, arguments, results}}
  plan.layout 1 tensor<f32> []
  plan.edge @run -> @feed credit same tokens 2
  plan.edge @run -> @send data same
  plan.edge @send -> @run credit same tokens 2
  plan.edge @send -> @recv data pieces
  plan.edge @recv -> @fetch data same
  plan.edge @fetch -> @send credit pieces tokens 2
  plan.argument @a feed @feed
  plan.result @r fetch @fetch
}

// -----

// Numbers of layouts count up.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  // expected-error@+1 {{'plan.layout' op expected number 0, got 4}}
  plan.layout 4 tensor<8xf32> [{"d"}]
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

// -----

// An element type that arrays do not have.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  // expected-error@+1 {{'plan.layout' op expected an element type of f16, bf16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16, ui32 or ui64, got 'i4'}}
  plan.layout 0 tensor<8xi4> [{"d"}]
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

// -----

// A number that the tables cannot hold.
// expected-error@+1 {{'plan.program' op expected 'in_flight' between 0 and 4294967295, got 4294967296}}
plan.program @p in_flight 4294967296 {
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

// -----

// A segment without code.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  plan.layout 0 tensor<8xf32> [{"d"}]
  plan.kernel @k {
    // expected-error@+1 {{'plan.segment' op has neither an object nor a function 'main' in kernel 'k'}}
    plan.segment @main (tensor<4xf32>, out tensor<4xf32>)
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

// -----

// A function that is not what its segment says.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  plan.layout 0 tensor<8xf32> [{"d"}]
  plan.kernel @k {
    // expected-note@+1 {{segment is here}}
    plan.segment @main (tensor<4xf32>, out tensor<2xf32>)
    // expected-error@+1 {{'func.func' op expected type '(tensor<4xf32>) -> tensor<2xf32>' as its segment says, got '(tensor<4xf32>) -> tensor<4xf32>'}}
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

// -----

// A segment that the kernel lacks.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  plan.layout 0 tensor<8xf32> [{"d"}]
  // expected-note@+1 {{kernel is here}}
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
    // expected-error@+1 {{'plan.run' op refers to segment 'other', which kernel 'k' does not have}}
    plan.run @other [@x, @y]
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

// -----

// A run without a kernel.
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
  plan.gang @run on @s reads [@x] writes [@y] {
    // expected-error@+1 {{'plan.run' op runs segment 'main' of a gang without a kernel}}
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

// -----

// Something else among the steps.
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
    // expected-error@+1 {{'arith.constant' op is not a step of a gang; expected plan.run, plan.collective or plan.alias}}
    %0 = arith.constant 1 : i32
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

// -----

// Strides or a list, not both.
plan.program @p in_flight 2 {
  // expected-error@+1 {{'plan.slice' op expected strides or a list of devices, not both}}
  plan.slice @s mesh <"d" = 2> island 0 strides [1] devices [0, 1]
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

// -----

// A base needs strides.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  // expected-error@+1 {{'plan.slice' op expected strides with 'base' or 'span'}}
  plan.slice @t mesh <"d" = 2> island 0 base 2
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

// -----

// Devices are those of an island.
plan.program @p in_flight 2 {
  // expected-error@+1 {{'plan.slice' op expected an island for the devices}}
  plan.slice @s mesh <"d" = 2> strides [1]
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

// -----

// Code works on tensors of static shape.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  plan.layout 0 tensor<8xf32> [{"d"}]
  plan.kernel @k {
    // expected-error@+1 {{'plan.segment' op expected tensors of static shape as operands, got 'tensor<?xf32>'}}
    plan.segment @main (tensor<?xf32>, out tensor<4xf32>)
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

// -----

// A location is a place and a message.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  plan.layout 0 tensor<8xf32> [{"d"}]
  plan.kernel @k {
    // expected-error@+1 {{'plan.segment' op expected a place and a message per location, got ["a.mlir:1:2"]}}
    plan.segment @main (tensor<4xf32>, out tensor<4xf32>) locations [["a.mlir:1:2"]]
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

// -----

// Segments have distinct names.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  plan.layout 0 tensor<8xf32> [{"d"}]
  plan.kernel @k {
    // expected-note@+1 {{first one is here}}
    plan.segment @main (tensor<4xf32>, out tensor<4xf32>)
    // expected-error@+1 {{'plan.segment' op named 'main' twice in kernel 'k'}}
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

// -----

// Something else in a kernel.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  plan.layout 0 tensor<8xf32> [{"d"}]
  plan.kernel @k {
    plan.segment @main (tensor<4xf32>, out tensor<4xf32>)
    // expected-error@+1 {{'arith.constant' op does not belong in kernel 'k'; expected plan.segment, plan.object or func.func}}
    %0 = arith.constant 1 : i32
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

// -----

// Functions and objects exclude each other.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  plan.layout 0 tensor<8xf32> [{"d"}]
  plan.kernel @k {
    plan.segment @main (tensor<4xf32>, out tensor<4xf32>)
    plan.object code dense<[1, 2]> : tensor<2xi8>
    // expected-error@+1 {{'func.func' op is still in kernel 'k' although it has objects}}
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

// -----

// Code is bytes.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  plan.layout 0 tensor<8xf32> [{"d"}]
  plan.kernel @k {
    plan.segment @main (tensor<4xf32>, out tensor<4xf32>)
    // expected-error@+1 {{'plan.object' op expected bytes, tensor<...xi8>, as code, got 'tensor<2xi32>'}}
    plan.object code dense<[1, 2]> : tensor<2xi32>
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

// -----

// A cpu without a target.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  plan.slice @t mesh <"d" = 2> island 0 base 2 strides [1]
  plan.layout 0 tensor<8xf32> [{"d"}]
  plan.kernel @k {
    plan.segment @main (tensor<4xf32>, out tensor<4xf32>)
    // expected-error@+1 {{'plan.object' op expected a target with 'cpu' or 'features'}}
    plan.object cpu "znver4" code dense<[1, 2]> : tensor<2xi8>
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

// -----

// A text that is not UTF-8.
// expected-error@+1 {{'plan.program' op expected UTF-8 as source}}
plan.program @p source "\FF" in_flight 2 {
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

// -----

// A name that is empty.
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
  // expected-error@+1 {{'plan.feed' op refers to argument 'a', which is not in the plan}}
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
  "plan.argument"() <{id = "", action = "feed"}> : () -> ()
  plan.result @r fetch @fetch
}

// -----

// Rule 1: a name that is there twice.
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
  // expected-note@+1 {{argument 0 has the name first}}
  plan.argument @a feed @feed
  // expected-error@+1 {{plan rule 1 (references): arguments 0 and 1 are both named 'a'}}
  plan.argument @a feed @feed
  plan.result @r fetch @fetch
}

// -----

// Rule 2: a cycle, with its actions.
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
  // expected-note@+1 {{feed 'feed' comes before gang 'run' by a data edge}}
  plan.feed @feed on @s argument @a -> @x
  // expected-note@+1 {{gang 'run' comes before feed 'feed' by a control edge}}
  plan.gang @run on @s kernel @k reads [@x] writes [@y] {
    plan.run @main [@x, @y]
  }
  plan.send @send on @s @y to @recv
  plan.recv @recv on @t @z from @send
  plan.fetch @fetch on @t @z -> result @r
  plan.edge @feed -> @run data same
  // expected-error@+1 {{plan rule 2 (order): edges without tokens form a cycle: 'run' -> 'feed' (control, 0 tokens) -> 'run' (data, 0 tokens)}}
  plan.edge @run -> @feed control same
  plan.edge @run -> @feed credit same tokens 2
  plan.edge @run -> @send data same
  plan.edge @send -> @run credit same tokens 2
  plan.edge @send -> @recv data pieces
  plan.edge @recv -> @fetch data same
  plan.edge @fetch -> @send credit pieces tokens 2
  plan.argument @a feed @feed
  plan.result @r fetch @fetch
}

// -----

// Rule 3: a reader that waits for nothing.
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
  // expected-error@+1 {{plan rule 3 (data): buffer 'z' needs a data edge from recv 'recv' to fetch 'fetch', relation same, with 0 tokens; there is none}}
  plan.buffer @z on @t layout 0 at 0 bytes 16 stride 128 credits 2
  plan.feed @feed on @s argument @a -> @x
  plan.gang @run on @s kernel @k reads [@x] writes [@y] {
    plan.run @main [@x, @y]
  }
  plan.send @send on @s @y to @recv
  // expected-note@+1 {{from here}}
  plan.recv @recv on @t @z from @send
  // expected-note@+1 {{to here}}
  plan.fetch @fetch on @t @z -> result @r
  plan.edge @feed -> @run data same
  plan.edge @run -> @feed credit same tokens 2
  plan.edge @run -> @send data same
  plan.edge @send -> @run credit same tokens 2
  plan.edge @send -> @recv data pieces
  plan.edge @fetch -> @send credit pieces tokens 2
  plan.argument @a feed @feed
  plan.result @r fetch @fetch
}

// -----

// Rule 4: memory that is never given back.
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
  // expected-error@+1 {{plan rule 4 (credit): buffer 'y' needs a credit edge from send 'send' to gang 'run', relation same, with 2 tokens; there is none}}
  plan.buffer @y on @s layout 0 at 128 bytes 16 stride 256 credits 2
  plan.buffer @z on @t layout 0 at 0 bytes 16 stride 128 credits 2
  plan.feed @feed on @s argument @a -> @x
  // expected-note@+2 {{to here}}
  // expected-note@+1 {{from here}}
  plan.gang @run on @s kernel @k reads [@x] writes [@y] {
    plan.run @main [@x, @y]
  }
  // expected-note@+2 {{from here}}
  // expected-note@+1 {{to here}}
  plan.send @send on @s @y to @recv
  plan.recv @recv on @t @z from @send
  plan.fetch @fetch on @t @z -> result @r
  plan.edge @feed -> @run data same
  plan.edge @run -> @feed credit same tokens 2
  // expected-error@+1 {{plan rule 5 (bounded): data edge 'run' -> 'send' (same, 0 tokens) is not bounded: there is no path back}}
  plan.edge @run -> @send data same
  plan.edge @send -> @recv data pieces
  plan.edge @recv -> @fetch data same
  plan.edge @fetch -> @send credit pieces tokens 2
  plan.argument @a feed @feed
  plan.result @r fetch @fetch
}

// -----

// Rule 5: more slots than steps in flight.
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
  // expected-error@+1 {{plan rule 5 (bounded): buffer 'x' has 3 credits, expected 1 to 2, the steps in flight}}
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 256 credits 3
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

// -----

// Rule 6: memory that two buffers share without order.
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
  // expected-note@+2 {{buffer 'x' has the bytes from 0 to 16}}
  // expected-error@+1 {{plan rule 6 (memory): buffers 'y' and 'x' of slice 's' share memory, but send 'send', which uses the first, does not come before feed 'feed', which writes the second, 2 steps later: the path between them has 4 tokens, at most 2 are accepted}}
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 256 credits 2
  // expected-error@+2 {{plan rule 6 (memory): buffers 'x' and 'y' of slice 's' share memory, but gang 'run' reads the first and writes the second without an alias}}
  // expected-note@+1 {{buffer 'y' has the bytes from 0 to 16}}
  plan.buffer @y on @s layout 0 at 0 bytes 16 stride 256 credits 2
  plan.buffer @z on @t layout 0 at 0 bytes 16 stride 128 credits 2
  // expected-note@+1 {{overwritten from here}}
  plan.feed @feed on @s argument @a -> @x
  plan.gang @run on @s kernel @k reads [@x] writes [@y] {
    plan.run @main [@x, @y]
  }
  // expected-note@+1 {{used here}}
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

// -----

// Rule 7: an action on another slice than its buffer.
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
  // expected-note@+1 {{buffer 'z' is here}}
  plan.buffer @z on @t layout 0 at 0 bytes 16 stride 128 credits 2
  plan.feed @feed on @s argument @a -> @x
  plan.gang @run on @s kernel @k reads [@x] writes [@y] {
    plan.run @main [@x, @y]
  }
  // expected-note@+1 {{to here}}
  plan.send @send on @s @y to @recv
  // expected-note@+1 {{from here}}
  plan.recv @recv on @t @z from @send
  // expected-error@+3 {{plan rule 7 (actions): fetch 'fetch' on slice 's' reads buffer 'z' on slice 't'}}
  // expected-note@+2 {{to here}}
  // expected-note@+1 {{from here}}
  plan.fetch @fetch on @s @z -> result @r
  plan.edge @feed -> @run data same
  plan.edge @run -> @feed credit same tokens 2
  plan.edge @run -> @send data same
  plan.edge @send -> @run credit same tokens 2
  plan.edge @send -> @recv data pieces
  // expected-error@+1 {{plan rule 7 (actions): data edge 'recv' -> 'fetch' (same, 0 tokens) joins slice 't' and slice 's', but a relation of same is within one slice}}
  plan.edge @recv -> @fetch data same
  // expected-error@+1 {{plan rule 7 (actions): credit edge 'fetch' -> 'send' (pieces, 2 tokens) comes from slice 's', but the movement goes to slice 't'}}
  plan.edge @fetch -> @send credit pieces tokens 2
  plan.argument @a feed @feed
  plan.result @r fetch @fetch
}

// -----

// Rule 8: a result that no fetch gives.
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
  // expected-note@+1 {{the action is here}}
  plan.send @send on @s @y to @recv
  plan.recv @recv on @t @z from @send
  // expected-error@+1 {{plan rule 8 (interface): fetch 'fetch' is for result 'r', whose action is send 'send'}}
  plan.fetch @fetch on @t @z -> result @r
  plan.edge @feed -> @run data same
  plan.edge @run -> @feed credit same tokens 2
  plan.edge @run -> @send data same
  plan.edge @send -> @run credit same tokens 2
  plan.edge @send -> @recv data pieces
  plan.edge @recv -> @fetch data same
  plan.edge @fetch -> @send credit pieces tokens 2
  plan.argument @a feed @feed
  // expected-error@+2 {{plan rule 8 (interface): result 'r' names send 'send', expected a fetch}}
  // expected-note@+1 {{the result is here}}
  plan.result @r fetch @send
}

// -----

// Rule 9: too many shards.
plan.program @p in_flight 2 {
  plan.slice @s mesh <"d" = 2> island 0 strides [1]
  // expected-error@+1 {{plan rule 9 (limits): slice 't' has more than 16777216 shards}}
  plan.slice @t mesh <"d" = 1073741824> island 0 base 2 strides [1]
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

// -----

// Not only the size of each axis.
plan.program @p in_flight 2 {
  // expected-error@+1 {{'plan.slice' op expected one size per axis, got 1 axes and 2 sizes}}
  "plan.slice"() <{axes = ["d"], id = "s", sizes = array<i64: 2, 3>}> : () -> ()
}

// -----

// A program has table entries only.
plan.program @p in_flight 2 {
  // expected-error@+1 {{'arith.constant' op is not an entry of a plan's tables}}
  %c = arith.constant 0 : i32
}

// -----

// An entry without a name.
plan.program @p in_flight 2 {
  // expected-error@+1 {{'plan.slice' op expected a name that is not empty}}
  plan.slice @"" mesh <"d" = 2> island 0 strides [1]
}

// -----

// Shards have a rank and a shape.
plan.program @p in_flight 2 {
  // expected-error@+1 {{attribute 'type' failed to satisfy constraint: type attribute of statically shaped tensor}}
  plan.layout 0 tensor<*xf32> [{"d"}]
}

// -----

// An output that is there twice.
plan.program @p in_flight 2 {
  plan.kernel @k {
    // expected-error@+1 {{'plan.segment' op expected increasing positions of outputs below 2, got 1}}
    "plan.segment"() <{id = "main", operand_types = [tensor<4xf32>, tensor<4xf32>], written = array<i64: 1, 1>}> : () -> ()
  }
}

// -----

// An output that is no operand.
plan.program @p in_flight 2 {
  plan.kernel @k {
    // expected-error@+1 {{'plan.segment' op expected increasing positions of outputs below 2, got 2}}
    "plan.segment"() <{id = "main", operand_types = [tensor<4xf32>, tensor<4xf32>], written = array<i64: 2>}> : () -> ()
  }
}

// -----

// Code that is shorter than it says.
plan.program @p in_flight 2 {
  plan.kernel @k {
    plan.segment @main (tensor<4xf32>, out tensor<4xf32>)
    // expected-error@+1 {{'plan.object' op expected 5 bytes of code, got 4}}
    plan.object code dense_resource<short> : tensor<5xi8>
  }
}
{-# dialect_resources: { builtin: { short: "0x0100000001020304" } } #-}
