//===- Compile.cpp - Text to plans ----------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Compile.h"

#include "PlanState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "pathways/Codegen/CodeCache.h"
#include "pathways/Lowering/Passes.h"
#include "pathways/Target/PlanFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace pathways;

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

namespace {
/// Collects diagnostics as lines "file:line:column: severity: text", notes
/// after what they belong to. MLIR passes those of its threads on in a fixed
/// order.
class DiagnosticLines : public mlir::ScopedDiagnosticHandler {
public:
  explicit DiagnosticLines(mlir::MLIRContext *context)
      : ScopedDiagnosticHandler(context) {
    setHandler([this](mlir::Diagnostic &diagnostic) {
      bool isError =
          diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
      std::string text = line(diagnostic);
      for (mlir::Diagnostic &note : diagnostic.getNotes())
        text += "\n" + line(note);
      if (!isError)
        remarks.push_back(text);
      else
        errors += (errors.empty() ? "" : "\n") + text;
      return mlir::success();
    });
  }

  Error takeError(const std::string &otherwise) {
    return Error{ErrorCode::InvalidProgram,
                 errors.empty() ? otherwise : std::move(errors)};
  }

  std::vector<std::string> remarks;

private:
  static std::string line(mlir::Diagnostic &diagnostic) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (auto location =
            diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
      os << location.getFilename().getValue() << ":" << location.getLine()
         << ":" << location.getColumn() << ": ";
    switch (diagnostic.getSeverity()) {
    case mlir::DiagnosticSeverity::Error:
      os << "error: ";
      break;
    case mlir::DiagnosticSeverity::Warning:
      os << "warning: ";
      break;
    case mlir::DiagnosticSeverity::Remark:
      os << "remark: ";
      break;
    case mlir::DiagnosticSeverity::Note:
      os << "note: ";
      break;
    }
    os << diagnostic.str();
    return text;
  }

  std::string errors;
};
} // namespace

/// Loads what programs may contain.
static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  mlir::pathways::registerPathwaysLoweringDialects(registry);
  return registry;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

Result<Program> pathways::readProgram(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer)
    return Error{ErrorCode::NotFound, "cannot read program '" + path +
                                          "': " + buffer.getError().message()};
  return Program{(*buffer)->getBuffer().str(), path == "-" ? "<stdin>" : path};
}

/// Removes all programs but the one called `name`, or fails with a sentence.
static Status selectProgram(mlir::ModuleOp module, const std::string &name) {
  using mlir::pathways::ProgramOp;
  llvm::SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
  std::string names;
  ProgramOp selected;
  for (ProgramOp program : programs) {
    names += (names.empty() ? "@" : ", @") + program.getSymName().str();
    if (name.empty() || program.getSymName() == name)
      selected = program;
  }
  if (programs.empty())
    return Error{ErrorCode::InvalidProgram, "there is no pw.program"};
  if (!selected)
    return Error{ErrorCode::InvalidProgram,
                 "there is no pw.program @" + name + "; there is " + names};
  if (name.empty() && programs.size() > 1)
    return Error{ErrorCode::InvalidProgram,
                 "there are several programs, name one of: " + names};
  for (ProgramOp program : programs)
    if (program != selected)
      program.erase();
  return {};
}

/// Parsing and passes recurse where text nests, and the stack is finite.
static constexpr int kMaxNesting = 256;

/// Fails, with the place, where brackets nest more than kMaxNesting deep.
static Status checkNesting(const Program &program) {
  int depth = 0;
  bool isString = false;
  llvm::StringRef text = program.text;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '"' || c == '\n') // Strings end on their line.
      isString = c == '"' && !isString;
    else if (isString)
      i += c == '\\';
    else if (c == '/' && next == '/')
      i = std::min(text.find('\n', i), text.size()) - 1;
    else if (c == '(' || c == '[' || c == '{' || (c == '<' && next != '='))
      ++depth;
    else if (c == ')' || c == ']' || c == '}' || (c == '>' && next != '='))
      depth = std::max(0, depth - 1);
    else if (c == '-' && next == '>')
      ++i;
    if (depth <= kMaxNesting)
      continue;
    llvm::StringRef before = text.take_front(i);
    size_t line = before.count('\n') + 1, column = i - before.rfind('\n');
    return Error{ErrorCode::InvalidProgram,
                 llvm::formatv("{0}:{1}:{2}: error: nested more than {3} deep",
                               program.fileName, line, column, kMaxNesting)
                     .str()};
  }
  return {};
}

Result<Compiled> pathways::compile(const Program &program,
                                   const CompileOptions &options) {
  if (Status shallow = checkNesting(program); !shallow)
    return shallow.error();
  if (!options.kernelCache.empty()) {
    auto cache = mlir::pathways::CodeCache::open(options.kernelCache);
    if (!cache)
      return Error{ErrorCode::InvalidArgument,
                   llvm::toString(cache.takeError())};
  }
  mlir::MLIRContext context(makeRegistry(),
                            mlir::MLIRContext::Threading::ENABLED);
  // The line is enough; a program's text may be long.
  context.printOpOnDiagnostic(false);
  DiagnosticLines diagnostics(&context);

  // The parser wants text that ends in a NUL, which a std::string has.
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(program.text, program.fileName),
      llvm::SMLoc());
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(sourceMgr, &context);
  if (!module)
    return diagnostics.takeError(program.fileName + ": cannot be parsed");

  // Text of the plan dialect is a plan already, but for its form.
  std::vector<mlir::pathways::KernelCost> costs;
  auto plans = module->getOps<mlir::pathways::plan::ProgramOp>();
  if (plans.empty()) {
    if (Status selected = selectProgram(*module, options.program); !selected)
      return Error{selected.error().code,
                   program.fileName + ": " + selected.error().message};
    mlir::PassManager passes(&context);
    mlir::pathways::CompileOptions pipelineOptions;
    pipelineOptions.topology = options.topology;
    pipelineOptions.oversubscribe = options.oversubscribe;
    pipelineOptions.stepsInFlight =
        static_cast<unsigned>(options.stepsInFlight);
    pipelineOptions.kernelCache = options.kernelCache;
    pipelineOptions.kernelCacheBytes = options.kernelCacheBytes;
    mlir::pathways::buildCompilePipeline(passes, pipelineOptions, &costs);
    if (mlir::failed(passes.run(*module)))
      return diagnostics.takeError(program.fileName + ": compiling failed");
  }

  auto plan = mlir::pathways::getSingleProgram(*module);
  if (mlir::failed(plan))
    return diagnostics.takeError(program.fileName + ": there is no program");
  auto exported = mlir::pathways::exportPlan(*plan);
  if (mlir::failed(exported))
    return diagnostics.takeError(program.fileName + ": emitting failed");
  const auto *blobs = reinterpret_cast<const uint8_t *>(exported->blobs.data());
  std::vector<KernelCost> kernels;
  for (const mlir::pathways::KernelCost &cost : costs)
    kernels.push_back({cost.kernel, cost.isCached, cost.seconds});
  return Compiled{makePlan(MakePlanData(std::move(exported->tables),
                                        {blobs, exported->blobs.size()})),
                  std::move(diagnostics.remarks), std::move(kernels)};
}

Result<std::string> pathways::printPlan(const Plan &plan) {
  mlir::MLIRContext context(makeRegistry(),
                            mlir::MLIRContext::Threading::DISABLED);
  DiagnosticLines diagnostics(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::pathways::importPlan(plan.getState().data, &context);
  if (!module) {
    Error error = diagnostics.takeError("the plan cannot be printed");
    error.code = ErrorCode::InvalidArgument;
    return error;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}
