//===- Codegen.cpp - Compilation of functions on tensors ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Codegen/Codegen.h"

#include "CodegenInternal.h"
#include "Contraction/MatrixUnit.h"
#include "Object/ObjectWriter.h"
#include "Paths.h"
#include "Prepare/HalfPrecisionOperands.h"
#include "Rewrite.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "pathways/Codegen/CodeCache.h"
#include "pathways/Codegen/Segments.h"
#include "pathways/Support/CrashRecovery.h"
#include "pathways/Support/ElementTypes.h"
#include "runtime/kernel/target.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Threading.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include <deque>
#include <mutex>

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::proto::Target;

void mlir::pathways::registerKernelDialects(DialectRegistry &registry) {
  registry
      .insert<affine::AffineDialect, arith::ArithDialect,
              bufferization::BufferizationDialect, cf::ControlFlowDialect,
              func::FuncDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
              math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
              tensor::TensorDialect, ub::UBDialect, vector::VectorDialect>();
  arith::registerBufferViewFlowOpInterfaceExternalModels(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerSubsetOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  kernel::registerSimplification(registry);
  kernel::registerConversion(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void mlir::pathways::loadKernelDialects(MLIRContext *context) {
  DialectRegistry registry;
  registerKernelDialects(registry);
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context->getOrLoadDialect(name);
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

static FailureOr<std::unique_ptr<llvm::TargetMachine>>
makeMachine(const Target &target, Location loc) {
  std::string error;
  llvm::Triple triple(target.triple());
  const llvm::Target *code = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!code)
    return emitError(loc, "cannot generate code for target '")
           << target.triple() << "': " << error;
  std::string features = llvm::join(target.features(), ",");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(code->createTargetMachine(
      triple, target.cpu(), features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return emitError(loc, "cannot generate code for target '")
           << target.triple() << "'";
  return machine;
}

namespace {

/// Writer for one target: an unused one, whichever thread used it before, or a
/// new one. If a crash happens while the writer is in use, the writer is lost
/// together with its state.
class UsedWriter {
public:
  static FailureOr<UsedWriter> get(const Target &target, Location loc);

  UsedWriter(UsedWriter &&) = default;
  ~UsedWriter();

  kernel::ObjectWriter &operator*() { return *writer; }
  const llvm::TargetMachine &getMachine() { return writer->getMachine(); }

private:
  using Owner = std::unique_ptr<kernel::ObjectWriter>;

  UsedWriter(std::string key, Owner writer)
      : key(std::move(key)), writer(std::move(writer)) {}

  /// Unused writers, the most recently used one last.
  struct Unused {
    static constexpr size_t kMost = 16;
    std::mutex mutex;
    std::deque<std::pair<std::string, Owner>> writers;
  };
  static Unused &getUnused() {
    // Leaked on purpose: threads may compile at exit.
    static auto *unused = new Unused;
    return *unused;
  }

  std::string key;
  Owner writer; ///< null after a move
};

} // namespace

FailureOr<UsedWriter> UsedWriter::get(const Target &target, Location loc) {
  std::string key = target.SerializeAsString();
  {
    Unused &unused = getUnused();
    std::lock_guard lock(unused.mutex);
    for (auto it = unused.writers.rbegin(); it != unused.writers.rend(); ++it) {
      if (it->first != key)
        continue;
      UsedWriter found(std::move(key), std::move(it->second));
      unused.writers.erase(std::next(it).base());
      return found;
    }
  }
  FailureOr<std::unique_ptr<llvm::TargetMachine>> machine =
      makeMachine(target, loc);
  if (failed(machine))
    return failure();
  return UsedWriter(std::move(key), std::make_unique<kernel::ObjectWriter>(
                                        std::move(*machine)));
}

UsedWriter::~UsedWriter() {
  if (!writer)
    return;
  Owner last; // destroyed after the lock is released
  Unused &unused = getUnused();
  std::lock_guard lock(unused.mutex);
  unused.writers.emplace_back(std::move(key), std::move(writer));
  if (unused.writers.size() > Unused::kMost) {
    last = std::move(unused.writers.front().second);
    unused.writers.pop_front();
  }
}

/// Returns the register tile of a target. It leaves registers for one row of B
/// and one number of A.
static kernel::MatmulTiles tilesFor(const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo &subtarget = *machine.getMCSubtargetInfo();
  switch (machine.getTargetTriple().getArch()) {
  case llvm::Triple::x86_64:
    if (subtarget.checkFeatures("+avx512f"))
      return {/*vectorBytes=*/64, /*rows=*/6, /*vectors=*/4, /*hasFma=*/true};
    if (subtarget.checkFeatures("+avx"))
      return {32, 6, 2, subtarget.checkFeatures("+fma")};
    return {16, 4, 2, false};
  case llvm::Triple::aarch64:
    return {16, 8, 2, true};
  default:
    return {16, 4, 2, false};
  }
}

/// Returns true if the target has instructions between f16 and f32.
static bool hasHalves(const llvm::TargetMachine &machine) {
  switch (machine.getTargetTriple().getArch()) {
  case llvm::Triple::x86_64:
    return machine.getMCSubtargetInfo()->checkFeatures("+f16c");
  case llvm::Triple::aarch64:
    return true;
  default:
    return false;
  }
}

/// Returns true if the target is an x86 with `features`.
static bool hasFeatures(const llvm::TargetMachine &machine,
                        llvm::StringRef features) {
  return machine.getTargetTriple().getArch() == llvm::Triple::x86_64 &&
         machine.getMCSubtargetInfo()->checkFeatures(features.str());
}

//===----------------------------------------------------------------------===//
// The stages in order
//===----------------------------------------------------------------------===//

namespace {

uint64_t bytesOf(Type type) {
  auto buffer = cast<MemRefType>(type);
  return buffer.getNumElements() * (buffer.getElementTypeBitWidth() / 8);
}

/// Returns for each buffer that a segment will take (inputs, outputs,
/// coordinates) whether it may share memory with another.
SmallVector<bool> findShared(func::FuncOp function) {
  unsigned numInputs = function.getNumArguments();
  SmallVector<bool> isShared(numInputs + function.getNumResults() + 1);
  if (auto pairs =
          function->getAttrOfType<DenseI64ArrayAttr>(kSegmentAliasAttrName))
    for (auto [p, index] : llvm::enumerate(pairs.asArrayRef())) {
      size_t position = p % 2 == 0 ? index : numInputs + index;
      // takeBuffers reports other indices
      if (index >= 0 && position < isShared.size())
        isShared[position] = true;
    }
  return isShared;
}

/// Returns the rows of a register tile of products, or 0 if they differ among
/// `targets`.
FailureOr<int64_t> tileRowsOf(ArrayRef<Target> targets, Location loc) {
  int64_t rows = 0;
  for (const Target &target : targets) {
    FailureOr<UsedWriter> writer = UsedWriter::get(target, loc);
    if (failed(writer))
      return failure();
    const int64_t own = tilesFor(writer->getMachine()).rows;
    if (rows != 0 && own != rows)
      return 0;
    rows = own;
  }
  return rows;
}

/// Runs the stages that know nothing about targets except `tileRows`, which all
/// of them share. Leaves functions on buffers. With `outlines`, equal loops may
/// share their code; without it, each loop stays in its place.
LogicalResult lowerToBuffers(ModuleOp module, ArrayRef<func::FuncOp> functions,
                             MutableArrayRef<CompiledSegment> compiled,
                             int64_t tileRows, Rounding rounding,
                             bool outlines = true) {
  for (func::FuncOp function : functions) {
    if (failed(kernel::readResources(function)) ||
        failed(kernel::widenNarrowFloats(function)))
      return failure();
    kernel::removePoison(function);
  }
  if (failed(kernel::normalizeTensors(module, rounding)))
    return failure();
  struct Sharing {
    SmallVector<bool> isShared;
    unsigned numInputs;
    SmallVector<int64_t> pairs;
  };
  SmallVector<Sharing> shared;
  for (auto [constant, segment] : llvm::zip_equal(functions, compiled)) {
    func::FuncOp function = constant;
    shared.push_back({findShared(function), function.getNumArguments(), {}});
    if (auto pairs =
            function->getAttrOfType<DenseI64ArrayAttr>(kSegmentAliasAttrName))
      shared.back().pairs.append(pairs.asArrayRef().begin(),
                                 pairs.asArrayRef().end());
    kernel::LocationTable table;
    if (failed(kernel::insertChecks(function, table)) ||
        failed(kernel::storeBooleansAsBytes(function)))
      return failure();
    kernel::fuseRows(function, tileRows);
    if (failed(kernel::takeBuffers(function)))
      return failure();
    segment.locations = table.take();
  }
  if (failed(verify(module)))
    return failure();
  if (failed(kernel::bufferizeSegments(module)))
    return failure();
  for (auto [function, sharing] : llvm::zip_equal(functions, shared)) {
    kernel::shareMemory(function, sharing.numInputs, sharing.pairs);
    if (outlines)
      kernel::outlineParts(function, sharing.isShared);
  }
  return success();
}

kernel::MatmulTiles tilesOf(const llvm::TargetMachine &machine,
                            Rounding rounding) {
  kernel::MatmulTiles tiles = tilesFor(machine);
  tiles.addsInOrder = rounding == Rounding::Strict;
  tiles.hasHalves = hasHalves(machine);
  tiles.hasByteDots = hasFeatures(machine, "+avx512vnni,+avx512bw");
  tiles.hasRanges = hasFeatures(machine, "+avx512dq");
  tiles.hasPowers = hasFeatures(machine, "+avx512vl");
  tiles.hasLineStores = hasFeatures(machine, "+avx512f");
  return tiles;
}

/// Runs the stages that write vector code themselves.
void lowerStructured(ModuleOp module, const llvm::TargetMachine &machine,
                     const kernel::MatmulTiles &tiles, kernel::PathLog *log) {
  // Packing for tiles uses instructions on vectors of 64 bytes.
  const kernel::MatrixUnit unit = {
      /*hasBytes=*/hasFeatures(machine, "+amx-int8,+avx512bw"),
      /*hasFloats=*/hasFeatures(machine, "+amx-bf16,+avx512bw")};
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    kernel::lowerToTiles(function, unit, log);
    kernel::widenNarrowOperands(function);
    kernel::lowerContractions(function, tiles, log);
    kernel::lowerConvolutions(function, tiles, log);
    kernel::lowerReductions(function, tiles, log);
    kernel::lowerTransposes(function, tiles, log);
  }
}

/// Returns true if the module has loops that the program wrote.
bool hasOwnLoops(ModuleOp module) {
  return module
      .walk([](LoopLikeOpInterface loop) {
        return loop->hasAttr(kernel::kRowLoopAttrName)
                   ? WalkResult::advance()
                   : WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// Runs the stages for one target. Consumes `module`.
FailureOr<std::string> lowerToObject(ModuleOp module, const Target &target,
                                     MutableArrayRef<CompiledSegment> compiled,
                                     ArrayRef<func::FuncOp> originals,
                                     Rounding rounding) {
  FailureOr<UsedWriter> writer = UsedWriter::get(target, module.getLoc());
  if (failed(writer))
    return failure();
  const llvm::TargetMachine &machine = writer->getMachine();
  kernel::MatmulTiles tiles = tilesOf(machine, rounding);
  bool hasPlainLoops = hasOwnLoops(module);
  lowerStructured(module, machine, tiles, /*log=*/nullptr);
  kernel::fuseMarkedProducts(module, tiles, rounding);
  kernel::expandNarrowConversions(module, tiles.hasHalves);
  if (failed(kernel::lowerToLoops(module, tiles, hasPlainLoops)))
    return failure();
  kernel::storeNarrowFloatsAsIntegers(module);
  kernel::takeBuffersOfParts(module);
  std::vector<kernel::LoweredSegment> segments;
  for (auto [i, constant] : llvm::enumerate(originals)) {
    func::FuncOp original = constant;
    auto function =
        module.lookupSymbol<func::FuncOp>(("body." + Twine(i)).str());
    kernel::LoweredSegment &segment = segments.emplace_back();
    unsigned numInputs = original.getNumArguments();
    segment.symbol = function.getName();
    segment.entry = ::pathways::SegmentSymbol(compiled[i].symbol);
    segment.buffers = numInputs + original.getNumResults();
    for (unsigned b = 0; b < segment.buffers; ++b)
      segment.bufferBytes.push_back(bytesOf(function.getArgumentTypes()[b]));
    for (unsigned b = 0; b < numInputs; ++b)
      segment.inputs.push_back(b);
    if (auto pairs =
            original->getAttrOfType<DenseI64ArrayAttr>(kSegmentAliasAttrName))
      for (auto [p, index] : llvm::enumerate(pairs.asArrayRef()))
        segment.shared.push_back(p % 2 == 0 ? index : numInputs + index);
    uint64_t bytes = 0;
    if (failed(kernel::assignScratch(function, segment.scratchOffsets, bytes)))
      return failure();
    compiled[i].scratchBytes = std::max(compiled[i].scratchBytes, bytes);
    kernel::lowerAsserts(function);
  }
  if (failed(kernel::lowerToLLVM(module, segments)))
    return failure();
  return kernel::emitObject(module, segments, **writer, hasPlainLoops);
}

} // namespace

/// Returns the hash of the kernel in the form that the loader will see.
static FailureOr<std::string> hashOf(const CompiledKernel &kernel,
                                     ArrayRef<func::FuncOp> functions,
                                     Rounding rounding, Location loc) {
  ::pathways::proto::Kernel proto;
  proto.set_rounding(static_cast<::pathways::proto::Rounding>(rounding));
  for (auto [i, segment] : llvm::enumerate(kernel.segments)) {
    ::pathways::proto::Segment *out = proto.add_segments();
    out->set_symbol(segment.symbol);
    out->set_scratch_bytes(segment.scratchBytes);
    for (size_t k = 0; k < segment.locations.size(); ++k)
      out->add_locations();
    func::FuncOp function = functions[i];
    auto addOperand = [&](Type type, bool isWritten) {
      auto tensor = cast<RankedTensorType>(type);
      ::pathways::proto::KernelOperand *operand = out->add_operands();
      operand->set_element(getElementType(tensor.getElementType()));
      operand->set_written(isWritten);
      for (int64_t size : tensor.getShape())
        operand->add_shape(size);
    };
    for (Type type : function.getArgumentTypes())
      addOperand(type, false);
    for (Type type : function.getResultTypes())
      addOperand(type, true);
  }
  std::string blobs;
  for (auto [target, object] :
       llvm::zip_equal(kernel.targets, kernel.objects)) {
    ::pathways::proto::KernelObject *out = proto.add_objects();
    *out->mutable_target() = target;
    out->set_blob_offset(blobs.size());
    out->set_blob_bytes(object.size());
    blobs += object;
  }
  absl::StatusOr<std::string> hash = ::pathways::KernelHash(
      proto,
      absl::MakeConstSpan(reinterpret_cast<const uint8_t *>(blobs.data()),
                          blobs.size()));
  if (!hash.ok())
    return emitError(loc, std::string(hash.status().message()));
  return *hash;
}

/// Returns copies of `segments` with names that no function of the C library
/// has.
static OwningOpRef<ModuleOp>
cloneSegments(ArrayRef<func::FuncOp> segments,
              SmallVectorImpl<func::FuncOp> &functions) {
  func::FuncOp first = segments.front();
  OwningOpRef<ModuleOp> module = ModuleOp::create(first.getLoc());
  for (auto [i, constant] : llvm::enumerate(segments)) {
    func::FuncOp segment = constant;
    auto clone = cast<func::FuncOp>(segment->clone());
    clone.setName(("body." + Twine(i)).str());
    clone.setPublic();
    module->push_back(clone);
    functions.push_back(clone);
  }
  return module;
}

static FailureOr<CompiledKernel>
compileUnshielded(ArrayRef<func::FuncOp> segments, ArrayRef<Target> targets,
                  CodeCache *cache, Rounding rounding) {
  CompiledKernel kernel;
  func::FuncOp first = segments.front();
  Location loc = first.getLoc();
  ::pathways::InitializeTargets();

  const Target host;
  for (const Target &target : targets.empty() ? ArrayRef(host) : targets) {
    absl::StatusOr<Target> complete = ::pathways::CompleteTarget(target);
    if (!complete.ok())
      return emitError(loc, std::string(complete.status().message()));
    // Two spellings of one target need one object.
    if (llvm::none_of(kernel.targets, [&](const Target &other) {
          return other.SerializeAsString() == complete->SerializeAsString();
        }))
      kernel.targets.push_back(std::move(*complete));
  }

  CodeCache::Keys keys;
  if (cache) {
    keys = CodeCache::getKeys(segments, kernel.targets, rounding);
    if (auto found = cache->find(keys, kernel.targets, loc))
      return std::move(*found);
  }

  for (func::FuncOp segment : segments) {
    if (failed(kernel::checkSegment(segment)))
      return failure();
    kernel.segments.push_back({segment.getName().str(), 0, {}});
  }
  SmallVector<func::FuncOp> functions;
  OwningOpRef<ModuleOp> module = cloneSegments(segments, functions);
  FailureOr<int64_t> tileRows = tileRowsOf(kernel.targets, loc);
  if (failed(tileRows) ||
      failed(lowerToBuffers(*module, functions, kernel.segments, *tileRows,
                            rounding)))
    return failure();
  for (const Target &target : kernel.targets) {
    OwningOpRef<ModuleOp> copy = module->clone();
    FailureOr<std::string> object =
        lowerToObject(*copy, target, kernel.segments, segments, rounding);
    if (failed(object))
      return failure();
    kernel.objects.push_back(std::move(*object));
  }
  FailureOr<std::string> hash = hashOf(kernel, segments, rounding, loc);
  if (failed(hash))
    return failure();
  kernel.hash = *hash;
  if (cache)
    cache->store(keys, kernel, loc);
  return kernel;
}

FailureOr<CompiledKernel>
mlir::pathways::compileKernel(ArrayRef<func::FuncOp> segments,
                              ArrayRef<Target> targets, CodeCache *cache,
                              Rounding rounding) {
  if (segments.empty())
    return CompiledKernel();
  func::FuncOp first = segments.front();
  bool hasError = false;
  const uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler watcher(
      first.getContext(), [&](Diagnostic &diagnostic) {
        if (llvm::get_threadid() == thread)
          hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
        return failure(); // other handlers report it
      });
  // Requests the AMX registers of this machine before entering the crash
  // shield: Linux may refuse them depending on the size of the signal stack,
  // and the thread has another signal stack behind the shield.
  ::pathways::HostTarget();
  // The stages work on a copy of the segments, which is lost in a crash.
  FailureOr<CompiledKernel> kernel = failure();
  auto crash = runWithCrashRecovery(
      [&] { kernel = compileUnshielded(segments, targets, cache, rounding); });
  if (crash) {
    kernel = emitError(first.getLoc(), "code generation failed: ")
             << crash->str();
  } else if (failed(kernel) && !hasError) {
    kernel = emitError(first.getLoc(), "code generation failed");
  }
  return kernel;
}

FailureOr<std::vector<OpPath>>
mlir::pathways::explainKernel(ArrayRef<func::FuncOp> segments,
                              const Target &target, Rounding rounding) {
  std::vector<OpPath> paths;
  if (segments.empty())
    return paths;
  func::FuncOp first = segments.front();
  ::pathways::InitializeTargets();
  absl::StatusOr<Target> complete = ::pathways::CompleteTarget(target);
  if (!complete.ok())
    return emitError(first.getLoc(), std::string(complete.status().message()));
  FailureOr<UsedWriter> writer = UsedWriter::get(*complete, first.getLoc());
  if (failed(writer))
    return failure();
  const llvm::TargetMachine &machine = writer->getMachine();
  SmallVector<func::FuncOp> functions;
  OwningOpRef<ModuleOp> module = cloneSegments(segments, functions);
  std::vector<CompiledSegment> compiled(segments.size());
  kernel::MatmulTiles tiles = tilesOf(machine, rounding);
  if (failed(lowerToBuffers(*module, functions, compiled, tiles.rows, rounding,
                            /*outlines=*/false)))
    return failure();
  kernel::PathLog log(tiles);
  lowerStructured(*module, machine, tiles, &log);
  for (func::FuncOp function : functions)
    log.addRest(function);
  for (func::FuncOp segment : segments)
    log.describe(segment, paths);
  return paths;
}
