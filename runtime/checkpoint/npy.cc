//===- npy.cc - Arrays in NumPy's file format -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/npy.h"

#include <cstring>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/memory.h"

namespace pathways {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = 6;

// Fields of a header's text.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Parses the header, a Python dictionary literal such as {'descr': '<f4',
// 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  explicit HeaderParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Header> Parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    if (!Consume('{')) return Malformed("a dictionary");
    while (!Consume('}')) {
      std::string key;
      if (!String(&key) || !Consume(':')) return Malformed("a key and ':'");
      bool* seen = key == "descr"           ? &descr
                   : key == "fortran_order" ? &order
                   : key == "shape"         ? &shape
                                            : nullptr;
      if (seen == nullptr || *seen) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the header has ", seen == nullptr ? "an unknown" : "a repeated",
            " key '", key, "'"));
      }
      *seen = true;
      if (seen == &descr) {
        if (Peek() == '[') {
          return absl::InvalidArgumentError(
              absl::StrCat("structured element types are not supported",
                           Tag(ErrorId::kNpyNotSupported)));
        }
        if (!String(&header.descr)) return Malformed("a string for 'descr'");
      } else if (seen == &order) {
        if (Word("True")) {
          header.fortran_order = true;
        } else if (!Word("False")) {
          return Malformed("True or False for 'fortran_order'");
        }
      } else if (absl::Status s = Shape(&header.shape); !s.ok()) {
        return s;
      }
      if (!Consume(',') && Peek() != '}') return Malformed("',' or '}'");
    }
    SkipSpace();
    if (at_ != text_.size()) return Malformed("nothing after the dictionary");
    if (!descr || !order || !shape) {
      return absl::InvalidArgumentError(absl::StrCat("the header has no '",
                                                     !descr   ? "descr"
                                                     : !order ? "fortran_order"
                                                              : "shape",
                                                     "'"));
    }
    return header;
  }

 private:
  absl::Status Malformed(absl::string_view expected) const {
    return absl::InvalidArgumentError(
        absl::StrCat("malformed header: expected ", expected, " at byte ", at_,
                     Tag(ErrorId::kNpyDamaged)));
  }
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) {
      ++at_;
    }
  }
  char Peek() {
    SkipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Consume(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool Word(absl::string_view word) {
    SkipSpace();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  // Escapes are not supported: no accepted name or type needs one.
  bool String(std::string* value) {
    char quote = Peek();
    if (quote != '\'' && quote != '"') return false;
    size_t end = text_.find(quote, at_ + 1);
    if (end == absl::string_view::npos) return false;
    *value = std::string(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return true;
  }
  absl::Status Shape(std::vector<int64_t>* shape) {
    if (!Consume('(')) return Malformed("a tuple for 'shape'");
    while (!Consume(')')) {
      int64_t extent = 0;
      size_t digits = 0;
      for (char c = Peek(); c >= '0' && c <= '9';
           c = at_ < text_.size() ? text_[at_] : '\0') {
        if (extent > (std::numeric_limits<int64_t>::max() - 9) / 10) {
          return absl::InvalidArgumentError(
              "an extent of 'shape' does not fit in 63 bits");
        }
        extent = extent * 10 + (c - '0');
        ++at_;
        ++digits;
      }
      if (digits == 0) return Malformed("a number in 'shape'");
      if (shape->size() == kMaxNpyRank) {
        return absl::InvalidArgumentError(
            absl::StrCat("'shape' has more than ", kMaxNpyRank, " dimensions"));
      }
      shape->push_back(extent);
      if (!Consume(',') && Peek() != ')') return Malformed("',' or ')'");
    }
    return absl::OkStatus();
  }

  absl::string_view text_;
  size_t at_ = 0;
};

// The names of element types in files; the first name of a type is written.
constexpr std::pair<const char*, ElementType> kDescrs[] = {
    {"<f4", ElementType::kF32},  {"<f8", ElementType::kF64},
    {"|b1", ElementType::kI1},   {"|i1", ElementType::kI8},
    {"<i1", ElementType::kI8},   {"<i2", ElementType::kI16},
    {"<i4", ElementType::kI32},  {"<i8", ElementType::kI64},
    {"|u1", ElementType::kUI8},  {"<u1", ElementType::kUI8},
    {"<u2", ElementType::kUI16}, {"<u4", ElementType::kUI32},
    {"<u8", ElementType::kUI64}, {"<f2", ElementType::kF16},
    {"<V2", ElementType::kBF16}, {"|V2", ElementType::kBF16}};

absl::StatusOr<ElementType> ElementFromDescr(const std::string& descr) {
  for (const auto& [name, element] : kDescrs) {
    if (descr == name) return element;
  }
  if (descr == "|O" || descr == "O") {
    return absl::InvalidArgumentError(
        absl::StrCat("element type '", descr,
                     "' holds Python objects, which are not supported",
                     Tag(ErrorId::kNpyNotSupported)));
  }
  if (!descr.empty() && descr[0] == '>') {
    return absl::InvalidArgumentError(
        absl::StrCat("element type '", descr,
                     "' is big endian; convert it with "
                     "a.astype(a.dtype.newbyteorder('<'))",
                     Tag(ErrorId::kNpyNotSupported)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown element type '", descr,
                   "'; known are '<f2', '<f4', '<f8', '|b1', '|i1', '<i2', "
                   "'<i4', '<i8', '|u1', '<u2', '<u4', '<u8', and '<V2' for "
                   "bf16",
                   Tag(ErrorId::kNpyNotSupported)));
}

const char* DescrOf(ElementType element) {
  for (const auto& [name, named] : kDescrs) {
    if (named == element) return name;
  }
  return "|V0";
}

uint32_t LittleEndian(absl::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<uint8_t>(bytes[i]);
  }
  return value;
}

// Copies column-major `source` into row-major `destination`.
void FromFortranOrder(const std::vector<int64_t>& shape, int64_t element_bytes,
                      const char* source, char* destination, int64_t elements) {
  std::vector<int64_t> index(shape.size(), 0), strides(shape.size(), 0);
  int64_t stride = element_bytes;
  for (size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  int64_t offset = 0;
  for (int64_t i = 0; i < elements; ++i) {
    std::memcpy(destination + i * element_bytes, source + offset,
                element_bytes);
    for (size_t d = shape.size(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d]) break;
      offset -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

}  // namespace

int64_t CheckedElements(ElementType element,
                        const std::vector<int64_t>& shape) {
  // The other extents must fit even if one is zero, because other code
  // multiplies them.
  int64_t bytes = elementBytes(element), count = 1;
  for (int64_t extent : shape) {
    if (extent < 0) return -1;
    int64_t factor = extent == 0 ? 1 : extent;
    if (__builtin_mul_overflow(bytes, factor, &bytes)) return -1;
    count *= extent;
  }
  return count;
}

absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view bytes) {
  if (bytes.empty()) return absl::InvalidArgumentError("the file is empty");
  if (bytes.substr(0, kMagicBytes) !=
      absl::string_view(kMagic, kMagicBytes).substr(0, bytes.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a .npy file: it does not begin with \\x93NUMPY",
                     Tag(ErrorId::kNpyNotSupported)));
  }
  if (bytes.size() < kMagicBytes + 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file is truncated: it has ", bytes.size(), " bytes"));
  }
  int major = static_cast<uint8_t>(bytes[6]);
  if (major < 1 || major > 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("version ", major, ".",
                     static_cast<int>(static_cast<uint8_t>(bytes[7])),
                     " of the format is not supported, expected 1.0 to 3.0",
                     Tag(ErrorId::kNpyNotSupported)));
  }
  size_t length_bytes = major == 1 ? 2 : 4;
  size_t header_at = kMagicBytes + 2 + length_bytes;
  if (bytes.size() < header_at) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file is truncated: it has ", bytes.size(), " bytes"));
  }
  size_t header_bytes = LittleEndian(bytes.substr(8, length_bytes));
  if (header_bytes > kMaxNpyHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the header has ", header_bytes,
                     " bytes, expected at most ", kMaxNpyHeaderBytes));
  }
  if (bytes.size() - header_at < header_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file is truncated: its header has ", header_bytes,
                     " bytes, but only ", bytes.size() - header_at, " follow",
                     Tag(ErrorId::kNpyDamaged)));
  }
  absl::StatusOr<Header> header =
      HeaderParser(bytes.substr(header_at, header_bytes)).Parse();
  if (!header.ok()) return header.status();
  absl::StatusOr<ElementType> element = ElementFromDescr(header->descr);
  if (!element.ok()) return element.status();
  int64_t elements = CheckedElements(*element, header->shape);
  if (elements < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape ", shapeString(*element, header->shape),
                     " has too many elements"));
  }
  return NpyHeader{*element, std::move(header->shape), header->fortran_order,
                   header_at + header_bytes};
}

int64_t FindNoBoolean(absl::string_view data) {
  for (size_t i = 0; i < data.size(); ++i) {
    if (static_cast<uint8_t>(data[i]) > 1) return static_cast<int64_t>(i);
  }
  return -1;
}

absl::StatusOr<HostArray> ParseNpy(absl::string_view bytes) {
  absl::StatusOr<NpyHeader> header = ParseNpyHeader(bytes);
  if (!header.ok()) return header.status();
  const ElementType element = header->element;
  const int64_t elements = CheckedElements(element, header->shape);
  absl::string_view data = bytes.substr(header->bytes);
  uint64_t expected = static_cast<uint64_t>(elements) * elementBytes(element);
  if (data.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(data.size() < expected ? "the file is truncated: "
                                            : "the file is too long: ",
                     shapeString(element, header->shape), " takes ", expected,
                     " bytes of data, but the file has ", data.size(),
                     Tag(ErrorId::kNpyDamaged)));
  }
  if (element == ElementType::kI1) {
    if (const int64_t i = FindNoBoolean(data); i >= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("element ", i, " is ",
                       static_cast<int>(static_cast<uint8_t>(data[i])),
                       ", expected 0 or 1 for a boolean"));
    }
  }
  HostArray array;
  array.element = element;
  array.shape = std::move(header->shape);
  if (!HasMemoryFor([&] { array.data.resize(data.size()); })) {
    return absl::ResourceExhaustedError(NoMemoryText(element, array.shape));
  }
  if (header->fortran_order && array.shape.size() > 1) {
    FromFortranOrder(array.shape, elementBytes(element), data.data(),
                     array.data.data(), elements);
  } else if (!data.empty()) {
    std::memcpy(array.data.data(), data.data(), data.size());
  }
  return array;
}

std::string SerializeNpyHeader(ElementType element,
                               const std::vector<int64_t>& shape) {
  std::string header = absl::StrCat("{'descr': '", DescrOf(element),
                                    "', 'fortran_order': False, 'shape': (");
  for (size_t d = 0; d < shape.size(); ++d) {
    absl::StrAppend(&header, d > 0 ? " " : "", shape[d], ",");
  }
  // One dimension needs its comma, "(3,)"; NumPy writes "(3, 4)" without one.
  if (shape.size() > 1) header.pop_back();
  header += "), }";
  // The header is padded so that the data is aligned; it ends with a newline.
  size_t total = kMagicBytes + 4 + header.size() + 1;
  header.append((64 - total % 64) % 64, ' ');
  header += '\n';
  std::string file(kMagic, kMagicBytes);
  file += '\x01';
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8 & 0xff);
  file += header;
  return file;
}

std::string SerializeNpy(const HostArray& array) {
  std::string file = SerializeNpyHeader(array.element, array.shape);
  file.append(array.data.data(), array.data.size());
  return file;
}

}  // namespace pathways
