//===- LoopOrder.cpp - Order of the calls of a loop -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopOrder.h"
#include "Schedules.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <queue>

using namespace mlir;
using namespace mlir::pathways;

/// Larger files of orders are refused.
static constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;
/// Some editors begin text in UTF-8 with it.
static constexpr StringRef kByteOrderMark = "\xef\xbb\xbf";

/// Returns true if an operation of `block` has a label, or one in a branch of
/// it.
static bool hasLabels(Block &block) {
  return llvm::any_of(block, [](Operation &op) {
    if (auto call = dyn_cast<CallOp>(op))
      return call.getCellLabel() != nullptr;
    if (auto branch = dyn_cast<IfOp>(op))
      return hasLabels(branch.getThenBody().front()) ||
             hasLabels(branch.getElseBody().front());
    auto inner = dyn_cast<ForOp>(op);
    return inner && inner.getLabel();
  });
}

bool mlir::pathways::hasLabels(ForOp loop) {
  return ::hasLabels(loop.getBody().front());
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

namespace {

using CellKey = std::pair<Attribute, int64_t>;

CellKey getKey(const LoopCell &cell) { return {cell.label, cell.iteration}; }

/// The cells of a loop, as they come in the text.
class LoopCells {
public:
  LoopCells(ForOp loop, ArrayRef<LoopNode> nodes);

  const LoopOrder &getRows() const { return rows; }
  /// Returns the label with this text; null if the loop has none.
  StringAttr getLabel(StringRef text) const { return labels.lookup(text); }
  /// Returns the slices that have `cell`.
  ArrayRef<FlatSymbolRefAttr> getSlices(const LoopCell &cell) const {
    auto it = slices.find(getKey(cell));
    return it == slices.end() ? ArrayRef<FlatSymbolRefAttr>() : it->second;
  }

private:
  LoopOrder rows;
  llvm::DenseMap<CellKey, SmallVector<FlatSymbolRefAttr, 1>> slices;
  llvm::StringMap<StringAttr> labels;
};

LoopCells::LoopCells(ForOp loop, ArrayRef<LoopNode> nodes) {
  llvm::MapVector<Attribute, std::vector<LoopCell>> cells;
  for (auto slice : loop->getParentOfType<ModuleOp>().getOps<SliceOp>())
    cells[FlatSymbolRefAttr::get(slice.getSymNameAttr())];
  for (const LoopNode &node : nodes) {
    auto call = dyn_cast<CallOp>(node.op);
    if (!call || !node.label)
      continue;
    LoopCell cell{node.label, node.iteration};
    labels[node.label] = node.label;
    SmallVector<FlatSymbolRefAttr, 1> &on = slices[getKey(cell)];
    if (llvm::is_contained(on, call.getSlice()))
      continue;
    on.push_back(call.getSlice());
    cells[call.getSlice()].push_back(cell);
  }
  for (auto &[slice, list] : cells)
    if (!list.empty())
      rows.push_back({cast<FlatSymbolRefAttr>(slice), std::move(list)});
}

} // namespace

/// Appends the cell with this label to `row`, or both halves of a backward call
/// if the loop has these instead. A stage that nothing flows out of has no
/// first half. Returns false if the loop has no such cell.
static bool appendCell(StringRef label, int64_t iteration,
                       const LoopCells &cells, std::vector<LoopCell> &row) {
  if (StringAttr known = cells.getLabel(label)) {
    row.push_back({known, iteration});
    return true;
  }
  bool isFirstHalf = label.ends_with("I");
  if (!isFirstHalf && !label.ends_with("B"))
    return false;
  label = label.drop_back();
  StringAttr flowing = cells.getLabel((label + "I").str()),
             rest = cells.getLabel((label + "W").str());
  if (!rest)
    return false;
  if (flowing)
    row.push_back({flowing, iteration});
  if (!isFirstHalf)
    row.push_back({rest, iteration});
  return true;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Splits a label such as "2F" into the stage and the kind.
static bool parseStage(StringRef label, int64_t &stage, char &kind) {
  if (label.size() < 2 || !StringRef("FBIW").contains(label.back()) ||
      label.drop_back().getAsInteger(10, stage) || stage < 0)
    return false;
  kind = label.back();
  return true;
}

static FailureOr<LoopOrder> getScheduleOrder(ForOp loop, StringRef name,
                                             const LoopCells &cells) {
  std::map<int64_t, unsigned> rowOfStage;
  for (auto [number, row] : llvm::enumerate(cells.getRows()))
    for (const LoopCell &cell : row.cells) {
      int64_t stage;
      char kind;
      if (!parseStage(cell.label, stage, kind))
        return loop.emitOpError()
               << "has label '" << cell.label.getValue() << "', but schedule '"
               << name << "' needs a stage and F, B, I or W, such as 2F";
      auto [it, isNew] = rowOfStage.try_emplace(stage, number);
      if (!isNew && it->second != number)
        return loop.emitOpError()
               << "has stage " << stage << " on slices "
               << cells.getRows()[it->second].slice << " and " << row.slice;
    }
  int64_t numStages = rowOfStage.size(), numRows = cells.getRows().size();
  if (rowOfStage.rbegin()->first != numStages - 1)
    return loop.emitOpError()
           << "has " << numStages << " stages, the last of which is "
           << rowOfStage.rbegin()->first << ", expected them to count from 0";
  FailureOr<StageOrder> stages = makeSchedule(
      name, {numRows, numStages, static_cast<int64_t>(loop.getTrips())},
      [&] { return loop.emitError(); });
  if (failed(stages))
    return failure();
  LoopOrder order;
  for (const SliceOrder &row : cells.getRows())
    order.push_back({row.slice, {}});
  for (auto [device, row] : llvm::enumerate(*stages)) {
    // In all schedules the first stage of a device has the device's number.
    unsigned target = rowOfStage.at(device);
    for (const StageCell &cell : row) {
      if (rowOfStage.at(cell.stage) != target)
        return loop.emitOpError()
               << "has stage " << cell.stage << " on slice "
               << cells.getRows()[rowOfStage.at(cell.stage)].slice
               << ", but schedule '" << name << "' wants it on "
               << cells.getRows()[target].slice << ", where stage " << device
               << " is";
      std::string label = std::to_string(cell.stage) + cell.kind;
      if (!appendCell(label, cell.batch, cells, order[target].cells))
        return loop.emitOpError() << "has no call with label '" << label
                                  << "', which schedule '" << name << "' needs";
    }
  }
  return order;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Returns the beginning of a cell for a message.
static std::string shorten(StringRef text) {
  constexpr size_t kMaxShown = 40;
  return text.size() <= kMaxShown ? text.str()
                                  : (text.take_front(kMaxShown) + "...").str();
}

/// Parses a cell such as "2F0".
static LogicalResult parseCell(StringRef text, const LoopCells &cells,
                               std::vector<LoopCell> &row,
                               function_ref<InFlightDiagnostic()> emitError) {
  StringRef digits = text.take_back(
      text.size() -
      std::min(text.size(), text.find_last_not_of("0123456789") + 1));
  StringRef label = text.drop_back(digits.size());
  int64_t iteration;
  auto fail = [&](const Twine &what) -> LogicalResult {
    InFlightDiagnostic error = emitError() << "has cell '" << shorten(text)
                                           << "', " << what;
    if (text.contains("SEND") || text.contains("RECV"))
      error << "; the compiler inserts sends and receives, so leave them out";
    return error;
  };
  if (label.empty() || digits.empty())
    return fail("expected a label and an iteration, such as 2F0");
  if (digits.getAsInteger(10, iteration))
    return fail("whose iteration is above 2^63");
  if (appendCell(label, iteration, cells, row))
    return success();
  return fail("but no call has label '" + Twine(shorten(label)) + "'");
}

/// Returns the place of the first byte that is in no file of orders: a control
/// character, or the beginning of what is not UTF-8. The size if there is none.
static size_t findOtherThanText(StringRef text) {
  size_t control = llvm::find_if(text,
                                 [](char c) {
                                   return static_cast<unsigned char>(c) < ' ' &&
                                          c != '\t' && c != '\r' && c != '\n';
                                 }) -
                   text.begin();
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  const auto *at = begin;
  if (llvm::isLegalUTF8String(&at, begin + text.size()))
    return control;
  return std::min<size_t>(control, at - begin);
}

/// Returns true if the character may be before or behind a cell in a file.
static bool isBetweenCells(char c) {
  return StringRef(", \t\r\n\"").contains(c);
}

static FailureOr<LoopOrder> readOrder(ForOp loop, StringRef path,
                                      const LoopCells &cells) {
  auto fail = [&] {
    return loop.emitOpError() << "has order file '" << path << "', which ";
  };
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail() << "cannot be read: " << buffer.getError().message();
  StringRef rest = (*buffer)->getBuffer();
  if (rest.size() > kMaxFileBytes)
    return fail() << "has " << rest.size() << " bytes, expected at most "
                  << kMaxFileBytes;
  if (size_t at = findOtherThanText(rest); at < rest.size())
    return fail() << "is not text: byte " << at << " is "
                  << static_cast<unsigned>(static_cast<uint8_t>(rest[at]));
  rest.consume_front(kByteOrderMark);
  std::vector<std::vector<LoopCell>> table;
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    std::vector<LoopCell> &row = table.emplace_back();
    for (unsigned column = 1; !line.empty(); ++column) {
      StringRef text;
      std::tie(text, line) = line.split(',');
      text = text.trim().trim('"').trim();
      if (!text.empty() &&
          failed(parseCell(text, cells, row, [&]() -> InFlightDiagnostic {
            return fail() << "in row " << table.size() << ", column " << column
                          << ", ";
          })))
        return failure();
    }
  }
  while (!table.empty() && table.back().empty())
    table.pop_back();
  if (table.size() != cells.getRows().size())
    return fail() << "has " << table.size() << " rows, but "
                  << cells.getRows().size() << " slices have labels";
  LoopOrder order;
  for (auto [row, list] : llvm::zip_equal(cells.getRows(), table))
    order.push_back({row.slice, std::move(list)});
  return order;
}

FailureOr<llvm::StringSet<>> mlir::pathways::findHalves(StringRef schedule) {
  llvm::StringSet<> stages;
  StringRef path = schedule;
  if (!path.consume_front("@")) {
    if (hasHalves(schedule))
      stages.insert("*");
    return stages;
  }
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer || (*buffer)->getBufferSize() > kMaxFileBytes)
    return failure();
  StringRef rest = (*buffer)->getBuffer();
  rest.consume_front(kByteOrderMark);
  while (!rest.empty()) {
    StringRef cell = rest.take_until(isBetweenCells);
    rest = rest.drop_front(std::min(rest.size(), cell.size() + 1));
    StringRef label = cell.rtrim("0123456789");
    if (label.size() < cell.size() &&
        (label.consume_back("I") || label.consume_back("W")))
      stages.insert(label);
  }
  return stages;
}

std::string mlir::pathways::printOrder(const LoopOrder &order) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const SliceOrder &row : order) {
    llvm::interleave(
        row.cells, os, [&](const LoopCell &cell) { os << cell.print(); }, ",");
    os << '\n';
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Completeness
//===----------------------------------------------------------------------===//

FailureOr<LoopOrder> mlir::pathways::getOrder(ForOp loop, StringRef schedule,
                                              ArrayRef<LoopNode> nodes) {
  // A cell is written as label and iteration, between commas.
  for (const LoopNode &node : nodes)
    if (node.label &&
        (!llvm::isAlpha(node.label.getValue().back()) ||
         node.label.getValue().find_first_of(", \t\r\n\"") != StringRef::npos))
      return node.op->emitOpError()
             << "has label '" << node.label.getValue()
             << "' in a loop with a schedule, expected one that ends with a "
                "letter, without blanks, commas and quotes";
  LoopCells cells(loop, nodes);
  if (cells.getRows().empty())
    return loop.emitOpError()
           << "has schedule '" << schedule << "', but no call has a label";
  StringRef path = schedule;
  FailureOr<LoopOrder> order = path.consume_front("@")
                                   ? readOrder(loop, path, cells)
                                   : getScheduleOrder(loop, schedule, cells);
  if (failed(order))
    return failure();
  auto fail = [&] {
    return loop.emitOpError() << "has schedule '" << schedule << "', which ";
  };
  for (auto [row, expected] : llvm::zip_equal(*order, cells.getRows())) {
    llvm::DenseSet<CellKey> seen;
    for (const LoopCell &cell : row.cells) {
      ArrayRef<FlatSymbolRefAttr> slices = cells.getSlices(cell);
      if (slices.empty())
        return fail() << "has cell '" << cell.print() << "', but "
                      << (cells.getLabel(cell.label)
                              ? "the loop runs " +
                                    std::to_string(loop.getTrips()) + " times"
                              : "no call has label '" + cell.label.str() + "'");
      if (!llvm::is_contained(slices, row.slice))
        return fail() << "has cell '" << cell.print() << "' on slice "
                      << row.slice << ", but its calls are on " << slices[0];
      if (!seen.insert(getKey(cell)).second)
        return fail() << "has cell '" << cell.print() << "' twice";
    }
    for (const LoopCell &cell : expected.cells)
      if (!seen.contains(getKey(cell)))
        return fail() << "lacks cell '" << cell.print() << "' of slice "
                      << row.slice;
  }
  return order;
}

//===----------------------------------------------------------------------===//
// Order of operations
//===----------------------------------------------------------------------===//

/// Returns the number of the argument of `loop` that `value` is, if that is
/// carried.
static std::optional<unsigned> getCarried(ForOp loop, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &loop.getBody().front() ||
      !loop.getCarriedResult(argument.getArgNumber()))
    return std::nullopt;
  return argument.getArgNumber();
}

namespace {

/// A graph of the operations of a loop, and of what each waits for.
class OrderGraph {
public:
  OrderGraph(ForOp loop, const LoopOrder &order, ArrayRef<LoopNode> nodes)
      : loop(loop), nodes(nodes), order(order), cells(nodes.size()),
        waits(nodes.size()), next(nodes.size()) {
    addDataflow();
    findCells();
    addOrder();
  }

  /// Makes a call that may overwrite an operand wait for the other readers of
  /// the operand that come before it in the text.
  void addTurns();

  /// Returns the nodes so that each comes after those that it waits for, the
  /// first in the text first; fewer if some wait for each other.
  std::vector<unsigned> sort() const;
  /// Returns nodes in cells that wait for each other, when `sorted` lacks some.
  std::vector<unsigned> findCircle(ArrayRef<unsigned> sorted) const;
  /// Returns the cell of a node that has one, as in a file of orders.
  std::string printCell(unsigned node) const {
    return order[cells[node]->first].cells[cells[node]->second].print();
  }

private:
  void addWait(unsigned before, unsigned after) {
    waits[after].push_back(before);
    next[before].push_back(after);
  }
  void addDataflow();
  void findCells();
  void addOrder();
  /// Returns the row of the slice on which the node runs; none if the node is
  /// not a call, or if the slice has no labels.
  std::optional<size_t> findRow(unsigned node) const;

  ForOp loop;
  ArrayRef<LoopNode> nodes;
  const LoopOrder &order;
  /// Row and place in the row of each node's cell.
  std::vector<std::optional<std::pair<size_t, size_t>>> cells;
  std::vector<SmallVector<unsigned, 4>> waits, next;
};

void OrderGraph::addDataflow() {
  unsigned width = nodes.size() / loop.getTrips();
  llvm::DenseMap<Operation *, unsigned> places; // in an iteration
  for (unsigned place = 0; place < width; ++place)
    places[nodes[place].op] = place;
  for (auto [number, node] : llvm::enumerate(nodes))
    for (Value operand : node.op->getOperands()) {
      auto [value, iteration] = followCarried(loop, operand, node.iteration);
      auto it = places.find(value.getDefiningOp());
      if (it != places.end())
        addWait(iteration * width + it->second, number);
    }
}

std::optional<size_t> OrderGraph::findRow(unsigned node) const {
  auto call = dyn_cast<CallOp>(nodes[node].op);
  if (!call)
    return std::nullopt;
  for (auto [number, row] : llvm::enumerate(order))
    if (row.slice == call.getSlice())
      return number;
  return std::nullopt;
}

void OrderGraph::findCells() {
  std::vector<llvm::DenseMap<CellKey, size_t>> places(order.size());
  for (auto [row, places] : llvm::zip_equal(order, places))
    for (auto [place, cell] : llvm::enumerate(row.cells))
      places[getKey(cell)] = place;
  std::vector<std::optional<size_t>> rows(nodes.size());
  // A call without a label joins the last cell of its slice that it reads.
  for (unsigned node = 0; node < nodes.size(); ++node) {
    rows[node] = findRow(node);
    if (!rows[node])
      continue;
    if (nodes[node].label) {
      CellKey cell{nodes[node].label, nodes[node].iteration};
      cells[node] = {*rows[node], places[*rows[node]].at(cell)};
      continue;
    }
    for (unsigned writer : waits[node])
      if (rows[writer] == rows[node])
        cells[node] = std::max(cells[node], cells[writer]);
  }
  // If it reads none, it joins the first cell that reads it.
  for (unsigned node = nodes.size(); node-- > 0;) {
    if (!rows[node] || cells[node])
      continue;
    for (unsigned reader : next[node])
      if (rows[reader] == rows[node] && cells[reader])
        cells[node] =
            cells[node] ? std::min(cells[node], cells[reader]) : cells[reader];
  }
}

void OrderGraph::addOrder() {
  std::vector<std::vector<unsigned>> queues(order.size());
  for (unsigned node = 0; node < nodes.size(); ++node)
    if (cells[node])
      queues[cells[node]->first].push_back(node);
  for (std::vector<unsigned> &queue : queues) {
    llvm::stable_sort(queue, [&](unsigned a, unsigned b) {
      return cells[a]->second < cells[b]->second;
    });
    for (size_t i = 1; i < queue.size(); ++i)
      addWait(queue[i - 1], queue[i]);
  }
}

void OrderGraph::addTurns() {
  unsigned width = nodes.size() / loop.getTrips();
  llvm::DenseMap<Value, SmallVector<unsigned, 4>> readers;
  for (unsigned number = 0; number < width; ++number)
    for (Value operand : nodes[number].op->getOperands())
      readers[operand].push_back(number);
  auto wait = [&](Value value, unsigned writer, unsigned lag) {
    for (unsigned reader : readers.lookup(value))
      if (lag > 0 ? reader != writer : reader < writer)
        for (unsigned i = lag * width; i < nodes.size(); i += width)
          addWait(i - lag * width + reader, i + writer);
  };
  for (unsigned number = 0; number < width; ++number) {
    auto call = dyn_cast<CallOp>(nodes[number].op);
    if (!call)
      continue;
    for (int64_t index : call.getDonated())
      wait(call.getInputs()[index], number, 0);
    for (Value operand : call.getInputs()) {
      std::optional<unsigned> carried = getCarried(loop, operand);
      if (!carried)
        continue;
      Value next =
          loop.getYield().getValues()[*loop.getCarriedResult(*carried)];
      if (next.getDefiningOp() != call)
        continue;
      wait(operand, number, 0);
      wait(next, number, 1);
    }
  }
}

std::vector<unsigned> OrderGraph::sort() const {
  std::vector<size_t> missing(nodes.size());
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (unsigned node = 0; node < nodes.size(); ++node) {
    missing[node] = waits[node].size();
    if (missing[node] == 0)
      ready.push(node);
  }
  std::vector<unsigned> sorted;
  while (!ready.empty()) {
    unsigned node = ready.top();
    ready.pop();
    sorted.push_back(node);
    for (unsigned after : next[node])
      if (--missing[after] == 0)
        ready.push(after);
  }
  return sorted;
}

std::vector<unsigned> OrderGraph::findCircle(ArrayRef<unsigned> sorted) const {
  std::vector<bool> isDone(nodes.size());
  for (unsigned node : sorted)
    isDone[node] = true;
  unsigned at = 0;
  while (isDone[at])
    ++at;
  // Each node that is left waits for another one that is left.
  std::vector<unsigned> path;
  std::vector<std::optional<size_t>> placeInPath(nodes.size());
  while (!placeInPath[at]) {
    placeInPath[at] = path.size();
    path.push_back(at);
    at = *llvm::find_if(waits[at],
                        [&](unsigned before) { return !isDone[before]; });
  }
  std::vector<unsigned> circle;
  for (size_t i = path.size(); i-- > *placeInPath[at];)
    if (cells[path[i]] &&
        (circle.empty() || cells[path[i]] != cells[circle.back()]))
      circle.push_back(path[i]);
  if (circle.size() > 1 && cells[circle.front()] == cells[circle.back()])
    circle.pop_back();
  return circle;
}

} // namespace

std::pair<Value, int64_t> mlir::pathways::followCarried(ForOp loop, Value value,
                                                        int64_t iteration) {
  auto getNext = [&](unsigned argument) {
    return loop.getYield().getValues()[*loop.getCarriedResult(argument)];
  };
  unsigned steps = 0;
  while (std::optional<unsigned> carried = getCarried(loop, value)) {
    // After so many steps the arguments pass a value round and round.
    if (++steps > loop.getInits().size()) {
      int64_t length = 1;
      for (Value next = getNext(*carried); next != value; ++length)
        next = getNext(*getCarried(loop, next));
      iteration %= length;
      steps = 0;
    }
    if (iteration == 0)
      return {loop.getInits()[*carried], 0};
    value = getNext(*carried);
    --iteration;
  }
  return {value, iteration};
}

FailureOr<std::vector<unsigned>>
mlir::pathways::sortNodes(ForOp loop, const LoopOrder &order,
                          ArrayRef<LoopNode> nodes,
                          std::vector<unsigned> *inPlace) {
  OrderGraph graph(loop, order, nodes);
  std::vector<unsigned> sorted = graph.sort();
  if (sorted.size() == nodes.size()) {
    if (inPlace) {
      graph.addTurns();
      *inPlace = graph.sort();
    }
    return sorted;
  }
  std::vector<unsigned> circle = graph.findCircle(sorted);
  InFlightDiagnostic error = loop.emitOpError()
                             << "has an order that cannot run: deadlock: ";
  for (unsigned node : circle)
    error << graph.printCell(node) << " -> ";
  error << graph.printCell(circle.front());
  for (unsigned node : ArrayRef(circle).take_front(2))
    error.attachNote(nodes[node].op->getLoc())
        << "cell '" << graph.printCell(node) << "' is here";
  return error;
}
