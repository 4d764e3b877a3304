//===- Chip.cpp - reads chips from JSON and from settings ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file is read strictly: a figure that is missing, unknown, twice there, of
// the wrong type or unit or out of range is an error with its line and name.
// Guessing would make a wrong chip look like a slow compiler.
//
//===----------------------------------------------------------------------===//
#include "machine/Chip.h"

#include "machine/ChipSchema.h"
#include "machine/JsonLines.h"
#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

#include <cstdlib>

using namespace spokeshave;
using namespace spokeshave::machine;

namespace {

struct BuiltinChip {
  llvm::StringRef name;
  llvm::StringRef text;
};

const BuiltinChip kBuiltinChips[] = {
#include "machine/BuiltinChips.inc"
};

/// Reads one file's text into a Chip.
class ChipReader {
public:
  ChipReader(llvm::StringRef text, llvm::StringRef file) : text(text), file(file) {}
  llvm::Expected<Chip> read();

private:
  llvm::Error error(llvm::StringRef path, const llvm::Twine &message) const;
  llvm::Error readHeader(const llvm::json::Object &root);
  llvm::Error checkNames(const llvm::json::Object &root) const;
  llvm::Error readFigure(const FigureField &field, const llvm::json::Object &root);
  llvm::Error readValue(const FigureField &field, const llvm::json::Object &figure);
  llvm::Error readProvenance(const FigureField &field, const llvm::json::Object &figure);
  llvm::Error checkWhole() const;

  llvm::StringRef text, file;
  JsonLines lines;
  Chip chip;
};

constexpr llvm::StringRef kHeader[] = {"schema", "name", "description", "hypothetical"};
constexpr llvm::StringRef kFigureKeys[] = {"value", "unit", "source", "fitted", "note"};

bool isSection(llvm::StringRef name) {
  return llvm::any_of(figureFields(), [&](const FigureField &f) { return f.section == name; });
}

const FigureField *findField(llvm::StringRef section, llvm::StringRef name) {
  for (const FigureField &field : figureFields())
    if (field.section == section && field.name == name)
      return &field;
  return nullptr;
}

llvm::Error ChipReader::error(llvm::StringRef path, const llvm::Twine &message) const {
  std::string where = file.str();
  if (int64_t line = lines.lineOf(path))
    where += ":" + std::to_string(line);
  std::string field = path.empty() ? "" : path.str() + ": ";
  return makeError(ErrorCode::BadOption, where + ": " + field + message);
}

llvm::Error ChipReader::readHeader(const llvm::json::Object &root) {
  std::optional<int64_t> schema = root.getInteger("schema");
  if (!schema)
    return error("schema", "missing or not a whole number; this version reads schema 1");
  if (*schema != 1)
    return error("schema", llvm::formatv("is {0}; this version reads schema 1", *schema));
  std::optional<llvm::StringRef> name = root.getString("name");
  if (!name || name->empty())
    return error("name", "missing or not a text");
  // Names become part of device kinds and file names.
  if (name->find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-.") != name->npos)
    return error("name", "may hold lower case letters, digits, '_', '-' and '.'");
  std::optional<llvm::StringRef> description = root.getString("description");
  if (!description)
    return error("description", "missing or not a text");
  chip.name = name->str();
  chip.description = description->str();
  if (root.get("hypothetical")) {
    std::optional<bool> flag = root.getBoolean("hypothetical");
    if (!flag)
      return error("hypothetical", "must be true or false");
    chip.hypothetical = *flag;
  }
  return llvm::Error::success();
}

/// Finds sections and figures that the schema does not know.
llvm::Error ChipReader::checkNames(const llvm::json::Object &root) const {
  // In the order of the file, so that the first mistake is reported first.
  for (const JsonLines::Entry &entry : lines.entries()) {
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(entry.path).split(parts, '.');
    bool known = parts.size() > 3;
    if (parts.size() == 1)
      known = llvm::is_contained(kHeader, parts[0]) || isSection(parts[0]);
    else if (parts.size() == 2)
      known = findField(parts[0], parts[1]);
    else if (parts.size() == 3)
      known = llvm::is_contained(kFigureKeys, parts[2]);
    if (!known)
      return error(entry.path, "no such field");
    if (parts.size() == 1 && isSection(parts[0]) && !root.getObject(parts[0]))
      return error(entry.path, "must be an object of figures");
  }
  return llvm::Error::success();
}

llvm::Error ChipReader::readValue(const FigureField &field, const llvm::json::Object &figure) {
  std::string path = field.path();
  const llvm::json::Value *value = figure.get("value");
  if (!value)
    return error(path, "has no value");
  std::optional<llvm::StringRef> unit = figure.getString("unit");
  if (!unit)
    return error(path, "has no unit; use " + unitsOf(field));
  std::optional<double> scale = unitScale(field, *unit);
  if (!scale)
    return error(path + ".unit", "'" + *unit + "' is no unit of this; use " + unitsOf(field));
  double number = 0;
  if (field.dimension == Dimension::Flag) {
    std::optional<bool> flag = value->getAsBoolean();
    if (!flag)
      return error(path + ".value", "must be true or false");
    number = *flag;
  } else if (std::optional<double> real = value->getAsNumber()) {
    number = *real * *scale;
  } else {
    return error(path + ".value", "must be a number");
  }
  if (llvm::Error wrong = store(chip, field, number))
    return error(path + ".value", takeError(std::move(wrong))->getMessage());
  return llvm::Error::success();
}

/// A figure is published and names its source, or is fitted and says so.
llvm::Error ChipReader::readProvenance(const FigureField &field, const llvm::json::Object &figure) {
  std::string path = field.path();
  for (llvm::StringRef key : {"source", "note"})
    if (figure.get(key) && !figure.getString(key))
      return error(path + "." + key.str(), "must be a text");
  if (figure.get("fitted") && !figure.getBoolean("fitted"))
    return error(path + ".fitted", "must be true or false");
  bool fitted = figure.getBoolean("fitted").value_or(false);
  llvm::StringRef source = figure.getString(fitted ? "note" : "source").value_or("");
  if (source.empty())
    return error(path, fitted ? "is fitted, but no note says from what"
                              : "has no source; if nobody published it, set \"fitted\": true "
                                "and add a note");
  std::string shown;
  llvm::raw_string_ostream(shown) << *figure.get("value") << ' ' << *figure.getString("unit");
  chip.provenance.push_back({path, shown, source.str(), fitted});
  return llvm::Error::success();
}

llvm::Error ChipReader::readFigure(const FigureField &field, const llvm::json::Object &root) {
  const llvm::json::Object *section = root.getObject(field.section);
  const llvm::json::Value *figure = section ? section->get(field.name) : nullptr;
  if (!figure)
    return field.optional ? llvm::Error::success() : error(field.path(), "missing");
  const llvm::json::Object *object = figure->getAsObject();
  if (!object)
    return error(field.path(), "must be an object with value, unit and source");
  if (llvm::Error wrong = readValue(field, *object))
    return wrong;
  return readProvenance(field, *object);
}

/// What no single figure shows.
llvm::Error ChipReader::checkWhole() const {
  auto check = [&](llvm::StringRef path, double stated, MxuType type) -> llvm::Error {
    double peak =
        chip.peakFlops(type) / chip.coresOfDevice() * static_cast<double>(chip.core.count);
    if (stated == 0 || std::abs(peak / stated - 1) < 0.03)
      return llvm::Error::success();
    return error(path, llvm::formatv("{0:f1} TFLOP/s do not agree with clock, units and rate of "
                                     "the matrix units, which make {1:f1}",
                                     stated / 1e12, peak / 1e12));
  };
  if (llvm::Error wrong = check("published.bf16_flops", chip.published.bf16Flops, MxuType::Bf16))
    return wrong;
  if (llvm::Error wrong = check("published.int8_ops", chip.published.int8Ops, MxuType::Int8))
    return wrong;
  return check("published.f8_flops", chip.published.f8Flops, MxuType::F8);
}

llvm::Expected<Chip> ChipReader::read() {
  if (llvm::Error wrong = lines.scan(text))
    return makeError(ErrorCode::BadOption, file + ": " + takeError(std::move(wrong))->getMessage());
  llvm::Expected<llvm::json::Value> root = llvm::json::parse(text);
  if (!root)
    return makeError(ErrorCode::BadOption, file + ": " + llvm::toString(root.takeError()));
  const llvm::json::Object *object = root->getAsObject();
  if (!object)
    return error("", "a chip is a JSON object");
  if (!lines.duplicate().empty())
    return error(lines.duplicate(), "stands there twice");
  if (llvm::Error wrong = checkNames(*object))
    return wrong;
  if (llvm::Error wrong = readHeader(*object))
    return wrong;
  for (const FigureField &field : figureFields())
    if (llvm::Error wrong = readFigure(field, *object))
      return wrong;
  if (llvm::Error wrong = checkWhole())
    return wrong;
  return std::move(chip);
}

/// Splits "32MiB" into number and unit.
bool splitNumber(llvm::StringRef text, double &number, llvm::StringRef &unit) {
  size_t length = text.find_first_not_of("0123456789.");
  llvm::StringRef digits = text.take_front(length);
  unit = text.drop_front(digits.size());
  return !digits.empty() && !digits.getAsDouble(number);
}

const FigureField *findSetting(llvm::StringRef name) {
  for (const FigureField &field : figureFields())
    if (field.path() == name || (!field.alias.empty() && field.alias == name))
      return &field;
  return nullptr;
}

llvm::Error applySetting(Chip &chip, llvm::StringRef setting) {
  auto [name, text] = setting.split('=');
  name = name.trim();
  text = text.trim();
  auto error = [&](const llvm::Twine &message) {
    return makeError(ErrorCode::BadOption, "chip setting '" + setting + "': " + message);
  };
  const FigureField *field = findSetting(name);
  if (!field)
    return error("a chip has no '" + name + "'");
  double number = 0;
  llvm::StringRef unit;
  if (field->dimension == Dimension::Flag) {
    if (text != "true" && text != "false")
      return error("must be true or false");
    number = text == "true";
  } else if (!splitNumber(text, number, unit)) {
    return error("must be a number with a unit; use " + unitsOf(*field));
  } else {
    bool plain = field->dimension == Dimension::Count || field->dimension == Dimension::Ratio ||
                 field->dimension == Dimension::Cycles;
    std::optional<double> scale = unit.empty() && plain ? 1.0 : unitScale(*field, unit);
    if (!scale)
      return error("'" + unit + "' is no unit of this; use " + unitsOf(*field));
    number *= *scale;
  }
  if (llvm::Error wrong = store(chip, *field, number))
    return error(takeError(std::move(wrong))->getMessage());
  for (Chip::Provenance &figure : chip.provenance)
    if (figure.field == field->path()) {
      figure.text = text.str();
      figure.source = "set by hand";
      figure.fitted = false;
    }
  return llvm::Error::success();
}

} // namespace

double Chip::mxuRate(MxuType type) const {
  switch (type) {
  case MxuType::Bf16:
    return mxu.bf16Rate;
  case MxuType::F8:
    return mxu.f8Rate;
  case MxuType::Int8:
    return mxu.int8Rate;
  case MxuType::Int4:
    return mxu.int4Rate;
  }
  return 0;
}

double Chip::peakFlops(MxuType type) const {
  double cells = static_cast<double>(mxu.size * mxu.size * mxu.count * coresOfDevice());
  return 2 * cells * mxuRate(type) * core.clock;
}

llvm::Error Chip::set(llvm::StringRef settings) {
  llvm::SmallVector<llvm::StringRef> parts;
  settings.split(parts, ',', -1, /*KeepEmpty=*/false);
  // All or nothing: a chip that is half set must not be used by mistake.
  Chip changed = *this;
  for (llvm::StringRef part : parts)
    if (llvm::Error error = applySetting(changed, part.trim()))
      return error;
  *this = std::move(changed);
  return llvm::Error::success();
}

std::string Chip::canonical() const {
  std::string text = "name=" + name + "\n";
  llvm::raw_string_ostream stream(text);
  for (const FigureField &field : figureFields()) {
    if (!field.hashed)
      continue;
    stream << field.section << '.' << field.name << '=';
    // A slot is an address: reading through it changes nothing.
    FigureField::Slot slot = field.slot(const_cast<Chip &>(*this));
    if (auto *real = std::get_if<double *>(&slot))
      stream << llvm::formatv("{0:e12}", **real);
    else if (auto *integer = std::get_if<int64_t *>(&slot))
      stream << **integer;
    else
      stream << (*std::get<bool *>(slot) ? "true" : "false");
    stream << '\n';
  }
  return text;
}

uint64_t Chip::hash() const {
  return llvm::xxh3_64bits(llvm::StringRef(canonical()));
}

llvm::Expected<Chip> machine::parseChip(llvm::StringRef text, llvm::StringRef file) {
  return ChipReader(text, file).read();
}

std::vector<llvm::StringRef> machine::chipNames() {
  std::vector<llvm::StringRef> names;
  for (const BuiltinChip &chip : kBuiltinChips)
    names.push_back(chip.name);
  return names;
}

llvm::Expected<Chip> machine::loadChip(llvm::StringRef nameOrPath) {
  if (nameOrPath.empty()) {
    const char *variable = std::getenv("SPOKESHAVE_CHIP");
    nameOrPath = variable && *variable ? variable : "v5e";
  }
  auto [place, settings] = nameOrPath.split(':');
  llvm::Expected<Chip> chip = Chip();
  if (place.contains('/') || place.ends_with(".json")) {
    auto buffer = llvm::MemoryBuffer::getFile(place);
    if (!buffer)
      return makeError(ErrorCode::BadOption,
                       "cannot read chip '" + place + "': " + buffer.getError().message());
    chip = parseChip((*buffer)->getBuffer(), place);
  } else {
    const auto *builtin = llvm::find_if(
        kBuiltinChips, [&](const BuiltinChip &candidate) { return candidate.name == place; });
    if (builtin == std::end(kBuiltinChips))
      return makeError(ErrorCode::BadOption, "no chip '" + place + "': there are " +
                                                 llvm::join(chipNames(), ", ") +
                                                 ", or the path of a chip file");
    chip = parseChip(builtin->text, place);
  }
  if (!chip)
    return chip.takeError();
  if (llvm::Error error = chip->set(settings))
    return error;
  return chip;
}
