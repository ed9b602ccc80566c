//===- Object.cpp - Lowering from loops to object files -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Object/ObjectWriter.h"
#include "Object/VectorAccess.h"
#include "Rewrite.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/kernel/abi.h"
#include "runtime/kernel/kernel_imports.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>
#include <optional>

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Conversion to the LLVM dialect
//===----------------------------------------------------------------------===//

/// Sets the attributes of the pointer argument `i`, which points to a buffer.
static void describeBuffer(LLVM::LLVMFuncOp function, unsigned i, bool isShared,
                           uint64_t bytes) {
  Builder b(function.getContext());
  function.setArgAttr(i, LLVM::LLVMDialect::getNoCaptureAttrName(),
                      b.getUnitAttr());
  if (!isShared)
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
  function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(::pathways::kBufferAlignment));
  if (bytes > 0)
    function.setArgAttr(i, LLVM::LLVMDialect::getDereferenceableAttrName(),
                        b.getI64IntegerAttr(bytes));
}

/// Sets the known attributes of the arguments of `body`, one for each buffer.
static void describeArguments(LLVM::LLVMFuncOp body,
                              const kernel::LoweredSegment &segment) {
  Builder b(body.getContext());
  for (unsigned i = 0, e = body.getNumArguments(); i < e; ++i) {
    if (i == segment.buffers + 1) // the step is a number
      continue;
    if (i == segment.buffers) { // coordinates have any alignment
      body.setArgAttr(i, LLVM::LLVMDialect::getNoCaptureAttrName(),
                      b.getUnitAttr());
      body.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                      b.getUnitAttr());
      continue;
    }
    bool isBuffer = i < segment.buffers;
    describeBuffer(body, i, isBuffer && llvm::is_contained(segment.shared, i),
                   isBuffer ? segment.bufferBytes[i] : 0);
  }
  for (unsigned i : segment.inputs)
    body.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(),
                    b.getUnitAttr());
}

/// Loads the arguments of `body` from those of its entry point.
static SmallVector<Value> loadArguments(OpBuilder &b, Location loc,
                                        const kernel::LoweredSegment &segment,
                                        Block &entry) {
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < segment.buffers; ++i) {
    Value slot = LLVM::GEPOp::create(b, loc, ptr, ptr, entry.getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    arguments.push_back(LLVM::LoadOp::create(b, loc, ptr, slot));
  }
  arguments.push_back(entry.getArgument(1));
  arguments.push_back(entry.getArgument(3));
  for (uint64_t offset : segment.scratchOffsets) {
    Value bytes = LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                           b.getI64IntegerAttr(offset));
    arguments.push_back(LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(),
                                            entry.getArgument(2),
                                            ArrayRef<LLVM::GEPArg>{bytes}));
  }
  return arguments;
}

/// Writes the entry point with the calling convention of abi.h. It loads the
/// buffers and calls the body, whose arguments carry the known attributes.
static void addEntry(ModuleOp module, const kernel::LoweredSegment &segment,
                     LLVM::LLVMFuncOp body) {
  OpBuilder b(module.getContext());
  Location loc = body.getLoc();
  Type ptr = LLVM::LLVMPointerType::get(module.getContext());
  Type i32 = b.getI32Type();
  body.setLinkage(LLVM::Linkage::Internal);
  if (!segment.takesTable)
    describeArguments(body, segment);

  b.setInsertionPointToEnd(module.getBody());
  auto entry = LLVM::LLVMFuncOp::create(
      b, loc, segment.entry,
      LLVM::LLVMFunctionType::get(i32, {ptr, ptr, ptr, b.getI64Type()}));
  Block *block = entry.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  SmallVector<Value> arguments;
  if (segment.takesTable)
    for (unsigned i : {1, 3, 0, 2})
      arguments.push_back(block->getArgument(i));
  else
    arguments = loadArguments(b, loc, segment, *block);
  Value status = LLVM::CallOp::create(b, loc, body, arguments).getResult();
  LLVM::ReturnOp::create(b, loc, status);
}

/// Replaces exp(x) - 1 and log(1 + x) by calls of the C library: the conversion
/// to LLVM would write them out and lose accuracy near zero.
static void callAccurateFunctions(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<math::ExpM1Op, math::Log1pOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder b(op);
    Type type = op->getResult(0).getType();
    std::string name = isa<math::ExpM1Op>(op) ? "expm1" : "log1p";
    if (type.isF32())
      name += "f";
    auto callee = symbols.lookup<func::FuncOp>(name);
    if (!callee) {
      callee = func::FuncOp::create(op->getLoc(), name,
                                    b.getFunctionType(type, type));
      callee.setPrivate();
      symbols.insert(callee);
    }
    auto call =
        func::CallOp::create(b, op->getLoc(), callee, op->getOperands());
    op->replaceAllUsesWith(call);
    op->erase();
  }
}

namespace {
/// Known facts about an argument of a part.
struct PartArgument {
  bool isBuffer, isShared;
  uint64_t bytes;
};
using Parts = llvm::MapVector<StringAttr, SmallVector<PartArgument>>;
} // namespace

static Parts findParts(ModuleOp module) {
  Parts parts;
  for (auto function : module.getOps<func::FuncOp>()) {
    auto isShared =
        function->getAttrOfType<DenseBoolArrayAttr>(kernel::kPartAttrName);
    if (!isShared)
      continue;
    function->removeAttr(kernel::kPartAttrName);
    SmallVector<PartArgument> &arguments = parts[function.getSymNameAttr()];
    for (auto [type, shared] :
         llvm::zip_equal(function.getArgumentTypes(), isShared.asArrayRef())) {
      auto buffer = dyn_cast<MemRefType>(type);
      uint64_t bytes = 0;
      if (buffer && !buffer.getElementType().isIndex())
        bytes = buffer.getNumElements() * buffer.getElementTypeBitWidth() / 8;
      arguments.push_back({static_cast<bool>(buffer), shared, bytes});
    }
  }
  return parts;
}

static void describeParts(ModuleOp module, const Parts &parts) {
  for (auto &[name, arguments] : parts) {
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    function.setLinkage(LLVM::Linkage::Internal);
    // Inlining would lose the attributes of the arguments and make the function
    // large again.
    function.setNoInline(true);
    for (auto [i, argument] : llvm::enumerate(arguments))
      if (argument.isBuffer)
        describeBuffer(function, i, argument.isShared, argument.bytes);
  }
}

/// Lowers loops to branches. With `hasPointers`, there are no buffers any more.
static LogicalResult lowerToBranches(ModuleOp module, bool hasPointers) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  // Expands only some ops of arith: maxima and minima have instructions, and
  // reductions by compare and select would not become vector code.
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  if (!hasPointers)
    memref::populateExpandStridedMetadataPatterns(patterns);
  kernel::applyPatternsToEnd(module, std::move(patterns));
  if (failed(kernel::lowerAffine(module)))
    return failure();
  kernel::simplify(module);
  module.walk([](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
  PassManager pm(context);
  // Integer powers become functions with loops.
  if (kernel::hasOp(module, llvm::IsaPred<math::IPowIOp, math::FPowIOp>))
    pm.addPass(createConvertMathToFuncs());
  pm.addPass(createSCFToControlFlowPass());
  return kernel::runPasses(pm, module);
}

namespace {
/// Conversion of all ops of loops to the LLVM dialect. Thread-safe.
struct Conversion {
  explicit Conversion(MLIRContext *context);

  LLVMTypeConverter converter;
  FrozenRewritePatternSet patterns; ///< refer to the converter
};

/// The conversion of a context, created on first use.
class KnownConversion : public DialectInterface::Base<KnownConversion> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KnownConversion)

  explicit KnownConversion(Dialect *dialect) : Base(dialect) {}

  const Conversion &get() const {
    std::call_once(once, [&] { conversion.emplace(getContext()); });
    return *conversion;
  }

private:
  mutable std::once_flag once;
  mutable std::optional<Conversion> conversion;
};
} // namespace

static LowerToLLVMOptions optionsFor(MLIRContext *context) {
  LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = true;
  return options;
}

Conversion::Conversion(MLIRContext *context)
    : converter(context, optionsFor(context)) {
  RewritePatternSet patterns(context);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  kernel::addVectorAccessPatterns(converter, patterns);
  // Functions with an LLVM intrinsic use it; the others call the C library.
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/true,
                                       /*benefit=*/2);
  populateMathToLibmConversionPatterns(patterns, /*benefit=*/1);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  this->patterns = std::move(patterns);
}

void kernel::registerConversion(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, LLVM::LLVMDialect *dialect) {
    dialect->addInterfaces<KnownConversion>();
  });
}

/// Returns the conversion of the context. If the context has none, creates it
/// in `own`.
static const Conversion &findConversion(MLIRContext *context,
                                        std::optional<Conversion> &own) {
  auto *dialect = context->getLoadedDialect<LLVM::LLVMDialect>();
  auto *known = dialect->getRegisteredInterface<KnownConversion>();
  return known ? known->get() : own.emplace(context);
}

/// Converts all remaining ops to the LLVM dialect in one pass: separate
/// conversions would each have to visit all ops.
static LogicalResult convertToLLVM(ModuleOp module, bool hasPointers,
                                   const Conversion &conversion) {
  LLVMConversionTarget target(*module.getContext());
  target.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
  if (failed(applyFullConversion(module, target, conversion.patterns)))
    return failure();
  // The buffers that takeTable() made are the same as what they convert to.
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  reconcileUnrealizedCasts(casts);
  // Lowering takes a buffer apart at each access, which leaves equal ops. With
  // pointers, each op becomes one op, so there are none.
  if (!hasPointers)
    kernel::joinEqual(module);
  return success();
}

LogicalResult kernel::lowerToLLVM(ModuleOp module,
                                  MutableArrayRef<LoweredSegment> segments) {
  // Later stages would report a mistake of these stages in other terms.
  if (failed(verify(module)))
    return failure();
  const Parts parts = findParts(module);
  callAccurateFunctions(module);
  const bool hasPointers = writePointers(module);
  std::optional<Conversion> own;
  const Conversion &conversion = findConversion(module.getContext(), own);
  auto toBuffer = [&](OpBuilder &b, Location loc, MemRefType type,
                      Value pointer) -> Value {
    Value descriptor = MemRefDescriptor::fromStaticShape(
        b, loc, conversion.converter, type, pointer);
    return UnrealizedConversionCastOp::create(b, loc, type, descriptor)
        .getResult(0);
  };
  for (LoweredSegment &segment : segments)
    takeTable(module.lookupSymbol<func::FuncOp>(segment.symbol), segment,
              toBuffer);
  if (failed(lowerToBranches(module, hasPointers)) ||
      failed(convertToLLVM(module, hasPointers, conversion)))
    return failure();
  for (const LoweredSegment &segment : segments) {
    auto body = module.lookupSymbol<LLVM::LLVMFuncOp>(segment.symbol);
    if (!body)
      return module.emitError("segment '")
             << segment.entry << "' has no code after lowering";
    addEntry(module, segment, body);
  }
  describeParts(module, parts);
  return success();
}

//===----------------------------------------------------------------------===//
// Writing the object file
//===----------------------------------------------------------------------===//

/// Keeps the first error of LLVM's code generator.
namespace {
struct Complaints : llvm::DiagnosticHandler {
  explicit Complaints(std::string &text) : text(text) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    bool isStack = info.getKind() == llvm::DK_StackSize;
    if ((isStack || info.getSeverity() == llvm::DS_Error) && text.empty()) {
      llvm::raw_string_ostream os(text);
      llvm::DiagnosticPrinterRawOStream printer(os);
      info.print(printer);
    }
    return true;
  }

  std::string &text;
};
} // namespace

/// Inlines small bodies into their entry points. The bodies have been optimized
/// with the attributes of their arguments already, and one function less goes
/// through code generation. For large bodies, inlining takes longer because it
/// must preserve these attributes.
static void joinBodies(llvm::Module &code,
                       ArrayRef<kernel::LoweredSegment> segments) {
  constexpr unsigned kMostInstructions = 48;
  for (const kernel::LoweredSegment &segment : segments) {
    llvm::Function *body = code.getFunction(segment.symbol);
    if (!body || !body->hasOneUse() ||
        body->getInstructionCount() > kMostInstructions)
      continue;
    auto *call = llvm::dyn_cast<llvm::CallInst>(body->user_back());
    llvm::InlineFunctionInfo info;
    if (call && llvm::InlineFunction(*call, info).isSuccess())
      body->eraseFromParent();
  }
}

/// Refuses an object that imports a symbol that the loader does not provide.
static LogicalResult checkImports(ModuleOp module, llvm::StringRef bytes) {
  auto object = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(bytes, "kernel"));
  if (!object)
    return module.emitError("code generation wrote an invalid object: ")
           << llvm::toString(object.takeError());
  for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name)
      return module.emitError(
          "code generation wrote an object with a broken symbol");
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty() &&
        *name != "_GLOBAL_OFFSET_TABLE_" &&
        ::pathways::FindKernelImport(name->data(), name->size()) == nullptr)
      return module.emitError("kernel needs the function '")
             << *name << "', which is not among those a kernel may call";
  }
  return success();
}

FailureOr<std::string> kernel::emitObject(ModuleOp module,
                                          ArrayRef<LoweredSegment> segments,
                                          ObjectWriter &writer,
                                          bool hasPlainLoops) {
  llvm::TargetMachine &machine = writer.getMachine();
  llvm::LLVMContext context;
  std::string complaint;
  context.setDiagnosticHandler(std::make_unique<Complaints>(complaint));
  ErrorWatch watch(module.getContext());
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, context, "kernel");
  if (!code)
    return watch.hasSeenError()
               ? failure()
               : module.emitError("code generation failed: the module cannot "
                                  "be translated to LLVM IR");
  code->setDataLayout(machine.createDataLayout());
  code->setTargetTriple(machine.getTargetTriple());
  code->setPICLevel(llvm::PICLevel::BigPIC);
  llvm::StringSet<> entries, bodies;
  for (const LoweredSegment &segment : segments) {
    entries.insert(segment.entry);
    bodies.insert(segment.symbol);
  }
  for (llvm::Function &function : *code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("warn-stack-size",
                       std::to_string(::pathways::kMaxStackBytes));
    // Use full AVX-512 vectors, also on processors for which LLVM prefers half
    // of it: kernels do little else, and the gain exceeds the loss of clock
    // frequency.
    function.addFnAttr("prefer-vector-width", "512");
    if (!entries.contains(function.getName())) {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
      function.setComdat(nullptr);
    }
    // Inlining now would lose the attributes of the arguments.
    if (bodies.contains(function.getName()))
      function.addFnAttr(llvm::Attribute::NoInline);
    function.setDSOLocal(true);
  }
  optimize(*code, writer, hasPlainLoops);
  joinBodies(*code, segments);
  std::optional<llvm::StringRef> object = writer.write(*code);
  if (!object)
    return module.emitError("cannot write object files for target ")
           << machine.getTargetTriple().str();
  if (!complaint.empty())
    return module.emitError("code generation failed: ") << complaint;
  if (failed(checkImports(module, *object)))
    return failure();
  return object->str();
}
