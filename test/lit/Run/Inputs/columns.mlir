// A matrix cut by rows comes back cut by columns, on another slice.
pw.slice @rows mesh <"r" = 4>
pw.slice @columns mesh <"c" = 2>

pw.program @turn(%x: !pw.array<9x6xf32, @rows, [{"r"}, {}]>)
    -> (!pw.array<9x6xf32, @columns, [{}, {"c"}]> {pw.name = "y"}) {
  %y = pw.reshard %x : !pw.array<9x6xf32, @rows, [{"r"}, {}]>
      -> !pw.array<9x6xf32, @columns, [{}, {"c"}]>
  pw.return %y : !pw.array<9x6xf32, @columns, [{}, {"c"}]>
}
