//===- input_spec.cc - Arrays given on the command line -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/input_spec.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/memory.h"
#include "runtime/checkpoint/npy.h"
#include "runtime/client/combine.h"
#include "tools/pw-run/files.h"
#include "tools/pw-run/values.h"

namespace pathways::pw_run {
namespace {

// Parser of a literal: its shape, and the text of its elements in order.
class LiteralParser {
 public:
  explicit LiteralParser(absl::string_view text) : text_(text) {}

  // Parses the literal. A single element has no dimensions.
  absl::Status Parse() {
    if (text_.find('[') != absl::string_view::npos) {
      if (absl::Status s = List(0); !s.ok()) return s;
    } else if (text_.find_first_of(",;") == absl::string_view::npos) {
      return Element();
    } else if (absl::Status s = Rows(); !s.ok()) {
      return s;
    }
    SkipSpace();
    if (at_ == text_.size()) return absl::OkStatus();
    return Error("nothing more");
  }

  const std::vector<int64_t>& shape() const { return shape_; }
  const std::vector<absl::string_view>& elements() const { return elements_; }

 private:
  absl::Status Error(absl::string_view expected) const {
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", expected, " at character ", at_ + 1, " of '",
                     text_.substr(0, 60), text_.size() > 60 ? "..." : "", "'"));
  }
  void SkipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Consume(char c) {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  absl::Status Element() {
    SkipSpace();
    size_t end = std::min(text_.find_first_of("[],; ", at_), text_.size());
    if (end == at_) return Error("a number");
    elements_.push_back(text_.substr(at_, end - at_));
    at_ = end;
    return absl::OkStatus();
  }
  // Sets the extent of dimension `dim` to `count`, or checks that it is the
  // same everywhere.
  absl::Status SetExtent(size_t dim, int64_t count) {
    if (closed_.size() <= dim) closed_.resize(dim + 1, false);
    if (!closed_[dim]) {
      closed_[dim] = true;
      shape_[dim] = count;
    }
    if (shape_[dim] == count) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("rows differ in length: ", shape_[dim], " and ", count));
  }
  absl::Status List(size_t dim) {
    if (dim == kMaxNpyRank) return Error("fewer nested lists");
    if (!Consume('[')) return Error("'['");
    if (shape_.size() <= dim) {
      // An element was seen at this depth, or a list without this depth was
      // closed.
      if (leaf_ || (dim > 0 && closed_.size() >= dim && closed_[dim - 1])) {
        return Error("a number");
      }
      shape_.resize(dim + 1, 0);
    }
    int64_t count = 0;
    if (!Consume(']')) {
      do {
        SkipSpace();
        bool list = at_ < text_.size() && text_[at_] == '[';
        absl::Status status;
        if (list) {
          status = List(dim + 1);
        } else if (dim + 1 < shape_.size()) {
          status = Error("'['");
        } else {
          leaf_ = true;
          status = Element();
        }
        if (!status.ok()) return status;
        ++count;
      } while (Consume(','));
      if (!Consume(']')) return Error("',' or ']'");
    }
    return SetExtent(dim, count);
  }
  absl::Status Rows() {
    bool rows = text_.find(';') != absl::string_view::npos;
    shape_.assign(rows ? 2 : 1, 0);
    int64_t count = 0;
    do {
      int64_t row = 0;
      do {
        if (absl::Status s = Element(); !s.ok()) return s;
        ++row;
      } while (Consume(','));
      if (absl::Status s = SetExtent(shape_.size() - 1, row); !s.ok()) return s;
      ++count;
    } while (Consume(';'));
    if (rows) shape_[0] = count;
    return absl::OkStatus();
  }

  absl::string_view text_;
  size_t at_ = 0;
  std::vector<int64_t> shape_;
  std::vector<bool> closed_;  // dimensions whose extent is known
  bool leaf_ = false;         // an element was seen: no deeper list may follow
  std::vector<absl::string_view> elements_;
};

// Returns the period of "ramp", which starts over before values stop being
// exact.
int64_t RampPeriod(ElementType element) {
  switch (element) {
    case ElementType::kF32:
      return int64_t{1} << 24;
    case ElementType::kF16:
      return 2048;
    case ElementType::kBF16:
      return 256;
    case ElementType::kI8:
      return 128;
    case ElementType::kUI8:
      return 256;
    case ElementType::kI16:
      return int64_t{1} << 15;
    case ElementType::kUI16:
      return int64_t{1} << 16;
    case ElementType::kUI32:
      return int64_t{1} << 32;
    case ElementType::kI1:
      return 2;
    case ElementType::kI32:
      return int64_t{1} << 31;
    default:
      return int64_t{1} << 53;
  }
}

// SplitMix64, implemented here since the values are part of the tool's
// behaviour.
uint64_t NextRandom(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

struct RandomSpec {
  uint64_t state = 0;  // the seed
  double scale = 1;    // for floats
};

absl::StatusOr<RandomSpec> ParseRandom(ElementType element,
                                       absl::string_view spec) {
  std::vector<absl::string_view> parts = absl::StrSplit(spec, ':');
  RandomSpec random;
  if (parts[0] != "random" || parts.size() < 2 || parts.size() > 3 ||
      !absl::SimpleAtoi(parts[1], &random.state)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected random:SEED or random:SEED:SCALE with a seed from 0 to 2^64 "
        "- 1, got '",
        spec, "'"));
  }
  if (parts.size() == 2) return random;
  if (!IsFloat(element)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a scale needs floats, but elements are ", elementName(element),
        "; expected random:SEED, got '", spec, "'"));
  }
  if (!absl::SimpleAtod(parts[2], &random.scale) ||
      !std::isfinite(random.scale)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected random:SEED:SCALE with a finite scale, got '", spec, "'"));
  }
  return random;
}

void StoreNumber(ElementType element, int64_t value, char* data) {
  if (IsFloat(element)) {
    StoreFloat(element, static_cast<double>(value), data);
  } else {
    StoreInteger(element, value, data);
  }
}

// Calls fill(index, where) for every element of an array of `shape`.
template <typename Fill>
absl::StatusOr<HostArray> Generate(ElementType element,
                                   std::vector<int64_t> shape,
                                   const Fill& fill) {
  HostArray array;
  array.element = element;
  array.shape = std::move(shape);
  int64_t count = array.numElements(), bytes = elementBytes(element);
  if (!HasMemoryFor([&] { array.data.resize(count * bytes); })) {
    return absl::ResourceExhaustedError(NoMemoryText(element, array.shape));
  }
  for (int64_t i = 0; i < count; ++i) fill(i, array.data.data() + i * bytes);
  return array;
}

absl::StatusOr<HostArray> MakeLiteral(const Port& port, int64_t steps,
                                      absl::string_view spec) {
  LiteralParser parser(spec);
  if (absl::Status s = parser.Parse(); !s.ok()) return s;
  std::vector<int64_t> shape = port.ShapeOver(steps);
  int64_t bytes = elementBytes(port.element);
  bool splat = parser.shape().empty() && parser.elements().size() == 1;
  if (!splat && parser.shape() != shape) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected ", port.TypeOver(steps), ", got ",
        shapeString(port.element, parser.shape()), Tag(ErrorId::kWrongType)));
  }
  ArrayBytes values(parser.elements().size() * bytes);
  for (size_t i = 0; i < parser.elements().size(); ++i) {
    absl::Status s = StoreText(port.element, parser.elements()[i],
                               values.data() + i * bytes);
    if (!s.ok()) return s;
  }
  return Generate(port.element, std::move(shape), [&](int64_t i, char* data) {
    std::copy_n(values.data() + (splat ? 0 : i * bytes), bytes, data);
  });
}

// Returns the array of a folder, if it has the port's type.
absl::StatusOr<std::shared_ptr<const SavedArray>> OpenFolder(
    const Port& port, int64_t steps, absl::string_view spec) {
  absl::StatusOr<std::shared_ptr<const SavedArray>> saved =
      SavedArray::Open(std::string(spec));
  if (!saved.ok()) return saved;
  if ((*saved)->element() != port.element ||
      (*saved)->shape() != port.ShapeOver(steps)) {
    return absl::InvalidArgumentError(absl::StrCat(
        (*saved)->folder(), ": expected ", port.TypeOver(steps), ", got ",
        shapeString((*saved)->element(), (*saved)->shape()),
        Tag(ErrorId::kWrongType)));
  }
  return saved;
}

// Returns the most bytes that the file of an array may have: values and a
// header.
uint64_t MostFileBytes(const Port& port, int64_t steps) {
  const int64_t elements = CheckedElements(port.element, port.ShapeOver(steps));
  if (elements < 0) return kMaxFileBytes;
  return static_cast<uint64_t>(elements) * elementBytes(port.element) +
         (uint64_t{1} << 16);
}

absl::StatusOr<HostArray> MakeArrayUnnamed(const Port& port, int64_t steps,
                                           absl::string_view spec) {
  ElementType element = port.element;
  if (IsFolderSpec(spec)) {
    const auto saved = OpenFolder(port, steps, spec);
    if (!saved.ok()) return saved.status();
    absl::StatusOr<HostArray> array = (*saved)->ReadAll();
    if (!array.ok()) return array.status();
    return Combine(*std::move(array), (*saved)->contributions());
  }
  if (absl::StartsWith(spec, "@")) {
    std::string path(spec.substr(1));
    absl::StatusOr<std::string> bytes =
        ReadFileOrStream(path, MostFileBytes(port, steps));
    if (!bytes.ok()) return bytes.status();
    absl::StatusOr<HostArray> array = ParseNpy(*bytes);
    if (!array.ok()) {
      return absl::Status(array.status().code(),
                          absl::StrCat(path, ": ", array.status().message()));
    }
    if (array->element != element || array->shape != port.ShapeOver(steps)) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": expected ", port.TypeOver(steps), ", got ",
          shapeString(array->element, array->shape), Tag(ErrorId::kWrongType)));
    }
    return array;
  }
  if (absl::Status s = CheckSize(port, steps); !s.ok()) return s;
  std::vector<int64_t> shape = port.ShapeOver(steps);
  if (spec == "zeros" || spec == "ones") {
    return Generate(element, std::move(shape), [&](int64_t, char* data) {
      StoreNumber(element, spec == "ones", data);
    });
  }
  if (spec == "ramp") {
    int64_t period = RampPeriod(element);
    return Generate(element, std::move(shape), [&](int64_t i, char* data) {
      StoreNumber(element, i % period, data);
    });
  }
  if (absl::StartsWith(spec, "random")) {
    absl::StatusOr<RandomSpec> random = ParseRandom(element, spec);
    if (!random.ok()) return random.status();
    return Generate(element, std::move(shape), [&](int64_t, char* data) {
      uint64_t bits = NextRandom(&random->state);
      if (IsFloat(element)) {
        // The upper 24 bits: a multiple of 2^-23 in [-1, 1).
        auto value = static_cast<double>(bits >> 40);
        StoreFloat(element, (value / (1 << 23) - 1) * random->scale, data);
      } else {
        const int64_t least = IsUnsigned(element) ? 0 : -128;
        StoreInteger(element, static_cast<int64_t>(bits >> 56) + least, data);
      }
    });
  }
  return MakeLiteral(port, steps, spec);
}

absl::Status Named(absl::string_view what, const Port& port,
                   const absl::Status& status) {
  const std::string message =
      absl::StrCat(what, " '", port.name, "': ", status.message());
  if (absl::IsResourceExhausted(status)) {
    return absl::ResourceExhaustedError(message);
  }
  return absl::InvalidArgumentError(message);
}

}  // namespace

absl::StatusOr<std::vector<NamedSpec>> ParseNamedSpecs(
    absl::string_view option, const std::vector<std::string>& values) {
  std::vector<NamedSpec> specs;
  for (const std::string& value : values) {
    size_t equals = value.find('=');
    if (equals == std::string::npos || equals == 0 ||
        equals + 1 == value.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, ": expected NAME=VALUE, got '", value, "'"));
    }
    specs.push_back({value.substr(0, equals), value.substr(equals + 1)});
    for (size_t i = 0; i + 1 < specs.size(); ++i) {
      if (specs[i].name == specs.back().name) {
        return absl::InvalidArgumentError(
            absl::StrCat(option, ": '", specs[i].name, "' is given twice, as '",
                         specs[i].spec, "' and as '", specs.back().spec, "'"));
      }
    }
  }
  return specs;
}

absl::StatusOr<HostArray> MakeArray(absl::string_view what, const Port& port,
                                    int64_t steps, absl::string_view spec) {
  absl::StatusOr<HostArray> array = MakeArrayUnnamed(port, steps, spec);
  if (array.ok()) return array;
  return Named(what, port, array.status());
}

bool IsFolderSpec(absl::string_view spec) {
  return !absl::StartsWith(spec, "@") && absl::EndsWith(spec, "/");
}

absl::StatusOr<std::vector<Input>> MakeInputs(
    const std::vector<Port>& arguments, int64_t steps,
    const std::vector<NamedSpec>& specs, const Archives* archives) {
  const auto is_in_archive = [archives](size_t argument) {
    return archives != nullptr && archives->Has(argument);
  };
  std::vector<const NamedSpec*> spec_of(arguments.size(), nullptr);
  for (const NamedSpec& spec : specs) {
    absl::StatusOr<size_t> index = FindPort(arguments, spec.name, "input");
    if (!index.ok()) return index.status();
    spec_of[*index] = &spec;
  }
  std::string missing;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (spec_of[i] != nullptr || is_in_archive(i)) continue;
    absl::StrAppend(&missing, "\n  --input=", arguments[i].name, "=...  ",
                    arguments[i].TypeOver(steps));
  }
  if (!missing.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "inputs are missing:", missing, Tag(ErrorId::kInputMissing)));
  }
  std::vector<Input> inputs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Port& port = arguments[i];
    if (spec_of[i] == nullptr) {
      absl::StatusOr<HostArray> array = archives->Read(i, steps);
      if (!array.ok()) return array.status();
      inputs.emplace_back(*std::move(array));
      continue;
    }
    const std::string& spec = spec_of[i]->spec;
    if (IsFolderSpec(spec)) {
      auto saved = OpenFolder(port, steps, spec);
      if (!saved.ok()) return Named("input", port, saved.status());
      inputs.emplace_back(*std::move(saved));
      continue;
    }
    absl::StatusOr<HostArray> array = MakeArray("input", port, steps, spec);
    if (!array.ok()) return array.status();
    inputs.emplace_back(*std::move(array));
  }
  return inputs;
}

}  // namespace pathways::pw_run
