//===- object_check.cc ----------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's linker is made for the output of compilers and trusts some of it: it
// writes wherever a relocation points. So offsets are checked here.
//
//===----------------------------------------------------------------------===//

#include "runtime/kernel/object_check.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "runtime/kernel/kernel_imports.h"

namespace pathways {
namespace {

namespace elf = llvm::ELF;
using File = llvm::object::ELFFile<llvm::object::ELF64LE>;
using Section = File::Elf_Shdr;
using Symbol = File::Elf_Sym;

constexpr uint64_t kMaxAlignment = 4096;

#if defined(__x86_64__)
constexpr uint16_t kMachine = elf::EM_X86_64;
// Returns the number of bytes that the linker may change at a relocation, and
// in *before the number of bytes before it that the linker reads. Returns 0 for
// types that generated code does not have.
uint64_t WidthOf(uint32_t type, uint64_t* before) {
  *before = 0;
  switch (type) {
    case elf::R_X86_64_64:
    case elf::R_X86_64_PC64:
      return 8;
    case elf::R_X86_64_PC32:
    case elf::R_X86_64_PLT32:
    case elf::R_X86_64_GOTPCREL:
      return 4;
    case elf::R_X86_64_GOTPCRELX:
    case elf::R_X86_64_REX_GOTPCRELX:
      *before = 3;
      return 4;
    default:
      return 0;
  }
}
#elif defined(__aarch64__)
constexpr uint16_t kMachine = elf::EM_AARCH64;
uint64_t WidthOf(uint32_t type, uint64_t* before) {
  *before = 0;
  switch (type) {
    case elf::R_AARCH64_ABS64:
    case elf::R_AARCH64_PREL64:
      return 8;
    case elf::R_AARCH64_PREL32:
    case elf::R_AARCH64_CALL26:
    case elf::R_AARCH64_JUMP26:
    case elf::R_AARCH64_ADR_PREL_PG_HI21:
    case elf::R_AARCH64_ADD_ABS_LO12_NC:
    case elf::R_AARCH64_LDST8_ABS_LO12_NC:
    case elf::R_AARCH64_LDST16_ABS_LO12_NC:
    case elf::R_AARCH64_LDST32_ABS_LO12_NC:
    case elf::R_AARCH64_LDST64_ABS_LO12_NC:
    case elf::R_AARCH64_LDST128_ABS_LO12_NC:
    case elf::R_AARCH64_ADR_GOT_PAGE:
    case elf::R_AARCH64_LD64_GOT_LO12_NC:
      return 4;
    default:
      return 0;
  }
}
#else
#error "no loader for this architecture"
#endif

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("object code: ", parts...));
}

absl::Status Bad(const char* what, llvm::Error error) {
  return Bad(what, ": ", llvm::toString(std::move(error)));
}

std::string Text(llvm::StringRef text) { return text.str(); }

class Checker {
 public:
  explicit Checker(File file) : file_(std::move(file)) {}

  absl::Status Run(ObjectSymbols* symbols);

 private:
  absl::Status CheckHeader();
  absl::Status CheckSection(const Section& section);
  absl::Status CheckRelocations(const Section& section);
  absl::Status CheckSymbols(ObjectSymbols* symbols);
  std::string NameOf(const Section& section) const {
    auto name = file_.getSectionName(section);
    if (name) return Text(*name);
    llvm::consumeError(name.takeError());
    return "?";
  }

  File file_;
  File::Elf_Shdr_Range sections_;
  const Section* symbol_section_ = nullptr;
  File::Elf_Sym_Range symbols_;
};

absl::Status Checker::CheckHeader() {
  const auto& header = file_.getHeader();
  if (header.e_ident[elf::EI_CLASS] != elf::ELFCLASS64 ||
      header.e_ident[elf::EI_DATA] != elf::ELFDATA2LSB ||
      header.e_ident[elf::EI_VERSION] != elf::EV_CURRENT) {
    return Bad("the file is not 64-bit little-endian ELF of version 1");
  }
  if (header.e_type != elf::ET_REL) {
    return Bad("the file has type ", uint64_t{header.e_type},
               ", expected a relocatable file");
  }
  if (header.e_machine != kMachine) {
    return Bad("the file is for machine ", uint64_t{header.e_machine},
               ", expected ", uint64_t{kMachine});
  }
  if (header.e_ident[elf::EI_OSABI] != elf::ELFOSABI_NONE &&
      header.e_ident[elf::EI_OSABI] != elf::ELFOSABI_LINUX) {
    return Bad("the file is for system ",
               uint64_t{header.e_ident[elf::EI_OSABI]},
               ", expected none or Linux");
  }
  return absl::OkStatus();
}

absl::Status Checker::CheckSection(const Section& section) {
  auto name = file_.getSectionName(section);
  if (!name)
    return Bad("the name of a section cannot be read", name.takeError());
  const std::string text = Text(*name);
  const uint64_t alignment = section.sh_addralign;
  if (alignment > kMaxAlignment || (alignment & (alignment - 1)) != 0) {
    return Bad("section '", text, "' has alignment ", alignment,
               ", expected a power of two up to ", kMaxAlignment);
  }
  const uint64_t flags = section.sh_flags;
  if ((flags & elf::SHF_WRITE) && (flags & elf::SHF_EXECINSTR)) {
    return Bad("section '", text, "' is writable and executable");
  }
  if (flags & elf::SHF_TLS) {
    return Bad("section '", text, "' has thread-local data");
  }
  if (flags & elf::SHF_COMPRESSED) {
    return Bad("section '", text, "' is compressed");
  }
  switch (section.sh_type) {
    case elf::SHT_NULL:
      return absl::OkStatus();
    case elf::SHT_PROGBITS:
    case elf::SHT_STRTAB:
    case elf::SHT_SYMTAB:
    case elf::SHT_RELA:
    case elf::SHT_NOTE:
    case elf::SHT_GROUP:
    case elf::SHT_LLVM_ADDRSIG:
    case elf::SHT_X86_64_UNWIND:
      break;
    case elf::SHT_NOBITS:
      if (section.sh_size == 0) return absl::OkStatus();
      return Bad("section '", text, "' has ", uint64_t{section.sh_size},
                 " bytes of variables");
    default:
      return Bad("section '", text, "' has type ", uint64_t{section.sh_type},
                 ", which kernels do not have");
  }
  auto contents = file_.getSectionContents(section);
  if (!contents) {
    return Bad("the contents of a section cannot be read",
               contents.takeError());
  }
  if (section.sh_type == elf::SHT_SYMTAB) {
    if (symbol_section_ != nullptr)
      return Bad("the file has two symbol tables, expected one");
    symbol_section_ = &section;
  }
  return absl::OkStatus();
}

absl::Status Checker::CheckRelocations(const Section& section) {
  if (section.sh_info == 0 || section.sh_info >= sections_.size()) {
    return Bad("relocations are for section ", uint64_t{section.sh_info},
               ", but the file has ", sections_.size(), " sections");
  }
  if (section.sh_link >= sections_.size() ||
      &sections_[section.sh_link] != symbol_section_) {
    return Bad("relocations refer to another symbol table");
  }
  const Section& target = sections_[section.sh_info];
  const uint64_t size =
      target.sh_type == elf::SHT_NOBITS ? 0 : uint64_t{target.sh_size};
  auto relocations = file_.relas(section);
  if (!relocations)
    return Bad("relocations cannot be read", relocations.takeError());
  for (const auto& relocation : *relocations) {
    const uint64_t offset = relocation.r_offset;
    uint64_t before = 0;
    const uint32_t type = relocation.getType(/*isMips64EL=*/false);
    const uint64_t width = WidthOf(type, &before);
    if (width == 0) {
      return Bad("a relocation has type ", type, ", which kernels do not have");
    }
    if (offset > size || size - offset < width || offset < before) {
      return Bad("a relocation is at ", offset, " of section '", NameOf(target),
                 "', which has ", size, " bytes");
    }
    const uint32_t symbol = relocation.getSymbol(/*isMips64EL=*/false);
    if (symbol >= symbols_.size()) {
      return Bad("a relocation refers to symbol ", symbol,
                 ", but the file has ", symbols_.size(), " symbols");
    }
  }
  return absl::OkStatus();
}

absl::Status Checker::CheckSymbols(ObjectSymbols* out) {
  auto strings = file_.getStringTableForSymtab(*symbol_section_, sections_);
  if (!strings)
    return Bad("the names of symbols cannot be read", strings.takeError());
  for (size_t i = 1; i < symbols_.size(); ++i) {
    const Symbol& symbol = symbols_[i];
    auto name_or = symbol.getName(*strings);
    if (!name_or)
      return Bad("the name of a symbol cannot be read", name_or.takeError());
    const std::string name = Text(*name_or);
    const uint8_t binding = symbol.getBinding();
    const uint8_t type = symbol.getType();
    if (binding != elf::STB_LOCAL && binding != elf::STB_GLOBAL) {
      return Bad("symbol '", name, "' has binding ", int{binding});
    }
    if (type != elf::STT_NOTYPE && type != elf::STT_OBJECT &&
        type != elf::STT_FUNC && type != elf::STT_SECTION &&
        type != elf::STT_FILE) {
      return Bad("symbol '", name, "' has type ", int{type});
    }
    const uint16_t index = symbol.st_shndx;
    if (index == elf::SHN_UNDEF) {
      if (name.empty()) return Bad("an undefined symbol has no name");
      if (name == "_GLOBAL_OFFSET_TABLE_") continue;
      if (FindKernelImport(name.data(), name.size()) == nullptr) {
        return Bad("the file needs '", name,
                   "', which is not among the functions a kernel may call");
      }
      out->imported.push_back(name);
      continue;
    }
    if (index == elf::SHN_ABS) {
      if (type == elf::STT_FILE) continue;
      return Bad("symbol '", name, "' is an absolute address");
    }
    if (index >= sections_.size()) {
      return Bad("symbol '", name, "' is in section ", uint64_t{index},
                 ", but the file has ", sections_.size(), " sections");
    }
    const Section& section = sections_[index];
    if (symbol.st_value > section.sh_size ||
        symbol.st_size > section.sh_size - symbol.st_value) {
      return Bad("symbol '", name, "' is not inside section '", NameOf(section),
                 "'");
    }
    if (binding == elf::STB_GLOBAL) {
      if (name.empty()) return Bad("a global symbol has no name");
      // Only functions inside executable memory can be called.
      if ((section.sh_flags & elf::SHF_EXECINSTR) && symbol.st_size > 0 &&
          type == elf::STT_FUNC) {
        out->defined.push_back(name);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Checker::Run(ObjectSymbols* symbols) {
  if (absl::Status status = CheckHeader(); !status.ok()) return status;
  auto sections = file_.sections();
  if (!sections)
    return Bad("the sections cannot be read", sections.takeError());
  sections_ = *sections;
  for (const Section& section : sections_) {
    if (absl::Status status = CheckSection(section); !status.ok())
      return status;
  }
  if (symbol_section_ == nullptr) return Bad("the file has no symbol table");
  auto table = file_.symbols(symbol_section_);
  if (!table) return Bad("the symbols cannot be read", table.takeError());
  symbols_ = *table;
  if (absl::Status status = CheckSymbols(symbols); !status.ok()) return status;
  for (const Section& section : sections_) {
    if (section.sh_type != elf::SHT_RELA) continue;
    if (absl::Status status = CheckRelocations(section); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ObjectSymbols> CheckObject(absl::Span<const uint8_t> object) {
  auto file = File::create(llvm::StringRef(
      reinterpret_cast<const char*>(object.data()), object.size()));
  if (!file) return Bad("it is not an ELF file", file.takeError());
  if (object.size() < 4 ||
      llvm::StringRef(reinterpret_cast<const char*>(object.data()), 4) !=
          llvm::StringRef(elf::ElfMagic, 4)) {
    return Bad("it is not an ELF file");
  }
  ObjectSymbols symbols;
  absl::Status status = Checker(std::move(*file)).Run(&symbols);
  if (!status.ok()) return status;
  return symbols;
}

}  // namespace pathways
