//===- Npy.cpp - tensors in numpy's file format ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/Npy.h"

#include "reference/Ops.h"
#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace spokeshave::reference {

static constexpr StringRef kMagic("\x93NUMPY", 6);

std::string npyDescription(const ElementType &type) {
  if (type.isBoolean())
    return "|b1";
  char order = type.bytes() == 1 ? '|' : '<';
  char kind = 'V';
  bool whole = type.bits() == 8u * type.bytes();
  if (type.isSigned() && whole)
    kind = 'i';
  else if (type.isUnsigned() && whole)
    kind = 'u';
  else if (type.isComplex())
    kind = 'c';
  else if (type.isFloat() && (type.bits() >= 32 || type.type().isF16()))
    kind = 'f';
  return std::string{order, kind} + llvm::utostr(type.bytes());
}

namespace {
/// What a file says before its elements.
struct Header {
  std::string description;
  bool columnMajor = false;
  Index shape;
  size_t dataOffset = 0;
};
} // namespace

/// The text after `'key':` in the header's dictionary.
static std::optional<StringRef> valueOf(StringRef dictionary, StringRef key) {
  for (char quote : {'\'', '"'}) {
    std::string quoted = std::string(1, quote) + key.str() + quote;
    size_t at = dictionary.find(quoted);
    if (at == StringRef::npos)
      continue;
    StringRef rest = dictionary.drop_front(at + quoted.size()).ltrim();
    if (rest.consume_front(":"))
      return rest.ltrim();
  }
  return std::nullopt;
}

static bool parseShape(StringRef text, Index &shape) {
  if (!text.consume_front("("))
    return false;
  size_t end = text.find(')');
  if (end == StringRef::npos)
    return false;
  SmallVector<StringRef> parts;
  text.take_front(end).split(parts, ',');
  for (StringRef part : parts) {
    part = part.trim();
    int64_t size;
    if (part.empty()) // after the comma of (3,)
      continue;
    if (part.getAsInteger(10, size) || size < 0)
      return false;
    shape.push_back(size);
  }
  return elementCount(shape) >= 0;
}

static std::optional<Header> parseHeader(StringRef bytes) {
  Header header;
  if (!bytes.starts_with(kMagic) || bytes.size() < 12)
    return std::nullopt;
  unsigned version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    return std::nullopt;
  size_t start = version == 1 ? 10 : 12;
  size_t length = version == 1 ? llvm::support::endian::read16le(bytes.data() + 8)
                               : llvm::support::endian::read32le(bytes.data() + 8);
  if (bytes.size() < start || length > bytes.size() - start)
    return std::nullopt;
  header.dataOffset = start + length;
  StringRef dictionary = bytes.substr(start, length);
  auto description = valueOf(dictionary, "descr"), order = valueOf(dictionary, "fortran_order"),
       shape = valueOf(dictionary, "shape");
  if (!description || !order || !shape || !parseShape(*shape, header.shape))
    return std::nullopt;
  StringRef quoted = *description;
  if (quoted.empty() || (quoted[0] != '\'' && quoted[0] != '"'))
    return std::nullopt; // a structured type
  header.description = quoted.drop_front().take_until([&](char c) { return c == quoted[0]; }).str();
  header.columnMajor = order->starts_with("True");
  return header;
}

/// Byte order does not matter for single and for raw bytes, and '=' is ours.
/// Some of ml_dtypes' 8-bit floats call themselves '<f1'.
static bool sameDescription(StringRef file, StringRef expected) {
  if (file == expected)
    return true;
  if (file.size() < 3 || expected.size() < 3)
    return false;
  bool rawByte = expected == "|V1" && file.ends_with("f1");
  if (file.drop_front() != expected.drop_front() && !rawByte)
    return false;
  return file[0] == '=' || file.drop_front(2) == "1" || file[1] == 'V';
}

static llvm::Error badFile(StringRef name, const llvm::Twine &what) {
  return makeError(ErrorCode::BadArgument, name + ": " + what);
}

llvm::Expected<Tensor> parseNpy(StringRef bytes, StringRef name, RankedTensorType expected) {
  std::optional<Header> header = parseHeader(bytes);
  if (!header)
    return badFile(name, "not a .npy file, or one that cannot be read");
  FailureOr<ElementType> type = ElementType::get(expected.getElementType());
  if (failed(type))
    return badFile(name, "elements of the expected type cannot be read from files");
  // Integers of 4 bits and fewer may also come as the bytes that hold them.
  std::string description = npyDescription(*type);
  bool asBytes = type->isInteger() && type->bits() < 8 &&
                 (header->description == "|i1" || header->description == "|u1");
  if (!sameDescription(header->description, description) && !asBytes)
    return badFile(name,
                   "holds elements '" + header->description + "', expected '" + description + "'");
  bool fits = header->shape.size() == static_cast<size_t>(expected.getRank());
  for (size_t axis = 0; fits && axis < header->shape.size(); ++axis)
    fits = expected.isDynamicDim(axis) || expected.getDimSize(axis) == header->shape[axis];
  if (!fits) {
    std::string message;
    llvm::raw_string_ostream os(message);
    os << "has shape (";
    llvm::interleaveComma(header->shape, os);
    os << "), expected " << expected;
    return badFile(name, message);
  }

  StringRef data = bytes.drop_front(header->dataOffset);
  int64_t count = elementCount(header->shape);
  if (data.size() / type->bytes() < static_cast<uint64_t>(count))
    return badFile(name, "ends before its last element");
  Index shape = header->shape;
  if (header->columnMajor)
    std::reverse(shape.begin(), shape.end());
  Tensor result(*type, shape);
  char *to = result.mutableData();
  if (count)
    std::copy_n(data.data(), result.byteSize(), to);
  if (!header->columnMajor)
    return result;
  SmallVector<int64_t> reversed;
  for (int64_t axis = result.rank() - 1; axis >= 0; --axis)
    reversed.push_back(axis);
  return transpose(result, reversed);
}

llvm::Expected<Tensor> readNpy(StringRef path, RankedTensorType expected) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return badFile(path, buffer.getError().message());
  return parseNpy((*buffer)->getBuffer(), path, expected);
}

llvm::Error writeNpy(StringRef path, const Tensor &tensor) {
  if (!tensor.isTensor())
    return badFile(path, "only tensors can be written as .npy");
  std::string header;
  llvm::raw_string_ostream os(header);
  os << "{'descr': '" << npyDescription(tensor.elementType())
     << "', 'fortran_order': False, 'shape': (";
  llvm::interleaveComma(tensor.shape(), os);
  os << (tensor.rank() == 1 ? ",), }" : "), }");
  // The elements begin at a multiple of 64 bytes.
  size_t prefix = kMagic.size() + 4;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header.push_back('\n');
  if (header.size() > 0xFFFF)
    return badFile(path, "has too many dimensions for a .npy file");

  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (code)
    return badFile(path, code.message());
  char sizes[4] = {1, 0};
  llvm::support::endian::write16le(sizes + 2, header.size());
  file << kMagic << StringRef(sizes, 4) << header << StringRef(tensor.data(), tensor.byteSize());
  file.close();
  if (file.has_error()) {
    code = file.error();
    file.clear_error();
    return badFile(path, code.message());
  }
  return llvm::Error::success();
}

} // namespace spokeshave::reference
