//===- array_index.cc - Index of a saved array ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/array_index.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/memory.h"
#include "runtime/checkpoint/block_grid.h"
#include "runtime/checkpoint/file_status.h"
#include "runtime/checkpoint/npy.h"

namespace pathways {
namespace {

using Json = nlohmann::json;

constexpr char kArrayFormat[] = "pathways-array";
constexpr char kSetFormat[] = "pathways-arrays";

template <typename... Parts>
absl::Status Damaged(const Parts&... parts) {
  return absl::DataLossError(absl::StrCat("the index is damaged: ", parts...,
                                          Tag(ErrorId::kSavedDamaged)));
}

// Returns a value as it appears in the index, cut off if it is long.
std::string Quoted(const Json& value) {
  const std::string text =
      value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= 64 ? text : absl::StrCat(text.substr(0, 64), "...");
}

std::string Text(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Numbers(const std::vector<int64_t>& numbers) {
  return absl::StrCat("[", absl::StrJoin(numbers, ", "), "]");
}

// Returns the value of `key`, or null if there is none.
const Json* Find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

// Reads named values and keeps the first error.
class Reader {
 public:
  const absl::Status& status() const { return status_; }

  const Json* List(const Json& object, const char* key) {
    const Json* value = Find(object, key);
    if (value != nullptr && value->is_array()) return value;
    Fail(key, value, "a list");
    return nullptr;
  }
  std::string String(const Json& object, const char* key) {
    const Json* value = Find(object, key);
    if (value != nullptr && value->is_string()) {
      return value->get<std::string>();
    }
    Fail(key, value, "a text");
    return "";
  }
  int64_t Whole(const Json& object, const char* key) {
    return Whole(key, Find(object, key));
  }
  std::vector<int64_t> Wholes(const Json& object, const char* key) {
    std::vector<int64_t> numbers;
    const Json* list = List(object, key);
    if (list == nullptr) return numbers;
    for (const Json& value : *list) {
      numbers.push_back(Whole(key, &value));
      if (!status_.ok()) break;
    }
    return numbers;
  }
  uint32_t Crc(const Json& object, const char* key) {
    const std::string text = String(object, key);
    uint32_t crc = 0;
    if (text.size() != 10 || !absl::SimpleHexAtoi(text, &crc)) {
      Fail(key, Find(object, key), "a checksum like 0x01234567");
    }
    return crc;
  }
  void Fail(const char* key, const Json* value, const char* expected) {
    if (!status_.ok()) return;
    status_ = value == nullptr ? Damaged("it has no '", key, "'")
                               : Damaged("'", key, "' is ", Quoted(*value),
                                         ", expected ", expected);
  }

 private:
  int64_t Whole(const char* key, const Json* value) {
    // The parser does not store negative numbers as unsigned ones.
    if (value != nullptr && value->is_number_unsigned() &&
        value->get<uint64_t>() <= uint64_t{INT64_MAX}) {
      return value->get<int64_t>();
    }
    Fail(key, value, "a whole number");
    return 0;
  }

  absl::Status status_;
};

// Parses the index as JSON and checks its format, and that its version is at
// most `newest`.
absl::StatusOr<Json> ParseOf(const std::string& text, const char* format,
                             const char* what,
                             int64_t newest = kCheckpointVersion) {
  Json index = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (index.is_discarded()) return Damaged("it is not JSON");
  if (!index.is_object()) {
    return Damaged("it is ", Quoted(index), ", expected a JSON object");
  }
  Reader reader;
  const std::string got = reader.String(index, "format");
  if (!reader.status().ok()) return reader.status();
  if (got != format) {
    std::string which;
    if (got == kSetFormat) which = ": a folder of several arrays";
    if (got == kArrayFormat) which = ": a single array";
    return absl::InvalidArgumentError(
        absl::StrCat("the format is ", Quoted(index["format"]), which,
                     ", expected \"", format, "\": ", what));
  }
  const Json* version = Find(index, "version");
  if (version == nullptr ||
      (*version != kCheckpointVersion && *version != newest)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the version of the format is ",
        version == nullptr ? std::string("missing") : Quoted(*version),
        ", expected ", kCheckpointVersion,
        newest == kCheckpointVersion ? "" : absl::StrCat(" or ", newest)));
  }
  return index;
}

void ReadMesh(const Json& index, Reader* reader, layout::Mesh* mesh) {
  const Json* axes = reader->List(index, "mesh");
  if (axes == nullptr) return;
  for (const Json& axis : *axes) {
    if (!axis.is_object()) {
      return reader->Fail("mesh", axes, "a list of axes");
    }
    const std::string name = reader->String(axis, "axis");
    const int64_t size = reader->Whole(axis, "size");
    if (!reader->status().ok()) return;
    mesh->push_back({name, size});
  }
}

void ReadSharding(const Json& index, Reader* reader, layout::Layout* layout) {
  const Json* dims = reader->List(index, "sharding");
  if (dims == nullptr) return;
  for (const Json& dim : *dims) {
    layout->dims.emplace_back();
    if (!dim.is_array()) {
      return reader->Fail("sharding", dims,
                          "a list of axes for each "
                          "dimension");
    }
    for (const Json& axis : dim) {
      if (!axis.is_string()) {
        return reader->Fail("sharding", &axis, "the name of an axis");
      }
      layout->dims.back().push_back(axis.get<std::string>());
    }
  }
}

struct NamedReduction {
  layout::Reduction reduction;
  const char* name;
};
constexpr NamedReduction kReductions[] = {
    {layout::Reduction::kAdd, "add"},   {layout::Reduction::kMul, "mul"},
    {layout::Reduction::kMax, "max"},   {layout::Reduction::kMin, "min"},
    {layout::Reduction::kUMax, "umax"}, {layout::Reduction::kUMin, "umin"},
    {layout::Reduction::kAnd, "and"},   {layout::Reduction::kOr, "or"},
    {layout::Reduction::kXor, "xor"}};

const char* NameOf(layout::Reduction reduction) {
  for (const NamedReduction& one : kReductions) {
    if (one.reduction == reduction) return one.name;
  }
  return "none";
}

void ReadContributions(const Json& index, Reader* reader,
                       layout::Contributions* contributions) {
  const Json* json = Find(index, "contributions");
  if (json == nullptr || !json->is_object()) {
    return reader->Fail("contributions", json, "an object");
  }
  const std::string name = reader->String(*json, "reduction");
  contributions->sizes = reader->Wholes(*json, "sizes");
  if (!reader->status().ok()) return;
  for (const NamedReduction& one : kReductions) {
    if (one.name == name) contributions->reduction = one.reduction;
  }
  if (contributions->reduction == layout::Reduction::kNone) {
    reader->Fail("reduction", Find(*json, "reduction"),
                 "add, mul, max, min, umax, umin, and, or or xor");
  }
  if (contributions->sizes.empty()) {
    reader->Fail("sizes", Find(*json, "sizes"), "the sizes of axes");
  }
}

// Returns why the first dimension of `shape` is not the number of
// contributions, or an empty string if it is.
std::string CheckContributions(const layout::Contributions& contributions,
                               const std::vector<int64_t>& shape) {
  if (contributions.sizes.empty()) return "";
  int64_t count = 1;
  for (int64_t size : contributions.sizes) {
    if (size < 1 || size > layout::kMaxShards / count) {
      return absl::StrCat("it has contributions over axes of sizes ",
                          Numbers(contributions.sizes), ", expected 1 to ",
                          layout::kMaxShards, " ranks");
    }
    count *= size;
  }
  if (!shape.empty() && shape.front() == count) return "";
  return absl::StrCat("its shape is ", Numbers(shape),
                      ", expected a first dimension of ", count,
                      ", the contributions");
}

// Returns true if the name does not lead out of the folder.
bool IsPlain(const std::string& file) {
  return CheckArrayName(file).ok() && file != kIndexFile;
}

absl::Status ReadBlocks(const Json& blocks, ArrayIndex* index) {
  const BlockGrid grid(index->layout, index->mesh);
  if (static_cast<int64_t>(blocks.size()) != grid.size()) {
    return Damaged("it lists ", blocks.size(), " blocks, expected ",
                   grid.size(), " for ", layout::ToString(index->layout),
                   " on ", layout::ToString(index->mesh));
  }
  for (const Json& json : blocks) {
    const auto number = static_cast<int64_t>(index->blocks.size());
    if (!json.is_object()) {
      return Damaged("block ", number, " is ", Quoted(json));
    }
    const layout::Box box = grid.box(number);
    Reader reader;
    ArrayIndex::Block block;
    block.file = reader.String(json, "file");
    const std::vector<int64_t> offset = reader.Wholes(json, "offset");
    const std::vector<int64_t> shape = reader.Wholes(json, "shape");
    block.bytes = static_cast<uint64_t>(reader.Whole(json, "bytes"));
    if (!reader.status().ok()) return reader.status();
    if (offset != box.begin || shape != box.extent) {
      return Damaged("block ", number, " is ", Numbers(shape), " at ",
                     Numbers(offset), ", expected ", Numbers(box.extent),
                     " at ", Numbers(box.begin));
    }
    if (!IsPlain(block.file)) {
      return Damaged("block ", number, " is in ", Quoted(json["file"]),
                     ", expected the plain name of a file");
    }
    block.crc = reader.Crc(json, "crc32");
    if (!reader.status().ok()) return reader.status();
    index->blocks.push_back(std::move(block));
  }
  return absl::OkStatus();
}

// Reads the list `inputs` of the object `checkpoint`.
void ReadInputs(const Json& checkpoint, Reader* reader,
                std::vector<CheckpointInput>* inputs) {
  const Json* list = reader->List(checkpoint, "inputs");
  if (list == nullptr) return;
  for (const Json& json : *list) {
    if (!json.is_object()) return reader->Fail("inputs", list, "objects");
    CheckpointInput& input = inputs->emplace_back();
    input.name = reader->String(json, "name");
    input.steps = reader->Whole(json, "steps");
    input.crc = reader->Crc(json, "crc32");
    input.crc_before = reader->Crc(json, "crc32_before");
  }
}

std::string CrcText(uint32_t crc) {
  return absl::StrCat("0x", absl::Hex(crc, absl::kZeroPad8));
}

}  // namespace

absl::Status CheckSavable(ElementType element, const layout::Layout& layout,
                          const layout::Mesh& mesh) {
  std::string wrong = layout::CheckMesh(mesh);
  if (wrong.empty()) wrong = layout::CheckLayout(layout, mesh);
  if (wrong.empty() && !layout.partial.empty()) wrong = "it is partial";
  const std::string type = shapeString(element, layout.shape);
  if (wrong.empty() && (elementBytes(element) == 0 ||
                        CheckedElements(element, layout.shape) < 0)) {
    wrong =
        "the number of elements is too large, or the element type is unknown";
  }
  if (wrong.empty() && layout.shape.size() > kMaxNpyRank) {
    wrong = absl::StrCat("it has ", layout.shape.size(),
                         " dimensions, expected at most ", kMaxNpyRank);
  }
  if (wrong.empty()) {
    const int64_t blocks = BlockGrid(layout, mesh).size();
    if (blocks > kMaxSavedBlocks) {
      wrong = absl::StrCat("it has ", blocks, " blocks, expected at most ",
                           kMaxSavedBlocks);
    }
  }
  if (wrong.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("cannot save an array of ", type, ": ", wrong));
}

std::string PrintArrayIndex(const ArrayIndex& index) {
  std::string axes, dims;
  for (const layout::Axis& axis : index.mesh) {
    absl::StrAppend(&axes, axes.empty() ? "" : ", ",
                    "{\"axis\": ", Text(axis.name), ", \"size\": ", axis.size,
                    "}");
  }
  for (const std::vector<std::string>& dim : index.layout.dims) {
    absl::StrAppend(
        &dims, dims.empty() ? "" : ", ", "[",
        absl::StrJoin(dim, ", ",
                      [](std::string* out, const std::string& axis) {
                        out->append(Text(axis));
                      }),
        "]");
  }
  const bool partial = !index.contributions.sizes.empty();
  std::string text = absl::StrCat(
      "{\n  \"format\": \"", kArrayFormat, "\",\n  \"version\": ",
      partial ? kContributionsVersion : kCheckpointVersion,
      ",\n  \"element\": \"", elementName(index.element),
      "\",\n  \"shape\": ", Numbers(index.layout.shape), ",\n  \"mesh\": [",
      axes, "],\n  \"sharding\": [", dims, "],\n");
  if (partial) {
    absl::StrAppend(&text, "  \"contributions\": {\"reduction\": \"",
                    NameOf(index.contributions.reduction),
                    "\", \"sizes\": ", Numbers(index.contributions.sizes),
                    "},\n");
  }
  absl::StrAppend(&text, "  \"blocks\": [");
  const BlockGrid grid(index.layout, index.mesh);
  for (size_t i = 0; i < index.blocks.size(); ++i) {
    const ArrayIndex::Block& block = index.blocks[i];
    const layout::Box box = grid.box(static_cast<int64_t>(i));
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n", "    {\"file\": \"",
                    block.file, "\", \"offset\": ", Numbers(box.begin),
                    ", \"shape\": ", Numbers(box.extent),
                    ", \"bytes\": ", block.bytes, ", \"crc32\": \"",
                    CrcText(block.crc), "\"}");
  }
  absl::StrAppend(&text, index.blocks.empty() ? "" : "\n  ", "]\n}\n");
  return text;
}

absl::StatusOr<ArrayIndex> ParseArrayIndex(const std::string& text) {
  absl::StatusOr<Json> json = ParseOf(
      text, kArrayFormat, "the folder of one array", kContributionsVersion);
  if (!json.ok()) return json.status();
  Reader reader;
  ArrayIndex index;
  const std::string element = reader.String(*json, "element");
  index.layout.shape = reader.Wholes(*json, "shape");
  ReadMesh(*json, &reader, &index.mesh);
  ReadSharding(*json, &reader, &index.layout);
  if ((*json)["version"] == kContributionsVersion) {
    ReadContributions(*json, &reader, &index.contributions);
  }
  const Json* blocks = reader.List(*json, "blocks");
  if (!reader.status().ok()) return reader.status();
  index.element = elementFromName(element);
  if (index.element == ElementType::kInvalid) {
    return Damaged("'element' is ", Quoted((*json)["element"]),
                   ", expected a type such as f32");
  }
  const absl::Status savable =
      CheckSavable(index.element, index.layout, index.mesh);
  if (!savable.ok()) return Damaged(savable.message());
  const std::string wrong =
      CheckContributions(index.contributions, index.layout.shape);
  if (!wrong.empty()) return Damaged(wrong);
  absl::Status read = ReadBlocks(*blocks, &index);
  if (!read.ok()) return read;
  return index;
}

std::string PrintSetIndex(const std::vector<std::string>& names,
                          const CheckpointFacts* checkpoint) {
  std::string text = absl::StrCat("{\n  \"format\": \"", kSetFormat,
                                  "\",\n  \"version\": ", kCheckpointVersion);
  if (checkpoint != nullptr) {
    absl::StrAppend(
        &text, ",\n  \"checkpoint\": {\"program\": ", Text(checkpoint->program),
        ", \"fingerprint\": ", Text(checkpoint->fingerprint),
        ", \"steps\": ", checkpoint->steps,
        ", \"first_step\": ", checkpoint->first_step);
    for (size_t i = 0; i < checkpoint->inputs.size(); ++i) {
      const CheckpointInput& input = checkpoint->inputs[i];
      absl::StrAppend(&text, i == 0 ? ", \"inputs\": [\n    " : ",\n    ",
                      "{\"name\": ", Text(input.name),
                      ", \"steps\": ", input.steps, ", \"crc32\": \"",
                      CrcText(input.crc), "\", \"crc32_before\": \"",
                      CrcText(input.crc_before), "\"}");
    }
    absl::StrAppend(&text, checkpoint->inputs.empty() ? "}" : "]}");
  }
  absl::StrAppend(&text, ",\n  \"arrays\": [");
  for (size_t i = 0; i < names.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n", "    ", Text(names[i]));
  }
  absl::StrAppend(&text, names.empty() ? "" : "\n  ", "]\n}\n");
  return text;
}

absl::StatusOr<std::vector<std::string>> ParseSetIndex(
    const std::string& text) {
  absl::StatusOr<Json> json =
      ParseOf(text, kSetFormat, "a folder of several arrays");
  if (!json.ok()) return json.status();
  Reader reader;
  const Json* list = reader.List(*json, "arrays");
  if (list == nullptr) return reader.status();
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Json& name : *list) {
    if (!name.is_string() || !IsPlain(name.get<std::string>()) ||
        !seen.insert(name.get<std::string>()).second) {
      return Damaged("'arrays' has ", Quoted(name),
                     ", expected names, each once");
    }
    names.push_back(name.get<std::string>());
  }
  return names;
}

absl::StatusOr<CheckpointFacts> ParseCheckpoint(const std::string& text) {
  absl::StatusOr<Json> json = ParseOf(text, kSetFormat, "a checkpoint");
  if (!json.ok()) return json.status();
  const Json* checkpoint = Find(*json, "checkpoint");
  if (checkpoint == nullptr) {
    return absl::InvalidArgumentError(
        "the saved arrays are not a checkpoint: the index has no 'checkpoint'");
  }
  Reader reader;
  CheckpointFacts facts;
  if (!checkpoint->is_object()) {
    reader.Fail("checkpoint", checkpoint, "an object");
  } else {
    facts.program = reader.String(*checkpoint, "program");
    facts.fingerprint = reader.String(*checkpoint, "fingerprint");
    facts.steps = reader.Whole(*checkpoint, "steps");
    facts.first_step = reader.Whole(*checkpoint, "first_step");
    // The list is absent if the run knew the values of no input.
    if (reader.status().ok() && Find(*checkpoint, "inputs") != nullptr) {
      ReadInputs(*checkpoint, &reader, &facts.inputs);
    }
  }
  if (!reader.status().ok()) return reader.status();
  return facts;
}

absl::Status CheckArrayName(const std::string& name) {
  bool good = !name.empty() && name.size() <= 255 && name.front() != '.' &&
              name != kIndexFile;
  for (char c : name) {
    good &= absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
            c == '$' || c == '-' || c == '.';
  }
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "an array cannot be saved under the name ", Quoted(Json(name)),
      ", expected 1 to 255 letters, digits, '_', '$', '-' and '.', and no '.' "
      "at the beginning"));
}

absl::StatusOr<std::string> ReadIndexText(const std::string& given) {
  const std::string folder = WithoutSlash(given);
  struct stat info;
  if (stat(folder.c_str(), &info) != 0) {
    return FileStatus("read", folder, errno);
  }
  if (!S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", folder, "' is not a folder"));
  }
  const std::string path = absl::StrCat(folder, "/", kIndexFile);
  FileDescriptor file(OpenToRead(path));
  if (file.get() < 0 && errno == ENOENT) {
    return absl::NotFoundError(absl::StrCat(
        "'", folder, "' has no ", kIndexFile,
        ": no save to this folder was completed", Tag(ErrorId::kNothingSaved)));
  }
  if (file.get() < 0 || fstat(file.get(), &info) != 0) {
    return FileStatus("read", path, errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::DataLossError(
        absl::StrCat("'", path, "' is not a regular file"));
  }
  if (info.st_size > kMaxIndexBytes) {
    return absl::DataLossError(absl::StrCat("'", path, "' has ", info.st_size,
                                            " bytes, expected at most ",
                                            kMaxIndexBytes));
  }
  std::string text;
  if (!HasMemoryFor([&] { text.resize(info.st_size); })) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot read '", path,
                     "': ", NoMemoryText(static_cast<uint64_t>(info.st_size))));
  }
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got =
        read(file.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileStatus("read", path, errno);
    if (got == 0) break;
    have += got;
  }
  text.resize(have);
  return text;
}

absl::Status InIndex(const std::string& folder, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(WithoutSlash(folder), "/", kIndexFile, ": ",
                                   status.message()));
}

}  // namespace pathways
