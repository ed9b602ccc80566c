//===- Parse.cpp - Parser with crash recovery -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Support/Parse.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "pathways/Support/CrashRecovery.h"
#include "pathways/Support/StableHloText.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Nesting
//===----------------------------------------------------------------------===//

/// Largest nesting of a text. Parsing and passes recurse with it, and the stack
/// is finite.
static constexpr int kMaxNesting = 256;

/// Returns the first place where brackets nest more than kMaxNesting deep.
static std::optional<size_t> findDeepNesting(StringRef text) {
  int depth = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '"' || c == '\n') // strings end on their line
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
    if (depth > kMaxNesting)
      return i;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {

/// Makes the context work on this thread alone: a crash on another thread would
/// not be shielded, and a crash here would leave others waiting for its locks.
class SingleThread {
public:
  explicit SingleThread(MLIRContext *context)
      : context(context), wasMany(context->isMultithreadingEnabled()) {
    if (wasMany)
      context->disableMultithreading();
  }
  ~SingleThread() {
    if (wasMany)
      context->enableMultithreading();
  }

private:
  MLIRContext *context;
  bool wasMany;
};

/// Parsing of one text. The first error stops the parser at once, without its
/// cleanup: some parsers continue with missing parts, and one that removes a
/// region does not check whether operations read earlier refer to values of it
/// (by a forward reference). That memory would be written to later. Verifiers
/// may continue: errors before a crash explain it, so a crash is reported only
/// if there was none.
class Parse {
public:
  Parse(StringRef text, StringRef fileName, MLIRContext *context)
      : text(text), fileName(fileName), context(context) {}

  Parsed run();

private:
  Location locationAt(size_t offset);
  bool read();
  void placeAll();
  bool verifyAll();
  Operation *findUnverifiable();
  void remarkUnknownAttributes();

  StringRef text, fileName;
  MLIRContext *context;
  Parsed parsed;
  bool hasError = false;
};

} // namespace

Location Parse::locationAt(size_t offset) {
  StringRef before = text.take_front(offset);
  return FileLineColLoc::get(context, fileName, before.count('\n') + 1,
                             offset - before.rfind('\n'));
}

/// Adds a code to an error, unless it has a more specific one.
static void addCode(Diagnostic &diagnostic, ::pathways::ErrorId code) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
      ::pathways::TagOf(diagnostic.str()).empty())
    diagnostic << ::pathways::Tag(code);
}

bool Parse::read() {
  // The parser needs a NUL at the end, which a copy has.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(text, fileName);
  StringRef watched = buffer->getBuffer();
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  ParserConfig config(context, /*verifyAfterParse=*/false);
  std::optional<Diagnostic> error;
  std::optional<Crash> crash;
  {
    ScopedDiagnosticHandler leaver(context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure(); // other handlers report it
      error.emplace(std::move(diagnostic));
      exitCrashRecovery("an error");
    });
    crash = runWithCrashRecovery(
        [&] { parsed.module = parseSourceFile<ModuleOp>(sourceMgr, config); },
        watched);
  }
  if (error) {
    addCode(*error, ::pathways::ErrorId::kNotParsed);
    context->getDiagEngine().emit(std::move(*error));
    return false;
  }
  if (!crash)
    return static_cast<bool>(parsed.module);
  parsed.hasCrashed = true;
  emitError(locationAt(crash->offset.value_or(0)),
            crash->offset ? "the parser of MLIR crashed near here: "
                          : "the parser of MLIR crashed: ")
      << crash->str();
  return false;
}

/// Parsers build operations, for example the bodies of named products, without
/// a location. Errors in one are errors of the operation around it.
void Parse::placeAll() {
  parsed.module->walk<WalkOrder::PreOrder>([](Operation *op) {
    if (isa<UnknownLoc>(op->getLoc()) && op->getParentOp())
      op->setLoc(op->getParentOp()->getLoc());
  });
}

bool Parse::verifyAll() {
  placeAll();
  ScopedDiagnosticHandler coder(context, [](Diagnostic &diagnostic) {
    addCode(diagnostic, ::pathways::ErrorId::kNotValid);
    return failure(); // other handlers report it
  });
  bool isValid = false;
  std::optional<Crash> crash = runWithCrashRecovery(
      [&] { isValid = succeeded(verify(*parsed.module)); });
  if (!crash)
    return isValid;
  parsed.hasCrashed = true;
  if (hasError)
    return false;
  Operation *op = findUnverifiable();
  emitError(op->getLoc(), "the verifier of MLIR crashed on '")
      << op->getName().getStringRef() << "': " << crash->str();
  return false;
}

/// Returns the first operation, in the order of the text, whose verifier
/// crashes; returns the module if no single operation does.
Operation *Parse::findUnverifiable() {
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) {});
  Operation *current = nullptr;
  std::optional<Crash> crash = runWithCrashRecovery([&] {
    parsed.module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      current = op;
      (void)verify(op, /*verifyRecursively=*/false);
    });
  });
  return crash ? current : *parsed.module;
}

/// Reports once for each prefix that attributes of a dialect that is not known
/// are kept. Front ends attach attributes that only their own passes read.
void Parse::remarkUnknownAttributes() {
  llvm::StringSet<> seen;
  auto check = [&](Operation *op, DictionaryAttr attributes) {
    if (!attributes)
      return;
    for (NamedAttribute attribute : attributes) {
      auto [prefix, name] = attribute.getName().strref().split('.');
      if (!name.empty() && !attribute.getNameDialect() &&
          seen.insert(prefix).second)
        op->emitRemark("attributes of dialect '")
            << prefix << "' are kept and not read, for example '"
            << attribute.getName().getValue() << "'";
    }
  };
  parsed.module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    check(op, op->getDiscardableAttrDictionary());
    auto function = dyn_cast<FunctionOpInterface>(op);
    for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
      check(op, function.getArgAttrDict(i));
    for (unsigned i = 0; function && i < function.getNumResults(); ++i)
      check(op, function.getResultAttrDict(i));
  });
}

Parsed Parse::run() {
  ScopedDiagnosticHandler watcher(context, [&](Diagnostic &diagnostic) {
    hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure(); // other handlers report it
  });
  SingleThread single(context);
  if (std::optional<size_t> deep = findDeepNesting(text)) {
    emitError(locationAt(*deep), "the text is nested more than ")
        << kMaxNesting << " deep"
        << ::pathways::Tag(::pathways::ErrorId::kNotParsed);
    return std::move(parsed);
  }
  if (std::optional<std::string> reason = describeUnreadable(text)) {
    emitError(locationAt(0), *reason)
        << ::pathways::Tag(::pathways::ErrorId::kNotParsed);
    return std::move(parsed);
  }
  if (read() && verifyAll()) {
    if (looksLikeStableHlo(text))
      remarkUnknownAttributes();
    return std::move(parsed);
  }
  if (!hasError)
    emitError(locationAt(0), "the text cannot be parsed")
        << ::pathways::Tag(::pathways::ErrorId::kNotParsed);
  if (parsed.hasCrashed)
    (void)parsed.module.release(); // must not be touched again
  parsed.module = nullptr;
  return std::move(parsed);
}

Parsed mlir::pathways::parseShielded(StringRef text, StringRef fileName,
                                     MLIRContext *context) {
  std::optional<std::string> repacked = repackBoolConstants(text);
  return Parse(repacked ? *repacked : text, fileName, context).run();
}
