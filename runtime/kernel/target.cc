//===- target.cc ----------------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/kernel/target.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace pathways {
namespace {

std::string JoinFeatures(const proto::Target& target) {
  return absl::StrJoin(target.features(), ",");
}

// Returns LLVM's description of the CPU and features of `target`. Returns null,
// with the reason in *error, if LLVM knows no such target.
std::unique_ptr<llvm::MCSubtargetInfo> Subtarget(const std::string& triple,
                                                 const std::string& cpu,
                                                 const std::string& features,
                                                 std::string* error) {
  InitializeTargets();
  const llvm::Target* code =
      llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), *error);
  if (code == nullptr) return nullptr;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      code->createMCSubtargetInfo(llvm::Triple(triple), cpu, features));
  if (subtarget == nullptr) *error = "its processors are unknown";
  return subtarget;
}

// Returns false for targets that produce text, or a format other than object
// files.
bool HasObjectFiles(const llvm::Triple& triple) {
  std::string error;
  const llvm::Target* code = llvm::TargetRegistry::lookupTarget(triple, error);
  return code != nullptr && code->hasMCAsmBackend() &&
         (triple.isOSBinFormatELF() || triple.isOSBinFormatCOFF() ||
          triple.isOSBinFormatMachO());
}

bool SameMachine(const llvm::Triple& a, const llvm::Triple& b) {
  return a.getArch() == b.getArch() && a.getSubArch() == b.getSubArch() &&
         a.getOS() == b.getOS() && a.getEnvironment() == b.getEnvironment() &&
         a.getObjectFormat() == b.getObjectFormat();
}

// Requests the matrix registers of AMX from Linux, which keeps this state of
// threads only for processes that ask for it. The permission is permanent and
// covers all threads. Returns false if this machine, an old kernel or a sandbox
// does not provide them, or if a thread's signal stack is too small for them.
bool MayUseMatrixRegisters() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr int kRequest = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;     // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
  return false;
#endif
}

proto::Target MakeHostTarget() {
  proto::Target target;
  target.set_triple(llvm::Triple::normalize(llvm::sys::getProcessTriple()));
  target.set_cpu(llvm::sys::getHostCPUName().str());
  std::map<std::string, bool> sorted;
  for (const auto& entry : llvm::sys::getHostCPUFeatures()) {
    sorted[entry.getKey().str()] = entry.getValue();
  }
  const auto tiles = sorted.find("amx-tile");
  if (tiles != sorted.end() && tiles->second && !MayUseMatrixRegisters()) {
    for (auto& [name, has] : sorted) {
      if (absl::StartsWith(name, "amx-")) has = false;
    }
  }
  for (const auto& [name, has] : sorted) {
    target.add_features(absl::StrCat(has ? "+" : "-", name));
  }
  return target;
}

}  // namespace

void InitializeTargets() {
  static const bool done = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  (void)done;
}

const proto::Target& HostTarget() {
  static const auto* target = new proto::Target(MakeHostTarget());
  return *target;
}

absl::StatusOr<proto::Target> CompleteTarget(const proto::Target& target) {
  const proto::Target& host = HostTarget();
  proto::Target result;
  result.set_triple(llvm::Triple::normalize(
      target.triple().empty() ? host.triple() : target.triple()));
  const bool is_host =
      SameMachine(llvm::Triple(result.triple()), llvm::Triple(host.triple()));
  if (is_host && target.cpu().empty() && target.features().empty()) {
    return host;
  }
  result.set_cpu(target.cpu().empty() ? "generic" : target.cpu());
  std::string error;
  std::unique_ptr<llvm::MCSubtargetInfo> known =
      Subtarget(result.triple(), "", "", &error);
  if (known != nullptr && !HasObjectFiles(llvm::Triple(result.triple()))) {
    error = "it has no format for object files";
    known = nullptr;
  }
  if (known == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot generate code for target '", target.triple(), "': ", error));
  }
  // If no CPU is named, every target means its most basic processor.
  if (target.cpu().empty()) {
    if (!known->isCPUStringValid("generic")) result.clear_cpu();
  } else if (!known->isCPUStringValid(target.cpu())) {
    return absl::InvalidArgumentError(absl::StrCat("target '", result.triple(),
                                                   "' has no CPU called '",
                                                   target.cpu(), "'"));
  }
  std::map<std::string, char> sorted;
  for (const std::string& feature : target.features()) {
    const char sign = feature.empty() ? '\0' : feature[0];
    const std::string name = feature.empty() ? "" : feature.substr(1);
    bool is_known = false;
    for (const llvm::SubtargetFeatureKV& entry :
         known->getAllProcessorFeatures()) {
      is_known = is_known || name == entry.Key;
    }
    if ((sign != '+' && sign != '-') || !is_known) {
      return absl::InvalidArgumentError(absl::StrCat(
          "target '", result.triple(), "' has no feature '", feature,
          "', expected '+' or '-' and a name that it knows"));
    }
    sorted[name] = sign;
  }
  for (const auto& [name, sign] : sorted) {
    result.add_features(absl::StrCat(std::string(1, sign), name));
  }
  return result;
}

absl::Status CheckTarget(const proto::Target& target) {
  const proto::Target& host = HostTarget();
  absl::StatusOr<proto::Target> code = CompleteTarget(target);
  if (!code.ok()) return absl::FailedPreconditionError(code.status().message());
  const std::string both = absl::StrCat("code for '", TargetString(*code),
                                        "' does not run on this machine, '",
                                        TargetString(host), "'");
  if (!SameMachine(llvm::Triple(code->triple()), llvm::Triple(host.triple()))) {
    return absl::FailedPreconditionError(both);
  }
  std::string error;
  auto needed =
      Subtarget(code->triple(), code->cpu(), JoinFeatures(*code), &error);
  auto had = Subtarget(host.triple(), host.cpu(), JoinFeatures(host), &error);
  if (needed == nullptr || had == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(both, ": ", error));
  }
  // Only features about which this machine was asked are instructions; LLVM's
  // other features are hints about speed.
  std::vector<std::string> missing;
  for (const std::string& feature : host.features()) {
    const std::string plus = "+" + feature.substr(1);
    if (needed->checkFeatures(plus) && !had->checkFeatures(plus)) {
      missing.push_back(plus);
    }
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(both, ", which lacks ", absl::StrJoin(missing, ", ")));
}

std::string TargetString(const proto::Target& target) {
  std::string text = target.triple();
  if (!target.cpu().empty()) absl::StrAppend(&text, " ", target.cpu());
  if (!target.features().empty() && target.features_size() <= 8) {
    absl::StrAppend(&text, " ", JoinFeatures(target));
  }
  return text;
}

absl::StatusOr<std::string> KernelHash(const proto::Kernel& kernel,
                                       absl::Span<const uint8_t> blobs) {
  llvm::BLAKE3 hasher;
  // Every part is preceded by its size, so that no two kernels are hashed
  // alike.
  const auto add_number = [&](uint64_t number) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; ++i)
      bytes[i] = static_cast<uint8_t>(number >> (8 * i));
    hasher.update(llvm::ArrayRef<uint8_t>(bytes, 8));
  };
  const auto add_text = [&](const std::string& text) {
    add_number(text.size());
    hasher.update(llvm::StringRef(text));
  };
  add_number(kernel.segments_size());
  for (const proto::Segment& segment : kernel.segments()) {
    add_text(segment.symbol());
    add_number(segment.scratch_bytes());
    add_number(segment.locations_size());
    add_number(segment.operands_size());
    for (const proto::KernelOperand& operand : segment.operands()) {
      add_number(operand.element());
      add_number(operand.written());
      add_number(operand.shape_size());
      for (int64_t size : operand.shape())
        add_number(static_cast<uint64_t>(size));
    }
  }
  add_number(kernel.objects_size());
  for (const proto::KernelObject& object : kernel.objects()) {
    add_text(object.target().triple());
    add_text(object.target().cpu());
    add_number(object.target().features_size());
    for (const std::string& feature : object.target().features())
      add_text(feature);
    if (object.blob_offset() > blobs.size() ||
        object.blob_bytes() > blobs.size() - object.blob_offset()) {
      return absl::InvalidArgumentError(
          absl::StrCat("code of kernel '", kernel.name(), "' is ",
                       object.blob_bytes(), " bytes at ", object.blob_offset(),
                       ", but the plan has ", blobs.size(), " bytes of code"));
    }
    add_number(object.blob_bytes());
    hasher.update(llvm::ArrayRef<uint8_t>(blobs.data() + object.blob_offset(),
                                          object.blob_bytes()));
  }
  // Kernels with the default rounding keep the hashes that they had before
  // there were other ones.
  if (kernel.rounding() != proto::ROUND_EACH_OP) {
    add_number(static_cast<uint64_t>(kernel.rounding()));
  }
  llvm::BLAKE3Result<16> result;
  hasher.final(result);
  return llvm::toHex(llvm::ArrayRef<uint8_t>(result), /*LowerCase=*/true);
}

std::string SegmentSymbol(const std::string& symbol) {
  return absl::StrCat("pw.", symbol);
}

}  // namespace pathways
