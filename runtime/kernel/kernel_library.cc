//===- kernel_library.cc --------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/kernel/kernel_library.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "runtime/base/mutex.h"
#include "runtime/kernel/kernel_imports.h"
#include "runtime/kernel/object_check.h"

namespace pathways {
namespace {

namespace orc = llvm::orc;

// Loaded kernels by their hash and the index of their object.
struct Cache {
  Mutex mutex;
  std::map<std::string, std::weak_ptr<const KernelLibrary>> loaded
      ABSL_GUARDED_BY(mutex);
};

Cache& TheCache() {
  static auto* cache = new Cache;
  return *cache;
}

int NumWantedFeatures(const proto::Target& target) {
  return static_cast<int>(std::count_if(
      target.features().begin(), target.features().end(),
      [](const std::string& f) { return !f.empty() && f[0] == '+'; }));
}

}  // namespace

// LLVM's part of a library. Each library has a session of its own, so that
// nothing is shared and everything is released with it.
class KernelLibrary::Session {
 public:
  static absl::StatusOr<std::unique_ptr<Session>> Create() {
    // Linking is short, so it runs on the caller's thread instead of threads of
    // its own.
    auto control = orc::SelfExecutorProcessControl::Create(
        nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
    if (!control) {
      return absl::InternalError(absl::StrCat(
          "cannot load code: ", llvm::toString(control.takeError())));
    }
    return std::unique_ptr<Session>(new Session(std::move(*control)));
  }

  ~Session() {
    if (llvm::Error error = session_.endSession()) {
      llvm::consumeError(std::move(error));
    }
  }

  orc::ExecutionSession& session() { return session_; }
  orc::ObjectLinkingLayer& layer() { return layer_; }
  // Returns the errors that LLVM reported but did not return.
  const std::string& reported() const { return reported_; }

 private:
  explicit Session(std::unique_ptr<orc::ExecutorProcessControl> control)
      : session_(std::move(control)), layer_(session_) {
    session_.setErrorReporter([this](llvm::Error error) {
      absl::StrAppend(&reported_, reported_.empty() ? "" : "; ",
                      llvm::toString(std::move(error)));
    });
  }

  std::string reported_;
  orc::ExecutionSession session_;
  orc::ObjectLinkingLayer layer_;
};

KernelLibrary::KernelLibrary() = default;
KernelLibrary::~KernelLibrary() = default;

absl::StatusOr<std::shared_ptr<const KernelLibrary>> KernelLibrary::Link(
    const proto::Kernel& kernel, absl::Span<const uint8_t> object) {
  // The copy is aligned, and cannot change after it was checked.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(reinterpret_cast<const char*>(object.data()),
                      object.size()),
      "kernel");
  const auto in_kernel = [&](absl::string_view what) {
    return absl::StrCat("kernel '", kernel.name(), "': ", what);
  };
  absl::StatusOr<ObjectSymbols> symbols =
      CheckObject({reinterpret_cast<const uint8_t*>(buffer->getBufferStart()),
                   buffer->getBufferSize()});
  if (!symbols.ok()) {
    return absl::InvalidArgumentError(in_kernel(symbols.status().message()));
  }
  for (const proto::Segment& segment : kernel.segments()) {
    const std::string symbol = SegmentSymbol(segment.symbol());
    if (std::find(symbols->defined.begin(), symbols->defined.end(), symbol) ==
        symbols->defined.end()) {
      return absl::InvalidArgumentError(
          in_kernel(absl::StrCat("the object does not define '", symbol, "'")));
    }
  }

  absl::StatusOr<std::unique_ptr<Session>> session = Session::Create();
  if (!session.ok()) return session.status();
  orc::ExecutionSession& es = (*session)->session();
  const auto failed = [&](llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    if (!(*session)->reported().empty()) {
      absl::StrAppend(&text, "; ", (*session)->reported());
    }
    return absl::InvalidArgumentError(
        in_kernel(absl::StrCat("cannot be linked: ", text)));
  };
  orc::JITDylib& dylib = es.createBareJITDylib("kernel");
  orc::SymbolMap imports;
  for (const std::string& name : symbols->imported) {
    imports[es.intern(name)] = {
        orc::ExecutorAddr::fromPtr(FindKernelImport(name.data(), name.size())),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  if (!imports.empty()) {
    if (llvm::Error error =
            dylib.define(orc::absoluteSymbols(std::move(imports)))) {
      return failed(std::move(error));
    }
  }
  if (llvm::Error error = (*session)->layer().add(dylib, std::move(buffer))) {
    return failed(std::move(error));
  }
  std::shared_ptr<KernelLibrary> library(new KernelLibrary);
  for (const proto::Segment& segment : kernel.segments()) {
    auto address = es.lookup(orc::makeJITDylibSearchOrder(&dylib),
                             es.intern(SegmentSymbol(segment.symbol())));
    if (!address) return failed(address.takeError());
    library->functions_.push_back(
        address->getAddress().toPtr<KernelFunction>());
  }
  library->session_ = std::move(*session);
  return std::shared_ptr<const KernelLibrary>(std::move(library));
}

absl::StatusOr<int> KernelLibrary::Choose(const proto::Kernel& kernel,
                                          const proto::Target& wanted) {
  absl::StatusOr<proto::Target> complete = CompleteTarget(wanted);
  if (!complete.ok()) return complete.status();
  const std::string exact = complete->SerializeAsString();
  // Code for this machine would run, but a device of another kind would then
  // give other results here than elsewhere.
  if (exact != HostTarget().SerializeAsString()) {
    if (absl::Status s = CheckTarget(*complete); !s.ok()) return s;
  }
  int best = -1;
  int best_features = -1;
  std::string reasons;
  for (int i = 0; i < kernel.objects_size(); ++i) {
    const proto::Target& target = kernel.objects(i).target();
    absl::StatusOr<proto::Target> object = CompleteTarget(target);
    absl::Status status = object.ok() ? CheckTarget(target) : object.status();
    if (!status.ok()) {
      absl::StrAppend(&reasons, reasons.empty() ? "" : "; ",
                      absl::string_view(status.message()));
      continue;
    }
    if (object->SerializeAsString() == exact) return i;
    if (NumWantedFeatures(*object) > best_features) {
      best = i;
      best_features = NumWantedFeatures(*object);
    }
  }
  if (best >= 0) return best;
  return absl::FailedPreconditionError(absl::StrCat(
      "kernel '", kernel.name(), "' has no code for '", TargetString(*complete),
      "': ", reasons.empty() ? "it has no code at all" : reasons));
}

absl::StatusOr<std::shared_ptr<const KernelLibrary>> KernelLibrary::Load(
    const proto::Kernel& kernel, absl::Span<const uint8_t> blobs,
    const proto::Target& wanted) {
  // The hash is checked before anything in the code is trusted.
  absl::StatusOr<std::string> hash = KernelHash(kernel, blobs);
  if (!hash.ok()) return hash.status();
  if (*hash != kernel.hash()) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel '", kernel.name(), "' has hash '", kernel.hash(),
                     "', but its code has '", *hash, "'"));
  }
  absl::StatusOr<int> index = Choose(kernel, wanted);
  if (!index.ok()) return index.status();

  // The lock is held while linking, so a second load of the same kernel waits
  // and then shares it.
  Cache& cache = TheCache();
  MutexLock lock(&cache.mutex);
  std::weak_ptr<const KernelLibrary>& entry =
      cache.loaded[absl::StrCat(*hash, "/", *index)];
  if (std::shared_ptr<const KernelLibrary> loaded = entry.lock()) return loaded;
  const proto::KernelObject& object = kernel.objects(*index);
  absl::StatusOr<std::shared_ptr<const KernelLibrary>> library =
      Link(kernel, blobs.subspan(object.blob_offset(), object.blob_bytes()));
  if (!library.ok()) {
    cache.loaded.erase(absl::StrCat(*hash, "/", *index));
    return library;
  }
  entry = *library;
  for (auto it = cache.loaded.begin(); it != cache.loaded.end();) {
    it = it->second.expired() ? cache.loaded.erase(it) : std::next(it);
  }
  return library;
}

}  // namespace pathways
