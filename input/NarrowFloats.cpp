//===- NarrowFloats.cpp - floating-point types newer than MLIR --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "input/NarrowFloats.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "input/NarrowDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "input/NarrowTypes.cpp.inc"

namespace spokeshave::narrow {

void NarrowDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "input/NarrowTypes.cpp.inc"
      >();
}

bool isNarrowFloat(Type type) {
  return isa<NarrowDialect>(type.getDialect());
}

unsigned widthOf(Type type) {
  return isa<Float4E2M1FNType>(type) ? 4 : isa<Float6E2M3FNType, Float6E3M2FNType>(type) ? 6 : 8;
}

DenseElementsAttr constantFromBytes(ShapedType type, ArrayRef<char> bytes) {
  SmallVector<std::string> texts;
  for (char byte : bytes)
    texts.push_back("0x" + llvm::utohexstr(static_cast<uint8_t>(byte)));
  SmallVector<StringRef> strings(texts.begin(), texts.end());
  return DenseStringElementsAttr::get(type, strings);
}

//===----------------------------------------------------------------------===//
// Text.
//===----------------------------------------------------------------------===//

namespace {

constexpr llvm::StringLiteral kNames[] = {"f8E3M4", "f8E8M0FNU", "f6E2M3FN", "f6E3M2FN",
                                          "f4E2M1FN"};

bool isLetter(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
}

/// Goes over the text token by token, as far as it takes to tell types from names,
/// strings and comments.
class Rewriter {
public:
  explicit Rewriter(StringRef text) : rest(text) {}

  std::string run() {
    while (!rest.empty())
      step();
    return std::move(out);
  }

private:
  /// Copies `size` characters.
  void copy(size_t size) {
    out += rest.take_front(size);
    rest = rest.drop_front(size);
  }

  /// The size of the string at the beginning of `text`, quotes included.
  static size_t stringSize(StringRef text) {
    size_t end = 1;
    while (end < text.size() && text[end] != '"')
      end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }

  void step() {
    char c = rest.front();
    if (c == '"')
      return copy(stringSize(rest));
    if (rest.starts_with("//"))
      return copy(std::min(rest.find('\n'), rest.size()));
    // A name after its sigil is one whatever it says.
    if (c == '@' || c == '%' || c == '#' || c == '!' || c == '^') {
      size_t end = 1;
      while (end < rest.size() && (isLetter(rest[end]) || rest[end] == '-'))
        ++end;
      return copy(end);
    }
    if (!isLetter(c))
      return copy(1);
    word();
  }

  /// A bare word, or a number with dimensions in front of a type: 4x2xf8E3M4.
  void word() {
    StringRef word = rest.take_while(isLetter);
    if (word == "dense" && rest.drop_front(word.size()).starts_with("<") && constant())
      return;
    for (StringRef name : kNames) {
      StringRef before = word;
      if (!before.consume_back(name))
        continue;
      // Nothing, or dimensions: digits and x, or what stands behind a `?`.
      bool isType = before.empty() || (before.ends_with("x") &&
                                       before.find_first_not_of("0123456789x") == StringRef::npos);
      if (!isType)
        continue;
      copy(before.size());
      out += "!narrow.";
      return copy(name.size());
    }
    copy(word.size());
  }

  /// `dense<...> : tensor<...>` of such a type; false if it is another one's.
  bool constant() {
    StringRef whole = rest.drop_front(strlen("dense<"));
    size_t end = 0;
    while (end < whole.size() && whole[end] != '>')
      end += whole[end] == '"' ? stringSize(whole.drop_front(end)) : 1;
    if (end >= whole.size())
      return false;
    StringRef literal = whole.take_front(end), after = whole.drop_front(end + 1).ltrim();
    if (!after.consume_front(":"))
      return false;
    after = after.ltrim();
    StringRef type = after.take_while([](char c) { return c != '>'; });
    if (!type.consume_front("tensor<") ||
        llvm::none_of(kNames, [&](StringRef name) { return type.ends_with(name); }))
      return false;
    copy(strlen("dense<"));
    quote(literal);
    rest = rest.drop_front(literal.size());
    return true;
  }

  /// Copies `literal` with its numbers as strings.
  void quote(StringRef literal) {
    auto isNumber = [](char c) { return llvm::isAlnum(c) || c == '.' || c == '-' || c == '+'; };
    while (!literal.empty()) {
      StringRef number = literal.take_while(isNumber);
      if (!number.empty())
        out += ("\"" + number + "\"").str();
      else
        out += literal.take_front(1);
      literal = literal.drop_front(std::max<size_t>(number.size(), 1));
    }
  }

  StringRef rest;
  std::string out;
};

} // namespace

std::optional<std::string> rewriteText(StringRef text) {
  if (llvm::none_of(kNames, [&](StringRef name) { return text.contains(name); }))
    return std::nullopt;
  return Rewriter(text).run();
}

} // namespace spokeshave::narrow
